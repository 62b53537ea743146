"""A state's file, read, changed and replaced as one act."""

import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.reading import find_mode, read_file
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.operations.archive import Written, name_archive, write_archive
from promptc.operations.change import StateDiff
from promptc.operations.follow_change import apply_diff
from promptc.operations.lock_state import lock_state
from promptc.operations.make_change import make_diff
from promptc.operations.opened import Opened
from promptc.operations.read_note import read_note
from promptc.operations.results import OperationResult
from promptc.operations.run import run_operation
from promptc.operations.write_note import settle_note, write_note
from promptc.operations.write_state import write_state


@frozen(eq=False)
class Rewritten:
    """What was done to a file, and the archives that were kept for it."""

    change: StateDiff
    archives: tuple[Written, ...]


def rewrite_state(name: str, make: Callable[[bytes, Path], StateDiff], *, folder: Path | None, wait: float, purpose: str) -> Rewritten:
    """Calls `make` with the bytes and the path of the state's file, and puts what it makes in their place.

    From reading to writing the lock is held, so that no update of another call is lost. Archives are on the disk, in `folder` (None: beside
    the state, `state.json.archive`), before the state is replaced; so whenever this is killed, the state is the old one or the new one, and
    what the new one lacks is archived. What is out and what is back is noted beside the state first, of both. Raises `DiskError`, and
    whatever `make` raises; the state is then as it was.
    """
    with lock_state(name, wait=wait, purpose=purpose) as path:
        raw = _read(path, name)
        change = make(raw, path)
        if not change.is_changed:
            return Rewritten(change, ())
        kept = folder if folder is not None else find_archives(path)
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
    """Does an operation on the state in a file, by `rewrite_state`. Raises what that and `run_operation` raise, and `DiskError` (PC0821)
    where the file holds another state than the one with the digest `expected` (None: any).
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
    """`DiskError` (PC0821) where the state called `name` is not the one that was named by its digest."""
    if expected is not None and expected != digest:
        message = f"`{name}` is {digest}, not {expected}"
        raise DiskError([Diagnostic("PC0821", message, help="it was changed since; look at it as it is now, and repeat the operation")])


def find_archives(path: Path) -> Path:
    """The folder beside a state's file that holds its archives, whether it is there or not. `DiskError` (PC0850) for a link: nobody
    asked to write where it leads.
    """
    folder = path.with_name(f"{path.name}.archive")
    if stat.S_ISLNK(find_mode(folder)):
        help = "name the folder that you mean: `--archive DIR`"
        raise DiskError([Diagnostic("PC0850", f"`{folder.name}`, the folder of the archives beside the state, is a link", help=help)])
    return folder


def _read(path: Path, name: str) -> bytes:
    try:
        return read_file(path, MAX_STATE_BYTES)
    except OSError as wrong:
        message = f"cannot read the state `{name}`: {wrong.strerror or wrong}"
        raise DiskError([Diagnostic("PC0724", message, help="name a JSON file that can be read")]) from wrong
