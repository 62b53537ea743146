"""What looking at a whole value costs. C code compares, hashes and copies without being asked to stop, so it is paid for first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.group import Group
from promptc.template.runtime.objects import Blank, Missing
from promptc.template.runtime.run import Run

SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None)})
NUMBERS: frozenset[type] = frozenset({int, float, bool})
LISTS: frozenset[type] = frozenset({list, tuple, Group})
VIEWS: frozenset[type] = frozenset({type({}.keys()), type({}.values()), type({}.items())})
UNDEFINED: frozenset[type] = frozenset({Missing, Blank})

_CHARACTER = 84
"""Bytes of a character that is not ASCII as a text of its own, in a list."""

NESTING = 200
"""Lists and mappings inside each other, where C code goes into all of them."""

_LARGE = 2**61 - 1  # Python hashes numbers by this remainder, so that any number of larger ones may share a place
_LONG = 255


def check_defined(value: Any) -> None:
    """Raise what using an undefined value means."""
    kind = value.__class__
    if kind in UNDEFINED:
        value.fail()


def pay_parts(run: Run, value: Any) -> None:
    """Some steps for each part of a value, however often a part is met: that is how often a comparison may look at it."""
    level: list[Any] = [value]
    depth = 0
    while level:
        run.take(4 * len(level))
        depth = check_depth(depth)
        inner: list[Any] = []
        for part in level:
            kind = part.__class__
            if kind is str:
                run.take(len(part) >> 6)
            elif kind in LISTS or kind in VIEWS or kind is dict:
                run.take(len(part))
                inner.extend(part)
                if kind is dict:
                    inner.extend(part.values())
        level = inner


def check_depth(depth: int) -> int:
    """One level deeper."""
    if depth > NESTING:
        refuse("PC0417", "the values nest too deeply", "let the recursion end sooner")
    return depth + 1


def pay_pair(run: Run, left: Any, right: Any) -> None:
    """Comparing two values costs nothing worth counting if one of them is a number, or the other is none of its kind."""
    first, second = left.__class__, right.__class__
    if first in SCALARS or second in SCALARS:
        if first is str and second is str and len(left) > _LONG < len(right):
            run.take(min(len(left), len(right)) >> 7)
        return
    pay_parts(run, left)
    pay_parts(run, right)


def price_search(size: int, sought: int) -> int:
    """The steps of looking for `sought` characters among `size`: each against each, where Python's search is the simple one."""
    return 1 + (size >> 5) + (size * sought >> 10 if size < 2_500 or sought < 100 else size >> 4)


def price_count(text: str) -> int:
    """The steps of guarding a text and counting its tokens: short lines and rare characters are the most work."""
    beyond = 0 if text.isascii() else len(text.encode("utf-8", "surrogatepass")) - len(text)
    return 1 + 4 * len(text) + 8 * beyond + 48 * text.count("\n")


def pay_search(run: Run, sought: Any, holder: Any) -> None:
    """Looking for `sought` in `holder`, which is no generator."""
    kind = holder.__class__
    if kind is str:
        run.take(price_search(len(holder), len(sought) if sought.__class__ is str else 0))
    elif kind is dict or kind is _KEYS:
        check_key(sought)
    elif kind in LISTS or kind in VIEWS or kind is range:
        run.take(1 + (len(holder) >> 1))
        if sought.__class__ is str:
            run.take(len(holder) * len(sought) >> 7 if len(sought) > _LONG else 0)
        elif sought.__class__ not in SCALARS:
            pay_parts(run, holder)
            run.take(len(holder))
            pay_parts(run, sought)


_KEYS: type = type({}.keys())


def pay_keys(run: Run, keys: Sequence[Any]) -> set[type]:
    """Sorting without regard to case copies every key: the characters of the texts, and the parts of the rest. Gives their kinds."""
    kinds = set(map(type, keys))
    run.take(2 * len(keys))
    if kinds == _TEXTS:
        run.take(sum(map(len, keys)) >> 3)
    elif not kinds <= _NO_TEXTS:
        for key in keys:
            if key.__class__ is str:
                run.take(len(key) >> 3)
            elif key.__class__ not in SCALARS:
                pay_parts(run, key)
    return kinds


_TEXTS: frozenset[type] = frozenset({str})
_NO_TEXTS = SCALARS - _TEXTS


def pay_each(run: Run, values: Any, price: int) -> Any:
    """`values`, with `price` steps paid for each: at once where their number is known, else as they come."""
    if hasattr(values, "__len__"):
        run.take(1 + price * len(values))
        if values.__class__ is str and not values.isascii():
            run.hold(_CHARACTER * len(values))
        return values
    return _pay_as_they_come(run, iter(values), price)


def _pay_as_they_come(run: Run, values: Iterator[Any], price: int) -> Iterator[Any]:
    for value in values:
        run.left -= price
        if run.left < 0:
            run.take(0)
        yield value


def list_values(run: Run, values: Any, price: int) -> Sequence[Any]:
    """The same, as a list or what can be read as often."""
    kind = values.__class__
    if kind not in LISTS:
        return list(pay_each(run, values, price))
    run.take(1 + price * len(values))
    return values  # type: ignore[no-any-return]


def check_key(key: Any) -> Any:
    """The key of a mapping is a text, a number, true, false or none: JSON has no other, and hashing a list of lists may never end."""
    kind = key.__class__
    if kind is str:
        return key
    check_defined(key)
    if kind not in SCALARS:
        refuse("PC0414", f"{name_kind(key)} cannot be a key of a mapping", "use a text: join its parts with `~`")
    if is_large(key):
        refuse("PC0414", "a number so large cannot be a key of a mapping", "use a text: `| string`")
    return key


def is_large(key: Any) -> bool:
    """Whether this number may share its place in a table with any number of others."""
    kind = key.__class__
    return kind in NUMBERS and not -_LARGE < key < _LARGE
