"""An index, read back from its folder: whole and as it was written, or a finding."""

from __future__ import annotations

import json
import os
import shutil
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop
from operator import le, mul
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, Span
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, Protocol
from promptc.files.atomic import make_folder_beside, replace_file, sync_folder
from promptc.files.reading import TooLongError, read_file, read_inside
from promptc.model.sources import Chunk
from promptc.sources.retrieval.encoder import Vector
from promptc.sources.retrieval.postgres import FORMAT, BuiltIndex, Vectors
from promptc.sources.retrieval.scoring import IndexWords, Synonyms
from promptc.text.json import render_canonical_json, render_digest

_MOST_TOLD = 1_000_000
"""Bytes of the longest manifest of an index."""

MANIFEST = "manifest.json"
_BUILDING = "generation"
"""What the name of a folder that is being written is made from: the same for all generations, so that a build finds what was left."""

_GENERATION = 16
FILES = ("documents.json", "chunks.jsonl", "words.json", "postings.u32")
VECTORS = "vectors.i16"
"""The files of an index; the last where it has vectors."""

MAX_BYTES = 1_000_000_000
"""Bytes that the files of an index may have together."""

_FIRST = 200
"""Rows that are brought into order at once; few queries need more."""

_ROW_BITS = 31
_MANY = 20_000


@frozen
class IndexPlace:
    """Where an index lies, where the pack declares it, and the command that builds it."""

    folder: Path
    span: Span
    name: str

    @property
    def command(self) -> str:
        return f"promptc index build {self.span.file} {self.name}"


class _DamageError(Exception):
    """A file is not what was written."""


def read_index(place: IndexPlace) -> BuiltIndex:
    """The index at `place`. Raises `DiskError`: PC0190 where there is none, PC0193 for one that is damaged, PC0194 for one of another
    form."""
    try:
        return _read(place, _read_manifest(place))
    except FileNotFoundError:
        pass  # a build may have taken the old files away just now: then the manifest names others
    try:
        return _read(place, _read_manifest(place))
    except FileNotFoundError as error:
        raise _refuse("PC0193", f"its file `{Path(error.filename or '').name}` is missing", place) from None


def _read_manifest(place: IndexPlace) -> Mapping[str, Any]:
    try:
        content = read_file(place.folder / MANIFEST, _MOST_TOLD)
    except (FileNotFoundError, NotADirectoryError):
        raise DiskError(
            [Diagnostic("PC0190", f"the index `{place.name}` has not been built: `{place.folder}` holds none", place.span, _run(place))]
        ) from None
    except OSError as error:
        raise _refuse("PC0193", f"`{MANIFEST}` cannot be read: {error.strerror or error}", place) from error
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError):
        raise _refuse("PC0193", f"`{MANIFEST}` is no JSON", place) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        form = "no form" if found is None else f"the form {json.dumps(found)}"
        raise _refuse("PC0194", f"it has {form}, and this promptc reads {FORMAT}", place)
    if manifest.get("fingerprint") != digest_manifest(manifest):
        raise _refuse("PC0193", f"`{MANIFEST}` was changed", place)
    if manifest.get("index") != place.name:
        raise _refuse("PC0194", f"it was built as `{manifest.get('index')}`", place)
    return manifest


def _read(place: IndexPlace, manifest: Mapping[str, Any]) -> BuiltIndex:
    generation = name_generation(manifest["fingerprint"])
    try:
        built = _build(
            manifest, {name: _read_file(place.folder, f"{generation}/{name}", manifest["files"][name]) for name in _list(manifest)}
        )
    except _DamageError as damage:
        raise _refuse("PC0193", str(damage), place) from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _refuse("PC0193", f"a file cannot be read: {error.strerror or error}", place) from error
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError):
        raise _refuse("PC0193", f"`{MANIFEST}` and its files do not belong together", place) from None
    return built


def _list(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The files that such an index has, whatever its manifest names besides."""
    names = (*FILES, VECTORS) if manifest["encoder"] is not None else FILES
    if sum(manifest["files"][name]["bytes"] for name in names) > MAX_BYTES:
        raise _DamageError(f"its files have more than {MAX_BYTES:,} bytes")
    return names


def _build(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> BuiltIndex:
    """Raises `_DamageError`, or whatever comes of content that another program wrote: the digests alone prove nothing of it."""
    words, ideals = _read_lines(files["words.json"])
    encoder = manifest["encoder"]
    chunks = tuple(_read_chunk(told) for told in _read_lines(files["chunks.jsonl"]))
    built = BuiltIndex(
        manifest["index"],
        manifest["config"],
        manifest["corpus"],
        tuple((file, digest) for file, digest in _read_lines(files["documents.json"])),
        chunks,
        _read_words(words, ideals, files["postings.u32"], manifest),
        Vectors(encoder["id"], encoder["digest"], encoder["size"], manifest["background"], read_array("h", files["vectors.i16"]))
        if encoder is not None
        else None,
        manifest["fingerprint"],
    )
    if not _is_sound(built):
        raise _DamageError("its numbers do not belong to its chunks")
    return built


def _is_sound(built: BuiltIndex) -> bool:
    """Whether no number leads to a chunk, a word or a vector that is not there."""
    words, count, vectors = built.words, len(built.chunks), built.vectors
    ends = words.ends
    is_whole = len(words.ideals) == len(words.numbers) == len(ends) - 1 and len(words.impacts) == len(words.rows) == ends[-1]
    is_rising = ends[0] == 0 and all(map(le, ends, ends[1:]))
    is_near = max(words.rows, default=-1) < count
    return is_whole and is_rising and is_near and (vectors is None or (vectors.size > 0 and len(vectors.values) == count * vectors.size))


def read_array(kind: str, content: bytes) -> array[int]:
    """The numbers of a file, each with the least byte first."""
    values = array(kind)
    values.frombytes(content)
    if sys.byteorder != "little":
        values.byteswap()
    return values


def _read_file(folder: Path, relative: str, told: Mapping[str, Any]) -> bytes:
    """Its bytes, if they are what the manifest tells: nothing of them is looked at before."""
    try:
        content = read_inside(folder, relative, told["bytes"])
    except TooLongError:
        content = b""
    if len(content) != told["bytes"] or render_digest(content) != told["digest"]:
        raise _DamageError(f"its file `{relative.rpartition('/')[2]}` is not as it was written")
    return content


def _read_lines(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.decode("utf-8", "surrogatepass").split("\n") if line]


def _read_chunk(told: Mapping[str, Any]) -> Chunk:
    return Chunk(
        told["id"],
        told["file"],
        told["ordinal"],
        tuple(told["heading"]),
        tuple(told["covers"]),
        told["text"],
        told["tokens"],
        told["metadata"],
    )


def _read_words(words: list[str], ideals: list[int], content: bytes, manifest: Mapping[str, Any]) -> IndexWords:
    numbers = read_array("I", content)
    ends, postings = len(words) + 1, manifest["postings"]
    return IndexWords(
        {word: number for number, word in enumerate(words)},
        array("I", ideals),
        numbers[:ends],
        numbers[ends : ends + postings],
        numbers[ends + postings :],
        manifest["unseen"],
    )


def _run(place: IndexPlace) -> str:
    return f"run `{place.command}`"


def _refuse(code: str, wrong: str, place: IndexPlace) -> DiskError:
    word = "is damaged" if code == "PC0193" else "is another's"
    return DiskError([Diagnostic(code, f"the index `{place.name}` in `{place.folder}` {word}: {wrong}", place.span, _run(place))])


def write_index(folder: Path, built: BuiltIndex, span: Span | None = None) -> str:
    """Writes the index and gives its fingerprint. Raises `DiskError` (PC0198)."""
    files = render_files(built)
    manifest = render_manifest(built, files)
    fingerprint = str(manifest["fingerprint"])
    if sum(map(len, files.values())) > MAX_BYTES:
        message = f"the index for `{folder}` has more than {MAX_BYTES:,} bytes"
        raise DiskError([Diagnostic("PC0198", message, span, "part the corpus into several indexes")])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        generation = name_generation(fingerprint)
        _write_generation(folder, generation, files)
        text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        replace_file(folder / MANIFEST, text.encode())
        _remove_others(folder, generation)
    except OSError as error:
        message = f"cannot write the index to `{folder}`: {error.strerror or error}"
        raise DiskError([Diagnostic("PC0198", message, span, "make room, or let the folder be written to")]) from error
    return fingerprint


def name_generation(fingerprint: str) -> str:
    """The folder that holds the files of an index."""
    return fingerprint.partition(":")[2][:_GENERATION]


def render_files(built: BuiltIndex) -> dict[str, bytes]:
    """The files of an index by name."""
    words = built.words
    files = {
        "documents.json": _render_lines([list(one) for one in built.documents]),
        "chunks.jsonl": _render_lines(
            [
                {
                    "id": chunk.id,
                    "file": chunk.file,
                    "ordinal": chunk.ordinal,
                    "heading": list(chunk.heading),
                    "covers": list(chunk.covers),
                    "text": chunk.text,
                    "tokens": chunk.tokens,
                    "metadata": dict(chunk.metadata),
                }
                for chunk in built.chunks
            ]
        ),
        "words.json": _render_lines([list(words.numbers), words.ideals.tolist()]),
        "postings.u32": b"".join(map(render_array, (words.ends, words.rows, words.impacts))),
    }
    return files | ({"vectors.i16": render_array(built.vectors.values)} if built.vectors is not None else {})


def render_manifest(built: BuiltIndex, files: dict[str, bytes]) -> dict[str, Any]:
    """What is told of an index, with a fingerprint of all the rest."""
    vectors = built.vectors
    told: dict[str, Any] = {
        "format": FORMAT,
        "index": built.name,
        "config": built.config,
        "corpus": built.corpus,
        "chunks": len(built.chunks),
        "words": len(built.words.numbers),
        "postings": len(built.words.rows),
        "unseen": built.words.unseen,
        "encoder": {"id": vectors.encoder, "digest": vectors.digest, "size": vectors.size} if vectors is not None else None,
        "background": vectors.background if vectors is not None else 0,
        "files": {name: {"bytes": len(content), "digest": render_digest(content)} for name, content in files.items()},
    }
    return told | {"fingerprint": digest_manifest(told)}


def digest_manifest(manifest: dict[str, Any]) -> str:
    """The fingerprint of a manifest, of all but itself."""
    told = {key: value for key, value in manifest.items() if key != "fingerprint"}
    return render_digest(render_canonical_json(told).encode("utf-8", "surrogatepass"))


def render_array(values: array[int]) -> bytes:
    """Its numbers, each with the least byte first."""
    if sys.byteorder == "little":
        return values.tobytes()
    turned = values[:]
    turned.byteswap()
    return turned.tobytes()


def _render_lines(values: list[Any]) -> bytes:
    return "".join(f"{render_canonical_json(value)}\n" for value in values).encode("utf-8", "surrogatepass")


def _write_generation(folder: Path, generation: str, files: dict[str, bytes]) -> None:
    """All files, on the disk, before the folder has its name. One that is there already may be damaged: it is written anew."""
    if all(_is_there(folder, f"{generation}/{name}", content) for name, content in files.items()):
        return
    final = folder / generation
    with make_folder_beside(folder / _BUILDING) as made:
        beside = Path(made)
        for name, content in files.items():
            _write_file(beside / name, content)
        sync_folder(beside)
        if final.exists():
            shutil.rmtree(final)
        beside.rename(final)


def _write_file(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _is_there(folder: Path, relative: str, content: bytes) -> bool:
    try:
        return read_inside(folder, relative, len(content)) == content
    except OSError:
        return False


def _remove_others(folder: Path, generation: str) -> None:
    """Earlier generations. What is not ours by its name stays."""
    for path in sorted(folder.iterdir()):
        is_generation = len(path.name) == _GENERATION and not path.name.strip("0123456789abcdef") and path.name != generation
        if is_generation and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


class LocalStore:
    """Chunks, words and vectors (`size` numbers a chunk; 0: none) of one index. May be read by several threads."""

    def __init__(self, chunks: Sequence[Chunk], words: IndexWords, vectors: array[int], size: int) -> None:
        self._chunks = chunks
        self._words = words
        self._vectors = vectors
        self._size = size
        self._versions = [chunk.version for chunk in chunks]

    @property
    def count(self) -> int:
        return len(self._chunks)

    def iter_by_words(self, words: Sequence[str], version: str | None) -> Iterator[int]:
        first, stop = self._find_range(version)
        sums: dict[int, int] = {}
        for start, end in self._iter_stretches(words):
            for place in range(start, end):
                row = self._words.rows[place]
                if first <= row < stop:
                    sums[row] = sums.get(row, 0) + self._words.impacts[place]
        return _iter_least([(-value << _ROW_BITS) + row for row, value in sums.items()])

    def iter_by_vector(self, vector: Vector, version: str | None) -> Iterator[int]:
        first, stop = self._find_range(version) if self._size else (0, 0)
        return _iter_least([(-self._multiply(row, vector) << _ROW_BITS) + row for row in range(first, stop)])

    def read_chunks(self, rows: Sequence[int]) -> Sequence[Chunk]:
        return [self._chunks[row] for row in rows]

    def read_impacts(self, words: Sequence[str], rows: Sequence[int]) -> Sequence[Mapping[str, int]]:
        found: list[dict[str, int]] = [{} for _ in rows]
        for word in words:
            for start, end in self._iter_stretches([word]):
                for place, row in enumerate(rows):
                    at = bisect_left(self._words.rows, row, start, end)
                    if at < end and self._words.rows[at] == row:
                        found[place][word] = self._words.impacts[at]
        return found

    def read_vectors(self, rows: Sequence[int]) -> Sequence[Vector]:
        return [self._vectors[row * self._size : (row + 1) * self._size] for row in rows]

    def _multiply(self, row: int, vector: Vector) -> int:
        return sum(map(mul, self._vectors[row * self._size : (row + 1) * self._size], vector))

    def _iter_stretches(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Where the rows of each known word stand."""
        for word in words:
            number = self._words.numbers.get(word)
            if number is not None:
                yield self._words.ends[number], self._words.ends[number + 1]

    def _find_range(self, version: str | None) -> tuple[int, int]:
        """The rows of a version stand together."""
        if version is None:
            return 0, self.count
        return bisect_left(self._versions, version), bisect_right(self._versions, version)


class _NumpyStore(LocalStore):
    """The same, a chunk's work done at once for all of them."""

    def __init__(self, numpy: Any, chunks: Sequence[Chunk], words: IndexWords, vectors: array[int], size: int) -> None:
        super().__init__(chunks, words, vectors, size)
        self._numpy = numpy
        self._rows = numpy.frombuffer(words.rows, numpy.uint32) if words.rows else numpy.zeros(0, numpy.uint32)
        self._impacts = numpy.frombuffer(words.impacts, numpy.uint32) if words.impacts else numpy.zeros(0, numpy.uint32)
        self._matrix = numpy.frombuffer(vectors, numpy.int16).reshape(-1, size).astype(numpy.float32) if size and vectors else None

    def iter_by_words(self, words: Sequence[str], version: str | None) -> Iterator[int]:
        first, stop = self._find_range(version)
        sums = self._numpy.zeros(self.count, self._numpy.int64)
        for start, end in self._iter_stretches(words):
            sums[self._rows[start:end]] += self._impacts[start:end]
        rows = self._numpy.flatnonzero(sums[first:stop]) + first
        return self._iter_greatest(sums[rows], rows)

    def iter_by_vector(self, vector: Vector, version: str | None) -> Iterator[int]:
        if self._matrix is None:
            return iter(())
        first, stop = self._find_range(version)
        products = self._matrix[first:stop] @ self._numpy.array(vector, self._numpy.float32)
        return self._iter_greatest(products.astype(self._numpy.int64), self._numpy.arange(first, stop))

    def _iter_greatest(self, values: Any, rows: Any) -> Iterator[int]:
        keys = (-values << _ROW_BITS) + rows
        mask = (1 << _ROW_BITS) - 1
        if len(keys) > _FIRST:
            keys = self._numpy.partition(keys, _FIRST)
            yield from (int(row) for row in self._numpy.sort(keys[:_FIRST]) & mask)
            keys = keys[_FIRST:]
        yield from (int(row) for row in self._numpy.sort(keys) & mask)


def make_store(chunks: Sequence[Chunk], words: IndexWords, vectors: array[int], size: int) -> LocalStore:
    """The store of these; `vectors` hold `size` numbers for each chunk in turn. numpy is loaded for many chunks only: that takes a
    quarter of a second.
    """
    if len(chunks) < _MANY and "numpy" not in sys.modules:
        return LocalStore(chunks, words, vectors, size)
    try:
        import numpy as np
    except ImportError:
        return LocalStore(chunks, words, vectors, size)
    return _NumpyStore(np, chunks, words, vectors, size)


def _iter_least(keys: list[int]) -> Iterator[int]:
    """The rows in the low bits of the keys, the least key first."""
    heapify(keys)
    while keys:
        yield heappop(keys) & ((1 << _ROW_BITS) - 1)


@frozen(eq=False)
class LoadedIndex:
    """`fingerprint` changes with everything that decides an answer. `ideals` give the most a word can add, `unseen` is that of a word no
    chunk has. `weights` are those of words and vectors as whole numbers. `encoder` is the id of what made the vectors, empty where there
    are none, and `background` how near a query is to any chunk, in 1/10000. `note` says why there are no vectors though asked for.
    What has no versions is asked whatever version is wanted.
    """

    name: str
    fingerprint: str
    store: ChunkStore
    ideals: Mapping[str, int]
    unseen: int
    synonyms: Synonyms
    weights: tuple[int, int]
    encoder: str = ""
    background: int = 0
    note: str = ""
    has_versions: bool = True


class ChunkStore(Protocol):
    """Chunks by row: their places in the order of (version, file as UTF-8, ordinal).

    A version is given where only its chunks take part. Rows come without end until the reader has enough.
    """

    @property
    def count(self) -> int:
        """How many chunks there are."""
        ...

    def iter_by_words(self, words: Sequence[str], version: str | None) -> Iterator[int]:
        """The rows that have any of these words (all different), the greatest sum of impacts first, then by row."""
        ...

    def iter_by_vector(self, vector: Vector, version: str | None) -> Iterator[int]:
        """All rows, the greatest product with `vector` first, then by row. An engine may leave out what is far."""
        ...

    def read_chunks(self, rows: Sequence[int]) -> Sequence[Chunk]:
        """The chunks of these rows, in this order."""
        ...

    def read_impacts(self, words: Sequence[str], rows: Sequence[int]) -> Sequence[Mapping[str, int]]:
        """For each of these rows what each of the words adds there; words it does not have are left out."""
        ...

    def read_vectors(self, rows: Sequence[int]) -> Sequence[Vector]:
        """The vectors of these rows, in this order."""
        ...
