"""Cuts of a text (`iter_near`, and `iter_kept` for all), and exact counts of many cuts for the cost of one encoding (`PrefixMeter`)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise, takewhile

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal, NamedTuple
from promptc.text.characters import WHITE, WHITE_CLASS, compile_later, is_blank
from promptc.text.counters.counter import Meter, TextIndex, TokenRun, ends_match, iter_inner

_AHEAD = 64
_SHORT = 512
_FEW = 256
_LOCAL = 2048
"""The most characters around a cut that are counted again; for more, tokens are joined."""

_ENDS = 4
"""The cost of finding the token ends of a text, as a multiple of the cost of counting it."""

_LOOKS = (64, 512, 4096, 32_768)
_CHUNK = (24, 500, 8_000, 64_000)
"""Sizes, in characters, of the chunks in which gaps are searched: small at first, as most searches end early."""

_TOKEN = 8
"""The characters in which the end of the first token is searched."""
_REACHES = (8, 64)  # tokens
Side = Literal["end", "start", "middle"]
Boundary = Literal["paragraph", "sentence", "line", "word", "token"]
TokenEnds = Sequence[int] | Callable[[], Sequence[int]]
BOUNDARIES: tuple[Boundary, ...] = ("paragraph", "sentence", "line", "word", "token")
_new = tuple.__new__
"""Makes a named tuple from all its fields in order, at a third of the usual cost: a text has many gaps."""

_WHITE = compile_later(f"[{WHITE_CLASS}]+")
_LINE_END = compile_later(r"\r\n|\r|\n")
_SENTENCE = compile_later("([.!?…。！？]+)[\"'”’»›)\\]}」』）】*_]*")
_UNSPACED = "。！？"


class CutReach(NamedTuple):
    """The cuts that are certainly too large; if a cut is too large, so is every longer one.

    A cut of the end is too large if it keeps `head` characters or more, a cut of the start if it begins at `tail` or before, and a cut of
    the middle if `is_over` returns True for its two places.
    """

    head: int
    tail: int
    is_over: Callable[[int, int], bool]


class PrefixMeter:
    """Counts what cuts leave of `text`.

    The text is counted once, piece by piece. A cut then costs only the text between it and the nearest places where counts add up, such as
    the ends of sentences and lines. If these places are far apart, as in a text without white space, `_RunMeter` joins tokens. If a counter
    has no such places, each cut is counted whole.
    """

    def __init__(self, meter: Meter, text: str, pay: Callable[[int], None] = lambda characters: None) -> None:
        """Make a meter; it calls `pay` with the number of characters that it is about to count in addition to those near a cut."""
        self._meter = meter
        self._text = text
        self._pay = pay
        self._slow: dict[tuple[int, int, str], _RunMeter] = {}
        self._known: tuple[int, int, list[int]] = (0, 0, [])
        self._parts = meter.counter.unit == 1 and meter.is_safe("a", " b")

    def count_cut(self, start: int, stop: int, marker: str = "", ending: str = "") -> int:
        """Return the units of `text[:start] + marker + text[stop:] + ending`, where start <= stop."""
        text, size, measure = self._text, len(self._text), self._meter.counter.measure
        if self._meter.counter.unit > 1:  # characters
            return start + len(marker) + size - stop + len(ending)
        if start + size - stop <= _FEW:
            return measure(text[:start] + marker + text[stop:] + ending)
        if stop == size:
            marker, ending = marker + ending, ""
        index, is_safe = self._index, self._meter.is_safe
        places, units = index.places, index.units
        left, right = bisect_right(places, start) - 1, bisect_left(places, stop)
        if ending and right > index.edge and size - stop <= _LOCAL:
            marker, stop, ending, right = marker + text[stop:] + ending, size, "", len(places) - 1
        while right < len(places) if not ending else right <= index.edge:
            first, last = places[left], places[right]
            begin, end = _read_edges(text, first, start, marker, stop, last)
            after = text[last : last + _AHEAD]
            if not is_safe(text[max(first - 1, 0) : first], begin or after):
                left -= 1
            elif not is_safe(end, after):
                right += 1
            elif start - first + len(marker) + last - stop <= _LOCAL:
                after_last = (index.count_ended(ending) if ending else units[-1]) - units[right]
                return units[left] + measure(text[first:start] + marker + text[stop:last]) + after_last
            elif stop == size:
                last = places[bisect_left(places, start)]
                return units[left] + self._load_slow(first, last, "").count_cut(start - first, last - first, marker)
            else:
                break
        return self._load_slow(0, size, ending).count_cut(start, stop + (len(ending) if stop == size else 0), marker)

    def _load_slow(self, first: int, last: int, ending: str) -> _RunMeter:
        key = first, last, ending
        if key not in self._slow:
            self._pay(_ENDS * (last - first))
            self._slow[key] = _RunMeter(self._meter, self._text[first:last] + ending, self._pay if self._parts else None)
        return self._slow[key]

    @cached_property
    def _index(self) -> TextIndex:
        return self._meter.index(self._text)

    def make_reach(self, units: int, slack: int) -> CutReach:
        """Return the cuts that certainly have more than `units` units.

        The result is valid whatever marker a cut gets, and also if the marker changes `slack` characters on both sides.
        """
        places, before, edge = self._index.places, self._index.units, self._index.edge
        margin = slack + _AHEAD
        above = bisect_right(before, units)
        head = places[above] + margin if above < len(places) else len(self._text) + 1
        below = bisect_left(before, before[edge] - units, 0, edge + 1) - 1
        tail = places[below] - slack - 1 if below >= 0 else -1

        def is_over(start: int, stop: int) -> bool:
            first = max(bisect_right(places, start - margin) - 1, 0)
            last = bisect_left(places, stop + slack + 1)
            return before[first] + (before[edge] - before[last] if last < edge else 0) > units

        return CutReach(head, tail, is_over)

    def list_ends(self, first: int, last: int) -> Sequence[int]:
        """Return the token ends of the text from `first` to `last`, and possibly some more on both sides."""
        begin, end, ends = self._known
        if not ends or first < begin or last > end:
            begin, end = self.place_before(first), self.place_behind(last)
            ends = [begin + place for place in self._meter.counter.token_ends(self._text[begin:end])]
            self._known = begin, end, ends
        return ends

    def place_before(self, place: int) -> int:
        """Return a place at or before `place` where counts add up; 0 if none is found nearby."""
        if self._is_place(place):
            return place
        for reach in _LOOKS if self._parts and place else ():
            begin = max(place - reach, 0)
            inner = iter_inner(self._meter.counter, self._text[begin : place + _AHEAD])
            found = [*takewhile(lambda at: at <= place, (begin + at for at in inner))]
            if found or not begin:
                return found[-1] if found else 0
        return 0

    def _is_place(self, place: int) -> bool:
        return self._parts and self._meter.is_safe(self._text[max(place - 1, 0) : place], self._text[place : place + _AHEAD])

    def place_behind(self, place: int) -> int:
        """Return a place at or after `place` where counts add up; the end of the text if none is found nearby."""
        if self._is_place(place):
            return place
        for reach in _LOOKS if self._parts else ():
            begin = max(place - 1, 0)
            inner = iter_inner(self._meter.counter, self._text[begin : place + reach])
            found = next((begin + at for at in inner if begin + at >= place), None)
            if found is not None:
                return found
        return len(self._text)


class _RunMeter:
    """Counts cuts of a text that has no places where counts add up, or only distant ones. The text is encoded once, at the first cut."""

    def __init__(self, meter: Meter, text: str, pay: Callable[[int], None] | None) -> None:
        """Make a meter; it calls `pay`, if given, with the characters of each cut that it must count whole.

        `pay` is None if the counter allows nothing better.
        """
        self._meter = meter
        self._text = text
        self._pay = pay

    def count_cut(self, start: int, stop: int, marker: str) -> int:
        """Return the units of `text[:start] + marker + text[stop:]`, where start <= stop."""
        places, is_safe = self._places, self._meter.is_safe
        left, right = bisect_right(places, start) - 1, bisect_left(places, stop)
        while True:
            first, last = places[left], places[right]
            begin, end = _read_edges(self._text, first, start, marker, stop, last)
            after = self._text[last : last + _AHEAD]
            if not is_safe(self._text[max(first - 1, 0) : first], begin or after):
                left -= 1
            elif not is_safe(end, after):
                right += 1
            elif start - first + len(marker) + last - stop <= _SHORT:
                return self._before(first) + self._meter.count(self._text[first:start] + marker + self._text[stop:last]) + self._after(last)
            else:
                return self._count_joined(first, start, marker, stop, last)

    def _count_joined(self, first: int, start: int, marker: str, stop: int, last: int) -> int:
        """Count a cut between two safe places: join tokens if the cut is inside a run, else count the text from `first` to `last`."""
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
        if self._pay is not None:
            self._pay(start - first + len(marker) + last - stop)
        return self._before(first) + counter.measure(text[first:start] + marker + text[stop:last]) + self._after(last)

    def _find_head(self, start: int, reach: int, follower: str) -> tuple[int, int] | None:
        """Return two consecutive token ends `reach` tokens before `start`, inside the run that is cut there; None if there are none."""
        run = self._find_run(start)
        if run is None or (follower and not ends_match(follower)):
            return None
        if run.step > 1:
            place = start - (start - run.first) % run.step
            return place, place
        index = bisect_right(self._ends, start) - 2 - reach
        return (self._ends[index], self._ends[index + 1]) if index >= 0 and self._ends[index] >= run.first else None

    def _find_tail(self, stop: int, reach: int, leader: str) -> tuple[int, int] | None:
        """Return two consecutive token ends `reach` tokens after `stop`, inside the run that is cut there; None if there are none."""
        run = self._find_run(stop)
        if run is None or run.step > 1 or leader in ("\r", "\n"):
            return None
        index = bisect_left(self._ends, stop) + reach
        return (self._ends[index], self._ends[index + 1]) if index + 1 < len(self._ends) and self._ends[index + 1] <= run.last else None

    def _find_run(self, place: int) -> TokenRun | None:
        index = bisect_right(self._runs, (place, len(self._text), 0)) - 1
        return self._runs[index] if index >= 0 and self._runs[index].first <= place <= self._runs[index].last else None

    def _before(self, place: int) -> int:
        """Return the units of `text[:place]`.

        This is the number of tokens that begin before `place`, as a token begins at every safe place and token end.
        """
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
        """The units before each of `_ends`."""
        if len(self._ends) < 2:
            return [self._meter.counter.measure(self._text)] if self._text else [0]
        starts = self._meter.counter.iter_starts(self._text)
        counts, byte, done = [], 0, 0
        for end in self._ends:
            byte += len(self._text[done:end].encode())
            counts.append(bisect_left(starts, byte))
            done = end
        return counts


def _read_edges(text: str, first: int, start: int, marker: str, stop: int, last: int) -> tuple[str, str]:
    """Return the beginning and the end of what a cut leaves between `first` and `last`, as much of each as a safety check reads."""
    head, tail = text[first : min(start, first + _AHEAD)], text[max(stop, last - 1) : last]
    begin = head if start - first > _AHEAD else head + marker + text[stop : min(last, stop + _AHEAD)]
    return begin, tail or marker or text[max(first, start - 1) : start]


@frozen
class KeptText:
    """What a cut keeps of a text, in character offsets.

    A cut of the end keeps `text[:stop]`, a cut of the start `text[start:]`, and a cut of the middle `text[:start] + text[stop:]`.
    `boundary` is the kind of boundary at which the cut was made.
    """

    start: int
    stop: int
    boundary: Boundary
    side: Side = "end"

    def join(self, text: str, marker: str = "") -> str:
        """Return the kept part of `text`, with `marker` in place of what was cut."""
        if self.side == "end":
            return text[: self.stop] + marker
        if self.side == "start":
            return marker + text[self.start :]
        return text[: self.start] + marker + text[self.stop :]


def count_kept(kept: KeptText, size: int) -> int:
    """Return how many of a text's `size` characters are kept."""
    return size - kept.stop + kept.start if kept.side == "middle" else kept.stop - kept.start


def list_boundaries(at: Sequence[Boundary], finest: Boundary | None = None) -> tuple[Boundary, ...]:
    """Return the boundaries of a cut in the order they are tried: those of `at`, then all finer ones, up to `finest`."""
    order = (*at, *BOUNDARIES[max(map(BOUNDARIES.index, at)) + 1 :])
    return order if finest is None else order[: order.index(finest) + 1]


def iter_kept(text: str, boundaries: Sequence[Boundary], *, token_ends: TokenEnds) -> Iterator[KeptText]:
    """Yield every proper cut of the end of `text`, from the longest to the shortest; each keeps a part of what the one before keeps.

    The cuts at the first of the `boundaries` come first. Then the one unit that is left is cut at the next boundary, and so on. The kept
    text is never only white space and never ends with white space. `token_ends` are the token ends of a counter, or a function that returns
    them; it is only called when the boundary `token` is reached.
    """
    first, last = trim_span(text)
    for boundary in boundaries:
        gaps = _strictly(list(iter_gaps(text, boundary, (first, last), token_ends)))
        yield from (KeptText(0, gap.stop, boundary) for gap in reversed(gaps))
        last = gaps[0].stop if gaps else last


def _strictly(gaps: list[Gap]) -> list[Gap]:
    """Drop the gaps that end the same unit as the one before: a token of white space ends where the word before it ends."""
    return gaps[:1] + [gap for before, gap in pairwise(gaps) if gap.stop > before.stop]


def iter_near(text: str, boundaries: Sequence[Boundary], *, side: Side, meter: PrefixMeter, reach: CutReach) -> Iterator[KeptText]:
    """Yield the cuts of a side of `text`, as `iter_kept` does, without those that `reach` says are too large, but always the shortest cut.

    A cut of the `start` leaves the last unit, and what it keeps never begins with white space. A cut of the middle removes units from the
    middle outward; if as many units are left on both sides, the tail loses the next one. The white space before the tail stays with it.
    The function reads only the text near the first cut it yields, and the beginning of the text (with `start` the end).
    """
    whole = region = trim_span(text)
    shortest: KeptText | None = None
    is_left_out = False
    for boundary in boundaries:
        if side == "middle" and region == whole:
            gaps = _strictly(list(iter_gaps(text, boundary, region, partial(meter.list_ends, *region))))
            if not gaps:
                continue
            first = bisect_left(range(len(gaps)), True, key=lambda at: not reach.is_over(*_place_outward(gaps, at, len(text))))
            yield from (KeptText(*_place_outward(gaps, at, len(text)), boundary, side) for at in range(first, len(gaps)))
            shortest, is_left_out = KeptText(gaps[0].stop, len(text), boundary, side), first == len(gaps)
            region = region[0], gaps[0].stop
            continue
        if side == "start":
            last = next(_iter_down(text, boundary, region, region[1], meter), None)
            if last is None:
                continue
            shortest, is_left_out = KeptText(last.start, len(text), boundary, side), last.start <= reach.tail
            if not is_left_out:
                yield from (KeptText(gap.start, len(text), boundary, side) for gap in _iter_up(text, boundary, region, reach.tail, meter))
            region = last.start, region[1]
            continue
        nearest = next(_iter_up(text, boundary, region, region[0], meter), None)
        if nearest is None:
            continue
        place = (0, nearest.stop) if side == "end" else (nearest.stop, len(text))
        shortest, is_left_out = KeptText(*place, boundary, side), nearest.stop >= reach.head
        if not is_left_out:
            downward = _iter_down(text, boundary, region, reach.head - 1, meter)
            if side == "end":
                yield from (KeptText(0, gap.stop, boundary, side) for gap in downward)
            else:
                yield from (KeptText(gap.stop, len(text), boundary, side) for gap in downward)
        region = region[0], nearest.stop
    if is_left_out and shortest is not None:
        yield shortest


def _place_outward(gaps: Sequence[Gap], at: int, size: int) -> tuple[int, int]:
    """Return the places of the `at`-th cut of the middle. The fuller side loses its next unit, until only the first unit is left."""
    left = len(gaps) - at
    head, tail = (left + 1) // 2, left // 2
    return gaps[head - 1].stop, gaps[-tail].stop if tail else size


def _iter_down(text: str, boundary: Boundary, region: tuple[int, int], most: int, meter: PrefixMeter) -> Iterator[Gap]:
    """Yield the gaps that end a unit at or before `most`, from the last to the first; no two end the same unit."""
    first, last = region
    most, chunk, seen = min(most, last), 0, -1
    while most > first:
        begin = _begin_anew(text, boundary, first, most - _CHUNK[min(chunk, len(_CHUNK) - 1)], meter)
        white = _WHITE.match(text, most)
        end = min(max(white.end() if white else 0, most + 1), last)
        ends = meter.list_ends(begin, end) if boundary == "token" else ()
        for gap in reversed(list(iter_gaps(text, boundary, (begin, end), ends))):
            if begin < gap.stop <= most and gap.stop != seen:
                yield gap
                seen = gap.stop
        most = begin
        chunk += 1


def _iter_up(text: str, boundary: Boundary, region: tuple[int, int], least: int, meter: PrefixMeter) -> Iterator[Gap]:
    """Yield the gaps that begin a unit after `least`, in order; no two begin the same unit."""
    begin = _begin_anew(text, boundary, region[0], least, meter)
    gaps = _iter_tokens_up(text, (begin, region[1]), meter) if boundary == "token" else iter_gaps(text, boundary, (begin, region[1]), ())
    seen = least
    for gap in gaps:
        if gap.start > seen:
            yield gap
            seen = gap.start


def _iter_tokens_up(text: str, region: tuple[int, int], meter: PrefixMeter) -> Iterator[Gap]:
    begin, last = region
    place, chunk = begin, 0
    while place < last:
        reach = _CHUNK[min(chunk, len(_CHUNK)) - 1] if chunk else _TOKEN
        ends = meter.list_ends(begin, min(place + reach, last))
        yield from _iter_token_gaps(text, (begin, last), ends)
        place = ends[-1]
        begin = max(begin, len(text[begin:place].rstrip(WHITE)) + begin)
        chunk += 1


def _begin_anew(text: str, boundary: Boundary, first: int, place: int, meter: PrefixMeter) -> int:
    """Return a place between `first` and `place` from which the search finds the same gaps as from `first`."""
    if place <= first:
        return first
    if boundary == "token":
        place = meter.place_before(place)
        return first + len(text[first:place].rstrip(WHITE)) if place > first else first
    while place > first and not text[place - 1].isalnum():
        place -= 1
    return place


class Gap(NamedTuple):
    """What lies between two units: `stop` is the end of the unit before, `start` the beginning of the next.

    Only white space is between them.
    """

    stop: int
    start: int


def iter_gaps(text: str, boundary: Boundary, region: tuple[int, int], token_ends: TokenEnds) -> Iterator[Gap]:
    """Yield the gaps between the units of `text` inside `region`, in order. The region must neither begin nor end with white space."""
    if boundary == "sentence":
        return _iter_sentence_gaps(text, region)
    if boundary == "token":
        return _iter_token_gaps(text, region, token_ends() if callable(token_ends) else token_ends)
    line_ends = {"word": 0, "line": 1, "paragraph": 2}[boundary]
    if line_ends and _LINE_END.search(text, *region) is None:
        return iter(())
    runs = (found.span() for found in _WHITE.finditer(text, *region))
    return (_new(Gap, run) for run in runs if not line_ends or len(_LINE_END.findall(text, *run)) >= line_ends)


def trim_span(text: str) -> tuple[int, int]:
    """Return the offsets where `text` begins and ends without the white space around it."""
    return len(text) - len(text.lstrip(WHITE)), len(text.rstrip(WHITE))


def _iter_sentence_gaps(text: str, region: tuple[int, int]) -> Iterator[Gap]:
    for found in _SENTENCE.finditer(text, *region):
        stop = found.end()
        white = _WHITE.match(text, stop)
        if stop < region[1] and (white or found[1][-1] in _UNSPACED) and not _is_label(text, found):
            yield Gap(stop, white.end() if white else stop)


def _is_label(text: str, found: re.Match[str]) -> bool:
    """Return whether the mark is a full stop after a digit (`3. `) or a single capital (`J. `), which ends no sentence."""
    if found[1] != "." or found.start() == 0:
        return False
    before, earlier = text[found.start() - 1], text[max(found.start() - 2, 0) : found.start() - 1]
    return before.isdigit() or (before.isupper() and not earlier.isalpha())


def _iter_token_gaps(text: str, region: tuple[int, int], ends: Sequence[int]) -> Iterator[Gap]:
    first, last = region
    seen = solid = white_end = first  # solid: the end of the last character before `seen` that is not white
    for end in ends:
        if not first < end < last:
            continue
        solid = seen + len(text[seen:end].rstrip(WHITE)) if not is_blank(text[seen:end]) else solid
        seen = end
        if end >= white_end:
            white = _WHITE.match(text, end)
            white_end = white.end() if white else end
        if solid > first:
            yield _new(Gap, (solid, max(end, white_end)))
