"""The files of a corpus, as documents."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, Source, Span, fail
from promptc.diag.typed import Any
from promptc.files.paths import read_pack_file, show_path
from promptc.files.reading import decode_text
from promptc.frontend.corpus_pattern import RESERVED, CorpusPattern, read_corpus_pattern
from promptc.frontend.yaml import load_yaml
from promptc.model.sources import CorpusIndex, Document
from promptc.text.guard import find_form
from promptc.text.json import render_canonical_json, render_digest

MAX_FILES = 200_000
"""Files of the largest corpus."""

_MARK = "---"


def read_corpus(index: CorpusIndex, wanted: Mapping[str, str] | None = None) -> tuple[Document, ...]:
    """The documents of an index, in the order of their paths as UTF-8; with `wanted`, those alone whose names in braces are so.
    Metadata has its keys in order, as it will have when it is read back from an index.

    The same on every machine: NFC, line ends as `\\n`, whatever order a folder is listed in. Raises `PromptcError`: PC0271 for a pattern,
    PC0276 for front matter, PC0133 for U+0000, and the findings of `read_pack_file`; `DiskError` for what cannot be read.
    """
    pattern = read_corpus_pattern(index.pattern, index.span, wanted)
    return tuple(_read_document(index, path, values) for path, values in _list_files(index, pattern))


def list_parts(index: CorpusIndex, names: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    """Every combination of values that these names in braces have among the files, sorted."""
    pattern = read_corpus_pattern(index.pattern, index.span)
    found = {tuple(values[name] for name in names) for _, values in _list_files(index, pattern)}
    return tuple(dict(zip(names, values, strict=True)) for values in sorted(found))


def _list_files(index: CorpusIndex, pattern: CorpusPattern) -> list[tuple[str, dict[str, str]]]:
    """Paths relative to the pack's folder, with what the names in the pattern stand for."""
    found = []
    for path in _walk(index, pattern.folder):
        values = pattern.match(unicodedata.normalize("NFC", path))
        if values is not None:
            found.append((path, values))
        if len(found) > MAX_FILES:
            raise fail("PC0271", f"the corpus has more than {MAX_FILES} files", index.span, help="part it into several indexes")
    return sorted(found, key=lambda one: one[0].encode("utf-8", "surrogateescape"))


def _walk(index: CorpusIndex, folder: str) -> Iterator[str]:
    """Every file below a folder; links to folders are not followed, nor are hidden folders entered."""
    try:
        with os.scandir(Path(index.folder, folder)) as entries:
            listed = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise DiskError([Diagnostic("PC0154", f"the folder `{folder}` cannot be read: {error.strerror}", index.span)]) from error
    for name, is_folder in listed:
        path = f"{folder}/{name}" if folder else name
        if not is_folder:
            yield path
        elif not name.startswith("."):
            yield from _walk(index, path)


def _read_document(index: CorpusIndex, path: str, values: Mapping[str, str]) -> Document:
    shown = show_path(index.span, path)
    text = find_form("NFC", decode_text(read_pack_file(index.folder, path, index.span), shown))
    _check_characters(text, shown)
    front, body = _part_front(text)
    metadata = json.loads(render_canonical_json({**index.defaults, **values, **_read_front(front, shown, values)}))
    return Document(unicodedata.normalize("NFC", path), body, metadata, render_digest(text.encode()))


def _check_characters(text: str, shown: str) -> None:
    if "\0" in text:
        before = text[: text.index("\0")]
        place = Source(shown, text).span(before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise fail("PC0133", "this text has U+0000; no prompt can hold it", place, help="remove it")


def _part_front(text: str) -> tuple[str, str]:
    """What stands between the two lines of `---` at the beginning, and the rest."""
    if not text.startswith(f"{_MARK}\n"):
        return "", text
    front, mark, body = text[len(_MARK) :].partition(f"\n{_MARK}\n")
    return (front, body) if mark else ("", text)


def _read_front(front: str, shown: str, values: Mapping[str, str]) -> dict[str, Any]:
    if not front.strip():
        return {}
    node = load_yaml(front.encode(), shown, "")  # its first line end stands for the line of the mark
    if not isinstance(node.value, dict):
        raise fail("PC0276", "front matter is a mapping", Span(shown, 2, 1), help="write `key: value`")
    for key in node.value:
        if key in RESERVED:
            raise fail(
                "PC0276", f"`{key}` is what the compiler calls a part of every chunk", node.key_span(key), help="give it another name"
            )
        if key in values and str(node.value[key].value) != values[key]:
            message = f"`{key}` is `{node.value[key].raw}` here, and `{values[key]}` by the file's path"
            raise fail("PC0276", message, node.key_span(key), help="leave it out, or move the file")
    return {key: value for key, value in node.plain().items() if key not in values}
