"""The note of a state's archives, written."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.typed import Any
from promptc.files.atomic import replace_file
from promptc.operations.note import ListNote, PendingNote
from promptc.operations.read_note import find_note
from promptc.text.json import render_canonical_json


def write_note(path: Path, pending: PendingNote) -> None:
    """Before archives and the state at `path` are written: both notes, and which bytes each is of. `DiskError` (PC0824)."""
    both = {"before": pending.before, "after": pending.after, "was": _show(pending.was), "now": _show(pending.now)}
    try:
        _write(path, both)
    except OSError as wrong:
        message = f"cannot write `{find_note(path)}`, which notes what is archived: {wrong.strerror or wrong}"
        help = "the state was not changed; make room, or a folder that can be written to"
        raise DiskError([Diagnostic("PC0824", message, help=help)]) from wrong


def settle_note(path: Path, pending: PendingNote) -> None:
    """When the state is replaced: what holds now. Where it cannot be written, both stand, and the state's bytes tell."""
    with suppress(OSError):
        _write(path, {"now": _show(pending.now)})


def _show(lists: Mapping[str, ListNote]) -> dict[str, Any]:
    return {pointer: _show_list(one) for pointer, one in lists.items()}


def _show_list(one: ListNote) -> dict[str, Any]:
    return {"length": one.length, "digest": one.digest, "out": list(one.out), "back": list(one.back)}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    data = f"{render_canonical_json({'promptc': 1, **content})}\n".encode()
    replace_file(find_note(path), data, like=path)
