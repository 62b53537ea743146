"""Cuts of one rendered text, from the longest to the shortest, each guarded and with its marker (language.md §5, `trim`)."""

from collections.abc import Callable, Iterator
from functools import cached_property

from promptc.diag.typed import Literal
from promptc.text.cuts import Kept, iter_kept
from promptc.text.guard import Guard
from promptc.text.meter import Meter
from promptc.text.prefix import PrefixMeter

At = Literal["paragraph", "sentence", "line", "word", "token"]
Side = Literal["end", "start", "middle"]
_OWN_LINE = ("paragraph", "line")
_NEAR = 400


class Original:
    """A text that is cut many times: what all its cuts share."""

    def __init__(self, raw: str, guard: Guard, meter: Meter) -> None:
        self.raw = raw
        self.guard = guard
        self.meter = meter
        self.is_plain = guard.guard(raw)[0] == raw
        self._prefixes: dict[str, PrefixMeter] = {}

    def count_cut(self, start: int, stop: int, middle: str, trail: str) -> int:
        """The units of `raw[:start] + middle + raw[stop:] + trail`, without encoding the whole again."""
        if stop == len(self.raw):
            return self._prefix("").count_cut(start, stop, middle + trail)
        return self._prefix(trail).count_cut(start, stop, middle)

    def _prefix(self, trail: str) -> PrefixMeter:
        if trail not in self._prefixes:
            self._prefixes[trail] = PrefixMeter(self.meter, self.raw + trail)
        return self._prefixes[trail]


class Cut:
    """What a cut leaves: what stands before `start` and from `stop` on, the marker (`middle`) between. Its text is built when asked for."""

    def __init__(self, original: Original, kept: Kept, marker: str) -> None:
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
        return self._original.guard.guard(about)[0] == about


def iter_cuts(raw: str, *, at: At, side: Side, marker: str, guard: Guard, meter: Meter) -> Iterator[Cut]:
    """Every proper cut of `raw`, nested, longest first; the shortest keeps the first unit of the finest boundary."""
    original = Original(raw, guard, meter)
    for kept in iter_kept(raw, at, side=side, token_ends=lambda: meter.counter.token_ends(raw)):
        yield Cut(original, kept, marker)


def find_cut(raw: str, fits: Callable[[Cut], bool], *, at: At, side: Side, marker: str, guard: Guard, meter: Meter) -> Cut | None:
    """The longest cut that `fits`, else the shortest; None when `raw` cannot be cut."""
    cut = None
    for cut in iter_cuts(raw, at=at, side=side, marker=marker, guard=guard, meter=meter):
        if fits(cut):
            return cut
    return cut


def _place_marker(marker: str, boundary: str, before: str, after: str) -> str:
    """A marker stands on its own line where a line or paragraph was cut, after a space at a sentence or word, joined inside a word."""
    gap = "\n" if boundary in _OWN_LINE else "" if boundary == "token" else " "
    if not marker:
        return gap if before and after and not after.isspace() else ""
    lead = gap if before and not marker[0].isspace() else ""
    follow = gap if after and not marker[-1].isspace() and not after.isspace() else ""
    return lead + marker + follow
