"""The changes of a file, as edits that can be undone one by one: values of a JSON file, lines of any other file.

`list_changes` returns the edits from one text to another, `put_back` undoes some of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from promptc.diag.findings import PromptcError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.frontend.json import JsonDocument, load_json
from promptc.frontend.yaml import load_yaml
from promptc.model.state import Node
from promptc.text.diff import diff_words
from promptc.text.json import extend_pointer, render_json_line

_MOST = 2_000
"""The most entries of two lists, between their equal ends, that are aligned with each other."""

_MARK = "\ufeff"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LONGEST = 40
_NOTHING = "nothing"
_MANIFESTS = (".yaml", ".yml", ".json")


@frozen
class LineUndo:
    """The earlier text `before` of the lines `start` to `stop` of the present file (from 0, half-open)."""

    start: int
    stop: int
    before: str


@frozen
class ValueUndo:
    """An earlier value in a JSON document. `keys` lead to its place in the present document: keys of objects and places in lists.

    `kind` says what `before`, a JSON text, is:

    - `value`: the earlier value at the place.
    - `added`: nothing. The place did not exist.
    - `gone`: the value of a key that is gone: the key with index `start` (from 0) of its object, after the key `after`.
    - `entries`: a list of the earlier entries in place of the entries `start` to `stop` (from 0, half-open) of the list there.
    - `order`: the keys of the object there, in their earlier order.
    """

    keys: tuple[str | int, ...]
    kind: str
    before: str = "null"
    after: str | None = None
    start: int = 0
    stop: int = 0


@frozen
class FileChange:
    """A change of a file in one place.

    `path` is from the root. `line` and `column` (from 1) are where the file differs now. `what` says in a line what it said and says.
    """

    path: str
    line: int
    column: int
    what: str
    undo: Any


def list_changes(path: str, old: str, new: str) -> tuple[FileChange, ...]:
    """Return the changes from `old` to `new`, in order: values of a JSON file, or runs of neighbouring lines of any other file."""
    found = _list_value_changes(path, old, new) if path.endswith(".json") else ()
    return found or list_line_changes(path, old, new)


def _list_value_changes(path: str, old: str, new: str) -> tuple[FileChange, ...]:
    """Return the changes from `old` to `new`, in the order of `new`, each of one value.

    Empty if either text is not JSON, or the values are equal.
    """
    try:
        document = load_json(new.encode(), path)
        before = json.loads(load_json(old.encode(), path).source.text)
    except PromptcError:
        return ()
    now = json.loads(document.source.text)
    return tuple(_describe_value(document, now, undo) for undo in _iter_undo((), before, now))


def _describe_value(document: JsonDocument, now: Any, undo: ValueUndo) -> FileChange:
    pointer, names = "", list[str]()
    value = now
    for key in undo.keys:
        pointer, value = extend_pointer(pointer, str(key)), _get(value, key)
        names.append(_name_entry(value) or str(key) if isinstance(key, int) else key)
    if undo.kind == "entries":
        pointer = extend_pointer(pointer, str(undo.start))
        names.append(_name_entry((value[undo.start : undo.stop] or json.loads(undo.before))[0]) or str(undo.start))
    span = document.span(pointer)
    said = "its keys in another order" if undo.kind == "order" else say_change(*_show(undo, now))
    return FileChange(document.source.name, span.line, span.column, ": ".join((".".join(names), said) if names else (said,)), undo)


def _get(value: Any, key: str | int) -> Any:
    """Return the value at a key or index, or None if there is none."""
    if isinstance(key, int):
        return value[key] if key < len(value) else None
    return value.get(key)


def _name_entry(entry: object) -> str:
    """Return the `id` or the `name` of a list entry, or an empty string if it has neither."""
    for key in ("id", "name"):
        named = entry.get(key) if isinstance(entry, dict) else None
        named = named.value if isinstance(named, Node) else named
        if isinstance(named, str | int):
            return str(named)
    return ""


def _show(undo: ValueUndo, now: Any) -> tuple[str, str]:
    """Return the earlier and the present value as JSON; empty for no value."""
    value = now
    for key in undo.keys:
        value = _get(value, key)
    if undo.kind == "entries":
        return _show_entries(json.loads(undo.before)), _show_entries(value[undo.start : undo.stop])
    return "" if undo.kind == "added" else undo.before, "" if undo.kind == "gone" else render_json_line(value)


def _show_entries(entries: Sequence[Any]) -> str:
    return ", ".join(render_json_line(one) for one in entries)


def _iter_undo(keys: tuple[str | int, ...], old: Any, new: Any) -> Iterator[ValueUndo]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _iter_in_object(keys, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _iter_in_list(keys, old, new)
    elif render_json_line(old) != render_json_line(new):
        yield ValueUndo(keys, "value", render_json_line(old))


def _iter_in_object(keys: tuple[str | int, ...], old: dict[str, Any], new: dict[str, Any]) -> Iterator[ValueUndo]:
    for key, value in new.items():
        if key in old:
            yield from _iter_undo((*keys, key), old[key], value)
        else:
            yield ValueUndo((*keys, key), "added")
    previous = None
    for at, (key, value) in enumerate(old.items()):
        if key not in new:
            yield ValueUndo((*keys, key), "gone", render_json_line(value), previous, start=at)
        previous = key
    if [key for key in old if key in new] != [key for key in new if key in old]:
        yield ValueUndo(keys, "order", render_json_line(list(old)))


def _iter_in_list(keys: tuple[str | int, ...], old: list[Any], new: list[Any]) -> Iterator[ValueUndo]:
    """Yield the undos of a list. Equal entries match; of the rest, entries match if their names, or else their kinds, are equal."""
    for start, stop, first, last in _iter_unlike([render_json_line(one) for one in old], [render_json_line(one) for one in new]):
        names = [_name(one) for one in old[start:stop]], [_name(one) for one in new[first:last]]
        for kind, old_from, old_to, new_from, new_to in _match(*names):
            if kind != "equal":
                was = render_json_line(old[start + old_from : start + old_to])
                yield ValueUndo(keys, "entries", was, start=first + new_from, stop=first + new_to)
                continue
            for at in range(new_to - new_from):
                yield from _iter_undo((*keys, first + new_from + at), old[start + old_from + at], new[first + new_from + at])


def _iter_unlike(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges of entries in which the lists differ."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(inner_old), len(inner_new)) > _MOST:
        yield head, len(old) - tail, head, len(new) - tail
        return
    for kind, *places in _match(inner_old, inner_new):
        if kind != "equal":
            start, stop, first, last = (head + place for place in places)
            yield start, stop, first, last


def _match(old: Sequence[Any], new: Sequence[Any]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _name(entry: Any) -> tuple[str, str]:
    return type(entry).__name__, _name_entry(entry)


def put_back(new: str, changes: Sequence[FileChange]) -> str:
    """Return the present text with these changes undone. All of them must come from one `list_changes`.

    With every change undone it is the earlier text or, for values, JSON of the earlier value.
    """
    if not changes:
        return new
    return _put_values_back(new, changes) if isinstance(changes[0].undo, ValueUndo) else _put_lines_back(new, changes)


def _put_values_back(new: str, changes: Sequence[FileChange]) -> str:
    """Return the present JSON with these changes undone. With all of them it has the earlier value."""
    whole = [json.loads(new.removeprefix(_MARK))]
    for undo in sorted((one.undo for one in changes), key=_rank):
        _undo(whole, undo)
    return render_json_line(whole[0]) + "\n"


def _rank(undo: ValueUndo) -> tuple[int, bool, int]:
    """Return a sort key: inner values before outer ones, and entries of a list from the end, so that keys and indexes stay valid."""
    return -len(undo.keys), undo.kind == "order", -undo.start if undo.kind == "entries" else undo.start


def _undo(whole: list[Any], undo: ValueUndo) -> None:
    keys: tuple[str | int, ...] = (0, *undo.keys)
    holder: Any = whole
    for key in keys[:-1]:
        holder = holder[key]
    key, before = keys[-1], json.loads(undo.before)
    if undo.kind == "added":
        del holder[key]
    elif undo.kind == "gone":
        _insert(holder, str(key), before, undo.after)
    elif undo.kind == "entries":
        holder[key][undo.start : undo.stop] = before
    elif undo.kind == "order":
        kept = holder[key]
        holder[key] = {one: kept[one] for one in (*(one for one in before if one in kept), *(one for one in kept if one not in before))}
    else:
        holder[key] = before


def _insert(holder: dict[str, Any], key: str, value: Any, after: str | None) -> None:
    """Insert a key after the key `after`, or at the front if `after` is missing."""
    kept = dict(holder)
    holder.clear()
    if after not in kept:
        holder[key] = value
    for one, inner in kept.items():
        holder[one] = inner
        if one == after:
            holder[key] = value


def _put_lines_back(new: str, changes: Sequence[FileChange]) -> str:
    """Return the present text with these changes undone. With all of them it is the earlier text."""
    lines = _LINE.findall(new)
    for undo in sorted((one.undo for one in changes), key=lambda undo: undo.start, reverse=True):
        lines[undo.start : undo.stop] = [undo.before]
    return "".join(lines)


def list_line_changes(path: str, old: str, new: str) -> tuple[FileChange, ...]:
    """Return the changes from `old` to `new`, in order, each of neighbouring lines."""
    return tuple(_describe(path, old, new, *hunk) for hunk in _iter_hunks(old, new))


def _describe(path: str, old: str, new: str, gone_from: int, start: int, before: str, after: str) -> FileChange:
    """Describe a change with the keys that lead to it. For removed lines these are the keys in the old text."""
    line, column = _count_to_difference(before, after)
    if before and after:
        named = _name_key(path, new, start + line, column)
    else:
        text, at, lines = (new, start, after) if after else (old, gone_from, before)
        named = _name_key(path, text, at, _indent(lines), is_whole=True)
    said = say_change(before, after)
    undo = LineUndo(start, start + len(_LINE.findall(after)), before)
    return FileChange(path, start + line + 1, column + 1, f"{named}: {said}" if named else said, undo)


def _count_to_difference(before: str, after: str) -> tuple[int, int]:
    """Return line and column, from 0, of the first character of `after` that differs."""
    at = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), min(len(before), len(after)))
    at = min(at, max(len(after) - 1, 0))
    return after.count("\n", 0, at), at - (after.rfind("\n", 0, at) + 1)


def _name_key(path: str, text: str, line: int, column: int, *, is_whole: bool = False) -> str:
    """Return the keys that lead to a place of the file, from 0, such as `sections.recent.budget`.

    Empty if the file is not YAML, or cannot be read. `is_whole` means a list entry that begins at the place, and not the first of its keys.
    """
    if not path.endswith(_MANIFESTS):
        return ""
    try:
        root = load_yaml(text.encode(), path, "")
    except PromptcError:
        return ""
    return ".".join(_list_keys(root, line + 1, column + 1, is_whole))


def _list_keys(node: Node, line: int, column: int, is_whole: bool) -> list[str]:
    """Return the keys down to the last one that begins at or before the place."""
    if isinstance(node.value, dict):
        inner = [(node.key_span(key), key, value) for key, value in node.items()]
    elif isinstance(node.value, tuple):
        inner = [(value.span, _name_entry(value.value) or str(at), value) for at, value in enumerate(node.value)]
    else:
        return []
    passed = [(name, value) for span, name, value in inner if (span.line, span.column) <= (line, column)]
    if not passed:
        return []
    name, value = passed[-1]
    is_it = is_whole and isinstance(node.value, tuple) and (value.span.line, value.span.column) == (line, column)
    return [name] if is_it else [name, *_list_keys(value, line, column, is_whole)]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" -"))


def _iter_hunks(old: str, new: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield whole lines that differ: the line in the old text and in the new one, from 0, the old lines, the new lines."""
    for old_line, line, before, after in _iter_rough(old, new):
        gone, come = _LINE.findall(before), _LINE.findall(after)
        head = _count_alike(gone, come)
        tail = _count_alike(gone[head:][::-1], come[head:][::-1])
        yield old_line + head, line + head, "".join(gone[head : len(gone) - tail]), "".join(come[head : len(come) - tail])


def _iter_rough(old: str, new: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield lines in which words differ. A run of words may end in a line that is equal."""
    old_line, line, before, after = 0, 0, "", ""
    for run in diff_words(old, new):
        for piece in _LINE.findall(run.text):
            before += piece if run.kind != "come" else ""
            after += piece if run.kind != "gone" else ""
            is_even = run.kind == "same" and piece.endswith("\n")
            if not is_even:
                continue
            if before != after:
                yield old_line, line, before, after
            old_line, line = old_line + len(_LINE.findall(before)), line + len(_LINE.findall(after))
            before = after = ""
    if before != after:
        yield old_line, line, before, after


def _count_alike(some: Sequence[str], others: Sequence[str]) -> int:
    """Return the length of the common prefix."""
    return next((at for at, (one, other) in enumerate(zip(some, others, strict=False)) if one != other), min(len(some), len(others)))


def say_change(before: str, after: str) -> str:
    """Describe a change from shortly before the first difference to the end of the last different word.

    Whitespace is mentioned only if nothing else differs.
    """
    old, new = (" ".join(text.split()) for text in (before, after))
    if old == new:
        return f"white space alone: {_clip(new)}" if new else "white space alone"
    start = _count_alike_ends(old, new)
    start = max(0, start - _LONGEST // 2, old.rfind(" ", 0, start) + 1) if start < max(len(old), len(new)) else 0
    old, new = old[start:], new[start:]
    tail = _count_alike_ends(old[::-1], new[::-1])
    old, new = (_end_word(text, len(text) - tail) for text in (old, new))
    return f"{_clip(old) or _NOTHING} → {_clip(new) or _NOTHING}"


def _clip(text: str) -> str:
    """Return as much of the text as is shown."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip(' …')}…"


def _count_alike_ends(old: str, new: str) -> int:
    return next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))


def _end_word(text: str, at: int) -> str:
    """Return the text up to the first space from `at` on."""
    end = text.find(" ", at)
    return text if end < 0 else f"{text[:end]}…"
