"""The cache: sealed files by name."""

import os
import stat
from _blake2 import blake2b

from promptc.cache.find_folder import find_folder, is_own, open_folder
from promptc.cache.seal import seal, unseal

MAX_FOLDER = 64_000_000
"""Bytes that the files of the cache may have together; the oldest go first."""

MAX_FILE = 16_000_000
"""Bytes of the longest file that is kept, or read back."""

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_WRITABLE_BY_OTHERS = 0o022
_SUFFIX = ".promptc"


class Cache:
    """A folder of sealed files. Whatever goes wrong with one of them, it is as if it were not there: nothing is ever raised.

    Safe to delete at any time, whole or in part. Several processes may use one folder: each file is replaced in one step.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def load(self, name: str) -> memoryview | None:
        """What was kept under `name` last; None when there is nothing, or it is not as it was written, or not the user's own."""
        try:
            opened = os.open(self._find_path(name), _READ)
        except (OSError, ValueError):
            return None
        try:
            found = os.fstat(opened)
            if not stat.S_ISREG(found.st_mode) or not is_own(found) or found.st_size > MAX_FILE:
                return None
            if os.name == "posix" and found.st_mode & _WRITABLE_BY_OTHERS:
                return None
            return unseal(_read_all(opened, found.st_size))
        except OSError:
            return None
        finally:
            os.close(opened)

    def keep(self, name: str, content: bytes) -> None:
        """Keeps `content` under `name`, in place of what was there, where that can be done."""
        sealed = seal(content)
        if len(sealed) > MAX_FILE or not open_folder(self._folder):
            return
        path = self._find_path(name)
        beside = f"{path}.{os.getpid()}.tmp"
        try:
            _write_beside(beside, sealed)
            os.replace(beside, path)
        except OSError:
            return
        finally:
            _remove(beside)
        _trim(self._folder)

    def _find_path(self, name: str) -> str:
        return f"{self._folder}{os.sep}{blake2b(name.encode('utf-8', 'surrogateescape'), digest_size=16).hexdigest()}{_SUFFIX}"


def open_cache() -> Cache | None:
    """The user's cache; None where no folder can be used. It is made when something is kept."""
    folder = find_folder()
    if folder is None:
        return None
    return Cache(folder) if not os.path.lexists(folder) or open_folder(folder) else None


def _read_all(opened: int, size: int) -> bytes:
    found = os.read(opened, size)
    while len(found) < size:
        more = os.read(opened, size - len(found))
        if not more:
            break
        found += more
    return found


def _write_beside(beside: str, sealed: bytes) -> None:
    written = os.open(beside, _WRITE, 0o600)
    with os.fdopen(written, "wb") as file:
        file.write(sealed)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _trim(folder: str) -> None:
    """Takes away the oldest files, and what a process that died left half written, until the rest is within MAX_FOLDER."""
    try:
        with os.scandir(folder) as entries:
            found = [(kept.st_mtime_ns, entry.path, kept.st_size) for entry in entries for kept in (entry.stat(follow_symlinks=False),)]
    except OSError:
        return
    total = sum(size for *_, size in found)
    for _, path, size in sorted(found):
        if total <= MAX_FOLDER:
            return
        _remove(path)
        total -= size
