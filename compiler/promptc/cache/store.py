"""The cache: sealed files by name."""

import os
from _blake2 import blake2b

from promptc.cache.find_folder import find_folder, is_private, open_folder
from promptc.cache.seal import HEAD, seal, unseal
from promptc.files.read_file import read_file

MAX_FOLDER = 64_000_000
"""Bytes that the files of the cache may have together; the oldest go first."""

MAX_FILE = 16_000_000
"""Bytes of the longest file that is kept, or read back."""

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
            return unseal(read_file(self._find_path(name), MAX_FILE, admit=is_private), _digest(name))
        except (OSError, ValueError):
            return None

    def keep(self, name: str, content: bytes) -> None:
        """Keeps `content` under `name`, in place of what was there, where that can be done."""
        from promptc.files.replace_file import replace_remade

        if len(content) > MAX_FILE - HEAD or not open_folder(self._folder):
            return
        try:
            sealed = seal(content, _digest(name))
            if sealed is not None:
                replace_remade(self._find_path(name), sealed, mode=0o600)
        except OSError:
            return
        _trim(self._folder)

    def _find_path(self, name: str) -> str:
        return f"{self._folder}{os.sep}{_digest(name).hex()}{_SUFFIX}"


def open_cache() -> Cache | None:
    """The user's cache; None where no folder can be used. It is made when something is kept."""
    folder = find_folder()
    if folder is None:
        return None
    return Cache(folder) if not os.path.lexists(folder) or open_folder(folder) else None


def _digest(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogateescape"), digest_size=16).digest()


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
