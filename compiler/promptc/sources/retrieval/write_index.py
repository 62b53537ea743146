"""An index, written to its folder so that a reader finds the old one or the new one whole, whenever the writing stops.

    <folder>/manifest.json           what it is, and the digest of every file
    <folder>/<generation>/           documents.json  chunks.jsonl  words.json  postings.u32  vectors.i16

A generation is written beside the one in use and synced; then `manifest.json` is replaced in one step; then the old one goes. No clock,
path of the machine or order of a listing is in any file, so building twice gives the same bytes.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from array import array
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, Span
from promptc.diag.typed import Any
from promptc.files.atomic import make_folder_beside, replace_file, sync_folder
from promptc.files.reading import read_inside
from promptc.sources.retrieval.built_index import FORMAT, BuiltIndex
from promptc.text.json import render_canonical_json, render_digest

MANIFEST = "manifest.json"
_BUILDING = "generation"
"""What the name of a folder that is being written is made from: the same for all generations, so that a build finds what was left."""

_GENERATION = 16
FILES = ("documents.json", "chunks.jsonl", "words.json", "postings.u32")
VECTORS = "vectors.i16"
"""The files of an index; the last where it has vectors."""

MAX_BYTES = 1_000_000_000
"""Bytes that the files of an index may have together."""


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
