"""Plain data from whatever an expression gives."""

from __future__ import annotations

from promptc.diag.typed import Any
from promptc.template.runtime.objects import Blank, Missing
from promptc.template.runtime.payments import check_depth
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import refuse_part, show

_SCALARS = frozenset({str, int, float, bool, type(None)})
_NAMED_KEYS = {None: "null", True: "true", False: "false"}


def plain(run: Run, value: Any, depth: int = 0) -> Any:
    """The value with its sequences as lists and its keys as JSON writes them: the same object where it is that already.

    All else is refused, and an undefined value raises what it means.
    """
    run.take(12)
    kind = value.__class__
    if kind in _SCALARS:
        return value
    depth = check_depth(depth)
    if kind is dict:
        made = {_name_key(run, key): plain(run, part, depth) for key, part in value.items()}
        return value if all(map(_is_same, value.items(), made.items())) else made
    if kind is Missing or kind is Blank:
        value.fail()
    if not hasattr(value, "__iter__"):
        refuse_part(value)
    parts = list(value)
    plains = [plain(run, part, depth) for part in parts]
    return value if kind is list and all(map(_is, parts, plains)) else plains


def _is(one: Any, other: Any) -> bool:
    return one is other


def _is_same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    return one[0] is other[0] and one[1] is other[1]


def _name_key(run: Run, key: Any) -> str:
    if key.__class__ is str:
        return key
    return show(run, key) if key.__class__ in (int, float) else _NAMED_KEYS[key]
