"""Files inside a folder, opened so that no path leaves it."""

from __future__ import annotations

import os
import stat
from os import PathLike

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


def read_inside(folder: str | PathLike[str], relative: str, limit: int) -> bytes | None:
    """At most `limit` bytes and one more of the regular file `relative` (names joined by `/`) inside `folder`; None for what is no regular
    file. OSError when it is not there, cannot be read, or is reached through a link.
    """
    opened = _open_stepwise(folder, relative) if _STEPWISE else _open_checked(folder, relative)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        return None
    with os.fdopen(opened, "rb") as file:
        return file.read(limit + 1)


def find_link(folder: str | PathLike[str], relative: str) -> str:
    """The first part of the path that is a link, or `""`."""
    names = relative.split("/")
    parts = ("/".join(names[: stop + 1]) for stop in range(len(names)))
    return next((part for part in parts if stat.S_ISLNK(find_mode(folder, part))), "")


def find_mode(folder: str | PathLike[str], relative: str) -> int:
    """What kind of file stands there, links not followed; 0 when that cannot be told."""
    try:
        return os.lstat(f"{os.fspath(folder)}/{relative}").st_mode
    except OSError:
        return 0


def _open_stepwise(folder: str | PathLike[str], relative: str) -> int:
    """Opened name by name from the folder, so that a link put there meanwhile is not followed either."""
    *folders, name = relative.split("/")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in folders:
            inner = os.open(step, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name, _FILE, dir_fd=at)
    finally:
        os.close(at)


def _open_checked(folder: str | PathLike[str], relative: str) -> int:
    """For systems that cannot open relative to an open folder."""
    if find_link(folder, relative):
        raise OSError
    return os.open(f"{os.fspath(folder)}/{relative}", _FILE)
