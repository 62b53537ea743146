"""A text that is too long for one chunk, cut at the coarsest boundary that does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from promptc.diag.frozen import frozen
from promptc.text.cutting import Boundary, find_region, iter_gaps

Count = Callable[[str], int]

_ORDER: tuple[Boundary, ...] = ("paragraph", "line", "sentence", "word")
_REPEATED: tuple[Boundary, ...] = ("sentence", "line", "word")


@frozen
class _Unit:
    """A stretch of the text: where it begins and ends, and its tokens."""

    start: int
    stop: int
    tokens: int


def cut_body(text: str, room: int, overlap: int, count: Count) -> list[str]:
    """`text` in parts of about equal size of at most `room` tokens (of one character at least), in order.

    Every character that is not white space stands in a part; the end of a part, up to `overlap` tokens, begins the next one
    again.
    """
    room, overlap = max(room, 1), min(overlap, room // 2)
    start, stop = find_region(text)
    units = _cut(text, start, stop, 0, max(room - overlap, 1), count)
    spans = _pack(text, units, max(room - overlap, 1), count)
    pieces = [text[spans[0][0] : spans[0][1]]] if spans else []
    for before, own in pairwise(spans):
        pieces.append(text[_find_overlap(text, before, own, overlap, room, count) : own[1]])
    return pieces


def _cut(text: str, start: int, stop: int, level: int, room: int, count: Count) -> list[_Unit]:
    """Units that fit, as coarse as they may be."""
    tokens = count(text[start:stop])
    if tokens <= room or stop - start <= 1:
        return [_Unit(start, stop, tokens)]
    if level == len(_ORDER):
        middle = (start + stop) // 2
        spans = [(start, middle), (middle, stop)]
    else:
        spans = _find_spans(text, start, stop, _ORDER[level])
        level += 1
    return [unit for first, last in spans for unit in _cut(text, first, last, level, room, count)]


def _find_spans(text: str, start: int, stop: int, boundary: Boundary) -> list[tuple[int, int]]:
    gaps = list(iter_gaps(text, boundary, (start, stop), ()))
    firsts = [start, *(gap.start for gap in gaps)]
    lasts = [*(gap.stop for gap in gaps), stop]
    return [(first, last) for first, last in zip(firsts, lasts, strict=True) if last > first]


def _pack(text: str, units: Sequence[_Unit], room: int, count: Count) -> list[tuple[int, int]]:
    """Neighbouring units together, up to an equal share of the whole."""
    total = sum(unit.tokens for unit in units)
    share = -(-total // -(-total // room))
    spans: list[tuple[int, int]] = []
    filled = room + 1
    for unit in units:
        start = spans[-1][0] if spans else 0
        if filled < share and filled + unit.tokens <= room + 1 and (joined := count(text[start : unit.stop])) <= room:
            spans[-1], filled = (start, unit.stop), joined
        else:
            spans.append((unit.start, unit.stop))
            filled = unit.tokens
    return spans


def _find_overlap(text: str, before: tuple[int, int], own: tuple[int, int], overlap: int, room: int, count: Count) -> int:
    """Where a part begins that repeats the end of the one before it: at a sentence, a line or a word."""
    for boundary in _REPEATED if overlap else ():
        best = own[0]
        for gap in reversed(list(iter_gaps(text, boundary, before, ()))):
            if count(text[gap.start : before[1]]) > overlap or count(text[gap.start : own[1]]) > room:
                break
            best = gap.start
        if best < own[0]:
            return best
    return own[0]
