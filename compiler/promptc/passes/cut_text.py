"""Cuts of one rendered text, from the longest to the shortest, each guarded and with its marker (language.md §5, `trim`)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from promptc.text.cuts import iter_kept
from promptc.text.guard import Guard
from promptc.text.meter import Meter
from promptc.text.prefix import PrefixMeter

At = Literal["paragraph", "sentence", "line", "word", "token"]
Side = Literal["end", "start", "middle"]
_OWN_LINE = ("paragraph", "line")


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """What a cut leaves: the text with its marker, guarded (`text`) and before (`raw`).

    `kept` is how many characters of the original stand, `boundary` where the cut is. `measure(tail)` counts text and tail
    without a whole encode (None: count it).
    """

    text: str
    raw: str
    kept: int
    boundary: str
    measure: Callable[[str], int] | None = None


def iter_cuts(raw: str, *, at: At, side: Side, marker: str, guard: Guard, meter: Meter) -> Iterator[Cut]:
    """Every proper cut of `raw`, nested, longest first; the shortest keeps the first unit of the finest boundary."""
    prefix = PrefixMeter(meter, raw) if side == "end" and len(raw) > 2000 else None
    for kept in iter_kept(raw, at, side=side, token_ends=lambda: meter.counter.token_ends(raw)):
        head, tail = _sides(raw, kept.start, kept.stop, side)
        text = _join(head, marker, tail, kept.boundary)
        guarded, _ = guard.guard(text)
        if prefix is not None and guarded == text:
            yield Cut(
                text,
                text,
                len(head) + len(tail),
                kept.boundary,
                _prefix_measure(prefix, kept.start if side == "middle" else kept.stop, text[len(head) :]),
            )
        else:
            yield Cut(guarded, text, len(head) + len(tail), kept.boundary)


def find_cut(raw: str, fits: Callable[[Cut], bool], *, at: At, side: Side, marker: str, guard: Guard, meter: Meter) -> Cut | None:
    """The longest cut that `fits`, else the shortest; None when `raw` cannot be cut."""
    cut = None
    for cut in iter_cuts(raw, at=at, side=side, marker=marker, guard=guard, meter=meter):
        if fits(cut):
            return cut
    return cut


def _prefix_measure(prefix: PrefixMeter, stop: int, rest: str) -> Callable[[str], int]:
    return lambda tail: prefix.count_prefix(stop, rest + tail)


def _sides(raw: str, start: int, stop: int, side: Side) -> tuple[str, str]:
    """What is kept before and after the cut."""
    if side == "end":
        return raw[:stop], ""
    if side == "start":
        return "", raw[start:]
    return raw[:start], raw[stop:]


def _join(head: str, marker: str, tail: str, boundary: str) -> str:
    """A marker stands on its own line where a line or paragraph was cut, after a space at a sentence or word, joined inside a word."""
    gap = "\n" if boundary in _OWN_LINE else "" if boundary == "token" else " "
    if not marker:
        return head + (gap if head and tail else "") + tail
    before = gap if head and not marker[:1].isspace() else ""
    after = gap if tail and not marker[-1:].isspace() else ""
    return head + before + marker + after + tail
