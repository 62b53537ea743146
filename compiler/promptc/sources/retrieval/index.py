"""Indexes on disk, which are read back exactly as they were written, or reported as a diagnostic.

`write_index` writes an index and `read_index` reads it. `check_index` checks that an index is up to date with its documents and settings. A
folder has a manifest and one folder of files (a generation) that the manifest names, so that a reader never sees a half-written index.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from operator import le
from pathlib import Path
from shlex import quote

from promptc.diag.findings import Diagnostic, DiskError, Span, show_reason, show_value
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.atomic import fill_folder, make_folder_beside, replace_file
from promptc.files.reading import TooLongError, read_file, read_inside
from promptc.model.sources import Chunk, CorpusIndex, Document
from promptc.sources.retrieval.encoder import KNOWN, SCALE, SIZE
from promptc.sources.retrieval.local import BACKGROUND_UNIT, BuiltIndex, Vectors, list_starts
from promptc.sources.retrieval.scoring import IndexWords
from promptc.text.json import render_canonical_json, render_digest

_MOST_TOLD = 1_000_000
"""The maximum size of the manifest of an index, in bytes."""

MANIFEST = "manifest.json"
_BUILDING = "generation"
"""The base name of a folder that is being written: the same for all generations, so that a build finds leftovers of earlier ones."""

_GENERATION = 16
_BITS = 63
_MOST_MIDDLE = 2 * SCALE * SCALE
"""Greater than any product of two vectors."""

FILES = ("documents.json", "chunks.jsonl", "idle.json", "words.json", "postings.u32")
VECTORS = "vectors.i16"
"""The file of vectors, which an index has in addition to `FILES` if it has vectors."""

MAX_BYTES = 1_000_000_000
"""The maximum total size of the files of an index, in bytes."""


FORMAT = 3
"""The version of the file format. It increases with every change of the format, or of how chunks, words and vectors are made."""


@frozen
class IndexPlace:
    """The folder of an index, the place where the pack declares it, its name, and the command that builds it."""

    folder: Path
    span: Span
    name: str

    @property
    def command(self) -> str:
        return f"promptc index build {quote(self.span.file)} {quote(self.name)}"


def tell_chunk(chunk: Chunk) -> dict[str, Any]:
    """Return the chunk as it is stored, as a JSON value."""
    return {name: getattr(chunk, name) for name in Chunk.__match_args__} | {"metadata": dict(chunk.metadata)}


def read_chunk(told: Mapping[str, Any]) -> Chunk:
    """Return the chunk that `tell_chunk` described. Raises LookupError, TypeError or ValueError for anything else."""
    fields = {name: told[name] for name in Chunk.__match_args__}
    heading, covers, asked, metadata = fields["heading"], fields["covers"], fields["asked"], fields["metadata"]
    if not (type(heading) is type(covers) is type(asked) is list and type(metadata) is dict):
        raise TypeError
    _check_text("".join((fields["id"], fields["file"], fields["text"], *heading, *covers, *asked, *metadata)))
    for value in metadata.values():
        _check_plain(value)
    if not (_is_count(fields["ordinal"]) and _is_count(fields["tokens"])):
        raise TypeError
    return Chunk(**fields | {"heading": tuple(heading), "covers": tuple(covers), "asked": tuple(asked)})


def _check_text(text: str) -> None:
    """Raise ValueError for a text that no file of a corpus can contain."""
    if not text.isascii():
        text.encode()  # refuses half of a surrogate pair
    if "\0" in text:
        raise ValueError


def _check_plain(value: Any) -> None:
    """Raise ValueError for a text or a number that no file of a corpus can contain, at any depth of lists and mappings."""
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict | list):
        for one in (*value, *value.values()) if isinstance(value, dict) else value:
            _check_plain(one)
    elif value is not None and not -(1 << _BITS) <= value < 1 << _BITS and not (isinstance(value, float) and math.isfinite(value)):
        raise ValueError


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    _check_text(value)
    return value


def _is_count(value: Any, stop: int = 1 << _BITS) -> bool:
    """Return whether the value is a whole number from 0 up to but excluding `stop`."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < stop


def digest_corpus(documents: Iterable[Document]) -> str:
    """Return a digest of every file's path and content, in order."""
    return render_digest("".join(f"{one.file}\0{one.digest}\n" for one in documents).encode("utf-8", "surrogatepass"))


def digest_config(index: CorpusIndex, counter: str) -> str:
    """Return a digest of the settings that decide how files become chunks. `counter` is the digest of the token counter.

    Settings that only decide how queries match chunks (weights, synonyms) are not included: they may change without a build.
    """
    chunk = index.chunk
    told = {
        "format": FORMAT,
        "pattern": index.pattern,
        "asked": index.asked,
        "chunk": [chunk.least, chunk.most, chunk.overlap],
        "defaults": dict(index.defaults),
        "counter": counter,
    }
    return render_digest(render_canonical_json(told).encode("utf-8", "surrogatepass"))


def check_index(index: CorpusIndex, built: BuiltIndex, documents: Sequence[Document], counter: str, place: IndexPlace) -> None:
    """Raise `DiskError` (PC0192) if the index was made from other documents, or with other settings or another model than the pack's."""
    why = _describe_difference(index, built, documents, counter)
    if why:
        message = f"the index `{index.name}` in `{place.folder}` is out of date: {why}"
        raise DiskError([Diagnostic("PC0192", message, place.span, f"run `{place.command}`")])


def _describe_difference(index: CorpusIndex, built: BuiltIndex, documents: Sequence[Document], counter: str) -> str:
    encoder, vectors = index.matching.encoder, built.vectors
    if built.config != digest_config(index, counter):
        return "the pack's settings of chunks, or its tokenizer, are not those it was built with"
    if vectors is not None and encoder and (vectors.encoder, vectors.digest) != (encoder, KNOWN.get(encoder)):
        return f"its vectors were made by `{vectors.encoder}` ({vectors.digest[:19]}…), not by what `{encoder}` is now"
    return "" if built.corpus == digest_corpus(documents) else _describe_changes(built, documents)


def _describe_changes(built: BuiltIndex, documents: Sequence[Document]) -> str:
    before, now = dict(built.documents), {one.file: one.digest for one in documents}
    new, gone = sorted(now.keys() - before.keys()), sorted(before.keys() - now.keys())
    changed = sorted(file for file in now.keys() & before.keys() if now[file] != before[file])
    told = [(changed, "changed"), (new, "new"), (gone, "gone")]
    parts = (f"`{files[0]}`{f' and {len(files) - 1} more' if files[1:] else ''} {word}" for files, word in told if files)
    return ", ".join(parts) or "it was built from the files in another order"


def read_index(place: IndexPlace) -> BuiltIndex:
    """Read the index at `place`. Raises `DiskError`: PC0190 if there is none, PC0193 if it is damaged, PC0194 if it has another format."""
    try:
        return _read(place, _read_manifest(place))
    except FileNotFoundError:
        pass  # a build may have just removed the old files: then the manifest names new ones
    try:
        return _read(place, _read_manifest(place))
    except FileNotFoundError as error:
        raise _refuse("PC0193", f"its file `{Path(error.filename or '').name}` is missing", place) from None


def _read_manifest(place: IndexPlace) -> Mapping[str, Any]:
    try:
        content = read_file(place.folder / MANIFEST, _MOST_TOLD)
    except (FileNotFoundError, NotADirectoryError):
        raise DiskError(
            [Diagnostic("PC0190", f"the index `{place.name}` has not been built: `{place.folder}` has no index", place.span, _run(place))]
        ) from None
    except OSError as error:
        raise _refuse("PC0193", f"`{MANIFEST}` cannot be read: {show_reason(error)}", place) from error
    try:
        manifest = json.loads(content)
        digest = digest_manifest(manifest) if isinstance(manifest, dict) else ""
    except (ValueError, RecursionError):
        raise _refuse("PC0193", f"`{MANIFEST}` is not JSON", place) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        form = "no format" if found is None else f"the format {show_value(found)}"
        raise _refuse("PC0194", f"it has {form}, and this promptc reads {FORMAT}", place)
    if manifest.get("fingerprint") != digest:
        raise _refuse("PC0193", f"`{MANIFEST}` was changed", place)
    if manifest.get("index") != place.name:
        raise _refuse("PC0194", f"it was built for the index {show_value(manifest.get('index'))}", place)
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
        raise _refuse("PC0193", f"a file cannot be read: {show_reason(error)}", place) from error
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError):
        raise _refuse("PC0193", f"`{MANIFEST}` and its files do not belong together", place) from None
    return built


def _list(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that such an index must have, whatever else its manifest names."""
    names = (*FILES, VECTORS) if manifest["encoder"] is not None else FILES
    if sum(manifest["files"][name]["bytes"] for name in names) > MAX_BYTES:
        raise _DamageError(f"its files have more than {MAX_BYTES:,} bytes")
    return names


def _read_file(folder: Path, relative: str, told: Mapping[str, Any]) -> bytes:
    """Return the content of a file, but only if its size and digest are those in the manifest."""
    try:
        content = read_inside(folder, relative, told["bytes"])
    except TooLongError:
        content = b""
    if len(content) != told["bytes"] or render_digest(content) != told["digest"]:
        raise _DamageError(f"its file `{relative.rpartition('/')[2]}` has changed since it was written")
    return content


def _build(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> BuiltIndex:
    """Build the index from its files.

    Raises `_DamageError`, or any other error if another program wrote the content: digests do not prove its form.
    """
    words, ideals = _read_lines(files["words.json"])
    encoder = manifest["encoder"]
    chunks = tuple(read_chunk(told) for told in _read_lines(files["chunks.jsonl"]))
    built = BuiltIndex(
        manifest["index"],
        manifest["config"],
        manifest["corpus"],
        tuple((file, digest) for file, digest in _read_lines(files["documents.json"])),
        chunks,
        _read_words(words, ideals, files["postings.u32"], manifest),
        _read_vectors(manifest, files[VECTORS]) if encoder is not None else None,
        manifest["fingerprint"],
        tuple(_require_text(line) for line in _read_lines(files["idle.json"])),
    )
    if not _is_sound(built):
        raise _DamageError("its numbers do not belong to its chunks")
    return built


def _read_lines(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.decode("utf-8", "surrogatepass").split("\n") if line]


def _read_words(words: list[str], ideals: list[int], content: bytes, manifest: Mapping[str, Any]) -> IndexWords:
    numbers = _read_array("I", content)
    ends, postings = len(words) + 1, manifest["postings"]
    return IndexWords(
        {_require_text(word): number for number, word in enumerate(words)},
        array("I", ideals),
        numbers[:ends],
        numbers[ends : ends + postings],
        numbers[ends + postings :],
        manifest["unseen"],
    )


def _read_vectors(manifest: Mapping[str, Any], content: bytes) -> Vectors:
    encoder = manifest["encoder"]
    id, digest = (_require_text(encoder[name]) for name in ("id", "digest"))
    return Vectors(id, digest, encoder["size"], manifest["background"], _read_array("h", content), manifest["middle"])


def _read_array(kind: str, content: bytes) -> array[int]:
    """Return the numbers of a file, least significant byte first."""
    values = array(kind)
    values.frombytes(content)
    if sys.byteorder != "little":
        values.byteswap()
    return values


def _is_sound(built: BuiltIndex) -> bool:
    """Return whether every number refers to a chunk, a word or a vector that exists, and the chunks of each version are together."""
    words, count, vectors = built.words, len(built.chunks), built.vectors
    ends, versions = words.ends, [chunk.version for chunk in built.chunks]
    is_whole = len(words.ideals) == len(words.numbers) == len(ends) - 1 and len(words.impacts) == len(words.rows) == ends[-1]
    is_rising = ends[0] == 0 and all(map(le, ends, ends[1:]))
    is_near = max(words.rows, default=-1) < count
    is_sorted = all(map(le, versions, versions[1:])) and _is_count(words.unseen)
    encoded = list_starts(built.chunks)[-1] + len(built.idle) + bool(built.idle)
    return is_whole and is_rising and is_near and is_sorted and (vectors is None or _are_sound(vectors, encoded))


def _are_sound(vectors: Vectors, encoded: int) -> bool:
    """Return whether these can be the vectors of so many texts."""
    size = vectors.size
    is_of_encoder = _is_count(size) and size > 0 and (size == SIZE or vectors.encoder not in KNOWN)
    is_between = _is_count(vectors.background, BACKGROUND_UNIT) and _is_count(vectors.middle + _MOST_MIDDLE, 2 * _MOST_MIDDLE)
    return is_of_encoder and is_between and len(vectors.values) == encoded * size


def _run(place: IndexPlace) -> str:
    return f"run `{place.command}`"


def _refuse(code: str, wrong: str, place: IndexPlace) -> DiskError:
    word = "is damaged" if code == "PC0193" else "cannot be used"
    return DiskError([Diagnostic(code, f"the index `{place.name}` in `{place.folder}` {word}: {wrong}", place.span, _run(place))])


class _DamageError(Exception):
    """A file is not as it was written."""


def write_index(folder: Path, built: BuiltIndex, span: Span | None = None) -> str:
    """Write the index and return its fingerprint. Raises `DiskError` (PC0198)."""
    files = render_files(built)
    manifest = _render_manifest(built, files)
    fingerprint = str(manifest["fingerprint"])
    if sum(map(len, files.values())) > MAX_BYTES:
        message = f"the index for `{folder}` has more than {MAX_BYTES:,} bytes"
        raise DiskError([Diagnostic("PC0198", message, span, "split the corpus into several indexes")])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        generation = name_generation(fingerprint)
        _write_generation(folder, generation, files)
        text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        replace_file(folder / MANIFEST, text.encode())
        _remove_others(folder, generation)
    except OSError as error:
        message = f"cannot write the index to `{folder}`: {show_reason(error)}"
        raise DiskError(
            [Diagnostic("PC0198", message, span, "free some space, allow writing to the folder, or name another `path`")]
        ) from error
    return fingerprint


def _render_manifest(built: BuiltIndex, files: dict[str, bytes]) -> dict[str, Any]:
    """Return the manifest of an index, with a fingerprint of everything else in it."""
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
        "middle": vectors.middle if vectors is not None else 0,
        "files": {name: {"bytes": len(content), "digest": render_digest(content)} for name, content in files.items()},
    }
    return told | {"fingerprint": digest_manifest(told)}


def digest_manifest(manifest: dict[str, Any]) -> str:
    """Return the fingerprint of a manifest: the digest of everything in it but the fingerprint."""
    told = {key: value for key, value in manifest.items() if key != "fingerprint"}
    return render_digest(render_canonical_json(told).encode("utf-8", "surrogatepass"))


def render_files(built: BuiltIndex) -> dict[str, bytes]:
    """Return the files of an index by name."""
    words = built.words
    files = {
        "documents.json": _render_lines([list(one) for one in built.documents]),
        "chunks.jsonl": _render_lines([tell_chunk(chunk) for chunk in built.chunks]),
        "idle.json": _render_lines(list(built.idle)),
        "words.json": _render_lines([list(words.numbers), words.ideals.tolist()]),
        "postings.u32": b"".join(map(_render_array, (words.ends, words.rows, words.impacts))),
    }
    return files | ({VECTORS: _render_array(built.vectors.values)} if built.vectors is not None else {})


def _render_lines(values: list[Any]) -> bytes:
    return "".join(f"{render_canonical_json(value)}\n" for value in values).encode("utf-8", "surrogatepass")


def _render_array(values: array[int]) -> bytes:
    """Return the numbers as bytes, least significant byte first."""
    if sys.byteorder == "little":
        return values.tobytes()
    turned = values[:]
    turned.byteswap()
    return turned.tobytes()


def _write_generation(folder: Path, generation: str, files: dict[str, bytes]) -> None:
    """Write all files to the disk before their folder gets its final name. An existing folder may be damaged, and is replaced."""
    if all(_is_there(folder, f"{generation}/{name}", content) for name, content in files.items()):
        return
    final = folder / generation
    with make_folder_beside(folder / _BUILDING) as made:
        fill_folder(made, files)
        if final.exists():
            shutil.rmtree(final)
        Path(made).rename(final)


def name_generation(fingerprint: str) -> str:
    """Return the name of the folder that contains the files of an index."""
    return fingerprint.partition(":")[2][:_GENERATION]


def _is_there(folder: Path, relative: str, content: bytes) -> bool:
    try:
        return read_inside(folder, relative, len(content)) == content
    except OSError:
        return False


def _remove_others(folder: Path, generation: str) -> None:
    """Remove earlier generations. Files and folders whose names are not those of generations stay."""
    for path in sorted(folder.iterdir()):
        is_generation = len(path.name) == _GENERATION and not path.name.strip("0123456789abcdef") and path.name != generation
        if is_generation and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
