"""Every proper cut of a text, by its definition: what `cutting.iter_near` finds near a place."""

from itertools import pairwise

from promptc.text.cutting import KeptText, iter_gaps, trim_span


def iter_cuts(text, boundaries, *, side="end", token_ends):
    """Yield the cuts from the longest to the shortest. The one unit that is left at a boundary is cut at the next."""
    whole = region = trim_span(text)
    for boundary in boundaries:
        gaps = list(iter_gaps(text, boundary, region, token_ends))
        if not gaps:
            continue
        if side == "start":
            yield from (KeptText(gap.start, len(text), boundary, side) for gap in _strictly(gaps, 1))
            region = gaps[-1].start, region[1]
            continue
        ascending = _strictly(gaps, 0)
        if side == "end":
            yield from (KeptText(0, gap.stop, boundary, side) for gap in reversed(ascending))
        elif region == whole:
            yield from _iter_outward(text, ascending, boundary)
        else:
            yield from (KeptText(gap.stop, len(text), boundary, side) for gap in reversed(ascending))
        region = region[0], gaps[0].stop


def _strictly(gaps, index):
    """Drop the gaps that repeat a neighbour's place: a token of white space ends where the word before it ends."""
    return gaps[:1] + [gap for before, gap in pairwise(gaps) if gap[index] > before[index]]


def _iter_outward(text, gaps, boundary):
    """Remove units from the middle outward on both sides in turn, from the fuller side first, until only the first unit is left."""
    head = (len(gaps) + 1) // 2
    tail = len(gaps) - head
    while head:
        yield KeptText(gaps[head - 1].stop, gaps[-tail].stop if tail else len(text), boundary, "middle")
        head, tail = (head, tail - 1) if tail and tail >= head else (head - 1, tail)
