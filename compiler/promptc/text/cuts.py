"""The cuts of a text, from the longest that is kept to the shortest (language.md §5, `trim`)."""

from collections.abc import Iterator
from itertools import pairwise

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal
from promptc.text.boundaries import BOUNDARIES, Boundary, Gap, TokenEnds, find_region, iter_gaps

Side = Literal["end", "start", "middle"]


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
    region = find_region(text)
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
        elif region == find_region(text):
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
