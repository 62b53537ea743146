"""Updates of a state's file: read, changed and replaced as one step."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, show_reason
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.atomic import replace_file
from promptc.files.lock import hold_lock
from promptc.files.reading import read_file, read_mode
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.operations.archive import Written, name_archive, write_archive
from promptc.operations.edits import make_diff
from promptc.operations.restore import NOTED, ListNote, Note, PendingNote, digest_list, read_list, read_note, settle_note, write_note
from promptc.operations.results import Opened, OperationResult, StateDiff
from promptc.operations.run import run_operation
from promptc.text.json import render_digest

Named = tuple[str, str]
"""A list's pointer and the file name of an archive."""


@frozen(eq=False)
class Rewritten:
    """The change of a file, and the archives that were written for it."""

    change: StateDiff
    archives: tuple[Written, ...]


def rewrite_state(name: str, make: Callable[[bytes, Path], StateDiff], *, folder: Path | None, wait: float, purpose: str) -> Rewritten:
    """Replace the state's file by what `make` returns for its bytes and path.

    The lock is held from reading to writing, so that no concurrent update is lost. Archives are on the disk before the state is replaced,
    in `folder` (None: next to the state, `state.json.archive`). So after a kill at any time the state is the old one or the new one, and
    what the new one lacks is archived. Before both are written, a note next to the state records for both states what is taken out and what
    is put back.

    Raises `DiskError`, and whatever `make` raises; the state is then unchanged.
    """
    with lock_state(name, wait=wait, purpose=purpose) as path:
        raw = _read(path, name)
        change = make(raw, path)
        if not change.is_changed:
            return Rewritten(change, ())
        kept = folder if folder is not None else archive_folder(path)
        pending = apply_diff(read_note(path, raw), change, raw, [(one.pointer, name_archive(one)) for one in change.archived])
        if pending is not None:
            write_note(path, pending)
        archives = tuple([write_archive(kept, one, like=path, wait=wait) for one in change.archived])
        write_state(path, change.data, read=raw, shown=name)
        if pending is not None:
            settle_note(path, pending)
        return Rewritten(change, archives)


def apply_to_file(
    pack: Opened,
    name: str,
    operation: str,
    args: Mapping[str, Any] | None,
    answers: Mapping[str, str] | None,
    *,
    folder: Path | None,
    wait: float,
    expected: str | None,
) -> OperationResult:
    """Run an operation on the state in a file, by `rewrite_state`.

    `expected` is the digest that the state must have (None: any). Raises what `rewrite_state` and `run_operation` raise, and `DiskError`
    (PC0821) if the file contains another state.
    """
    made: list[OperationResult] = []

    def make(raw: bytes, path: Path) -> StateDiff:
        done = run_operation(pack, raw, operation, args, answers, name=name)
        check_expected(expected, done.before, name)
        made.append(done)
        return make_diff(pack, done, raw, file=path.name)

    rewrite_state(name, make, folder=folder, wait=wait, purpose=operation)
    return made[-1]


def check_expected(expected: str | None, digest: str, name: str) -> None:
    """Raise `DiskError` (PC0821) if `digest`, of the state called `name`, is not the `expected` one (None: any)."""
    if expected is not None and expected != digest:
        message = f"`{name}` has changed in the meantime: its digest is {digest}, not {expected}"
        raise DiskError([Diagnostic("PC0821", message, help="look at the state as it is now, and repeat the operation")])


def archive_folder(path: Path) -> Path:
    """Return the folder for archives next to a state's file, whether or not it exists.

    Raises `DiskError` (PC0850) if it is a link: nobody asked to write where it leads.
    """
    folder = path.with_name(f"{path.name}.archive")
    if stat.S_ISLNK(read_mode(folder)):
        help = "name the folder that you mean: `--archive DIR`"
        raise DiskError([Diagnostic("PC0850", f"`{folder.name}`, the folder of the archives next to the state, is a link", help=help)])
    return folder


def _read(path: Path, name: str) -> bytes:
    try:
        return read_file(path, MAX_STATE_BYTES)
    except OSError as wrong:
        message = f"cannot read the state `{name}`: {show_reason(wrong)}"
        raise DiskError([Diagnostic("PC0724", message, help="name a JSON file that can be read")]) from wrong


def write_state(path: Path, data: bytes, *, read: bytes, shown: str) -> None:
    """Replace the state's file in one step. The caller holds its lock.

    Whoever reads the file, even after a kill, sees the old state or the new one. `read` is the content that was read, `shown` the file's
    name in messages. Raises `DiskError` if the file has changed since (PC0821) or cannot be written (PC0823); the state is then unchanged.
    """

    def check() -> None:
        if read_file(path, MAX_STATE_BYTES) != read:
            raise _conflict(shown)

    try:
        replace_file(path, data, like=path, check=check)
    except OSError as wrong:
        message = f"cannot write the state `{shown}`: {show_reason(wrong)}"
        help = "make room, or make the file and its folder writable, and repeat the operation; the old state is intact"
        raise DiskError([Diagnostic("PC0823", message, help=help)]) from wrong


def _conflict(shown: str) -> DiskError:
    message = f"a program without a lock changed `{shown}` while the operation ran; promptc did not write it"
    return DiskError([Diagnostic("PC0821", message, help="repeat the operation")])


@contextmanager
def lock_state(name: str, *, wait: float, purpose: str) -> Iterator[Path]:
    """Hold the lock of the state's file `name` and yield the path of the file itself.

    Links are followed, so that all names of a file share one lock. The lock is a file next to it, `state.json.lock`. Raises `DiskError` if
    there is no such file (PC0724) or it cannot be replaced (PC0823), and the errors of `hold_lock`.
    """
    path = Path(os.path.realpath(name))
    _check(name, path)
    with hold_lock(path.with_name(f"{path.name}.lock"), wait=wait, purpose=purpose, shown=name):
        yield path


def _check(name: str, path: Path) -> None:
    """Check the file before a lock file is created next to it."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as wrong:
        reason = show_reason(wrong)
        help = "name a JSON file, or `-` for standard input"
        raise DiskError([Diagnostic("PC0724", f"cannot read the state `{name}`: {reason}", help=help)]) from wrong
    if stat.S_ISDIR(mode):
        raise DiskError([Diagnostic("PC0724", f"cannot read the state `{name}`: it is a folder", help="name the JSON file in it")])
    if not stat.S_ISREG(mode):
        help = "`-` reads it from standard input and prints the new one; `-o FILE` writes that to a file"
        raise DiskError([Diagnostic("PC0823", f"`{name}` is not a regular file and cannot be replaced", help=help)])
    if not os.access(path, os.W_OK):
        help = "make it writable, or write the new state elsewhere: `-o FILE`"
        raise DiskError([Diagnostic("PC0823", f"`{name}` is read-only", help=help)])


def apply_diff(note: Note, change: StateDiff, raw: bytes, taken: Sequence[Named]) -> PendingNote | None:
    """Return the note before and after `change`, or None if there is nothing to note.

    `change` is made from `raw`, and `taken` are the archives of what it takes out.
    """
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
    """Return the next note of a list.

    An archive that is put back is no longer out. One that is taken again is no longer back, and is out as often as it was taken.
    """
    out = (*(name for name in known.out if name not in after.back), *after.out)
    back = (*(name for name in known.back if name not in (*after.out, *after.back)), *after.back)
    return ListNote(after.length, after.digest, out[-NOTED:], back[-NOTED:])


def _group(named: Sequence[Named]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for pointer, name in named:
        groups[pointer] = (*groups.get(pointer, ()), name)
    return groups
