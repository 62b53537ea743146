"""Files, written whole or not at all."""

import contextlib
import os
from pathlib import Path

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError


def write_file(name: str, data: bytes) -> None:
    """Writes `data` to the file `name`, replacing it in one step: a reader sees the old file or the new one.

    A link is followed. What is no regular file, such as a pipe or `/dev/null`, is written to. `DiskError` (PC0725) when it cannot be.
    """
    given = Path(name)
    try:
        if given.exists() and not given.is_file() and not given.is_dir():
            given.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(given)), data)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        raise DiskError([Diagnostic("PC0725", f"cannot write `{name}`: {reason}", help="name a file in a folder that is there")]) from wrong


def _replace(path: Path, data: bytes) -> None:
    """By way of a file beside it, which is on the disk before it takes the other's place."""
    beside = path.parent / f".promptc-{os.getpid()}.tmp"
    written = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        with os.fdopen(written, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o7777)
        beside.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """The new name, too, outlives a power cut, where the system can promise it."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
