"""Exact counts of many cuts of one text, for the price of encoding it once."""

from bisect import bisect_left, bisect_right

from promptc.text.meter import Meter
from promptc.text.pieces import iter_inner

_AHEAD = 64
_SHORT = 512


class PrefixMeter:
    """Counts what cuts leave of `text`.

    The text is encoded once, when the first cut is counted. A cut costs the encoding of what lies between it and the nearest places where
    counts add up (a few words in most texts). Where a counter has no such places, each cut is counted whole.
    """

    def __init__(self, meter: Meter, text: str) -> None:
        self._meter = meter
        self._text = text
        self._places: list[int] = []
        self._units: list[int] = []

    def count_prefix(self, stop: int, tail: str = "") -> int:
        """The units of `text[:stop] + tail`."""
        return self.count_cut(stop, len(self._text), tail)

    def count_suffix(self, start: int, head: str = "") -> int:
        """The units of `head + text[start:]`."""
        return self.count_cut(0, start, head)

    def count_cut(self, start: int, stop: int, marker: str = "") -> int:
        """The units of `text[:start] + marker + text[stop:]`, where start <= stop."""
        if not self._places:
            self._measure()
        text, places, is_safe = self._text, self._places, self._meter.is_safe
        left, right = bisect_right(places, start) - 1, bisect_left(places, stop)
        while True:
            middle = text[places[left] : start] + marker + text[stop : places[right]]
            before, after = text[max(places[left] - 1, 0) : places[left]], text[places[right] : places[right] + _AHEAD]
            if not is_safe(before, middle or after):
                left -= 1
            elif not is_safe(middle, after):
                right += 1
            else:
                return self._units[left] + self._count(middle) + self._units[-1] - self._units[right]

    def _count(self, text: str) -> int:
        return self._meter.count(text) if len(text) <= _SHORT else self._meter.counter.measure(text)

    def _measure(self) -> None:
        """Finds the places and the units before each: as many as tokens begin before it, as tokens begin anew at such a place."""
        text, counter = self._text, self._meter.counter
        inner = list(iter_inner(counter, text)) if counter.unit == 1 else []
        starts = counter.iter_starts(text) if inner else ()
        units, byte, done = [0], 0, 0
        for place in inner:
            byte += len(text[done:place].encode())
            units.append(bisect_left(starts, byte))
            done = place
        self._places, self._units = [0, *inner, len(text)], [*units, len(starts) if inner else counter.measure(text)]
