"""The account of a render (`Run`), and the price of iterating over, comparing, searching and sorting values.

One account covers all templates and expressions of a render, and the compiler's own work on them. Work is paid for before it is done. The
module also checks the limits that depend on a value: keys of mappings, widths, the length of a `range`, beginnings of addresses, times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index

from promptc.diag.findings import Span, fail, name_kind, show_value
from promptc.diag.typed import Any
from promptc.template.allow import CEILINGS, LIMITS, Limits
from promptc.template.runtime.objects import Blank, Group, Missing, refuse
from promptc.text.counters.counter import Counter

RUN = "__run__"
"""The name under which everything that a render runs is given its account. No template can read it."""
_BEGINNING = 10
"""The steps of starting a template or an expression."""

_ENTERING = 20
"""The steps of entering a macro, include or block, in addition to those of its body."""

_EXPLAINED = 16
"""How many times the limits of a render may be used up to explain it."""

_WIDEST = 4
"""The most bytes that Python uses for one character of a text."""

_FEWER_TEXTS = f"make shorter texts, or fewer; or raise `limits.memory`, up to {CEILINGS.memory}"

_CHARACTER = 84
"""The bytes of a text in a list that is a single character and not ASCII."""

NESTING = 200
"""The most levels of nested lists and mappings. C code recurses into all of them."""
_LARGE = 2**61 - 1  # Python hashes a number to its remainder by this, so any number of larger ones may collide
_LONG = 255
"""The length of a text, in characters, up to which a comparison costs nothing."""
SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None)})
NUMBERS: frozenset[type] = frozenset({int, float, bool})
LISTS: frozenset[type] = frozenset({list, tuple, Group})
VIEWS: frozenset[type] = frozenset({type({}.keys()), type({}.values()), type({}.items())})
UNDEFINED: frozenset[type] = frozenset({Missing, Blank})
_KEYS: type = type({}.keys())
_TEXTS: frozenset[type] = frozenset({str})
_NO_TEXTS = SCALARS - _TEXTS
_MADE: frozenset[Any] = frozenset({str, list, tuple, dict, range, Group}) | VIEWS


class Run:
    """The account of one render or of one operation, which everything that it evaluates and renders charges. Never shared between renders.

    Steps and bytes are counted, not measured, so a pack fails at the same place on every machine. A text counts one byte for each
    character, or four if one of them is not ASCII, since Python may use that many.
    """

    __slots__ = ("counter", "limits", "left", "memory", "depth", "modules", "lenient")

    def __init__(self, counter: Counter | None, limits: Limits = LIMITS) -> None:
        self.counter = counter
        self.limits = limits
        self.left = limits.steps
        self.memory = limits.memory
        self.depth = 0
        self.modules: dict[str, Any] = {}
        self.lenient = False

    def begin_program(self, lenient: bool = False) -> None:
        """Pay for starting a template or an expression, and forget what the previous one imported.

        With `lenient`, a part that does not exist is a value that prints as nothing.
        """
        self.depth = 0
        self.lenient = lenient
        if self.modules:
            self.modules = {}
        self.left -= _BEGINNING  # what `take` does, without a call for each
        if self.left < 0:
            self.take(0)

    def renew(self) -> None:
        """Refill the account after the render, so that an explanation may run several times what the render ran."""
        self.left = self.limits.steps * _EXPLAINED
        self.memory = self.limits.memory * _EXPLAINED

    def take(self, steps: int) -> None:
        """Pay for `steps` before they are taken. Raises `Fault` (PC0430) if they exceed the limit."""
        self.left -= steps
        if self.left < 0:
            help = f"loop over less: limit the list, or the loops inside loops; or raise `limits.steps`, up to {CEILINGS.steps}"
            refuse("PC0430", f"the render takes more than {self.limits.steps} steps; the limit is reached here", help)

    def pay(self, steps: int, span: Span | None, what: str, size: int = 0) -> None:
        """Pay for the compiler's own work on `what`, in steps and in bytes (`size`).

        Raises `PromptcError` (PC0590) if it exceeds a limit.
        """
        self.left -= steps
        self.memory -= size
        if self.memory < 0:
            message = f"the render makes texts of more than {self.limits.memory} bytes, and {what} exceeds the limit"
            raise fail("PC0590", message, span, help=_FEWER_TEXTS)
        if self.left < 0:
            help = f"select fewer items, or shorter ones: `window`, `limit`, `where`; or raise `limits.steps`, up to {CEILINGS.steps}"
            raise fail("PC0590", f"the render takes more than {self.limits.steps} steps, and {what} exceeds the limit", span, help=help)

    def hold(self, size: int) -> None:
        """Pay for `size` bytes of text. Raises `Fault` (PC0430) if they exceed the limit."""
        self.memory -= size
        if self.memory < 0:
            most = self.limits.memory
            refuse("PC0430", f"the render makes texts of more than {most} bytes together; the limit is reached here", _FEWER_TEXTS)

    def make(self, characters: int) -> None:
        """Pay for a text of so many characters, or a list of so many elements, before it is made.

        Raises `Fault` (PC0430) if it exceeds a limit.
        """
        if characters > self.limits.text:
            most = self.limits.text
            help = f"limit what is repeated, or raise `limits.text`, up to {CEILINGS.text}"
            refuse("PC0430", f"the template makes a value of more than {most} characters or elements", help)
        self.take(characters >> 3)
        self.hold(characters * _WIDEST)

    def enter(self, weight: int) -> None:
        """Pay for entering a macro, include or block of `weight` steps. Call `leave` afterwards.

        Raises `Fault` (PC0430) if the steps or the depth of calls exceed the limit.
        """
        self.take(weight + _ENTERING)
        self.depth += 1
        if self.depth > self.limits.depth:
            most = self.limits.depth
            refuse("PC0430", f"macros and includes call each other more than {most} deep", "end the recursion sooner")

    def leave(self) -> None:
        """Leave what `enter` entered."""
        self.depth -= 1

    def begin(self) -> list[str]:
        """Return an empty list for the parts of a text."""
        return []

    def join(self, parts: list[str]) -> str:
        """Return the text of the parts, paid for."""
        size = sum(map(len, parts))
        if size > self.limits.text:
            self.exceed()
        self.take(size >> 3)
        text = "".join(parts)
        self.hold(size if text.isascii() else size * _WIDEST)
        return text

    def exceed(self) -> None:
        """Stop the run, because a text is too long. Raises `Excess`."""
        raise Excess


class Excess(Exception):
    """Raised at the end of a text that is too long, where the line at fault is no longer known. A `MeasuringRun` finds the line."""


class MeasuringRun(Run):
    """A run that stops at the very output that makes a text too long."""

    __slots__ = ()

    def begin(self) -> list[str]:
        """Return an empty list that counts the characters of its parts, and raises `Fault` (PC0430) at the limit."""
        return _Measured(self.limits.text)

    def exceed(self) -> None:
        """Stop the run, because a text is too long. Raises `Fault` (PC0430)."""
        refuse(
            "PC0430",
            f"the template makes a text of more than {self.limits.text} characters",
            "limit what is repeated, or raise `limits.text`",
        )


class _Measured(list[str]):
    __slots__ = ("left", "most")

    def __init__(self, most: int) -> None:
        super().__init__()
        self.left = self.most = most

    def append(self, part: str) -> None:
        self.left -= len(part)
        if self.left < 0:
            help = "limit the list, or the text of each element; or raise `limits.text`"
            refuse("PC0430", f"the template prints more than {self.most} characters", help)
        super().append(part)

    def extend(self, parts: Iterable[str]) -> None:
        for part in parts:
            self.append(part)


def read_run(names: Mapping[str, Any], limits: Limits = LIMITS) -> Run:
    """Return the account in `names`, or a new one if they have none.

    A new account is for work outside of any render, on nothing of a state. It has no counter.
    """
    found: Run | None = names.get(RUN)
    return Run(None, limits) if found is None else found


def each(run: Run, values: Any, weight: int) -> Iterable[Any]:
    """Return the elements of a loop, paid for: at once for a collection, one at a time for an iterator.

    Raises `Fault`: PC0414 for a value that is not a list, or the fault of an undefined value.
    """
    if values.__class__ in _MADE:
        run.take(len(values) * weight)
        return values  # type: ignore[no-any-return]
    if hasattr(values, "__next__"):
        return _pay_as_they_come(run, values, weight)
    if values.__class__ is Missing:
        values.fail()
    if values.__class__ is Blank:
        return ()
    hint = "ask for none first, or give a list: `default([], true)`" if values is None else "loop over a list, a mapping or a string"
    return refuse("PC0414", f"{name_kind(values)} is not a list", hint)


def _pay_as_they_come(run: Run, values: Iterator[Any], price: int) -> Iterator[Any]:
    for value in values:
        run.left -= price  # what `take` does, without a call for each element
        if run.left < 0:
            run.take(0)
        yield value


def pay_each(run: Run, values: Any, price: int) -> Any:
    """Return `values`, with `price` steps paid for each: at once if their number is known, or else one at a time."""
    if hasattr(values, "__len__"):
        run.take(1 + price * len(values))
        if values.__class__ is str and not values.isascii():
            run.hold(_CHARACTER * len(values))
        return values
    return _pay_as_they_come(run, iter(values), price)


def list_values(run: Run, values: Any, price: int) -> Sequence[Any]:
    """Return `values` as a list, paid for as by `pay_each`. A list or a tuple is returned unchanged."""
    kind = values.__class__
    if kind not in LISTS:
        return list(pay_each(run, values, price))
    run.take(1 + price * len(values))
    return values  # type: ignore[no-any-return]


def pay_parts(run: Run, value: Any) -> None:
    """Pay for each part of a value, every time it occurs, since a comparison may visit it that often."""
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
    """Return the next depth. Raises `Fault` (PC0417) if it is too deep."""
    if depth > NESTING:
        refuse("PC0417", "the values are nested too deep", "build a flat list, or end the recursion sooner")
    return depth + 1


def pay_pair(run: Run, left: Any, right: Any) -> None:
    """Pay for comparing two values. That is free if one of them is a scalar, except for two long texts."""
    first, second = left.__class__, right.__class__
    if first in SCALARS or second in SCALARS:
        if first is str and second is str and len(left) > _LONG < len(right):
            run.take(min(len(left), len(right)) >> 7)
        return
    pay_parts(run, left)
    pay_parts(run, right)


def price_search(size: int, sought: int) -> int:
    """Return the steps of searching `size` characters for `sought` characters. Python's simple search compares each with each."""
    return 1 + (size >> 5) + (size * sought >> 10 if size < 2_500 or sought < 100 else size >> 4)


def price_count(text: str) -> int:
    """Return the steps of guarding a text and counting its tokens. Short lines and rare characters are the most work."""
    beyond = 0 if text.isascii() else len(text.encode("utf-8", "surrogatepass")) - len(text)
    return 1 + 4 * len(text) + 8 * beyond + 48 * text.count("\n")


def pay_search(run: Run, sought: Any, holder: Any) -> None:
    """Pay for searching `holder`, which is not a generator, for `sought`."""
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


def pay_keys(run: Run, keys: Sequence[Any]) -> set[type]:
    """Pay for sorting by these keys, and return their types.

    A sort without regard to case copies every key. The price is by the characters of texts, and by the parts of other values.
    """
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


def check_defined(value: Any) -> None:
    """Raise the fault of an undefined value; accept any other value."""
    kind = value.__class__
    if kind in UNDEFINED:
        value.fail()


def check_key(key: Any) -> Any:
    """Return the key if a mapping may have it, or raise `Fault` (PC0414).

    A key is a text, a number, true, false or none, since JSON has no other, and hashing a list of lists may never end. A number must not be
    so large that any number of others may collide with it.
    """
    kind = key.__class__
    if kind is str:
        return key
    check_defined(key)
    if kind not in SCALARS:
        refuse("PC0414", f"{name_kind(key)} cannot be a key of a mapping", "use a string: join its parts with `~`")
    if is_large(key):
        refuse("PC0414", "a number so large cannot be a key of a mapping", "use a string: `| string`")
    return key


def is_large(key: Any) -> bool:
    """Return whether the key is a number that may collide with any number of others in a hash table."""
    kind = key.__class__
    return kind in NUMBERS and not -_LARGE < key < _LARGE


def check_range(made: range, limits: Limits) -> None:
    """Raise `Fault` if the range is longer than its limit (PC0430), or too long to count (PC0416)."""
    try:
        size = len(made)
    except OverflowError:
        refuse("PC0416", "a number grows too large", "use smaller numbers")
    if size > limits.range:
        refuse("PC0430", f"`range` is longer than {limits.range}", "loop over less, or raise `limits.range`")


def check_width(limits: Limits, width: Any) -> None:
    """Raise `Fault` (PC0430) if the width is more than `Limits.width` characters."""
    if isinstance(width, int) and width > limits.width:
        refuse("PC0430", f"{width} is wider than {limits.width} characters", "use a smaller width, or raise `limits.width`")


def read_flag(value: Any) -> bool:
    """Return whether a flag is set, as Python 3.11 reads the flags of its functions. A later Python takes any value.

    Raises `TypeError` for a value that is no whole number, and `OverflowError` for one that a C int cannot hold.
    """
    number = index(value)
    if not -(1 << 31) <= number < 1 << 31:
        raise OverflowError("the number is too large for a flag")
    return number != 0


def check_scheme(scheme: Any) -> None:
    """Raise `Fault` (PC0424) if `scheme` cannot begin an address, as `tel:` and `git://` do."""
    from re import fullmatch

    if scheme.__class__ is not str or not fullmatch(r"[\w.+-]{2,}:/{0,2}", scheme):
        shown = f"`{scheme[:40]}`" if scheme.__class__ is str else name_kind(scheme)
        refuse("PC0424", f"{shown} cannot begin an address", "write it as `tel:` or `git://`")


def load_moment(value: Any) -> int:
    """Return an ISO 8601 time in microseconds, as `count_micros` reads it. Raises `Fault` (PC0422) for any other value."""
    from promptc.text.moment import count_micros

    check_defined(value)
    try:
        if isinstance(value, str):
            return count_micros(value)
        why = ""
    except ValueError as wrong:
        why = f": {wrong}" if str(wrong) else ""
    return refuse("PC0422", f"{show_value(value)} is not an ISO 8601 time{why}", "write it as `2026-11-22T18:30:00Z`")
