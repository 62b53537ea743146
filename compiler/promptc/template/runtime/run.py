"""The account of a render (`Run`), and what it costs to go over, compare, search and sort values.

One account is for all templates and expressions of a render, and for the compiler's own work on them: what is to be done is paid for before
it is done. Also the limits that are judged when a value is there: keys of mappings, widths, the length of a `range`,
beginnings of addresses, times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized

from promptc.diag.findings import Span, fail, name_kind, show_value
from promptc.diag.typed import Any, Protocol
from promptc.template.allow import CEILINGS, LIMITS, Limits
from promptc.template.runtime.objects import Blank, Group, Missing, refuse

RUN = "__run__"
"""The name under which all that a render runs is given its account. No template can read it."""
_BEGINNING = 10
"""Steps of beginning a template or an expression."""

_ENTERING = 20
"""Steps of going into a macro, include or block, besides what it does."""

_EXPLAINED = 16
"""How many times the limits of a render whoever explains it may use up."""

_WIDEST = 4
"""Bytes that Python may hold a character of a text in."""

_FEWER_TEXTS = f"make shorter texts, or fewer; or raise `limits.memory`, up to {CEILINGS.memory}"

_CHARACTER = 84
"""Bytes of a character that is not ASCII as a text of its own, in a list."""

NESTING = 200
"""Lists and mappings inside each other, where C code goes into all of them."""
_LARGE = 2**61 - 1  # Python hashes numbers by this remainder, so that any number of larger ones may share a place
_LONG = 255
"""Characters of a text that costs nothing to compare."""
SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None)})
NUMBERS: frozenset[type] = frozenset({int, float, bool})
LISTS: frozenset[type] = frozenset({list, tuple, Group})
VIEWS: frozenset[type] = frozenset({type({}.keys()), type({}.values()), type({}.items())})
UNDEFINED: frozenset[type] = frozenset({Missing, Blank})
_KEYS: type = type({}.keys())
_TEXTS: frozenset[type] = frozenset({str})
_NO_TEXTS = SCALARS - _TEXTS
_MADE: frozenset[Any] = frozenset({str, list, tuple, dict, range, Group}) | VIEWS


class PackCounter(Protocol):
    """What `tokens` and `truncate_at` need of the pack's counter."""

    @property
    def unit(self) -> int:
        """How many units are a token."""

    def measure(self, text: str) -> int:
        """Units in a text."""

    def token_ends(self, text: str) -> Sequence[int]:
        """Where tokens end, in characters."""


class Run:
    """The account of one render, or of one operation: everything that it evaluates and renders charges it. Never shared between renders.

    Steps and bytes are counted, not measured, so that a pack fails at the same place on every machine. A text counts a byte for each
    character, and four where one of them is not ASCII: that is how much Python may hold it in.
    """

    __slots__ = ("counter", "limits", "left", "memory", "depth", "modules", "lenient")

    def __init__(self, counter: PackCounter | None, limits: Limits = LIMITS) -> None:
        self.counter = counter
        self.limits = limits
        self.left = limits.steps
        self.memory = limits.memory
        self.depth = 0
        self.modules: dict[str, Any] = {}
        self.lenient = False

    def begin_program(self, lenient: bool = False) -> None:
        """Pay for beginning a template or an expression. What the one before imported is not known to it.

        `lenient`: what has no such part gives a value that prints as nothing.
        """
        self.depth = 0
        self.lenient = lenient
        if self.modules:
            self.modules = {}
        self.left -= _BEGINNING  # what `take` does, without a call for each
        if self.left < 0:
            self.take(0)

    def renew(self) -> None:
        """The render has ended: what explains it may run again what the render ran, some times over."""
        self.left = self.limits.steps * _EXPLAINED
        self.memory = self.limits.memory * _EXPLAINED

    def take(self, steps: int) -> None:
        """Pay for `steps` before they are made."""
        self.left -= steps
        if self.left < 0:
            help = f"loop over less: limit the list, or the loops inside loops; or raise `limits.steps`, up to {CEILINGS.steps}"
            refuse("PC0430", f"the render takes more than {self.limits.steps} steps; the limit is reached here", help)

    def pay(self, steps: int, span: Span | None, what: str, size: int = 0) -> None:
        """Pay for the compiler's own work on `what`, in steps and bytes. Raises `PromptcError`."""
        self.left -= steps
        self.memory -= size
        if self.memory < 0:
            message = f"the render makes texts of more than {self.limits.memory} bytes, and {what} exceeds the limit"
            raise fail("PC0590", message, span, help=_FEWER_TEXTS)
        if self.left < 0:
            help = f"select fewer items, or shorter ones: `window`, `limit`, `where`; or raise `limits.steps`, up to {CEILINGS.steps}"
            raise fail("PC0590", f"the render takes more than {self.limits.steps} steps, and {what} exceeds the limit", span, help=help)

    def hold(self, size: int) -> None:
        """Pay for so many bytes of text."""
        self.memory -= size
        if self.memory < 0:
            most = self.limits.memory
            refuse("PC0430", f"the render makes texts of more than {most} bytes together; the limit is reached here", _FEWER_TEXTS)

    def make(self, characters: int) -> None:
        """Pay for a text of so many characters, or a list of so many elements, before it is made."""
        if characters > self.limits.text:
            most = self.limits.text
            help = f"limit what is repeated, or raise `limits.text`, up to {CEILINGS.text}"
            refuse("PC0430", f"the template makes a value of more than {most} characters or elements", help)
        self.take(characters >> 3)
        self.hold(characters * _WIDEST)

    def enter(self, weight: int) -> None:
        """Go into a macro, include or block that takes `weight` steps; `leave` comes after."""
        self.take(weight + _ENTERING)
        self.depth += 1
        if self.depth > self.limits.depth:
            most = self.limits.depth
            refuse("PC0430", f"macros and includes call each other more than {most} deep", "end the recursion sooner")

    def leave(self) -> None:
        """The way back from `enter`."""
        self.depth -= 1

    def begin(self) -> list[str]:
        """A list for the parts of a text."""
        return []

    def join(self, parts: list[str]) -> str:
        """The text, paid for."""
        size = sum(map(len, parts))
        if size > self.limits.text:
            self.exceed()
        self.take(size >> 3)
        text = "".join(parts)
        self.hold(size if text.isascii() else size * _WIDEST)
        return text

    def exceed(self) -> None:
        """Stop: a text grew too long."""
        raise Excess


class Excess(Exception):
    """A text grew too long: known at its end, where no line is to be told. A `MeasuringRun` finds the line."""


class MeasuringRun(Run):
    """A run that stops at the very output that is too much."""

    __slots__ = ()

    def begin(self) -> list[str]:
        """A list that adds up what it is given."""
        return _Measured(self.limits.text)

    def exceed(self) -> None:
        """Stop here."""
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
    """The account that `names` hold. One of its own for what is run beside any render, with nothing of a state."""
    found: Run | None = names.get(RUN)
    return Run(None, limits) if found is None else found


def each(run: Run, values: Any, weight: int) -> Iterable[Any]:
    """The elements: a list pays for all its turns at once, what is made on the way pays as it goes."""
    if values.__class__ in _MADE:
        run.take(len(values) * weight)
        return values  # type: ignore[no-any-return]
    if hasattr(values, "__next__"):
        return _pay_as_they_come(run, values, weight)
    if values.__class__ is Missing:
        values.fail()
    if values.__class__ is Blank:
        return ()
    hint = "ask for none first, or give a list: `default([], true)`" if values is None else "loop over a list, a mapping or a text"
    return refuse("PC0414", f"{name_kind(values)} is not a list", hint)


def _pay_as_they_come(run: Run, values: Iterator[Any], price: int) -> Iterator[Any]:
    for value in values:
        run.left -= price  # what `take` does, without a call for each element
        if run.left < 0:
            run.take(0)
        yield value


def sized(values: Any) -> Sized:
    """The elements where their number is known."""
    return values if values.__class__ in _MADE else list(values)


def pay_each(run: Run, values: Any, price: int) -> Any:
    """`values`, with `price` steps paid for each: at once where their number is known, else as they come."""
    if hasattr(values, "__len__"):
        run.take(1 + price * len(values))
        if values.__class__ is str and not values.isascii():
            run.hold(_CHARACTER * len(values))
        return values
    return _pay_as_they_come(run, iter(values), price)


def list_values(run: Run, values: Any, price: int) -> Sequence[Any]:
    """`values` as a list, or what can be read as often, paid for as `pay_each` does."""
    kind = values.__class__
    if kind not in LISTS:
        return list(pay_each(run, values, price))
    run.take(1 + price * len(values))
    return values  # type: ignore[no-any-return]


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
        refuse("PC0417", "the values are nested too deep", "build a flat list, or end the recursion sooner")
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


def check_defined(value: Any) -> None:
    """Raise what using an undefined value means."""
    kind = value.__class__
    if kind in UNDEFINED:
        value.fail()


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


def check_range(made: range, limits: Limits) -> None:
    """Refuse more numbers than the limit."""
    try:
        size = len(made)
    except OverflowError:
        refuse("PC0416", "a number grows too large", "use smaller numbers")
    if size > limits.range:
        refuse("PC0430", f"`range` is longer than {limits.range}", "loop over less, or raise `limits.range`")


def check_width(limits: Limits, width: Any) -> None:
    """Padding is at most `Limits.width` characters."""
    if isinstance(width, int) and width > limits.width:
        refuse("PC0430", f"{width} is wider than {limits.width} characters", "use a smaller width, or raise `limits.width`")


def check_scheme(scheme: Any) -> None:
    """Refuse what is no beginning of an address."""
    from re import fullmatch

    if scheme.__class__ is not str or not fullmatch(r"[\w.+-]{2,}:/{0,2}", scheme):
        shown = f"`{scheme[:40]}`" if scheme.__class__ is str else name_kind(scheme)
        refuse("PC0424", f"{shown} cannot begin an address", "write it as `tel:` or `git://`")


def load_moment(value: Any) -> int:
    """The microseconds of a time, as `count_micros` reads it. Raises `Fault` (PC0422) for what is none."""
    from promptc.text.moment import count_micros

    check_defined(value)
    try:
        if isinstance(value, str):
            return count_micros(value)
        why = ""
    except ValueError as wrong:
        why = f": {wrong}" if str(wrong) else ""
    return refuse("PC0422", f"{show_value(value)} is not an ISO 8601 time{why}", "write it as `2026-11-22T18:30:00Z`")
