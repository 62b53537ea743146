"""The note of a state's archives, carried on over a change of the state."""

from collections.abc import Sequence

from promptc.operations.change import StateDiff
from promptc.operations.note import NOTED, ListNote, Note, PendingNote, digest_list, read_list
from promptc.text.json import render_digest

Named = tuple[str, str]
"""A list's pointer and the file name of an archive."""


def apply_diff(note: Note, change: StateDiff, raw: bytes, taken: Sequence[Named]) -> PendingNote | None:
    """The note before and after `change`, which is made of `raw` and takes out what is `taken`; None where there is nothing to note."""
    gone, back = _group(taken), _group(change.restored)
    was, now, is_new = {}, {}, not note.is_settled or bool(gone) or bool(back)
    for pointer in sorted({*note.lists, *gone, *back}):
        before, after = read_list(change.before, pointer), read_list(change.after, pointer)
        known = note.lists.get(pointer, ListNote(0, ""))
        is_new = is_new or not known.fits(after)
        was[pointer] = ListNote(len(before), digest_list(before), known.out, known.back)
        now[pointer] = _follow(known, ListNote(len(after), digest_list(after), gone.get(pointer, ()), back.get(pointer, ())))
    return PendingNote(was, now, render_digest(raw), render_digest(change.data)) if is_new else None


def _follow(known: ListNote, after: ListNote) -> ListNote:
    """What is put back is out no more; what is taken again is back no more, and is out as often as it was taken."""
    out = (*(name for name in known.out if name not in after.back), *after.out)
    back = (*(name for name in known.back if name not in (*after.out, *after.back)), *after.back)
    return ListNote(after.length, after.digest, out[-NOTED:], back[-NOTED:])


def _group(named: Sequence[Named]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for pointer, name in named:
        groups[pointer] = (*groups.get(pointer, ()), name)
    return groups
