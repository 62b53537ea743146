"""Where the cache lies."""

import os
import stat
import sys

VARIABLE = "PROMPTC_CACHE"
"""The environment variable that names another folder. It says where things are kept, never what is rendered."""

_OTHERS = 0o077


def find_folder() -> str | None:
    """The cache's folder: `$PROMPTC_CACHE`, else `promptc` in the user's own cache folder. None where the system tells of none."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    caches = _find_caches()
    return f"{caches}{os.sep}promptc" if caches else None


def open_folder(folder: str) -> bool:
    """Whether `folder` may be used: there, or made now; no link, the user's own, and closed to everybody else."""
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return _make(folder)
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(found.st_mode) and is_own(found) and not (os.name == "posix" and found.st_mode & _OTHERS)


def is_own(found: os.stat_result) -> bool:
    """Whether a file belongs to the user this process runs for; True where the system has no such numbers."""
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


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
