"""Accepting, rejecting and taking back: what a golden is from now on."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError
from promptc.diag.frozen import field, frozen
from promptc.golden.case import INPUTS, PENDING
from promptc.golden.find_cases import is_pending
from promptc.golden.pending import Pending

_HELP = "see that the folder can be written and its disk has room; the golden is as it was"


@frozen(eq=False)
class Settled:
    """A golden that was accepted or rejected, with the bytes of the files of its case that this touched (None: not there), as before."""

    pending: Pending
    before: tuple[tuple[str, bytes | None], ...] = field(repr=False)


def accept_golden(pending: Pending) -> Settled:
    """Puts the pending golden in the place of the golden, in one step: a reader, or a kill, meets the old one or the new one.

    Raises `DiskError` (PC0945) where it cannot, with nothing changed; a link in the place of either is refused.
    """
    settled = _read_before(pending)
    folder = Path(pending.folder)
    with _telling("accept", pending):
        _replace(folder / (pending.name + PENDING), folder / pending.name)
        inputs = _read(folder / (INPUTS + PENDING))
        if inputs is not None:
            _write(folder / INPUTS, inputs)
        _clear_inputs(folder)
    return settled


def reject_golden(pending: Pending) -> Settled:
    """Removes the pending golden. Raises `DiskError` (PC0945) where it cannot."""
    settled = _read_before(pending)
    folder = Path(pending.folder)
    with _telling("reject", pending):
        (folder / (pending.name + PENDING)).unlink()
        _clear_inputs(folder)
    return settled


def undo_settled(settled: Settled) -> None:
    """Makes the files what they were before. Raises `DiskError` (PC0945) where it cannot."""
    with _telling("take back", settled.pending):
        for path, content in settled.before:
            if content is not None:
                _write(Path(path), content)
            else:
                Path(path).unlink(missing_ok=True)


def _read_before(pending: Pending) -> Settled:
    names = (pending.name, pending.name + PENDING, INPUTS, INPUTS + PENDING)
    with _telling("read", pending):
        return Settled(pending, tuple((str(path), _read(path)) for path in (Path(pending.folder, name) for name in names)))


def _clear_inputs(folder: Path) -> None:
    """What is pending of a case's inputs goes with the last golden that is pending."""
    left = [path for path in folder.iterdir() if path.name.startswith("golden.") and is_pending(path.name)]
    if [path.name for path in left] == [INPUTS + PENDING]:
        left[0].unlink()


def _read(path: Path) -> bytes | None:
    """None where nothing is. A link is never followed: it may lead out of the project."""
    if path.is_symlink():
        raise OSError(0, "it is a link")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _replace(source: Path, target: Path) -> None:
    if source.is_symlink() or target.is_symlink():
        raise OSError(0, "it is a link")
    source.replace(target)


def _write(path: Path, content: bytes) -> None:
    """By way of a file beside it, whose name is no golden's."""
    beside = path.with_name(f".promptc-{os.getpid()}-{path.name}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@contextlib.contextmanager
def _telling(verb: str, pending: Pending) -> Iterator[None]:
    try:
        yield
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        raise DiskError([Diagnostic("PC0945", f"cannot {verb} {pending.path}: {reason}", help=_HELP)]) from wrong
