"""Changes values of a manifest in place: every other byte stays, with comments, quotes, line ends and a byte order mark.

A value is named by a path, as `--try` does. The edited file is parsed again, and must differ from the old one only at these paths
(`splice`). `splice_manifest` edits the manifest of a pack, which must load with the new values, and `write_values` replaces the file
atomically.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path

from promptc.api import Pack
from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, UsageError, shorten, show_reason
from promptc.diag.frozen import frozen
from promptc.files.atomic import replace_file
from promptc.files.reading import read_file
from promptc.frontend.manifest import Try, follow_path, list_setters, load_manifest, manifest_path
from promptc.frontend.yaml import MAX_BYTES, load_yaml, resolve_scalar
from promptc.model.state import Node

_Scalar = str | int | float | bool
_MARK = "\ufeff"
_LINE_END = re.compile(r"\r\n|\r|\n")
_QUOTED = {'"': re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"'), "'": re.compile(r"'(?:[^'\r\n]|'')*'")}
_PERCENT = re.compile(r"[0-9]+(?:\.[0-9]+)?\s*%")
_PATH = re.compile(r"\w+(?:\.\w+)*")
_PLAIN = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)


@frozen
class ChangedValue:
    """The old text of a value (empty if it was not in the file), its new text, and its place as `FILE:LINE:COLUMN`."""

    path: str
    old: str
    new: str
    at: str


@frozen
class SplicedFile:
    """A file before and after values are changed. `changes` are in the order of the request; values that stay the same are left out."""

    name: str
    before: bytes
    after: bytes
    changes: tuple[ChangedValue, ...]


def write_values(path: str, tries: Sequence[Try], *, models: str | None = None) -> SplicedFile:
    """Change values of a pack's manifest: its file is replaced atomically, or stays as it is. Links are not followed.

    Raises what `splice_manifest` raises, and `DiskError` (PC0725) if the file cannot be written or has changed in the meantime.
    """
    made = splice_manifest(path, tries, models=models)
    if made.changes:
        replace_still(made.name, made.before, made.after)
    return made


def replace_still(name: str, before: bytes, after: bytes) -> None:
    """Replace a file atomically if its content is still `before`. Links are not followed.

    Raises `DiskError` (PC0725) if the content has changed or the file cannot be written.
    """

    def check() -> None:
        if read_file(name, MAX_BYTES) != before:
            raise OSError(0, "it has changed meanwhile")

    try:
        check()
        replace_file(name, after, like=name, check=check)
    except OSError as wrong:
        help = "run the command again"
        raise DiskError([Diagnostic("PC0725", f"cannot write `{name}`: {show_reason(wrong)}", help=help)]) from wrong


def list_line_starts(text: str) -> list[int]:
    """Return the offset of each line of a file. The first line begins after the byte order mark."""
    return [len(text) - len(text.removeprefix(_MARK)), *(one.end() for one in _LINE_END.finditer(text))]


def splice_manifest(path: str, tries: Sequence[Try], *, models: str | None = None) -> SplicedFile:
    """Return the manifest of the pack at `path` with these values. Writes nothing.

    Raises what loading the pack with `tries` raises, and `UsageError` (PC0668) for what `splice` refuses, and for values that are set in a
    base, or only in a variant, a patch or a tier.
    """
    Pack.load(path, models=models, tries=tries)
    file = manifest_path(Path(path))
    content, manifest = _read(file), load_manifest(file)
    for one, text in tries:
        _check_owner(manifest, load_yaml(content, str(file), ""), one, text)
    return splice(content, str(file), tries)


def list_unwritable(path: str, paths: Sequence[str]) -> dict[str, str]:
    """Return the paths whose values in the manifest of a pack `splice_manifest` would refuse to change, with reasons."""
    file = manifest_path(Path(path))
    content, manifest, found = _read(file), load_manifest(file), dict[str, str]()
    spliced = _Manifest(content, str(file))
    for one in paths:
        try:
            _check_owner(manifest, spliced.root, one)
            node = follow_path(spliced.root, one, one)[-1][1]
            if node is not None:
                spliced.change(one, node.value)
        except UsageError as wrong:
            found[one] = wrong.diagnostics[0].message.partition(": ")[2]
    return found


def splice(content: bytes, name: str, tries: Sequence[Try]) -> SplicedFile:
    """Return the YAML file `name` with other values, each given as YAML of one line. A key that is missing is added to its mapping.

    Raises `UsageError` (PC0668) if a value is not written in the file on one line: it comes from an anchor, or is an expression, a mapping
    or a multi-line text. Raises what `load_yaml` raises.
    """
    after, changes = content, list[ChangedValue]()
    for path, text in tries:
        file, value = _Manifest(after, name), _read_value(path, text)
        change, edited = file.change(path, value)
        try:
            made = load_yaml(edited, name, "")
        except PromptcError:
            raise _refuse(path, "the file could not be read any more", file.root.span) from None
        differing, keys = set(_iter_differing(file.root, made, ())), file.list_keys(path)
        if differing - {keys} or not _has(made, keys, value):
            raise _refuse(path, "other values of the file would change with it", file.root.span)
        if differing:
            after = edited
            changes.append(change)
    return SplicedFile(name, content, after, tuple(changes))


def _read(file: Path) -> bytes:
    try:
        return read_file(file, MAX_BYTES)
    except OSError as wrong:
        raise DiskError([Diagnostic("PC0725", f"cannot write `{file}`: {wrong.strerror or type(wrong).__name__}")]) from wrong


def _read_value(path: str, text: str) -> _Scalar:
    """Parse the new value of a path. Raises `UsageError` (PC0668) if it is not a scalar."""
    node = load_yaml(text.encode("utf-8", "surrogateescape"), f"--try {shorten(path)}", "")
    if not isinstance(node.value, _Scalar):
        raise _refuse(path, f"`{shorten(text)}` is not a number, a string, true or false", node.span)
    return node.value


def _check_owner(manifest: Node, root: Node, path: str, text: str = "…") -> None:
    """Check that the file sets a value or can take it. Raises `UsageError` (PC0668) if another file or only a variation sets it."""
    key, *inner = path.split(".")
    override = f"{key}: {reduce(lambda value, one: f'{{{one}: {value}}}', reversed(inner), text)}"
    there = f"change it there, or write `{override}` into this pack" if _PATH.fullmatch(path) else "change it there"
    steps = follow_path(manifest, path, shorten(path))
    value = steps[-1][1]
    if value is not None:
        if value.span.file != root.span.file:
            raise _refuse(path, "it is in a pack that this one extends", value.span, there)
        return
    setters = list_setters(manifest, path)
    if setters:
        there, node = setters[0]
        raise _refuse(path, f"only `{there}` sets it", node.span)
    around = next((node for _, node in reversed(steps) if node is not None), manifest)
    if around.span.file != root.span.file:
        raise _refuse(path, "the key around it is in a pack that this one extends", around.span, there)


def _refuse(path: str, why: str, span: Span, help: str = "change it by hand") -> UsageError:
    return UsageError([Diagnostic("PC0668", f"`{shorten(path)}` cannot be changed automatically: {why}", span, help)])


class _Manifest:
    """One manifest file: its text, and its values with their places."""

    def __init__(self, content: bytes, name: str) -> None:
        self.root = load_yaml(content, name, "")
        self.text = content.decode()
        self._starts = list_line_starts(self.text)
        self._met = Counter(map(id, _iter_nodes(self.root)))

    def list_keys(self, path: str) -> tuple[str | int, ...]:
        """Return the keys of a path, with entries of lists as indexes."""
        keys: list[str | int] = []
        node: Node | None = self.root
        for key, value in follow_path(self.root, path, shorten(path)):
            is_list = node is not None and isinstance(node.value, tuple)
            keys.append(next(at for at, one in enumerate(node.value) if one is value) if is_list and node is not None else key)
            node = value
        return tuple(keys)

    def change(self, path: str, value: _Scalar) -> tuple[ChangedValue, bytes]:
        """Return the change that sets a path to a value, and the file with the change. Raises `UsageError` (PC0668)."""
        steps = follow_path(self.root, path, shorten(path))
        there = [(key, node) for key, node in steps if node is not None]
        for _, node in there:
            if self._met[id(node)] > 1:
                raise _refuse(path, "an alias uses the same value", node.span)
        if len(there) < len(steps):
            parent = there[-1][1] if there else self.root
            at, new = self._add(path, parent, [key for key, _ in steps[len(there) :]], value)
            return ChangedValue(path, "", _render(value, ""), str(parent.span)), self._put(at, at, new)
        node = there[-1][1]
        self._check_kind(path, node, value)
        start, stop = self._locate(node.span), self._find_end(node)
        if stop is None:
            raise _refuse(path, "it is not a value on one line, or it has an anchor", node.span)
        new = _render(value, self.text[start])
        return ChangedValue(path, self.text[start:stop], new, str(node.span)), self._put(start, stop, new)

    def _put(self, start: int, stop: int, new: str) -> bytes:
        return (self.text[:start] + new + self.text[stop:]).encode()

    def _check_kind(self, path: str, node: Node, value: _Scalar) -> None:
        old = node.value
        if isinstance(old, dict | tuple):
            inner = next(iter([f"{path}.{key}" for key in old] if isinstance(old, dict) else [f"{path}[0]"]), path)
            help = f"name one of its values, such as `{shorten(inner)}`"
            raise _refuse(path, f"it is a {'mapping' if isinstance(old, dict) else 'list'}", node.span, help)
        if isinstance(old, str) and not isinstance(value, str) and not _PERCENT.fullmatch(old):
            raise _refuse(path, f"it is the text `{shorten(old)}`, which may be an expression", node.span)

    def _locate(self, span: Span) -> int:
        return self._starts[span.line - 1] + span.column - 1

    def _find_end(self, node: Node) -> int | None:
        """Return the end of a scalar of one line, or None for any other value."""
        start = self._locate(node.span)
        if isinstance(node.value, dict | tuple) or start >= len(self.text):
            return None
        quoted = _QUOTED.get(self.text[start])
        if quoted is not None:
            found = quoted.match(self.text, start)
            return found.end() if found is not None else None
        return start + len(node.raw) if node.raw and self.text.startswith(node.raw, start) else None

    def _add(self, path: str, parent: Node, keys: Sequence[str | int], value: _Scalar) -> tuple[int, str]:
        """Return the offset at which to add a key, and the text to insert.

        The key follows the one-line values with which the mapping begins, or else the last one-line value. If there is none, it comes
        first.
        """
        if not isinstance(parent.value, dict) or not parent.value:
            raise _refuse(path, "the file has no mapping with keys that it could be added to", parent.span)
        new = f"{_render(str(keys[0]), '')}: {_nest(keys[1:], value)}"
        first = self._locate(next(parent.key_span(key) for key in parent.value))
        ends = [self._find_end(node) if node is not None else None for node in parent.value.values()]
        leading = next((at for at, end in enumerate(ends) if end is None), len(ends))
        end = next((one for one in reversed(ends[:leading] or ends) if one is not None), None)
        start = self._locate(parent.span)
        if self.text[start] == "&":
            raise _refuse(path, f"its mapping has an anchor at {parent.span}", parent.span)
        if self.text[start] == "{":
            return (first, f"{new}, ") if end is None else (end, f", {new}")
        found = _LINE_END.search(self.text)
        line_end = found[0] if found is not None else "\n"
        indent = " " * (next(parent.key_span(key).column for key in parent.value) - 1)
        if end is None:
            return first, f"{new}{line_end}{indent}"
        found = _LINE_END.search(self.text, end)
        stop = found.start() if found is not None else len(self.text)
        return stop, f"{line_end}{indent}{new}"


def _nest(keys: Sequence[str | int], value: _Scalar) -> str:
    return f"{{{_render(str(keys[0]), '')}: {_nest(keys[1:], value)}}}" if keys else _render(value, "")


def _render(value: _Scalar, sign: str) -> str:
    """Return a scalar as YAML. A text keeps the kind of quotes in `sign`, if that is a quote."""
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    if sign == "'":
        return "'" + value.replace("'", "''") + "'"
    is_plain = sign != '"' and _PLAIN.fullmatch(value) is not None and resolve_scalar(value) == value
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _iter_nodes(node: Node) -> Iterator[Node]:
    yield node
    inner = node.value.values() if isinstance(node.value, dict) else node.value if isinstance(node.value, tuple) else ()
    for one in inner:
        yield from _iter_nodes(one)


def _iter_differing(before: Node | None, after: Node | None, keys: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of scalars that differ, and of mappings and lists whose entries or order differ."""
    old, new = before.value if before is not None else None, after.value if after is not None else None
    if isinstance(new, dict) and (isinstance(old, dict) or before is None):
        old = old or {}
        if [key for key in new if key in old] != list(old):
            yield keys
        for key, value in new.items():
            yield from _iter_differing(old.get(key), value, (*keys, key))
    elif isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _iter_differing(one, other, (*keys, at))
    elif before is None or isinstance(old, dict | tuple) or type(old) is not type(new) or old != new:
        yield keys


def _has(root: Node, keys: Sequence[str | int], value: _Scalar) -> bool:
    node: Node | None = root
    for key in keys:
        node = None if node is None else node.value[key] if isinstance(key, int) else node.get(key)
    return node is not None and type(node.value) is type(value) and node.value == value
