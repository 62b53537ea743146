"""A cache of what was read and retrieved: the answers of stores and indexes, the indexes themselves, and vectors of texts.

Every cache key is made from content. An answer of a store is found by the bytes of the store's file, an answer of an index by the
fingerprints of the indexes, and an index by all files that it was built from. A change is therefore noticed at once, whenever it was made,
and nothing becomes stale with time. What cannot be identified by its content is not cached: a server, a view (which may read a clock), a
large file, a condition that does not say what it reads.

A cached value equals the value that would be computed now, so the cache changes only the time taken. `Tally` counts hits and misses.
"""

from __future__ import annotations

import os
from _blake2 import blake2b
from collections.abc import Callable, Iterator, Sequence

from promptc.cache import Cache
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.reading import MAX_PACK_FILE, read_file, read_inside
from promptc.model.sources import CorpusIndex, Document
from promptc.sources.retrieval.encoder import KNOWN, PACKAGES, SIZE, MissingEncoder, Vector, VectorEncoder, load_encoder
from promptc.sources.retrieval.local import BuiltIndex
from promptc.sources.retrieval.retrieve import ChunkFilter, ChunkQuery, Retrieved
from promptc.text.json import render_canonical_json

MOST_DIGESTED = 4_000_000
"""The most bytes of a SQLite file and the files next to it that are hashed in each render: above this, reading is faster than hashing."""

MOST_ANSWERS = 32
"""The number of cached answers of a pack's indexes (the most recently used ones) and of a store's file (the most recently added ones)."""

MOST_VECTORS = 512
_LONGEST_KEPT = 1_000_000
_LONGEST_INDEX = 8_000_000
"""The maximum sizes, in bytes, of a cache file of answers or vectors, and of one index. A larger index is read from its own files."""

_LONGEST_MANIFEST = 1_000_000
_BESIDE = ("", "-journal", "-wal")
_SIZE = 16
_NOTHING: Any = object()


class LostEncoderError(Exception):
    """The packages of an encoder are installed but cannot be loaded."""


class Tally:
    """Cache hits and misses of one render by kind (`answers`, `indexes`, `segments`, `vectors`)."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def clear(self) -> None:
        """Reset all counts."""
        self._counts.clear()

    def count(self, kind: str, *, is_kept: bool) -> None:
        """Count a hit (`is_kept`) or a miss."""
        self._counts.setdefault(kind, [0, 0])[not is_kept] += 1

    def describe(self) -> dict[str, dict[str, int]]:
        """Return the counts in the form of a report."""
        return {kind: {"kept": kept, "made": made} for kind, (kept, made) in sorted(self._counts.items())}


class KeptSources:
    """The cached sources of one pack, for one thread at a time. If two processes write at once, the entries of one survive."""

    def __init__(self, cache: Cache, path: str, pack: str, counter: str) -> None:
        """Open the cache for the pack at `path`; `pack` and `counter` are the digests of the pack and of its token counter."""
        self._cache = cache
        self._maker = f"{pack}\0{counter}"
        self._answers = _LastKept(cache, f"answers {path}", MOST_ANSWERS)
        self._vectors = _LastKept(cache, "vectors", MOST_VECTORS)
        self.tally = Tally()
        """The tally of the current render."""

    def find_answer(self, key: bytes) -> Retrieved | None:
        """Return the cached answer for a key of `digest_question`, or None."""
        found = self._answers.find(key)
        self.tally.count("answers", is_kept=found is not None)
        if found is None:
            return None
        answer: Retrieved = _unpickle(found)
        return answer

    def note_answer(self, key: bytes, answer: Retrieved) -> None:
        """Cache an answer, evicting the least recently used one if necessary.

        Answers with notes are not cached: this machine lacks vectors for them.
        """
        if not answer.notes:
            self._answers.note(key, _pickle(answer))

    def digest_question(self, indexes: Sequence[tuple[str, str]], request: ChunkQuery) -> bytes | None:
        """Return a digest of everything that decides an answer; None if a condition does not say what it reads.

        `indexes` are given by fingerprint and encoder.
        """
        told = _tell(request)
        if told is _NOTHING:
            return None
        encoders = is_installed() if any(name for _, name in indexes) else None
        whole = render_canonical_json([self._maker, [fingerprint for fingerprint, _ in indexes], encoders, told])
        return digest_bytes(whole.encode("utf-8", "surrogatepass"))

    def load_encoder(self, name: str) -> VectorEncoder | MissingEncoder:
        """Load an encoder as `encoder.load_encoder` does, but only when a text without a cached vector is encoded."""
        if name not in KNOWN or not is_installed():
            return load_encoder(name)
        return _KeptEncoder(name, self._vectors, self.tally)

    def open_segments(self, path: str, table: str) -> KeptSegments | None:
        """Return the cache of a table in a SQLite file with its present content; None if the file cannot be hashed."""
        digest = digest_database(path)
        return KeptSegments(self._cache, path, table, digest) if digest is not None else None

    def open_corpus(self, index: CorpusIndex, version: str | None) -> KeptCorpus:
        """Return the cache of an index over files."""
        return KeptCorpus(self._cache, self._maker, index, version)

    def keep(self) -> None:
        """Write new answers and vectors to the cache."""
        self._answers.keep()
        self._vectors.keep()


def is_installed() -> bool:
    """Return whether the packages that encoders need are installed, without loading them."""
    from importlib.util import find_spec  # late: scores by words need no packages

    try:
        return all(find_spec(name) is not None for name in PACKAGES)
    except ValueError:
        return False  # a module in `sys.modules` has no spec


def _tell(value: Any) -> Any:
    """Return a question as a JSON value; `_NOTHING` if it does not say what decides it."""
    if isinstance(value, ChunkFilter):
        return value.key or _NOTHING
    names = getattr(type(value), "__match_args__", None)
    if names is None and not isinstance(value, tuple | list):
        return value
    parts = [_tell(getattr(value, name)) for name in names] if names is not None else [_tell(one) for one in value]
    return _NOTHING if any(one is _NOTHING for one in parts) else parts


# --- answers and vectors ---


class _LastKept:
    """Bytes by key, in one cache file: the most recently used entries, up to a number and a size."""

    def __init__(self, cache: Cache, name: str, most: int) -> None:
        self._cache = cache
        self._name = name
        self._most = most
        self._known: dict[bytes, bytes] | None = None
        self._is_new = False

    def find(self, key: bytes) -> bytes | None:
        known = self._load()
        found = known.pop(key, None)
        if found is not None:
            known[key] = found
        return found

    def note(self, key: bytes, content: bytes) -> None:
        known = self._load()
        known[key] = content
        size = sum(map(len, known.values()))
        while len(known) > self._most or (size > _LONGEST_KEPT and len(known) > 1):
            size -= len(known.pop(next(iter(known))))
        self._is_new = True

    def keep(self) -> None:
        if self._is_new and self._known is not None:
            self._cache.keep_plain(self._name, self._known)
            self._is_new = False

    def _load(self) -> dict[bytes, bytes]:
        if self._known is None:
            self._known = self._cache.load_plain(self._name) or {}
        return self._known


class _KeptEncoder:
    """An encoder that is loaded for the first text without a cached vector. Raises `LostEncoderError` if it cannot be loaded."""

    size = SIZE

    def __init__(self, id: str, vectors: _LastKept, tally: Tally) -> None:
        self.id = id
        self.digest = KNOWN[id]
        self._vectors = vectors
        self._tally = tally
        self._loaded: VectorEncoder | None = None

    def encode(self, text: str) -> Vector:
        from array import array

        key = digest_bytes(f"{self.digest}\0{text}".encode("utf-8", "surrogatepass"))
        found = self._vectors.find(key)
        self._tally.count("vectors", is_kept=found is not None)
        if found is not None:
            return array("h", found)
        if self._loaded is None:
            loaded = load_encoder(self.id)
            if isinstance(loaded, MissingEncoder):
                raise LostEncoderError
            self._loaded = loaded
        vector = array("h", self._loaded.encode(text))
        self._vectors.note(key, vector.tobytes())
        return vector


# --- segments ---


class KeptSegments:
    """The cached answers of one table, for the present bytes of its file."""

    def __init__(self, cache: Cache, path: str, table: str, digest: bytes) -> None:
        self._cache = cache
        self._path = path
        self._name = f"segments {path}\0{table}"
        self._digest = digest
        self._known: dict[Any, Any] | None = None
        self._is_new = False
        self.is_used = False

    def find(self, question: Any) -> Any:
        """Return the cached answer, or None."""
        if self._known is None:
            found = self._cache.load_plain(self._name)
            self._known = _unpickle(found[1]) if found is not None and found[0] == self._digest else {}
        answer = self._known.get(question)
        self.is_used = self.is_used or answer is not None
        return answer

    def is_still(self) -> bool:
        """Return whether the file still has the same bytes."""
        return digest_database(self._path) == self._digest

    def note(self, question: Any, answer: Any) -> None:
        """Cache an answer that was read from exactly these bytes."""
        known = self._known if self._known is not None else {}
        known[question] = answer
        while len(known) > MOST_ANSWERS:
            del known[next(iter(known))]
        self._known, self._is_new = known, True

    def keep(self) -> None:
        """Write new answers to the cache."""
        if self._is_new:
            packed = _pickle(self._known)
            if len(packed) <= _LONGEST_KEPT:
                self._cache.keep_plain(self._name, (self._digest, packed))
            self._is_new = False


def digest_database(path: str) -> bytes | None:
    """Return a digest of all that SQLite reads of a file: its bytes, and those of its journal and its log.

    None means that the files are too large or cannot be read.
    """
    whole = blake2b(digest_size=_SIZE)
    left = MOST_DIGESTED
    for ending in _BESIDE:
        try:
            content = read_file(f"{path}{ending}", left)
        except FileNotFoundError:
            if not ending:
                return None
            content = b""
        except (OSError, ValueError):
            return None
        left -= len(content)
        whole.update(b"%d\0" % len(content))
        whole.update(content)
    return whole.digest()


# --- indexes over files ---


@frozen
class KeptPart:
    """An index on disk that is up to date: its folder inside the pack's folder, its fingerprint, and the digest of its manifest."""

    folder: str
    fingerprint: str
    manifest: bytes


class KeptCorpus:
    """The cached parts of an index over files. They are valid while neither the files nor the manifests of the indexes change."""

    def __init__(self, cache: Cache, maker: str, index: CorpusIndex, version: str | None) -> None:
        self._cache = cache
        self._folder = os.path.abspath(index.folder)
        self._name = f"corpus {self._folder}\0{index.name}\0{version}"
        self._maker = maker

    def find(self) -> tuple[KeptPart, ...] | None:
        """Return the parts in order; None if they are not cached or something has changed."""
        found = self._cache.load_plain(self._name)
        if found is None or found[0] != self._maker:
            return None
        _, listed, root, documents, parts = found
        try:
            is_still = (
                digest_listing(self._folder, root) == listed
                and all(digest_bytes(read_inside(self._folder, path, MAX_PACK_FILE)) == digest for path, digest in documents)
                and all(digest_bytes(_read_manifest(self._folder, folder)) == manifest for folder, _, manifest in parts)
            )
        except (OSError, ValueError):
            return None
        if not is_still:
            return None
        return tuple(KeptPart(*part) for part in parts)

    def keep(self, listed: bytes, root: str, documents: Sequence[Document], parts: Sequence[tuple[str, BuiltIndex]]) -> None:
        """Cache that these indexes (by their folders inside the pack's) are up to date with these files; and the indexes, unless too large.

        `listed` must be the result of `digest_listing` for the folder `root` from before its files were read.
        """
        seen = [(folder, built.fingerprint, self._digest_manifest(folder, built.fingerprint)) for folder, built in parts]
        if any(manifest is None for *_, manifest in seen):
            return
        self._cache.keep_plain(self._name, (self._maker, listed, root, [one.seen for one in documents], seen))
        for folder, built in parts:
            packed = _pickle(built)
            if len(packed) <= _LONGEST_INDEX:
                self._cache.keep_plain(self._name_index(folder), (built.fingerprint, packed))

    def _digest_manifest(self, inside: str, fingerprint: str) -> bytes | None:
        """Return the digest of the manifest with this fingerprint; None if the folder has another manifest by now."""
        try:
            content = _read_manifest(self._folder, inside)
        except (OSError, ValueError):
            return None
        return digest_bytes(content) if fingerprint.encode() in content else None

    def find_index(self, part: KeptPart) -> BuiltIndex | None:
        """Return the cached index of a part, or None."""
        found = self._cache.load_plain(self._name_index(part.folder))
        if found is None or found[0] != part.fingerprint:
            return None
        built: BuiltIndex = _unpickle(found[1])
        return built

    def _name_index(self, folder: str) -> str:
        return f"index {self._folder}\0{folder}"


def walk(folder: str, inside: str, explain: Callable[[str, OSError], Exception] | None = None) -> Iterator[str]:
    """Yield every file below `inside`, a folder in `folder`, sorted in each folder. Hidden folders and links to folders are skipped.

    A folder that does not exist has no files. For a folder that cannot be read, the result of `explain` is raised, or the error itself.
    """
    try:
        with os.scandir(os.path.join(folder, inside) or ".") as entries:
            listed = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        if explain is None:
            raise
        raise explain(inside, error) from error
    for name, is_folder in listed:
        path = f"{inside}/{name}" if inside else name
        if not is_folder:
            yield path
        elif not name.startswith("."):
            yield from walk(folder, path, explain)


def digest_listing(folder: str, root: str) -> bytes:
    """Return a digest of the paths of all files below `root`, a folder in `folder`. Raises `OSError`."""
    return digest_bytes("\0".join(walk(folder, root)).encode("utf-8", "surrogateescape"))


def _read_manifest(folder: str, inside: str) -> bytes:
    return read_inside(folder, f"{inside}/manifest.json", _LONGEST_MANIFEST)


# --- helpers ---


def digest_bytes(content: bytes) -> bytes:
    """Return the digest that identifies content in this module."""
    return blake2b(content, digest_size=_SIZE).digest()


def _pickle(value: Any) -> bytes:
    from _pickle import dumps

    return dumps(value, 5)


def _unpickle(content: bytes) -> Any:
    from _pickle import loads

    return loads(content)
