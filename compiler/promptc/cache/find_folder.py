"""Where the cache lies."""

import os
import stat
import sys

VARIABLE = "PROMPTC_CACHE"
"""The environment variable that names another folder. It says where things are kept, never what is rendered."""

_OTHERS = 0o077
_WRITABLE_BY_OTHERS = 0o022


def find_folder() -> str | None:
    """The cache's folder: `$PROMPTC_CACHE`, else `promptc` in the user's own cache folder. None where the system tells of none, or the
    variable is empty.
    """
    named = os.environ.get(VARIABLE)
    if named is not None:
        return named or None
    caches = _find_caches()
    return f"{caches}{os.sep}promptc" if caches else None


def open_folder(folder: str, *, make: bool = True) -> bool:
    """Whether `folder` may be used: there, or made now; no link, the user's own, closed to everybody else, and in folders that nobody else
    could put another in its place in.
    """
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return make and _make(folder) and open_folder(folder, make=False)
    except (OSError, ValueError):
        return False
    is_closed = stat.S_ISDIR(found.st_mode) and is_own(found) and not (os.name == "posix" and found.st_mode & _OTHERS)
    return is_closed and all(map(_is_safe, _list_above(folder)))


def find_exposed(folder: str) -> str:
    """The nearest folder above `folder` for which that may not be used: others can write it. Empty where there is none."""
    above = sorted(_list_above(folder), key=lambda one: (-len(one), one))
    return next((one for one in above if os.path.exists(one) and not _is_safe(one)), "")


def is_own(found: os.stat_result) -> bool:
    """Whether a file belongs to the user this process runs for; True where the system has no such numbers."""
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


def is_private(found: os.stat_result) -> bool:
    """Whether a file is the user's own and nobody else may write it."""
    return is_own(found) and not (os.name == "posix" and found.st_mode & _WRITABLE_BY_OTHERS)


def _list_above(folder: str) -> set[str]:
    """Every folder above it, by its name and by where its links lead."""
    above: set[str] = set()
    for path in (os.path.abspath(folder), os.path.realpath(folder)):
        while (outer := os.path.dirname(path)) != path and outer not in above:
            above.add(outer)
            path = outer
    return above


def _is_safe(folder: str) -> bool:
    """Whether nobody but the user and the administrator can rename what is in it. In one with the sticky bit everybody has their own."""
    if os.name != "posix":
        return True
    try:
        found = os.stat(folder)
    except OSError:
        return False
    return found.st_uid in (0, os.getuid()) and not (found.st_mode & _WRITABLE_BY_OTHERS and not found.st_mode & stat.S_ISVTX)


def _find_caches() -> str:
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return named
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA", "")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        return ""
    return f"{home}/Library/Caches" if sys.platform == "darwin" else f"{home}/.cache"


def _make(folder: str) -> bool:
    try:
        os.makedirs(os.path.dirname(folder) or ".", exist_ok=True)
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return os.path.isdir(folder)
    except (OSError, ValueError):
        return False
    return True
