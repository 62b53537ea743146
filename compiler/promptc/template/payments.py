"""What looking at a whole value costs. C code compares, hashes and copies without being asked to stop, so it is paid for first."""

from collections.abc import Mapping
from typing import Any

from jinja2 import Undefined

from promptc.template.fault import name_kind, refuse
from promptc.template.run import Run

_SCALARS = frozenset({str, int, float, bool, type(None)})


def pay_parts(run: Run, value: Any) -> None:
    """Some steps for each part of a value, however often a part is met: that is how often a comparison may look at it."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        run.take(4)
        if part.__class__ is str:
            run.take(len(part) >> 6)
        elif isinstance(part, list | tuple):
            run.take(len(part))
            waiting.extend(part)
        elif isinstance(part, Mapping):
            run.take(len(part))
            waiting.extend(part.values())


def pay_pair(run: Run, left: Any, right: Any) -> None:
    """Comparing two values costs nothing worth counting if one of them is no list or mapping."""
    if left.__class__ not in _SCALARS and right.__class__ not in _SCALARS:
        pay_parts(run, left)
        pay_parts(run, right)


def pay_search(run: Run, sought: Any, holder: Any) -> None:
    """Looking for `sought` in `holder`."""
    if holder.__class__ is str:
        run.take(1 + (len(holder) >> 6))
    elif isinstance(holder, list | tuple):
        run.take(1 + (len(holder) >> 1))
        if sought.__class__ not in _SCALARS:
            pay_parts(run, holder)
            run.take(len(holder))
            pay_parts(run, sought)
    elif isinstance(holder, Mapping):
        check_key(sought)


def pay_texts(run: Run, values: Any) -> None:
    """Sorting without regard to case copies every key: the characters of the texts, and the parts of the rest."""
    for value in values:
        if value.__class__ is str:
            run.take(2 + (len(value) >> 3))
        elif value.__class__ in _SCALARS:
            run.take(2)
        else:
            pay_parts(run, value)


def check_key(key: Any) -> Any:
    """The key of a mapping is a text, a number, true, false or none: JSON has no other, and hashing a list of lists may never end."""
    if key.__class__ not in _SCALARS:
        if isinstance(key, Undefined):
            str(key)
        refuse("PC0414", f"{name_kind(key)} cannot be a key of a mapping", "use a text: join its parts with `~`")
    return key
