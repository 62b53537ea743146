"""Restoring archives: removed elements return to their places, replaced values return, and what was appended or newly set is removed.

An archive describes one moment: the list as it was, and which of its elements stayed. The present list may have lost more since, or grown.
All that is known of a missing element is its neighbours at that moment, so these decide: it is inserted before the first present one of
those after it, or else after the last present one of those before it, or else at the front, where the oldest elements are.

Whether an element is missing, the list itself shows, as long as no two elements are equal. If some are, only a record of what was taken and
put back helps: that is the `Note` next to the state. Noted archives are not searched in the list.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from itertools import pairwise
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, fail, show_reason
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.atomic import replace_file
from promptc.files.reading import read_file
from promptc.operations.archive import mark_element
from promptc.operations.edits import format_state
from promptc.operations.results import Archived, Opened, StateDiff
from promptc.text.json import (
    MISSING,
    PointerError,
    drop_at,
    find_list,
    put_at,
    read_at,
    render_canonical_json,
    render_digest,
    split_pointer,
)

_LONGEST = 16_000_000
"""The most bytes of a note that is read."""

NOTED = 1000
"""The most archives of one list that are remembered, the newest. For older ones the list decides."""


@frozen(eq=False)
class Note:
    """The record of one state: its lists by their pointers, as far as they match the state.

    `is_settled` says that the file contains exactly this.
    """

    lists: Mapping[str, ListNote]
    is_settled: bool = True


@frozen
class ListNote:
    """The record of one list.

    `length` and `digest` are those of the list as it was left. `out` are the file names of archives whose elements are missing, in the
    order in which they were taken, and `back` of those whose elements are there again.
    """

    length: int
    digest: str
    out: tuple[str, ...] = ()
    back: tuple[str, ...] = ()

    def fits(self, elements: Sequence[Any]) -> bool:
        """Return whether only appends have changed the list since."""
        return len(elements) >= self.length and digest_list(elements[: self.length]) == self.digest


def digest_list(elements: Sequence[Any]) -> str:
    """Return the digest of the elements' canonical JSON."""
    return render_digest(render_canonical_json(list(elements)).encode())


NO_NOTE = Note({})


def make_restoration(
    pack: Opened, raw: bytes, archives: Sequence[Archived], *, name: str, note: Note = NO_NOTE, files: Sequence[str] = ()
) -> tuple[StateDiff, tuple[int, ...]]:
    """Return the change, and how many elements of each archive are put back or removed.

    `files` are the archives' file names, by which `note` knows them. For an archive that it does not know, the list decides. Raises
    `PromptcError` if the state is not valid, before or after the change, and if the state has no list for the elements (PC0826).
    """
    digest = pack.load_state(raw, name).digest
    before = json.loads(raw.decode("utf-8-sig"))
    after, counts, unsure = deepcopy(before), [0] * len(archives), [0] * len(archives)
    for pointer in dict.fromkeys(archive.pointer for archive in archives if not archive.replaced):
        noted = note.lists.get(pointer, ListNote(0, ""))
        known = {*noted.out, *noted.back}
        own = [at for at, one in enumerate(archives) if one.pointer == pointer and not one.replaced]
        own = [at for at in own if archives[at].state != digest or (files and files[at] in known)]
        numbers = [at for at in own if not archives[at].appended]
        if numbers:
            elements = _load_list(after, pointer, archives[numbers[0]], name)
            places = {files[at]: place for place, at in enumerate(numbers)} if files else {}
            out = [places[one] for one in noted.out if one in places]
            back = {places[one] for one in noted.back if one in places}
            restored = restore(elements, [archives[at] for at in numbers], out=out, back=back)
            elements[:] = restored.elements
            for at, count, left in zip(numbers, restored.counts, restored.unsure, strict=True):
                counts[at], unsure[at] = count, left
        done = {*noted.back} - {*noted.out}
        added = [at for at in own if archives[at].appended and not (files and files[at] in done)]
        shifted = any(counts[at] for at in numbers)
        turns = [(at, archives[at]) for at in _list_turns(added, noted, files)]
        after = _take_appended(after, pointer, turns, counts, is_shifted=shifted)
    after, stuck = _put_values(after, archives, note, files, counts, name)
    named = tuple([(one.pointer, file) for at, (one, file) in enumerate(zip(archives, files, strict=False)) if at not in stuck])
    if not any(counts):
        return StateDiff(before, before, raw, False, stuck=stuck, unsure=tuple(unsure)), tuple(counts)
    data = format_state(after, raw)
    pack.load_state(data, name)
    return StateDiff(before, after, data, True, restored=named, stuck=stuck, unsure=tuple(unsure)), tuple(counts)


def _put_values(
    state: Any, archives: Sequence[Archived], note: Note, files: Sequence[str], counts: list[int], name: str
) -> tuple[Any, tuple[int, ...]]:
    """Return the state with replaced values put back and newly set values removed, and the numbers of the archives that are stuck.

    The newest come first, as far as the note says. A value is restored only if the state contains what its operation wrote. `counts` is
    updated with the number of changes for each archive.
    """
    stuck = []
    numbers = [at for at, one in enumerate(archives) if one.replaced]
    for at in _list_all_turns(numbers, archives, note, files):
        archive = archives[at]
        way, old = split_pointer(archive.pointer), archive.elements
        there = read_at(state, way)
        mark = mark_element(None if there is MISSING else there)
        if there is MISSING and not archive.elements:
            continue
        if mark == archive.replaced and not archive.elements:
            state, counts[at] = _drop(state, archive), 1
        elif mark == archive.replaced:
            try:
                state = put_at(state, way, old[0])
            except PointerError:
                raise _refuse(archive, name, "nothing that holds a value") from None
            counts[at] = 1
        elif not old or mark != mark_element(old[0]):
            stuck.append(at)
    return state, tuple(sorted({at for at in stuck if not counts[at]}))


def _drop(state: Any, archive: Archived) -> Any:
    """Return the state without the value that the operation added, and without mappings on the way that are now empty."""
    way, least = split_pointer(archive.pointer), len(split_pointer(archive.absent))
    state = drop_at(state, way)
    for depth in range(len(way) - 1, least - 1, -1):
        if read_at(state, way[:depth]) != {}:
            break
        state = drop_at(state, way[:depth])
    return state


def _take_appended(state: Any, pointer: str, added: Sequence[tuple[int, Archived]], counts: list[int], *, is_shifted: bool) -> Any:
    """Return the state without what operations appended to one list, the newest first, and without the list if the operation created it.

    An element is removed if it is there more often than before the operation: from its original place or, if elements were put back before
    it (`is_shifted`), from the last place that fits. `counts` is updated with the number of changes for each archive.
    """
    elements = find_list(state, pointer)
    marks = [mark_element(value) for value in elements or ()] if added else []
    for at, archive in added:
        if elements is None:
            break
        places = _list_appended(marks, archive, is_shifted=is_shifted)
        for place in places:
            del elements[place], marks[place]
        counts[at] += len(places)
        if places and archive.absent and marks == list(archive.kept):
            state, elements = _drop(state, archive), None
    return state


def _list_appended(marks: Sequence[str], archive: Archived, *, is_shifted: bool) -> list[int]:
    """Return the places of what was appended, the last first."""
    start, stop, kept = archive.length, archive.length + len(archive.appended), list(archive.kept)
    if not is_shifted and marks[start:stop] == list(archive.appended) and marks[: len(kept)] == kept:
        return list(range(start, stop))[::-1]
    spare, places = Counter(marks) - Counter(kept), list[int]()
    least, last = start if start > len(kept) else 0, len(marks)
    for mark in reversed(archive.appended):
        found = next((place for place in range(last - 1, least - 1, -1) if marks[place] == mark), None) if spare[mark] > 0 else None
        if found is not None:
            spare[mark] -= 1
            last = found
            places.append(found)
    return places


def _list_all_turns(numbers: Sequence[int], archives: Sequence[Archived], note: Note, files: Sequence[str]) -> list[int]:
    """Return archives in the order to undo them, place by place."""
    turns: list[int] = []
    for pointer in dict.fromkeys(archives[at].pointer for at in numbers):
        own = [at for at in numbers if archives[at].pointer == pointer]
        turns += _list_turns(own, note.lists.get(pointer, ListNote(0, "")), files)
    return turns


def _list_turns(numbers: Sequence[int], noted: ListNote, files: Sequence[str]) -> list[int]:
    """Return archives of one place in the order to undo them: the last taken first, each as often as it was taken.

    The same state twice makes the same archive. Archives that are not noted come last, in the given order.
    """
    known = {files[at]: at for at in numbers} if files else {}
    out = [known[name] for name in reversed(noted.out) if name in known]
    return [*out, *(at for at in numbers if at not in out)]


def _load_list(value: Any, pointer: str, archive: Archived, name: str) -> list[Any]:
    """Return the list at the pointer. It is created if only its last key is missing."""
    *above, last = split_pointer(pointer) or ("",)
    parent = value
    for step in above:
        parent = parent.get(step) if isinstance(parent, dict) else None
    if isinstance(parent, dict):
        parent.setdefault(last, [])
    found = find_list(value, pointer)
    if found is None:
        raise _refuse(archive, name, "no list")
    return found


def _refuse(archive: Archived, name: str, what: str) -> PromptcError:
    message = f"{name} has {what} at `{archive.pointer}`, where the elements of the archive `{archive.name}` were"
    return fail("PC0826", message, help="restore the archive into the state that it came from")


@frozen(eq=False)
class Restored:
    """A list with elements put back, and how many of each archive's, in the order of the archives.

    `unsure` counts the elements that were not put back because the list has equal ones, which may or may not be these.
    """

    elements: list[Any]
    counts: tuple[int, ...]
    unsure: tuple[int, ...]


def restore(
    elements: Sequence[Any], archives: Sequence[Archived], *, out: Sequence[int] = (), back: Collection[int] = frozenset()
) -> Restored:
    """Return the list with everything from the archives that it lacks. Any order of the archives works; the newest first is best.

    `out` are the numbers of archives whose elements are known to be missing, in the order in which they were taken (twice if taken twice):
    they are inserted whatever the list contains. `back` are those known to be there. For the others the list decides: nothing is inserted
    that is there. An archive counts as put back if the list begins with all elements that were there when it was written.

    If only such operations and appends changed the list, the result is as if the operations had not been run. Whatever else changed it,
    nothing in the list is moved or lost.
    """
    now = _Now(list(elements), [mark_element(value) for value in elements])
    looks = [_look(archive) for archive in archives]
    counts, unsure = [0] * len(looks), [0] * len(looks)
    for at in reversed(out):
        counts[at] += _put_in(now, looks[at])
    rest = [at for at in range(len(looks)) if at not in back and at not in out]
    for at in _order([looks[at] for at in rest], now):
        counts[rest[at]], unsure[rest[at]] = _put_back(now, looks[rest[at]])
    return Restored(now.elements, tuple(counts), tuple(unsure))


class _Now:
    """The present list and the marks of its elements. The only mutable object in this module."""

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
    """An archive's moment.

    `marks` are the marks of the known elements of the list at that moment, and `places` their places in it. `gone` are the removed
    elements, by index in `marks`, and `kept` the marks of those that stayed. `is_known` says that `marks` cover the whole list.
    """

    marks: tuple[str, ...]
    places: tuple[int, ...]
    gone: dict[int, Any]
    kept: tuple[str, ...]
    is_known: bool


def _look(archive: Archived) -> _Look:
    taken = dict(zip((at for start, stop in archive.places for at in range(start, stop)), archive.elements, strict=True))
    stayed = dict(zip(_iter_gaps(archive), archive.kept, strict=False))
    places = tuple(sorted({*taken, *stayed}))
    marks = tuple([mark_element(taken[place]) if place in taken else stayed[place] for place in places])
    gone = {at: taken[place] for at, place in enumerate(places) if place in taken}
    return _Look(marks, places, gone, archive.kept, len(places) == archive.length)


def _iter_gaps(archive: Archived) -> Iterator[int]:
    """Yield the places of the elements that stayed."""
    last = 0
    for start, stop in (*archive.places, (archive.length, archive.length)):
        yield from range(last, start)
        last = stop


def _order(looks: Sequence[_Look], now: _Now) -> Iterator[int]:
    """Yield the latest operation first, as far as the list shows: it begins with the list of that moment, or with what stayed of it.

    If the list does not show it, first come archives whose elements had stayed in the list of another.
    """
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
    """Return whether the list begins with the list of that moment: nothing was taken, or all is back."""
    return look.is_known and now.begins(look.marks)


def _is_without(now: _Now, look: _Look) -> bool:
    """Return whether the list begins with what stayed of the list of that moment."""
    return look.is_known and bool(look.kept) and now.begins(look.kept)


def _put_in(now: _Now, look: _Look) -> int:
    """Insert all removed elements and return their number. They are known to be missing, although the list may have equal ones."""
    if now.begins(look.kept):
        _put_all(now, look)
    else:
        stayed = tuple([None if at in look.gone else mark for at, mark in enumerate(look.marks)])
        _put_between(now, look, sorted(look.gone), _match(look, stayed, now.marks))
    return len(look.gone)


def _put_back(now: _Now, look: _Look) -> tuple[int, int]:
    """Insert the elements that are missing, as far as the list shows. Return two numbers.

    The first is the number of inserted elements. The second is the number of elements that may count as present by mistake: those of which
    there are or were several, or that are somewhere else; or all, if others of the archive are missing or nothing shows their places.
    """
    times = Counter(look.marks)
    several = {at for at in look.gone if times[look.marks[at]] > 1 or now.times[look.marks[at]] > 1}
    if _is_whole(now, look):
        return 0, len(several if look.kept else look.gone)
    is_without, kept = _is_without(now, look), set(look.kept)
    back = {at for at in look.gone if now.times[look.marks[at]] and look.marks[at] not in kept}
    there = {at for at in back if times[look.marks[at]] == 1 == now.times[look.marks[at]]}
    found = _match(look, look.marks, now.marks) if back or not is_without else {}
    if is_without and not there and not any(at in found for at in back):
        _put_all(now, look)
        return len(look.gone), 0
    missing = [at for at in look.gone if at not in found and at not in there and (is_without or at not in back)]
    _put_between(now, look, missing, found)
    left = look.gone.keys() - set(missing)
    return len(missing), len(left if missing or is_without or not look.kept else [at for at in left if at in several or at not in found])


def _put_all(now: _Now, look: _Look) -> None:
    """Insert all elements at their original places."""
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
    """Insert each element next to its neighbours."""
    known = sorted(found)
    places: dict[int, list[int]] = defaultdict(list)
    for at in missing:
        behind = bisect_left(known, at)
        places[found[known[behind]] if behind < len(known) else found[known[-1]] + 1 if known else 0].append(at)
    for place in sorted(places, reverse=True):
        put = places[place]
        now.insert(place, [look.gone[at] for at in put], [look.marks[at] for at in put])


def _match(look: _Look, marks: Sequence[str | None], now: Sequence[str]) -> dict[int, int]:
    """Return which of the earlier elements, those with `marks`, are in the list, and at which index; indexes rise with places.

    Elements that stayed and are unique are matched first, and limit where the others are searched: an equal element elsewhere was added
    later.
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
    """Return the longest rising sequence of pairs among the elements that stayed and are unique then and now (patience sorting)."""
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


def write_note(path: Path, pending: PendingNote) -> None:
    """Write both notes, with the digests of the states they belong to, before the archives and the state at `path` are written.

    Raises `DiskError` (PC0824).
    """
    both = {"before": pending.before, "after": pending.after, "was": _show(pending.was), "now": _show(pending.now)}
    try:
        _write(path, both)
    except OSError as wrong:
        message = f"cannot write `{note_path(path)}`, which notes what is archived: {show_reason(wrong)}"
        help = "make room, or name a folder that can be written to; the state was not changed"
        raise DiskError([Diagnostic("PC0824", message, help=help)]) from wrong


def settle_note(path: Path, pending: PendingNote) -> None:
    """Write the note that holds after the state is replaced. If this fails, both notes remain, and the state's bytes decide."""
    with suppress(OSError):
        _write(path, {"now": _show(pending.now)})


def _show(lists: Mapping[str, ListNote]) -> dict[str, Any]:
    return {
        pointer: {"length": one.length, "digest": one.digest, "out": list(one.out), "back": list(one.back)}
        for pointer, one in lists.items()
    }


def _write(path: Path, content: Mapping[str, Any]) -> None:
    data = f"{render_canonical_json({'promptc': 1, **content})}\n".encode()
    replace_file(note_path(path), data, like=path)


def note_path(path: Path) -> Path:
    """Return the file next to a state's that contains its note, whether or not it exists."""
    return path.with_name(f"{path.name}.note")


def read_note(path: Path, raw: bytes) -> Note:
    """Return the note that is valid for the state at `path`, whose bytes are `raw`. Never raises.

    A call that was killed left two notes: the bytes decide which one is valid, or else the list does. A note that cannot be read counts as
    missing, since the lists decide without it.
    """
    try:
        given = json.loads(read_file(note_path(path), _LONGEST))
        now, was = _read_lists(given["now"]), _read_lists(given.get("was", {}))
    except FileNotFoundError:
        return NO_NOTE
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Note({}, is_settled=False)
    state, digest = json.loads(raw.decode("utf-8-sig")), render_digest(raw)
    is_old, is_new = digest == given.get("before"), digest == given.get("after")
    lists = {}
    for pointer in sorted({*now, *was}):
        elements = read_list(state, pointer)
        likely = _iter_likely(now.get(pointer), was.get(pointer), is_old=is_old, is_new=is_new)
        found = next((one for one in likely if one.fits(elements)), None)
        if found is not None:
            lists[pointer] = found
    return Note(lists, is_settled="was" not in given and len(lists) == len(now))


def _iter_likely(now: ListNote | None, was: ListNote | None, *, is_old: bool, is_new: bool) -> Iterator[ListNote]:
    """Yield the possible notes of a list, the likeliest first.

    If the bytes do not decide, the note of the longer list comes first: a longer list is less likely to match by chance.
    """
    if now is not None and was is not None:
        was = _undo(was, now)
    both = [one for one, is_likely in ((now, not is_old), (was, not is_new)) if one is not None and is_likely]
    yield from sorted(both, key=lambda one: -one.length)


def _undo(was: ListNote, now: ListNote) -> ListNote:
    """Return the earlier note with archives of a killed call as put back: they took nothing."""
    known = {*was.out, *was.back}
    return ListNote(was.length, was.digest, was.out, (*was.back, *(name for name in dict.fromkeys(now.out) if name not in known)))


def _read_lists(given: Mapping[str, Any]) -> dict[str, ListNote]:
    return {str(pointer): _read_list(one) for pointer, one in given.items()}


def _read_list(given: Mapping[str, Any]) -> ListNote:
    length, digest = given["length"], given["digest"]
    if not isinstance(length, int) or length < 0:
        raise ValueError(length)
    return ListNote(length, str(digest), tuple(map(str, given["out"])), tuple(map(str, given["back"])))


@frozen(eq=False)
class PendingNote:
    """A note while a state is replaced: the notes before and after, and the digests of the file's bytes that decide between them."""

    was: Mapping[str, ListNote]
    now: Mapping[str, ListNote]
    before: str
    after: str


def read_list(value: Any, pointer: str) -> Sequence[Any]:
    """Return the list at a pointer of a state; empty if there is none."""
    return find_list(value, pointer) or []
