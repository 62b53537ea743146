"""Cutting a text: where it may be cut (`iter_kept`), and exact counts of many cuts for the price of encoding it once (`PrefixMeter`)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal, NamedTuple
from promptc.text.characters import WHITE, WHITE_CLASS, compile_later, is_blank
from promptc.text.counters.counter import Meter, TokenRun, ends_match, iter_inner

_AHEAD = 64
_SHORT = 512
_REACHES = (8, 64)  # tokens
Side = Literal["end", "start", "middle"]
Boundary = Literal["paragraph", "sentence", "line", "word", "token"]
TokenEnds = Sequence[int] | Callable[[], Sequence[int]]
BOUNDARIES: tuple[Boundary, ...] = ("paragraph", "sentence", "line", "word", "token")
_WHITE = compile_later(f"[{WHITE_CLASS}]+")
_LINE_END = compile_later(r"\r\n|\r|\n")
_SENTENCE = compile_later("([.!?…。！？]+)[\"'”’»›)\\]}」』）】*_]*")
_UNSPACED = "。！？"


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
            begin, end = self._read_edges(first, start, marker, stop, last)
            after = self._text[last : last + _AHEAD]
            if not is_safe(self._text[max(first - 1, 0) : first], begin or after):
                left -= 1
            elif not is_safe(end, after):
                right += 1
            elif start - first + len(marker) + last - stop <= _SHORT:
                return self._before(first) + self._meter.count(self._text[first:start] + marker + self._text[stop:last]) + self._after(last)
            else:
                return self._count_joined(first, start, marker, stop, last)

    def _read_edges(self, first: int, start: int, marker: str, stop: int, last: int) -> tuple[str, str]:
        """The beginning and the end of what stands between the places `first` and `last`, as far as safety is told from them."""
        head, tail = self._text[first : min(start, first + _AHEAD)], self._text[max(stop, last - 1) : last]
        begin = head if start - first > _AHEAD else head + marker + self._text[stop : min(last, stop + _AHEAD)]
        return begin, tail or marker or self._text[max(first, start - 1) : start]

    def _count_joined(self, first: int, start: int, marker: str, stop: int, last: int) -> int:
        """As `count_cut`, between two places: joins tokens where the cut is in a run, else counts from place to place."""
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
        return self._meter.counter.list_runs(self._text)

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


@frozen
class KeptText:
    """What a cut keeps of a text, in characters: `text[:stop]` where its end is cut, `text[start:]` where its start is, and for the middle
    `text[:start] + text[stop:]`. `boundary` is what it ends (or begins) at."""

    start: int
    stop: int
    boundary: Boundary
    side: Side = "end"

    def join(self, text: str, marker: str = "") -> str:
        """What is kept of `text`, with `marker` where something went."""
        if self.side == "end":
            return text[: self.stop] + marker
        if self.side == "start":
            return marker + text[self.start :]
        return text[: self.start] + marker + text[self.stop :]


def iter_kept(text: str, at: Boundary, *, side: Side = "end", token_ends: TokenEnds) -> Iterator[KeptText]:
    """Every proper cut of `text`, each keeping less than the one before and nothing that it did not.

    First the cuts at the boundary `at`; then, inside the one unit that is left (the last one with `side="start"`), those at the next finer
    boundary, and so on down to one token. What is kept is never only white space and never ends with it (never begins with it for `start`).
    `token_ends` are a counter's, or a call that gives them; it is only called when tokens are reached. From the middle, units go outward,
    of an even number left the tail's first; the white space before the tail stays with it.
    """
    region = trim_span(text)
    for boundary in BOUNDARIES[BOUNDARIES.index(at) :]:
        gaps = list(iter_gaps(text, boundary, region, token_ends))
        if not gaps:
            continue
        if side == "start":
            yield from (KeptText(gap.start, len(text), boundary, side) for gap in _strictly(gaps, 1))
            region = gaps[-1].start, region[1]
        elif side == "end":
            yield from (KeptText(0, gap.stop, boundary, side) for gap in reversed(_strictly(gaps, 0)))
            region = region[0], gaps[0].stop
        elif region == trim_span(text):
            yield from _iter_outward(text, gaps, boundary)
            region = region[0], gaps[0].stop
        else:
            yield from (KeptText(gap.stop, len(text), boundary, side) for gap in reversed(_strictly(gaps, 0)))
            region = region[0], gaps[0].stop


def _strictly(gaps: list[Gap], index: int) -> list[Gap]:
    """Without those that repeat a neighbour's place: tokens of white space end where the word before them does."""
    return gaps[:1] + [gap for before, gap in pairwise(gaps) if gap[index] > before[index]]


def _iter_outward(text: str, gaps: list[Gap], boundary: Boundary) -> Iterator[KeptText]:
    """Removes units from the middle on both sides in turn, the fuller side first, until the first one is left."""
    gaps = _strictly(gaps, 0)
    head = (len(gaps) + 1) // 2
    tail = len(gaps) - head
    while head:
        yield KeptText(gaps[head - 1].stop, gaps[-tail].stop if tail else len(text), boundary, "middle")
        head, tail = (head, tail - 1) if tail and tail >= head else (head - 1, tail)


class Gap(NamedTuple):
    """What lies between two units: `stop`, the end of the one before, and `start`, the beginning of the next; between them is white
    space."""

    stop: int
    start: int


def iter_gaps(text: str, boundary: Boundary, region: tuple[int, int], token_ends: TokenEnds) -> Iterator[Gap]:
    """The gaps between the units of `text` inside `region`, in order. The region begins and ends with something that is not white."""
    if boundary == "sentence":
        return _iter_sentence_gaps(text, region)
    if boundary == "token":
        return _iter_token_gaps(text, region, token_ends() if callable(token_ends) else token_ends)
    line_ends = {"word": 0, "line": 1, "paragraph": 2}[boundary]
    runs = (found.span() for found in _WHITE.finditer(text, *region))
    return (Gap(stop, start) for stop, start in runs if not line_ends or len(_LINE_END.findall(text, stop, start)) >= line_ends)


def trim_span(text: str) -> tuple[int, int]:
    """Where `text` begins and ends without the white space around it."""
    return len(text) - len(text.lstrip(WHITE)), len(text.rstrip(WHITE))


def _iter_sentence_gaps(text: str, region: tuple[int, int]) -> Iterator[Gap]:
    for found in _SENTENCE.finditer(text, *region):
        stop = found.end()
        white = _WHITE.match(text, stop)
        if stop < region[1] and (white or found[1][-1] in _UNSPACED) and not _is_label(text, found):
            yield Gap(stop, white.end() if white else stop)


def _is_label(text: str, found: re.Match[str]) -> bool:
    """A full stop after a digit (`3. `) or a single capital (`J. `) ends no sentence."""
    if found[1] != "." or found.start() == 0:
        return False
    before, earlier = text[found.start() - 1], text[max(found.start() - 2, 0) : found.start() - 1]
    return before.isdigit() or (before.isupper() and not earlier.isalpha())


def _iter_token_gaps(text: str, region: tuple[int, int], ends: Sequence[int]) -> Iterator[Gap]:
    first, last = region
    seen = solid = white_end = first  # solid: the end of the last that is not white, up to `seen`
    for end in ends:
        if not first < end < last:
            continue
        solid = seen + len(text[seen:end].rstrip(WHITE)) if not is_blank(text[seen:end]) else solid
        seen = end
        if end >= white_end:
            white = _WHITE.match(text, end)
            white_end = white.end() if white else end
        if solid > first:
            yield Gap(solid, max(end, white_end))
