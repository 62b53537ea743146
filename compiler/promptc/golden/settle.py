"""Accepting, rejecting and taking back: what a golden is from now on."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.frozen import field, frozen
from promptc.files.atomic import replace_file
from promptc.files.reading import LinkError, read_file
from promptc.golden.cases.case import INPUTS, PENDING
from promptc.golden.find_cases import is_pending
from promptc.golden.pending import PendingGolden
from promptc.golden.read_plain import MAX_PLAIN_BYTES

_HELP = "see that the folder can be written and its disk has room; the golden is as it was"
_LOOK = "look at it again: `promptc review`"
_GONE = "it is not pending any more"
_CHANGED = "it has changed meanwhile"

Contents = Mapping[str, bytes | None]
"""Of files, by their paths; None: not there."""


@frozen(eq=False)
class SettledGolden:
    """A golden that was accepted or rejected, with the files of its case that this touched, as they were before and as it left them."""

    pending: PendingGolden
    before: Contents = field(repr=False)
    after: Contents = field(repr=False)


def accept_golden(pending: PendingGolden, expected: bytes | None = None) -> SettledGolden:
    """Makes the pending golden the golden, in one step: a reader, or a kill, meets the old one or the new one. What is accepted are the
    bytes that were `expected`, whoever writes meanwhile; None: whatever is pending.

    Raises `DiskError` (PC0945) where it cannot, or where other bytes are pending, with nothing changed; a link in the place of either is
    refused.
    """
    names = (pending.name, pending.name + PENDING, INPUTS, INPUTS + PENDING)
    before = _read_all("read", pending, names)
    new = before[_place(pending, pending.name + PENDING)]
    if new is None or new != (expected if expected is not None else new):
        raise _refuse("accept", pending, _GONE if new is None else _CHANGED)
    with _telling("accept", pending):
        _write(Path(pending.folder, pending.name), new)
        _drop(pending, new)
        inputs = _note(Path(pending.folder, INPUTS), before[_place(pending, INPUTS)], before[_place(pending, INPUTS + PENDING)])
    left = {names[0]: new, names[1]: None, INPUTS: inputs}
    return SettledGolden(pending, before, _settle_inputs("accept", pending, before, left))


def reject_golden(pending: PendingGolden, expected: bytes | None = None) -> SettledGolden:
    """Removes the pending golden, whatever stands in the place of the golden. Raises `DiskError` (PC0945) where it cannot, or where other
    bytes are pending than were `expected`.
    """
    names = (pending.name + PENDING, INPUTS + PENDING)
    before = _read_all("read", pending, names)
    new = before[_place(pending, pending.name + PENDING)]
    if new is None or new != (expected if expected is not None else new):
        raise _refuse("reject", pending, _GONE if new is None else _CHANGED)
    with _telling("reject", pending):
        _drop(pending, new)
    return SettledGolden(pending, before, _settle_inputs("reject", pending, before, {names[0]: None}))


def undo_settled(settled: SettledGolden) -> None:
    """Makes the files what they were before. Raises `DiskError` (PC0945) where it cannot, and where one is no longer as it was left: what
    somebody else wrote is not written over.
    """
    pending = settled.pending
    if _read_all("take back", pending, [Path(path).name for path in settled.after]) != settled.after:
        raise _refuse("take back", pending, _CHANGED)
    with _telling("take back", pending):
        for path, content in settled.before.items():
            if content is not None:
                _write(Path(path), content)
            else:
                Path(path).unlink(missing_ok=True)


def _read_all(verb: str, pending: PendingGolden, names: Sequence[str]) -> dict[str, bytes | None]:
    with _telling(verb, pending):
        return {_place(pending, name): _read(Path(pending.folder, name)) for name in names}


def _place(pending: PendingGolden, name: str) -> str:
    return str(Path(pending.folder, name))


def _drop(pending: PendingGolden, content: bytes) -> None:
    """The pending golden goes; what somebody wrote there meanwhile stays pending."""
    path = Path(pending.folder, pending.name + PENDING)
    if _read(path) == content:
        path.unlink()


def _refuse(verb: str, pending: PendingGolden, reason: str) -> DiskError:
    return DiskError([Diagnostic("PC0945", f"cannot {verb} {pending.path}: {reason}", help=_LOOK)])


def _note(path: Path, old: bytes | None, new: bytes | None) -> bytes | None:
    """What is noted from now on. Where the new inputs cannot be written, nothing: the old ones would tell a wrong cause."""
    if new is None:
        return old
    try:
        _write(path, new)
    except OSError:
        path.unlink(missing_ok=True)
        return None
    return new


def _settle_inputs(verb: str, pending: PendingGolden, before: Contents, left: Contents) -> Contents:
    """What is pending of a case's inputs goes with the last golden that is pending. The files as they are left."""
    folder, name = Path(pending.folder), INPUTS + PENDING
    with _telling(verb, pending):
        others = [path.name for path in folder.iterdir() if path.name.startswith("golden.") and is_pending(path.name)]
        is_last = others == [name]
        if is_last:
            (folder / name).unlink()
    kept = before[_place(pending, name)] if name in others and not is_last else None
    return {_place(pending, one): content for one, content in {**left, name: kept}.items()}


def _read(path: Path) -> bytes | None:
    """None where nothing is. A link is never followed: it may lead out of the project."""
    try:
        return read_file(path, MAX_PLAIN_BYTES)
    except FileNotFoundError:
        return None


def _write(path: Path, content: bytes) -> None:
    """By way of a file beside it, whose name is no golden's. A link in its place is refused."""

    def check() -> None:
        if path.is_symlink():
            raise LinkError(0, "it is a link")

    replace_file(path, content, check=check)


@contextlib.contextmanager
def _telling(verb: str, pending: PendingGolden) -> Iterator[None]:
    try:
        yield
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        raise DiskError([Diagnostic("PC0945", f"cannot {verb} {pending.path}: {reason}", help=_HELP)]) from wrong
