"""What an operation changes in a state."""

from collections.abc import Iterator, Mapping
from itertools import chain

from promptc.cli.escape import escape_controls
from promptc.cli.views.drawing import render_table
from promptc.cli.views.figures import show_plural
from promptc.diag.typed import Any
from promptc.operations.results import StateDiff
from promptc.text.json import extend_pointer, render_canonical_json

_LONGEST = 24
_WIDEST = 56


def render_changes(change: StateDiff) -> str:
    """A line for every place that changes: its JSON pointer, and how. Mappings are looked into, lists are counted."""
    gone: dict[str, int] = {}
    for one in change.archived:
        gone[one.pointer] = gone.get(one.pointer, 0) + len(one.elements)
    rows = [
        (f"  {escape_controls(pointer)}", f"{told}, {gone[pointer]:,} archived" if pointer in gone else told)
        for pointer, told in _iter_changes(change.before, change.after, "")
    ]
    return render_table(rows, most=_WIDEST)


def _iter_changes(before: Any, after: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys(chain(before, after)):
            yield from _iter_key(before, after, key, pointer)
    elif not _is_same(before, after):
        yield pointer, _describe(before, after)


def _iter_key(before: Mapping[str, Any], after: Mapping[str, Any], key: str, above: str) -> Iterator[tuple[str, str]]:
    pointer = extend_pointer(above, key)
    if key not in after:
        yield pointer, "removed"
    elif key not in before:
        yield pointer, f"new: {_show(after[key])}"
    else:
        yield from _iter_changes(before[key], after[key], pointer)


def _is_same(before: Any, after: Any) -> bool:
    """As JSON: `true` is not `1`."""
    return render_canonical_json(before) == render_canonical_json(after)


def _describe(before: Any, after: Any) -> str:
    if isinstance(before, list) and isinstance(after, list):
        return f"{len(before):,} → {show_plural(len(after), 'element')}"
    return f"{_show(before)} → {_show(after)}"


def _show(value: Any) -> str:
    """Short values as JSON, of longer ones what they are."""
    if isinstance(value, list):
        return show_plural(len(value), "element")
    if isinstance(value, dict):
        return show_plural(len(value), "key")
    shown = escape_controls(render_canonical_json(value))
    return (
        shown if len(shown) <= _LONGEST else f"a text of {show_plural(len(value), 'character')}" if isinstance(value, str) else "a number"
    )
