"""How a value is printed: as Jinja prints it, or not at all."""

from collections.abc import Iterable
from types import MappingProxyType

from jinja2 import Undefined

from promptc.template.fault import name_kind, refuse
from promptc.template.limits import MAX_TEXT

_SCALARS = frozenset({str, int, float, bool, type(None)})
_LISTS = frozenset({list, tuple})


def show(value: object) -> str:
    """The text of a value.

    Texts, numbers, true, false, none; lists and mappings of them; the nothing of an `if` without `else`. All else would print
    an address, the inside of the compiler, or `Undefined`: it raises `Fault`, and an undefined value `MissingFault`.
    """
    kind = value.__class__
    if kind is str:
        return value  # type: ignore[return-value]
    if kind in _SCALARS:
        return str(value)
    if kind is Undefined:
        return ""
    if isinstance(value, Undefined):
        return str(value)
    if kind is range:
        return str(value)
    _check_plain(value)
    return str(dict(value) if kind is MappingProxyType else value)  # type: ignore[call-overload]


def _check_plain(value: object) -> None:
    """Every part of `value` is data. The walk is bounded by what its text may hold, each part being at least a character of it."""
    waiting: list[object] = [value]
    seen = 0
    while waiting:
        part = waiting.pop()
        seen += 1
        if seen > MAX_TEXT // 8:
            refuse("PC0430", f"a value of more than {MAX_TEXT // 8} parts is printed", "print less of it")
        waiting.extend(_iter_parts(part))


def _iter_parts(part: object) -> Iterable[object]:
    kind = part.__class__
    if kind in _SCALARS:
        return ()
    if kind in _LISTS or kind.__name__ == "_GroupTuple":
        return part  # type: ignore[return-value]
    if isinstance(part, dict | MappingProxyType):
        return [*part.keys(), *part.values()]
    if isinstance(part, Undefined):
        refuse("PC0411", "a list or mapping that is printed holds an undefined value", "leave it out, or give it a value with `default`")
    what = name_kind(part)
    hint = "add `| list`" if kind.__name__ == "generator" else "print a value of the data"
    refuse("PC0413", f"{what} cannot be printed", hint)
