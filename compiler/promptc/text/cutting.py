"""Exact counts of many cuts of one text, for the price of encoding it once."""

from bisect import bisect_left, bisect_right
from functools import cached_property

from promptc.text.counters.runs import TokenRun, ends_match
from promptc.text.meter import Meter
from promptc.text.pieces import iter_inner

_AHEAD = 64
_SHORT = 512
_REACHES = (8, 64)  # tokens


class PrefixMeter:
    """Counts what cuts leave of `text`.

    The text is encoded once, when the first cut is counted. A cut then costs the encoding of what lies between it and the nearest places
    where counts add up: a few words, or a few tokens of a long run. Where a counter has neither, each cut is counted whole.
    """

    def __init__(self, meter: Meter, text: str) -> None:
        self._meter = meter
        self._text = text

    def count_cut(self, start: int, stop: int, marker: str = "") -> int:
        """The units of `text[:start] + marker + text[stop:]`, where start <= stop."""
        if self._meter.counter.unit > 1:
            return self._meter.count(self._text[:start] + marker + self._text[stop:])
        places, is_safe = self._places, self._meter.is_safe
        left, right = bisect_right(places, start) - 1, bisect_left(places, stop)
        while True:
            first, last = places[left], places[right]
            begin, end = self._find_edges(first, start, marker, stop, last)
            after = self._text[last : last + _AHEAD]
            if not is_safe(self._text[max(first - 1, 0) : first], begin or after):
                left -= 1
            elif not is_safe(end, after):
                right += 1
            elif start - first + len(marker) + last - stop <= _SHORT:
                return self._before(first) + self._meter.count(self._text[first:start] + marker + self._text[stop:last]) + self._after(last)
            else:
                return self._count_joined(first, start, marker, stop, last)

    def _find_edges(self, first: int, start: int, marker: str, stop: int, last: int) -> tuple[str, str]:
        """The beginning and the end of what stands between the places `first` and `last`, as far as safety is told from them."""
        head, tail = self._text[first : min(start, first + _AHEAD)], self._text[max(stop, last - 1) : last]
        begin = head if start - first > _AHEAD else head + marker + self._text[stop : min(last, stop + _AHEAD)]
        return begin, tail or marker or self._text[max(first, start - 1) : start]

    def _count_joined(self, first: int, start: int, marker: str, stop: int, last: int) -> int:
        """The same with `first` and `last` as the places: joins tokens where the cut is in a run, else counts from place to place."""
        counter, text = self._meter.counter, self._text
        for reach in _REACHES:
            head = (first, first) if start - first <= _SHORT else self._find_head(start, reach, marker[:1] or text[stop : stop + 1])
            tail = (last, last) if last - stop <= _SHORT else self._find_tail(stop, reach, marker[-1:] or text[start - 1 : start])
            if head is None or tail is None or (head, tail) == ((first, first), (last, last)):
                break
            before, after = text[head[0] : start] + marker + text[stop : tail[0]], text[tail[0] : tail[1]]
            starts = [*counter.iter_starts(before + after), len((before + after).encode())]
            begin, end = len(text[head[0] : head[1]].encode()), len(before.encode())
            if begin in starts and end in starts:
                return self._before(head[1]) + starts.index(end) - starts.index(begin) + self._after(tail[0])
        return self._before(first) + counter.measure(text[first:start] + marker + text[stop:last]) + self._after(last)

    def _find_head(self, start: int, reach: int, follower: str) -> tuple[int, int] | None:
        """The ends of two tokens of the run that is cut at `start`, some tokens before it."""
        run = self._find_run(start)
        if run is None or (follower and not ends_match(follower)):
            return None
        if run.step > 1:
            place = start - (start - run.first) % run.step
            return place, place
        index = bisect_right(self._ends, start) - 2 - reach
        return (self._ends[index], self._ends[index + 1]) if index >= 0 and self._ends[index] >= run.first else None

    def _find_tail(self, stop: int, reach: int, leader: str) -> tuple[int, int] | None:
        """The ends of two tokens of the run that is cut at `stop`, some tokens after it."""
        run = self._find_run(stop)
        if run is None or run.step > 1 or leader in ("\r", "\n"):
            return None
        index = bisect_left(self._ends, stop) + reach
        return (self._ends[index], self._ends[index + 1]) if index + 1 < len(self._ends) and self._ends[index + 1] <= run.last else None

    def _find_run(self, place: int) -> TokenRun | None:
        index = bisect_right(self._runs, (place, len(self._text), 0)) - 1
        return self._runs[index] if index >= 0 and self._runs[index].first <= place <= self._runs[index].last else None

    def _before(self, place: int) -> int:
        """The units of `text[:place]`: as many as tokens begin there, for one begins at every place (and every token end) anew."""
        return self._counts[bisect_left(self._ends, place)] if place else 0

    def _after(self, place: int) -> int:
        return self._counts[-1] - self._before(place)

    @cached_property
    def _places(self) -> list[int]:
        return [0, *iter_inner(self._meter.counter, self._text), len(self._text)]

    @cached_property
    def _runs(self) -> list[TokenRun]:
        return self._meter.counter.find_runs(self._text)

    @cached_property
    def _ends(self) -> list[int]:
        if len(self._places) == 2 and not self._runs:
            return [len(self._text)]
        return list(self._meter.counter.token_ends(self._text))

    @cached_property
    def _counts(self) -> list[int]:
        """For each of `_ends` the units before it."""
        if len(self._ends) < 2:
            return [self._meter.counter.measure(self._text)] if self._text else [0]
        starts = self._meter.counter.iter_starts(self._text)
        counts, byte, done = [], 0, 0
        for end in self._ends:
            byte += len(self._text[done:end].encode())
            counts.append(bisect_left(starts, byte))
            done = end
        return counts
