"""What `attribute=` names: `'name'`, `'at.town'`, `'tags.0'`, `0`."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.template.runtime.functions import Namespace
from promptc.template.runtime.group import Group
from promptc.template.runtime.objects import Missing
from promptc.template.runtime.payments import UNDEFINED, check_key
from promptc.template.runtime.run import Run

Find = Callable[[Any], Any]


def build_find(run: Run, attribute: Any, default: Any = None) -> Find:
    """What gives the part of a value that `attribute` names; `default` where there is none, if that is not none.

    Digits between dots are places. None names the value itself.
    """
    parts = _split(attribute)
    if default is None and len(parts) == 1:
        return _build_single(run, parts[0])
    if default is None and len(parts) == 2:
        return _build_double(run, parts[0], parts[1])
    run.take(len(parts))

    def find(value: Any) -> Any:
        run.take(4 * len(parts))
        for part in parts:
            value = find_part(run, value, part)
            if default is not None and value.__class__ in UNDEFINED:
                value = default
        return value

    return find


def build_find_all(run: Run, attribute: Any) -> list[Find]:
    """The same for several, with commas between them."""
    names = attribute.split(",") if attribute.__class__ is str else [attribute]
    run.take(len(names))
    return [build_find(run, name) for name in names]


def _build_single(run: Run, part: Any) -> Find:
    def find(value: Any) -> Any:
        return value[part] if value.__class__ is dict and part in value else find_part(run, value, part)

    check_key(part)
    return find


def _build_double(run: Run, outer: Any, inner: Any) -> Find:
    def find(value: Any) -> Any:
        if value.__class__ is dict and outer in value:
            held = value[outer]
            if held.__class__ is dict and inner in held:
                return held[inner]
        return find_part(run, find_part(run, value, outer), inner)

    check_key(outer)
    check_key(inner)
    return find


def _split(attribute: Any) -> list[Any]:
    if attribute is None:
        return []
    if attribute.__class__ is str:
        return [int(part) if part.isdigit() else part for part in attribute.split(".")]
    return [attribute]


def find_part(run: Run, value: Any, part: Any) -> Any:
    """`value[part]`: a key, a place, or what a group or namespace calls so. Undefined where there is none."""
    kind = value.__class__
    if kind is dict:
        return value[part] if check_key(part) in value else Missing(part, value)
    if kind in UNDEFINED:
        return value[part]
    if kind is Namespace and part.__class__ is str:
        return value.find(part)
    if kind is Group and part in ("grouper", "list"):
        return getattr(value, part)
    if kind in _PLACED and part.__class__ in (int, bool) and -len(value) <= part < len(value):
        return value[part]
    return Missing(part, value)


_PLACED = frozenset({str, list, tuple, Group, range})
