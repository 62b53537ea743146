"""Archived elements, put back where they were.

An archive tells of one moment: the list as it was, and what of it stayed. The list of now may have lost more since, or grown. Of what is
missing nothing is known but its neighbours then, so these decide: an element goes before the first of those behind it that is there, else
after the last of those before it, else to the front, where the oldest are.

Whether it is missing, the list itself tells, as long as no two elements are equal. Where some are, only who took and put back knows: that
is noted beside the state (`note.py`), and what is noted is not looked for.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.operations.archived import Archived
from promptc.operations.mark_element import mark_element


@frozen(eq=False)
class Restored:
    """A list with elements put back, and how many of each archive's were, in the order the archives were given."""

    elements: list[Any]
    counts: tuple[int, ...]


def restore(
    elements: Sequence[Any], archives: Sequence[Archived], *, out: Sequence[int] = (), back: Collection[int] = frozenset()
) -> Restored:
    """The list with all that the archives hold and the list does not. They may be given in any order; the newest first is best.

    `out` are the numbers of archives whose elements are known to be missing, in the order they were taken (twice where that was twice):
    they are put in, whatever the list holds. `back` are those known to be there. Of the others the list decides: nothing is put in that is
    there. An archive counts as put back where the list begins with all that was there when it was written.

    Where nothing but such operations and appends touched the list, it is as if the operations had not been done; whatever did, nothing in
    the list is moved or lost.
    """
    now = _Now(list(elements), [mark_element(value) for value in elements])
    looks = [_look(archive) for archive in archives]
    counts = [0] * len(looks)
    for at in reversed(out):
        counts[at] += _put_in(now, looks[at])
    rest = [at for at in range(len(looks)) if at not in back and at not in out]
    for at in _order([looks[at] for at in rest], now):
        counts[rest[at]] = _put_back(now, looks[rest[at]])
    return Restored(now.elements, tuple(counts))


class _Now:
    """The list of now and the marks of its elements; the one thing here that changes."""

    __slots__ = ("elements", "marks", "times")

    def __init__(self, elements: list[Any], marks: list[str]) -> None:
        self.elements = elements
        self.marks = marks
        self.times = Counter(marks)

    def insert(self, at: int, elements: Sequence[Any], marks: Sequence[str]) -> None:
        self.elements[at:at] = elements
        self.marks[at:at] = marks
        self.times.update(marks)

    def begins(self, marks: Sequence[str]) -> bool:
        return len(self.marks) >= len(marks) and self.marks[: len(marks)] == list(marks)


@frozen(eq=False)
class _Look:
    """An archive's moment: the marks of what is known of the list then and their places in it; which of these (by number) went, which
    stayed. `is_known`: that is the whole list.
    """

    marks: tuple[str, ...]
    places: tuple[int, ...]
    gone: dict[int, Any]
    kept: tuple[str, ...]
    is_known: bool


def _look(archive: Archived) -> _Look:
    taken = dict(zip(_iter_places(archive), archive.elements, strict=True))
    stayed = dict(zip(_iter_gaps(archive), archive.kept, strict=False))
    places = tuple(sorted({*taken, *stayed}))
    marks = tuple([mark_element(taken[place]) if place in taken else stayed[place] for place in places])
    gone = {at: taken[place] for at, place in enumerate(places) if place in taken}
    return _Look(marks, places, gone, archive.kept, len(places) == archive.length)


def _iter_places(archive: Archived) -> Iterator[int]:
    return (at for start, stop in archive.places for at in range(start, stop))


def _iter_gaps(archive: Archived) -> Iterator[int]:
    """The places of what stayed."""
    last = 0
    for start, stop in (*archive.places, (archive.length, archive.length)):
        yield from range(last, start)
        last = stop


def _order(looks: Sequence[_Look], now: _Now) -> Iterator[int]:
    """The latest operation first, as far as that can be seen: the list of now begins with its list of then, or with what stayed of it.
    Where it cannot, first those whose elements had stayed in the list of another."""
    starts = defaultdict(list)
    for at, look in enumerate(looks):
        for mark in dict.fromkeys((*look.marks[:1], *look.kept[:1])):
            starts[mark].append(at)
    taken = [{look.marks[place] for place in look.gone} for look in looks]
    once = Counter(mark for marks in taken for mark in marks)
    rest = sorted(range(len(looks)), key=lambda at: (any(once[mark] for mark in looks[at].kept), at), reverse=True)
    left = set(rest)
    while left:
        likely = [at for at in starts[now.marks[0]] if at in left] if now.marks else []
        at = next((one for one in likely if _is_whole(now, looks[one]) or _is_without(now, looks[one])), -1)
        while at < 0:
            last = rest.pop()
            at = last if last in left else -1
        left.remove(at)
        yield at


def _is_whole(now: _Now, look: _Look) -> bool:
    """Whether the list begins with the list of then: nothing was taken, or all is back."""
    return look.is_known and now.begins(look.marks)


def _is_without(now: _Now, look: _Look) -> bool:
    """Whether the list begins with what stayed of the list of then."""
    return look.is_known and bool(look.kept) and now.begins(look.kept)


def _put_in(now: _Now, look: _Look) -> int:
    """All of them, which are known to be missing: none in the list is one of them, though it may be equal."""
    if now.begins(look.kept):
        _put_all(now, look)
    else:
        stayed = tuple([None if at in look.gone else mark for at, mark in enumerate(look.marks)])
        _put_between(now, look, sorted(look.gone), _match(look, stayed, now.marks))
    return len(look.gone)


def _put_back(now: _Now, look: _Look) -> int:
    """How many elements were missing, as far as the list tells; they are in it now."""
    if _is_whole(now, look):
        return 0
    is_without, kept, times = _is_without(now, look), set(look.kept), Counter(look.marks)
    back = {at for at in look.gone if now.times[look.marks[at]] and look.marks[at] not in kept}
    there = {at for at in back if times[look.marks[at]] == 1 == now.times[look.marks[at]]}
    found = _match(look, look.marks, now.marks) if back or not is_without else {}
    if is_without and not there and not any(at in found for at in back):
        _put_all(now, look)
        return len(look.gone)
    missing = [at for at in look.gone if at not in found and at not in there and (is_without or at not in back)]
    _put_between(now, look, missing, found)
    return len(missing)


def _put_all(now: _Now, look: _Look) -> None:
    """To the very places they had."""
    run: list[int] = []
    for at in sorted(look.gone):
        if run and look.places[at] != look.places[run[-1]] + 1:
            _put_run(now, look, run)
            run = []
        run.append(at)
    _put_run(now, look, run)


def _put_run(now: _Now, look: _Look, run: Sequence[int]) -> None:
    if run:
        now.insert(look.places[run[0]], [look.gone[at] for at in run], [look.marks[at] for at in run])


def _put_between(now: _Now, look: _Look, missing: Sequence[int], found: dict[int, int]) -> None:
    """Each at its neighbours."""
    known = sorted(found)
    places: dict[int, list[int]] = defaultdict(list)
    for at in missing:
        behind = bisect_left(known, at)
        places[found[known[behind]] if behind < len(known) else found[known[-1]] + 1 if known else 0].append(at)
    for place in sorted(places, reverse=True):
        put = places[place]
        now.insert(place, [look.gone[at] for at in put], [look.marks[at] for at in put])


def _match(look: _Look, marks: Sequence[str | None], now: Sequence[str]) -> dict[int, int]:
    """Which elements of then, those with `marks`, are in the list, and where: spots that rise with places. What had stayed and is unlike
    all others is matched first, and bounds where the rest is looked for: what is equal and stands elsewhere was added later.
    """
    spots: dict[str | None, list[int]] = defaultdict(list)
    for spot, mark in enumerate(now):
        spots[mark].append(spot)
    fixed = [(-1, -1), *_match_kept(look, spots), (len(look.marks), len(now))]
    found: dict[int, int] = {}
    for (start, low), (stop, high) in pairwise(fixed):
        last = low
        for at in range(start + 1, stop):
            here = spots[marks[at]]
            next_one = bisect_left(here, last + 1)
            if next_one < len(here) and here[next_one] < high:
                last = found[at] = here[next_one]
        if stop < len(look.marks):
            found[stop] = high
    return found


def _match_kept(look: _Look, spots: dict[str | None, list[int]]) -> list[tuple[int, int]]:
    """The longest rising row of pairs among what stayed and stands once then and once now (patience sorting)."""
    times = Counter(look.marks)
    tops: list[int] = []
    ends: list[Any] = []
    for at, mark in enumerate(look.marks):
        if at in look.gone or times[mark] > 1 or len(spots[mark]) != 1:
            continue
        spot = spots[mark][0]
        pile = bisect_left(tops, spot)
        tops[pile : pile + 1] = [spot]
        ends[pile : pile + 1] = [(at, spot, ends[pile - 1] if pile else None)]
    row = []
    last = ends[-1] if ends else None
    while last is not None:
        row.append((last[0], last[1]))
        last = last[2]
    return row[::-1]
