"""What changed in a JSON file: values that differ, whatever its lines."""

import json
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from promptc.diag.errors import PromptcError
from promptc.diag.typed import Any
from promptc.frontend.json_io import JsonDocument, load_json
from promptc.golden.change import Change, ValueUndo
from promptc.golden.name_key import find_name
from promptc.golden.say_change import say_change
from promptc.text.canonical import render_json_line
from promptc.text.extend_pointer import extend_pointer

_MOST = 2_000
"""Entries of a list, between those that are alike at its ends, up to which they are set against each other."""


def list_value_changes(path: str, old: str, new: str) -> tuple[Change, ...]:
    """The changes from `old` to `new`, in the order of `new`, each of one value; nothing where one of them is no JSON, or both are the same
    value.
    """
    try:
        document = load_json(new.encode(), path)
        load_json(old.encode(), path)
    except PromptcError:
        return ()
    before, now = json.loads(old), json.loads(new)
    return tuple(_describe(document, now, undo) for undo in _iter_undo((), before, now))


def put_values_back(new: str, changes: Sequence[Change]) -> str:
    """The present JSON with these changes undone; with all of them it is the value that it was."""
    whole = [json.loads(new)]
    for undo in sorted((one.undo for one in changes), key=_rank):
        _undo(whole, undo)
    return render_json_line(whole[0]) + "\n"


def _rank(undo: ValueUndo) -> tuple[int, bool, int]:
    """What stands in something goes first, so that keys lead where they say; entries from the last one on, for the same reason."""
    return -len(undo.keys), undo.kind == "order", -undo.start if undo.kind == "entries" else undo.start


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
    for start, stop, first, last in _iter_unlike([render_json_line(one) for one in old], [render_json_line(one) for one in new]):
        while start < stop and first < last and _is_same_entry(old[start], new[first]):
            yield from _iter_undo((*keys, first), old[start], new[first])
            start, first = start + 1, first + 1
        if start < stop or first < last:
            yield ValueUndo(keys, "entries", render_json_line(old[start:stop]), start=first, stop=last)


def _iter_unlike(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Which entries of each stand where the other has others."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(inner_old), len(inner_new)) > _MOST:
        yield head, len(old) - tail, head, len(new) - tail
        return
    for kind, *places in SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes():
        if kind != "equal":
            start, stop, first, last = (head + place for place in places)
            yield start, stop, first, last


def _is_same_entry(old: Any, new: Any) -> bool:
    """Whether one is the other, changed: what calls itself the same, or what has no name."""
    return type(old) is type(new) and find_name(old) == find_name(new)


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
    """Behind the key `after`; where that is not there, in front."""
    kept = dict(holder)
    holder.clear()
    if after not in kept:
        holder[key] = value
    for one, inner in kept.items():
        holder[one] = inner
        if one == after:
            holder[key] = value


def _describe(document: JsonDocument, now: Any, undo: ValueUndo) -> Change:
    pointer, names = "", list[str]()
    value = now
    for key in undo.keys:
        pointer, value = extend_pointer(pointer, str(key)), _find(value, key)
        names.append(find_name(value) or str(key) if isinstance(key, int) else key)
    if undo.kind == "entries":
        pointer = extend_pointer(pointer, str(undo.start))
        names.append(find_name((value[undo.start : undo.stop] or json.loads(undo.before))[0]) or str(undo.start))
    span = document.span(pointer)
    said = "its keys in another order" if undo.kind == "order" else say_change(*_show(undo, now))
    return Change(document.source.name, span.line, span.column, ": ".join((".".join(names), said) if names else (said,)), undo)


def _find(value: Any, key: str | int) -> Any:
    """What stands there; None where nothing does."""
    if isinstance(key, int):
        return value[key] if key < len(value) else None
    return value.get(key)


def _show(undo: ValueUndo, now: Any) -> tuple[str, str]:
    """What stood there and what does, as JSON; empty for nothing."""
    value = now
    for key in undo.keys:
        value = _find(value, key)
    if undo.kind == "entries":
        return _show_entries(json.loads(undo.before)), _show_entries(value[undo.start : undo.stop])
    return "" if undo.kind == "added" else undo.before, "" if undo.kind == "gone" else render_json_line(value)


def _show_entries(entries: Sequence[Any]) -> str:
    return ", ".join(render_json_line(one) for one in entries)
