"""Filters that take sequences apart and put them together. Those that say so make their elements only when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.access_path import build_find
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.objects import Missing
from promptc.template.runtime.operators import add, bound_number
from promptc.template.runtime.payments import NUMBERS, UNDEFINED, list_values, pay_each
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import show


def default(run: Run, value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    """The value, or `default_value` where it is undefined; with `boolean` also where it is false, empty, zero or none."""
    if value.__class__ in UNDEFINED or (boolean and not value):
        return default_value
    return value


def first(run: Run, seq: Any) -> Any:
    """The first element; undefined where there is none."""
    for value in seq:
        return value
    return Missing("first", seq, hint="what is empty has no first element")


def last(run: Run, seq: Any) -> Any:
    """The last element; undefined where there is none."""
    if not hasattr(seq, "__len__"):
        refuse("PC0414", f"`last` takes a list, not {name_kind(seq)}", "add `| list`" if hasattr(seq, "__iter__") else "")
    for value in reversed(seq):
        return value
    return Missing("last", seq, hint="what is empty has no last element")


def count(run: Run, value: Any) -> int:
    """How many elements, keys or characters there are."""
    return len(value)


def to_list(run: Run, value: Any) -> list[Any]:
    """The elements, keys or characters, as a new list."""
    return list(pay_each(run, value, 4))


def reverse(run: Run, value: Any) -> Any:
    """The other way round: of a text a text, of a list what makes its elements when asked."""
    if value.__class__ is str:
        run.make(len(value))
        return value[::-1]
    if hasattr(value, "__len__"):
        run.take(1)
        return reversed(value)
    if not hasattr(value, "__iter__"):
        refuse("PC0414", f"`reverse` takes a text or a list, not {name_kind(value)}")
    made = list(pay_each(run, value, 2))
    made.reverse()
    return made


def join(run: Run, value: Any, d: Any = "", attribute: Any = None) -> str:
    """What the elements print as, with `d` between them."""
    values = pay_each(run, value, 2)
    if attribute is not None:
        values = map(build_find(run, attribute), values)
    between = show(run, d)
    parts = [part if part.__class__ is str else show(run, part) for part in values]
    run.make(sum(map(len, parts)) + len(between) * len(parts))
    return between.join(parts)


def iter_pairs(run: Run, value: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs of a mapping, when asked; none of what is undefined."""
    if value.__class__ is dict:
        return iter(value.items())
    if value.__class__ not in UNDEFINED:
        refuse("PC0414", f"`items` takes a mapping, not {name_kind(value)}")
    return iter(())


def batch(run: Run, value: Any, linecount: Any, fill_with: Any = None) -> Iterator[list[Any]]:
    """Lists of `linecount` elements, when asked; the last one filled with `fill_with`, if that is not none."""
    held: list[Any] = []
    for element in pay_each(run, value, 3):
        if len(held) == linecount:
            yield held
            held = []
        held.append(element)
    if held:
        if fill_with is not None and len(held) < linecount:
            run.make(linecount - len(held))
            run.take(linecount - len(held) >> 1)
            held += [fill_with] * (linecount - len(held))
        yield held


def split_evenly(run: Run, value: Any, slices: Any, fill_with: Any = None) -> Iterator[list[Any]]:
    """The elements in `slices` lists, when asked: the first ones longer by one, the others filled with `fill_with`, if that is not none."""
    values = list_values(run, value, 2)
    size, longer = divmod(len(values), slices)
    start = 0
    for number in range(slices):
        stop = start + size + (number < longer)
        run.take(8 + (stop - start >> 1))
        part = list(values[start:stop])
        if fill_with is not None and number >= longer:
            part.append(fill_with)
        yield part
        start = stop


def sum_up(run: Run, iterable: Any, attribute: Any = None, start: Any = 0) -> Any:
    """`start` and the elements, added one after the other: the same on every machine."""
    values = pay_each(run, iterable, 1)
    if attribute is not None:
        values = map(build_find(run, attribute), values)
    total = start
    for value in values:
        first, second = total.__class__, value.__class__
        total = total + value if first in NUMBERS and second in NUMBERS else add(run, total, value)
    return bound_number(run, total)


FILTERS: dict[str, Callable[..., Any]] = {
    "default": default,
    "d": default,
    "first": first,
    "last": last,
    "length": count,
    "count": count,
    "list": to_list,
    "reverse": reverse,
    "join": join,
    "items": iter_pairs,
    "batch": batch,
    "slice": split_evenly,
    "sum": sum_up,
}
