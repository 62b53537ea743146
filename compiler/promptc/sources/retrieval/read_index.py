"""An index, read back from its folder: whole and as it was written, or a finding."""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Mapping
from operator import le
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, Span
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.reading import TooLongError, read_file, read_inside
from promptc.model.sources import Chunk
from promptc.sources.retrieval.built_index import FORMAT, BuiltIndex, Vectors
from promptc.sources.retrieval.weigh_words import IndexWords
from promptc.sources.retrieval.write_index import FILES, MANIFEST, MAX_BYTES, VECTORS, digest_manifest, name_generation
from promptc.text.json import render_digest

_MOST_TOLD = 1_000_000
"""Bytes of the longest manifest of an index."""


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
