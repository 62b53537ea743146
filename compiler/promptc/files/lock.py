"""Exclusive file locks: `hold_lock` waits for a lock, `lock_file` acquires one that is free."""

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from promptc.diag.findings import Diagnostic, DiskError, show_reason
from promptc.files.reading import AnyPath

_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.02
_SIGNATURE = 200
_HELD = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK, errno.EINTR)
_FAR = 1 << 30
"""The offset of the byte that Windows locks. It is after all that is written, or nobody could read who has the lock."""


@contextmanager
def hold_lock(path: Path, *, wait: float, purpose: str, shown: str) -> Iterator[None]:
    """Hold the lock of the file `path` until the end of the `with` block.

    The file is created if necessary, and never removed. No other process or thread has the lock at the same time. The system releases the
    lock when this process dies, however it dies. Waits at most `wait` seconds. `purpose` is what others are told, and `shown` is the name
    in messages of what is locked.

    Raises `DiskError`: PC0820 if another process or thread has the lock, PC0822 if the file cannot be locked.
    """
    opened = _acquire(path, monotonic() + wait, wait, shown)
    try:
        _sign(opened, purpose)
        yield
    finally:
        _close(opened)


def _acquire(path: Path, deadline: float, wait: float, shown: str) -> int:
    """Return the open file, locked and still the one at `path`."""
    while True:
        opened, is_ours = _open(path, shown), False
        try:
            _wait(opened, shown, deadline, wait)
            is_ours = is_at(opened, path)
            if is_ours:
                return opened
        finally:
            if not is_ours:
                _close(opened)


def _open(path: Path, shown: str) -> int:
    """Open the lock file, only for reading if another user's file allows no more. That is enough for a lock."""
    flags = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        try:
            opened = os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o666)
        except PermissionError as wrong:
            if not path.exists():
                raise wrong from None
            opened = os.open(path, os.O_RDONLY | flags)
        is_file = stat.S_ISREG(os.fstat(opened).st_mode)
    except (OSError, ValueError) as wrong:
        raise _explain(shown, show_reason(wrong)) from wrong
    if not is_file:
        _close(opened)
        raise _explain(shown, "it is not a regular file")
    return opened


def _close(opened: int) -> None:
    """Close the file, which releases the lock. Errors are ignored."""
    with suppress(OSError):
        os.close(opened)


def _wait(opened: int, shown: str, deadline: float, wait: float) -> None:
    pause = _FIRST_PAUSE
    while not _try(opened, shown):
        left = deadline - monotonic()
        if left <= 0:
            held = f"{_read_holder(opened)} is using `{shown}`; promptc waited {wait:g} seconds"
            raise DiskError([Diagnostic("PC0820", held, help="try again when it has finished, or wait longer: `--wait SECONDS`")])
        sleep(min(pause, left))
        pause = min(2 * pause, _LONGEST_PAUSE)


def _try(opened: int, shown: str) -> bool:
    """Return whether the lock was acquired."""
    try:
        return lock_file(opened)
    except OSError as wrong:
        raise _explain(shown, f"the file system has no locks: {show_reason(wrong)}") from wrong


def lock_file(opened: int) -> bool:
    """Lock an open file until it is closed, without waiting. Return False if another has the lock.

    Raises `OSError` if the file system has no locks.
    """
    try:
        _lock(opened)
    except OSError as wrong:
        if wrong.errno in _HELD:
            return False
        raise
    return True


if sys.platform == "win32":

    def _lock(opened: int) -> None:
        import msvcrt

        os.lseek(opened, _FAR, os.SEEK_SET)
        msvcrt.locking(opened, msvcrt.LK_NBLCK, 1)

else:

    def _lock(opened: int) -> None:
        import fcntl

        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_at(opened: int, path: AnyPath) -> bool:
    """Return whether the open file is the one at `path`, without following a link. It may have been removed or replaced."""
    try:
        return os.path.samestat(os.fstat(opened), os.lstat(path))
    except OSError:
        return False


def _sign(opened: int, purpose: str) -> None:
    """Write who has the lock, for those who wait. Errors such as a full disk are ignored, since this is not part of the lock."""
    try:
        os.ftruncate(opened, 0)
        os.lseek(opened, 0, os.SEEK_SET)
        os.write(opened, f"process {os.getpid()} ({purpose})"[:_SIGNATURE].encode("utf-8", "replace"))
    except OSError:
        return


def _read_holder(opened: int) -> str:
    try:
        os.lseek(opened, 0, os.SEEK_SET)
        signed = os.read(opened, _SIGNATURE).decode("utf-8", "replace").strip()
    except OSError:
        signed = ""
    return signed or "another process"


def _explain(shown: str, reason: str) -> DiskError:
    return DiskError([Diagnostic("PC0822", f"cannot lock `{shown}`: {reason}", help="name a file in a folder that can be written to")])
