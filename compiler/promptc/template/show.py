"""How a value is printed: as Jinja prints it, or not at all."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from jinja2 import Undefined

from promptc.template.fault import UNMADE, name_kind, refuse
from promptc.template.run import Run

_SCALARS = frozenset({int, float, bool, type(None), str})


def show(run: Run, value: object) -> str:
    """The text of a value, paid for.

    Texts, numbers, true, false, none; lists and mappings of them; the nothing of an `if` without `else`. All else would print
    an address, the inside of the compiler, or `Undefined`: it raises `Fault`, and an undefined value `MissingFault`.
    """
    kind = value.__class__
    if kind is str:
        return value  # type: ignore[return-value]
    if kind in _SCALARS or kind is range:
        return str(value)
    if kind is Undefined:
        return ""
    _pay_plain(run, value)
    return str(dict(value) if kind is MappingProxyType else value)  # type: ignore[call-overload]


def _pay_plain(run: Run, value: object) -> None:
    """Every part of `value` is data. A part that is met twice is printed twice, so it is paid twice."""
    waiting: list[object] = [value]
    characters = 0
    while waiting:
        part = waiting.pop()
        run.take(4)
        if part.__class__ is str:
            characters += len(part)
        elif part.__class__ not in _SCALARS:
            waiting.extend(_find_parts(part))
    run.make(characters)


def _find_parts(part: Any) -> Iterable[object]:
    if isinstance(part, list | tuple):
        return part
    if isinstance(part, Mapping):
        return [*part.keys(), *part.values()]
    if isinstance(part, Undefined):
        str(part)
        refuse("PC0411", "a list or mapping that is printed holds an undefined value", "leave it out, or give it a value with `else`")
    what = name_kind(part)
    refuse("PC0413", f"{what} cannot be printed", "add `| list`" if what == UNMADE else "print a value of the data")
