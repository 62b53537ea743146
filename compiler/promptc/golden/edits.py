"""The changes of a file, as edits that can be undone one by one: values of a JSON file, lines of any other file.

`list_changes` returns the edits from one text to another, `put_back` undoes some of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from promptc.diag.findings import PromptcError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.frontend.json import JsonDocument, load_json
from promptc.frontend.yaml import load_yaml
from promptc.model.state import Node
from promptc.text.diff import align, count_alike, diff_words
from promptc.text.json import extend_pointer, render_json_line

_MOST = 1 << 22
"""The most pairs of entries of two lists that are compared, so that a state of long lists stays cheap: 2 048 entries on both sides."""

_MOST_HUNKS = 200
"""The most edits of the lines of a file. What differs after them is one more."""

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
    for rough in align([render_json_line(one) for one in old], [render_json_line(one) for one in new], _MOST):
        if rough.is_same:
            continue
        before, after = old[rough.start : rough.stop], new[rough.first : rough.last]
        for one in align([_name(entry) for entry in before], [_name(entry) for entry in after], _MOST):
            start = rough.first + one.first
            if not one.is_same:
                was = render_json_line(before[one.start : one.stop])
                yield ValueUndo(keys, "entries", was, start=start, stop=rough.first + one.last)
                continue
            for at in range(one.last - one.first):
                yield from _iter_undo((*keys, start + at), before[one.start + at], after[one.first + at])


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
    """Return the changes from `old` to `new`, in order, each of neighbouring lines. The last of very many has the rest of the file."""
    hunks = list(_iter_hunks(old, new))
    if len(hunks) > _MOST_HUNKS:
        gone_from, start, *_ = hunks[_MOST_HUNKS]
        before, after = ("".join(_LINE.findall(text)[at:]) for text, at in ((old, gone_from), (new, start)))
        hunks = [*hunks[:_MOST_HUNKS], (gone_from, start, before, after)]
    roots = _load_root(path, old), _load_root(path, new)
    return tuple(_describe(path, roots, *hunk) for hunk in hunks)


def _load_root(path: str, text: str) -> Node | None:
    """Return the values of a YAML file, or None if it is not YAML or cannot be read."""
    if not path.endswith(_MANIFESTS):
        return None
    try:
        return load_yaml(text.encode(), path, "")
    except PromptcError:
        return None


def _describe(path: str, roots: tuple[Node | None, Node | None], gone_from: int, start: int, before: str, after: str) -> FileChange:
    """Describe a change with the keys that lead to it. For removed lines these are the keys in the old text, the first of the roots."""
    line, column = _count_to_difference(before, after)
    if before and after:
        named = _name_key(roots[1], start + line, column)
    else:
        root, at, lines = (roots[1], start, after) if after else (roots[0], gone_from, before)
        named = _name_key(root, at, len(lines) - len(lines.lstrip(" -")), is_whole=True)
    said = say_change(before, after)
    undo = LineUndo(start, start + len(_LINE.findall(after)), before)
    return FileChange(path, start + line + 1, column + 1, f"{named}: {said}" if named else said, undo)


def _count_to_difference(before: str, after: str) -> tuple[int, int]:
    """Return line and column, from 0, of the first character of `after` that differs."""
    at = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), min(len(before), len(after)))
    at = min(at, max(len(after) - 1, 0))
    return after.count("\n", 0, at), at - (after.rfind("\n", 0, at) + 1)


def _name_key(root: Node | None, line: int, column: int, *, is_whole: bool = False) -> str:
    """Return the keys that lead to a place of the file, from 0, such as `sections.recent.budget`.

    Empty if the file has no `root`. `is_whole` means a list entry that begins at the place, and not the first of its keys.
    """
    return ".".join(_list_keys(root, line + 1, column + 1, is_whole)) if root is not None else ""


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


def _iter_hunks(old: str, new: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield whole lines that differ: the line in the old text and in the new one, from 0, the old lines, the new lines."""
    for old_line, line, before, after in _iter_rough(old, new):
        gone, come = _LINE.findall(before), _LINE.findall(after)
        head = count_alike(gone, come)
        tail = count_alike(gone[head:][::-1], come[head:][::-1])
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


def say_change(before: str, after: str) -> str:
    """Describe a change from shortly before the first difference to the end of the last different word.

    Whitespace is mentioned only if nothing else differs.
    """
    old, new = (" ".join(text.split()) for text in (before, after))
    if old == new:
        return f"white space alone: {_clip(new)}" if new else "white space alone"
    start = count_alike(old, new)
    start = max(0, start - _LONGEST // 2, old.rfind(" ", 0, start) + 1) if start < max(len(old), len(new)) else 0
    old, new = old[start:], new[start:]
    tail = count_alike(old[::-1], new[::-1])
    old, new = (_end_word(text, len(text) - tail) for text in (old, new))
    return f"{_clip(old) or _NOTHING} → {_clip(new) or _NOTHING}"


def _clip(text: str) -> str:
    """Return as much of the text as is shown."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip(' …')}…"


def _end_word(text: str, at: int) -> str:
    """Return the text up to the first space from `at` on."""
    end = text.find(" ", at)
    return text if end < 0 else f"{text[:end]}…"
