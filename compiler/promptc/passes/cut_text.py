"""Cuts of one rendered text, from the longest to the shortest, each guarded and with its marker (language.md §5, `trim`)."""

from collections.abc import Callable, Iterator
from functools import cached_property

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal
from promptc.template.runtime.run import price_count
from promptc.text.counters.counter import iter_inner
from promptc.text.cutting import KeptText, PrefixMeter, iter_kept
from promptc.text.guard import Guard
from promptc.text.meter import Meter
from promptc.text.white import WHITE, is_blank

At = Literal["paragraph", "sentence", "line", "word", "token"]
Side = Literal["end", "start", "middle"]
_OWN_LINE = ("paragraph", "line")
_NEAR = 400
_REACH = 512  # more than what a guard or a counter looks at from a cut
_CUT = 600
"""Steps of one cut."""
_ENDS = 4
"""What finding the places for cuts costs, in countings of the text."""

Pay = Callable[[int], None]


def _pay_nothing(steps: int) -> None:
    """For who cuts beside any render."""


@frozen
class Most:
    """What a cut may come to at most: `size` characters (`chars`) or tokens."""

    unit: str
    size: int


class Original:
    """A text that is cut many times: what all its cuts share."""

    def __init__(self, raw: str, guard: Guard, meter: Meter) -> None:
        self.raw = raw
        self.guard = guard
        self.meter = meter
        self.is_plain = guard.leaves(raw)
        self._prefixes: dict[str, PrefixMeter] = {}
        self._reach = len(raw)

    def bound_head(self, most: Most) -> int:
        """A place such that every cut which keeps the text beyond it is larger than `most`; the text's end where none is known.

        It costs what stands before the place; counts of cuts that end before it then cost no more.
        """
        self._reach = min(len(self.raw), self._find_over(most) + _REACH)
        return self._reach

    def _find_over(self, most: Most) -> int:
        if not self.is_plain:
            return len(self.raw)
        if most.unit == "chars":
            return most.size
        start, units = 0, 0
        for place in iter_inner(self.meter.counter, self.raw):
            if place - start >= _NEAR:
                units += self.meter.counter.measure(self.raw[start:place])
                start = place
                if self.meter.tokens(units) > most.size:
                    return place
        return len(self.raw)

    def count_cut(self, start: int, stop: int, middle: str, trail: str) -> int:
        """The units of `raw[:start] + middle + raw[stop:] + trail`, without encoding the whole again."""
        if stop < len(self.raw):
            return self._prefix(trail).count_cut(start, stop, middle)
        if start > self._reach:
            self._reach = stop
            self._heads = PrefixMeter(self.meter, self.raw)
        return self._heads.count_cut(start, self._reach, middle + trail)

    @cached_property
    def _heads(self) -> PrefixMeter:
        return PrefixMeter(self.meter, self.raw[: self._reach])

    def _prefix(self, trail: str) -> PrefixMeter:
        if trail not in self._prefixes:
            self._prefixes[trail] = PrefixMeter(self.meter, self.raw + trail)
        return self._prefixes[trail]


class Cut:
    """What a cut leaves: what stands before `start` and from `stop` on, the marker (`middle`) between. Its text is built when asked for."""

    def __init__(self, original: Original, kept: KeptText, marker: str) -> None:
        self._original = original
        self._units: dict[str, int] = {}
        raw = original.raw
        self.start = kept.start if kept.side == "middle" else 0 if kept.side == "start" else kept.stop
        self.stop = kept.start if kept.side == "start" else kept.stop if kept.side == "middle" else len(raw)
        self.boundary = kept.boundary
        self.middle = _place_marker(marker, kept.boundary, raw[max(0, self.start - 1) : self.start], raw[self.stop : self.stop + 1])

    @property
    def kept(self) -> int:
        """How many characters of the original stand."""
        return self.start + len(self._original.raw) - self.stop

    @property
    def opens(self) -> bool:
        """True when the text meets a plain line's end safely."""
        raw = self._original.raw
        head = raw[: min(self.start, _NEAR)] or self.middle + raw[self.stop : self.stop + _NEAR]
        return self._original.meter.is_safe("x\n", head)

    @property
    def raw(self) -> str:
        """The text with its marker, not guarded."""
        raw = self._original.raw
        return raw[: self.start] + self.middle + raw[self.stop :]

    @cached_property
    def text(self) -> str:
        """The text with its marker, guarded."""
        return self.raw if self._is_plain else self._original.guard.guard(self.raw)[0]

    @cached_property
    def chars(self) -> int:
        """The length of the text."""
        return self.kept + len(self.middle) if self._is_plain else len(self.text)

    def measure_size(self, unit: str) -> int:
        """The size of the text alone, in characters (`chars`) or tokens."""
        return self.chars if unit == "chars" else self._original.meter.tokens(self._count())

    def _count(self) -> int:
        return self.measure("") if self.measure is not None else self._original.meter.count(self.text)

    @property
    def measure(self) -> Callable[[str], int] | None:
        """A way to count text and what follows it without a whole encode; None where the guard changed the text."""
        return self._measure if self._is_plain else None

    def _measure(self, trail: str) -> int:
        if trail not in self._units:
            self._units[trail] = self._original.count_cut(self.start, self.stop, self.middle, trail)
        return self._units[trail]

    @cached_property
    def _is_plain(self) -> bool:
        """True when the guard leaves the cut as it is. In a text that needs no guard, only what stands about the cut can need one."""
        if not self._original.is_plain:
            return False
        raw = self._original.raw
        about = raw[max(0, self.start - _NEAR) : self.start] + self.middle + raw[self.stop : self.stop + _NEAR]
        return self._original.guard.leaves(about)


def iter_cuts(
    raw: str, *, at: At, side: Side, marker: str, guard: Guard, meter: Meter, pay: Pay = _pay_nothing, most: Most | None = None
) -> Iterator[Cut]:
    """Every proper cut of `raw`, nested, longest first; the shortest keeps the first unit of the finest boundary.

    With `most`, those that are surely larger may be passed over, never the shortest. `pay` is told the steps of all before they are made.
    """
    pay(_ENDS * price_count(raw))
    original = Original(raw, guard, meter)
    price = _CUT if original.is_plain else _CUT + price_count(raw)
    reach = original.bound_head(most) if most is not None and side != "start" else len(raw)
    passed: KeptText | None = None
    for kept in iter_kept(raw, at, side=side, token_ends=lambda: meter.counter.token_ends(raw)):
        passed = kept if (kept.start if side == "middle" else kept.stop) > reach else None
        if passed is None:
            pay(price)
            yield Cut(original, kept, marker)
    if passed is not None:
        yield Cut(original, passed, marker)


def find_cut(raw: str, most: Most, *, at: At, side: Side, marker: str, guard: Guard, meter: Meter, pay: Pay = _pay_nothing) -> Cut | None:
    """The longest cut that is not over `most`, else the shortest; None when `raw` cannot be cut."""
    cut = None
    for cut in iter_cuts(raw, at=at, side=side, marker=marker, guard=guard, meter=meter, pay=pay, most=most):
        if cut.measure_size(most.unit) <= most.size:
            return cut
    return cut


def _place_marker(marker: str, boundary: str, before: str, after: str) -> str:
    """A marker stands on its own line where a line or paragraph was cut, after a space at a sentence or word, joined inside a word."""
    gap = "\n" if boundary in _OWN_LINE else "" if boundary == "token" else " "
    if not marker:
        return gap if before and not is_blank(after) else ""
    lead = gap if before and marker[0] not in WHITE else ""
    follow = gap if marker[-1] not in WHITE and not is_blank(after) else ""
    return lead + marker + follow
