"""A file, replaced in one step that outlives a power cut."""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_NO_FOLDER_SYNC = (errno.EINVAL, errno.EACCES, errno.EBADF, errno.ENOTSUP)
"""What systems say that cannot promise it for folders."""


def replace_file(path: Path, data: bytes, *, beside: Path, like: Path | None, check: Callable[[], None] = lambda: None) -> None:
    """Puts a file of these bytes at `path`, by way of the file `beside` in the same folder, which nobody else may be using: what a killed
    run left there is removed.

    Whatever happens, `path` is the old file or the new one, whole. `check` is called when the new file is on the disk and has only to be
    renamed; it may raise. Its mode is that of the file `like`, its owner too where that is allowed. Raises `OSError`.
    """
    with suppress(FileNotFoundError):
        beside.unlink()
    try:
        _write(beside, data, like.stat() if like is not None else None)
        check()
        beside.replace(path)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """What was renamed in it is on the disk, where the system can promise that. Raises `OSError`."""
    try:
        opened = os.open(folder, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except PermissionError:
        return
    try:
        os.fsync(opened)
    except OSError as wrong:
        if wrong.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(opened)


def _write(path: Path, data: bytes, like: os.stat_result | None) -> None:
    mode = stat.S_IMODE(like.st_mode) if like is not None else 0o666
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode | stat.S_IWUSR)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(opened, rest) :]
        if like is not None:
            _make_alike(opened, like)
        os.fsync(opened)
    finally:
        os.close(opened)


def _make_alike(opened: int, like: os.stat_result) -> None:
    """Owner first, since a change of it takes away from the mode."""
    own = os.fstat(opened)
    if hasattr(os, "fchown") and (like.st_uid, like.st_gid) != (own.st_uid, own.st_gid):
        with suppress(PermissionError):
            os.fchown(opened, like.st_uid, like.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(opened, stat.S_IMODE(like.st_mode))
