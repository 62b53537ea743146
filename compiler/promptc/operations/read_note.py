"""The note of a state's archives, read back."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from promptc.diag.typed import Any
from promptc.files.reading import read_file
from promptc.operations.note import NO_NOTE, ListNote, Note, read_list
from promptc.text.json import render_digest

_LONGEST = 16_000_000


def find_note(path: Path) -> Path:
    """The file beside a state's that holds its note, whether it is there or not."""
    return path.with_name(f"{path.name}.note")


def read_note(path: Path, raw: bytes) -> Note:
    """What holds of the state at `path`, whose bytes are `raw`.

    A call that was killed left two notes: the bytes tell which holds, else the list does. One that cannot be read is none, for the lists
    decide without. Never raises.
    """
    import json

    try:
        given = json.loads(read_file(find_note(path), _LONGEST))
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
    """What may hold of a list, the likeliest first: where bytes do not tell, the longer list, which begins like the shorter by chance."""
    if now is not None and was is not None:
        was = _undo(was, now)
    both = [one for one, is_likely in ((now, not is_old), (was, not is_new)) if one is not None and is_likely]
    yield from sorted(both, key=lambda one: -one.length)


def _undo(was: ListNote, now: ListNote) -> ListNote:
    """An archive whose call was killed before it took anything is as good as put back."""
    known = {*was.out, *was.back}
    return ListNote(was.length, was.digest, was.out, (*was.back, *(name for name in dict.fromkeys(now.out) if name not in known)))


def _read_lists(given: Mapping[str, Any]) -> dict[str, ListNote]:
    return {str(pointer): _read_list(one) for pointer, one in given.items()}


def _read_list(given: Mapping[str, Any]) -> ListNote:
    length, digest = given["length"], given["digest"]
    if not isinstance(length, int) or length < 0:
        raise ValueError(length)
    return ListNote(length, str(digest), tuple(map(str, given["out"])), tuple(map(str, given["back"])))
