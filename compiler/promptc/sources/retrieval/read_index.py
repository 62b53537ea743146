"""An index, read back from its folder: whole and as it was written, or a finding."""

from __future__ import annotations

import errno
import json
import stat
import sys
from array import array
from collections.abc import Mapping
from pathlib import Path

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError
from promptc.diag.frozen import frozen
from promptc.diag.span import Span
from promptc.diag.typed import Any
from promptc.model.index import Chunk
from promptc.sources.retrieval.built_index import FORMAT, BuiltIndex, Vectors
from promptc.sources.retrieval.weigh_words import Words
from promptc.sources.retrieval.write_index import MANIFEST, digest_manifest, name_generation
from promptc.text.digest import render_digest

_MOST_BYTES = 4_000_000_000


@frozen
class Place:
    """Where an index lies, where the pack declares it, and the command that builds it."""

    folder: Path
    span: Span
    name: str

    @property
    def command(self) -> str:
        return f"promptc index build {self.span.file} {self.name}"


class _DamageError(Exception):
    """A file is not what was written."""


def read_index(place: Place) -> BuiltIndex:
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


def _read_manifest(place: Place) -> Mapping[str, Any]:
    try:
        _demand_file(place.folder / MANIFEST)
        content = (place.folder / MANIFEST).read_bytes()
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
    if manifest["index"] != place.name:
        raise _refuse("PC0194", f"it was built as `{manifest['index']}`", place)
    return manifest


def _read(place: Place, manifest: Mapping[str, Any]) -> BuiltIndex:
    folder = place.folder / name_generation(manifest["fingerprint"])
    try:
        files = {name: _read_file(folder / name, told) for name, told in manifest["files"].items()}
    except _DamageError as damage:
        raise _refuse("PC0193", str(damage), place) from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _refuse("PC0193", f"a file cannot be read: {error.strerror or error}", place) from error
    words, ideals = _read_lines(files["words.json"])
    encoder = manifest["encoder"]
    return BuiltIndex(
        manifest["index"],
        manifest["config"],
        manifest["corpus"],
        tuple((file, digest) for file, digest in _read_lines(files["documents.json"])),
        tuple(_read_chunk(told) for told in _read_lines(files["chunks.jsonl"])),
        _read_words(words, ideals, files["postings.u32"], manifest),
        Vectors(encoder["id"], encoder["digest"], encoder["size"], manifest["background"], read_array("h", files["vectors.i16"]))
        if encoder is not None
        else None,
        manifest["fingerprint"],
    )


def read_array(kind: str, content: bytes) -> array[int]:
    """The numbers of a file, each with the least byte first."""
    values = array(kind)
    values.frombytes(content)
    if sys.byteorder != "little":
        values.byteswap()
    return values


def _read_file(path: Path, told: Mapping[str, Any]) -> bytes:
    """Its bytes, if they are what the manifest tells: nothing of them is looked at before."""
    _demand_file(path)
    with path.open("rb") as file:
        content = file.read(min(told["bytes"], _MOST_BYTES) + 1)
    if len(content) != told["bytes"] or render_digest(content) != told["digest"]:
        raise _DamageError(f"its file `{path.name}` is not as it was written")
    return content


def _demand_file(path: Path) -> None:
    """Raises `OSError` where there is something else: a pipe would be waited for."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")


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


def _read_words(words: list[str], ideals: list[int], content: bytes, manifest: Mapping[str, Any]) -> Words:
    numbers = read_array("I", content)
    ends, postings = len(words) + 1, manifest["postings"]
    return Words(
        {word: number for number, word in enumerate(words)},
        array("I", ideals),
        numbers[:ends],
        numbers[ends : ends + postings],
        numbers[ends + postings :],
        manifest["unseen"],
    )


def _run(place: Place) -> str:
    return f"run `{place.command}`"


def _refuse(code: str, wrong: str, place: Place) -> DiskError:
    word = "is damaged" if code == "PC0193" else "is another's"
    return DiskError([Diagnostic(code, f"the index `{place.name}` in `{place.folder}` {word}: {wrong}", place.span, _run(place))])
