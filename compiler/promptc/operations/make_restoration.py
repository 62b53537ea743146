"""A state with archived elements back in it, ready to be written."""

import json
from collections.abc import Sequence
from copy import deepcopy

from promptc.diag.errors import fail
from promptc.diag.typed import Any
from promptc.operations.archived import Archived
from promptc.operations.change import Change
from promptc.operations.find_list import find_list
from promptc.operations.format_state import format_state
from promptc.operations.note import NO_NOTE, ListNote, Note
from promptc.operations.opened import Opened
from promptc.operations.restore import restore


def make_restoration(
    pack: Opened, raw: bytes, archives: Sequence[Archived], *, name: str, note: Note = NO_NOTE, files: Sequence[str] = ()
) -> tuple[Change, tuple[int, ...]]:
    """The change, and how many elements of each archive are put back. `files` are the archives' file names, by which `note` knows them; of
    what it does not know the list decides.

    Raises `PromptcError`: for a state that is invalid, as it is or with the elements in it; PC0826 where the state has no list for them.
    """
    digest = pack.load_state(raw, name).digest
    before = json.loads(raw.decode("utf-8-sig"))
    after, counts = deepcopy(before), [0] * len(archives)
    for pointer in dict.fromkeys(archive.pointer for archive in archives):
        noted = note.lists.get(pointer, ListNote(0, ""))
        known = {*noted.out, *noted.back}
        numbers = [
            at for at, one in enumerate(archives) if one.pointer == pointer and (one.state != digest or (files and files[at] in known))
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
    if not any(counts):
        return Change(before, before, raw, False), tuple(counts)
    data = format_state(after, raw)
    pack.load_state(data, name)
    named = tuple([(one.pointer, file) for one, file in zip(archives, files, strict=False)])
    return Change(before, after, data, True, restored=named), tuple(counts)


def _find_place(value: Any, pointer: str, archive: Archived, name: str) -> list[Any]:
    """The list, made where only its last key is missing."""
    above, _, last = pointer.rpartition("/")
    parent = _find_mapping(value, above)
    if parent is not None:
        parent.setdefault(last.replace("~1", "/").replace("~0", "~"), [])
    found = find_list(value, pointer)
    if found is None:
        message = f"{name} has no list at `{pointer}`, where the elements of the archive `{archive.name}` were"
        raise fail("PC0826", message, help="restore into the state they came from")
    return found


def _find_mapping(value: Any, pointer: str) -> dict[str, Any] | None:
    for part in pointer.split("/")[1:]:
        value = value.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None
