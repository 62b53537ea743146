"""A state with archived elements back in it, ready to be written."""

import json
from collections.abc import Sequence
from copy import deepcopy

from promptc.diag.findings import PromptcError, fail
from promptc.diag.typed import Any
from promptc.operations.archived import Archived
from promptc.operations.change import StateDiff
from promptc.operations.format_state import format_state
from promptc.operations.mark_element import mark_element
from promptc.operations.note import NO_NOTE, ListNote, Note
from promptc.operations.opened import Opened
from promptc.operations.restore import restore
from promptc.text.json import MISSING, PointerError, find_at, find_list, put_at, split_pointer


def make_restoration(
    pack: Opened, raw: bytes, archives: Sequence[Archived], *, name: str, note: Note = NO_NOTE, files: Sequence[str] = ()
) -> tuple[StateDiff, tuple[int, ...]]:
    """The change, and how many elements of each archive are put back. `files` are the archives' file names, by which `note` knows them; of
    what it does not know the list decides.

    Raises `PromptcError`: for a state that is invalid, as it is or with the elements in it; PC0826 where the state has no list for them.
    """
    digest = pack.load_state(raw, name).digest
    before = json.loads(raw.decode("utf-8-sig"))
    after, counts = deepcopy(before), [0] * len(archives)
    for pointer in dict.fromkeys(archive.pointer for archive in archives if not archive.replaced):
        noted = note.lists.get(pointer, ListNote(0, ""))
        known = {*noted.out, *noted.back}
        numbers = [
            at
            for at, one in enumerate(archives)
            if one.pointer == pointer and not one.replaced and (one.state != digest or (files and files[at] in known))
        ]
        if not numbers:
            continue
        elements = _find_place(after, pointer, archives[numbers[0]], name)
        places = {files[at]: place for place, at in enumerate(numbers)} if files else {}
        out = [places[one] for one in noted.out if one in places]
        back = {places[one] for one in noted.back if one in places}
        restored = restore(elements, [archives[at] for at in numbers], out=out, back=back)
        elements[:] = restored.elements
        for at, count in zip(numbers, restored.counts, strict=True):
            counts[at] = count
    after, stuck = _put_values(after, archives, note, files, counts, name)
    named = tuple([(one.pointer, file) for at, (one, file) in enumerate(zip(archives, files, strict=False)) if at not in stuck])
    if not any(counts):
        return StateDiff(before, before, raw, False, stuck=stuck), tuple(counts)
    data = format_state(after, raw)
    pack.load_state(data, name)
    return StateDiff(before, after, data, True, restored=named, stuck=stuck), tuple(counts)


def _put_values(
    state: Any, archives: Sequence[Archived], note: Note, files: Sequence[str], counts: list[int], name: str
) -> tuple[Any, tuple[int, ...]]:
    """The state with replaced values put back, the newest first as far as the note tells, each where the state holds what its operation
    left; and the numbers of those that are not. `counts` is told how many of each.
    """
    stuck = []
    numbers = [at for at, one in enumerate(archives) if one.replaced]
    for at in sorted(numbers, key=lambda at: _find_turn(archives[at], note, files[at] if files else "")):
        archive = archives[at]
        way, (old,) = split_pointer(archive.pointer), archive.elements
        there = find_at(state, way)
        mark = mark_element(None if there is MISSING else there)
        if mark == archive.replaced:
            try:
                state = put_at(state, way, old)
            except PointerError:
                raise _refuse(archive, name, "nothing that holds a value") from None
            counts[at] = 1
        elif mark != mark_element(old):
            stuck.append(at)
    return state, tuple(sorted(stuck))


def _find_turn(archive: Archived, note: Note, file: str) -> int:
    """The later one was taken, the less; those that are not noted come last, in the order they are given."""
    out = note.lists.get(archive.pointer, ListNote(0, "")).out
    return -out.index(file) - 1 if file in out else 0


def _find_place(value: Any, pointer: str, archive: Archived, name: str) -> list[Any]:
    """The list, made where only its last key is missing."""
    above, _, last = pointer.rpartition("/")
    parent = _find_mapping(value, above)
    if parent is not None:
        parent.setdefault(last.replace("~1", "/").replace("~0", "~"), [])
    found = find_list(value, pointer)
    if found is None:
        raise _refuse(archive, name, "no list")
    return found


def _refuse(archive: Archived, name: str, what: str) -> PromptcError:
    message = f"{name} has {what} at `{archive.pointer}`, where the elements of the archive `{archive.name}` were"
    return fail("PC0826", message, help="restore into the state they came from")


def _find_mapping(value: Any, pointer: str) -> dict[str, Any] | None:
    for part in pointer.split("/")[1:]:
        value = value.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None
