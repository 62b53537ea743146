"""Atomic writes of files and new folders. Whenever a run is killed, a reader sees the old version or the new one, never a part.

`write_file` and `write_folder` write what a user named, and report errors as findings. They are built on `replace_file`, `replace_remade`
and `make_folder_beside`, which raise `OSError`.

Files that are made again when they are missing may be lost in a power cut. All others are on the disk when the call returns. A
`GrowingFile` is written for hours, next to the file that it replaces once it is complete, and outlives the run that writes it.

The new version is written next to the old one, under a name of its own, and locked for as long as it is written. The lock distinguishes
what another run is writing from what a killed run left. The next write of the same file or folder removes such leftovers.
"""

from __future__ import annotations

import errno
import os
import stat
from _blake2 import blake2b
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, show_reason
from promptc.diag.frozen import frozen
from promptc.diag.typed import IO
from promptc.files.lock import is_at, lock_file
from promptc.files.reading import AnyPath, find_link

_BINARY = getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | _BINARY
_LEFT = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_GROWING = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | _BINARY
_INSIDE = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EACCES, errno.EBADF, errno.ENOTSUP)
"""The errors of systems that cannot sync a folder."""

_MOST_BESIDE = 1000
_BESIDE, _UNFINISHED = ".promptc-", ".tmp"
_ROOM = "make room on the disk, or name a file on another disk"
_ADVICE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _ROOM),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "name a file in a folder that you may write to"),
    errno.EFBIG: "allow larger files: `ulimit -f unlimited`",
    errno.EISDIR: "name a file: this is a folder",
}
"""What to do about a failed write, by the number of the error."""


def write_folder(folder: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Create `folder` with the files, which are named by paths inside it, joined by `/`. A reader sees all of it or nothing.

    With `force`, files of the same names in an existing folder are replaced one by one, and others stay. Raises `DiskError`: PC0176 if the
    folder is not empty, without `force`; PC0725 if it cannot be written, or as `refuse_links` does.
    """
    try:
        if folder.is_dir() and any(folder.iterdir()):
            if not force:
                message = f"the folder `{folder}` is not empty"
                raise DiskError(
                    [Diagnostic("PC0176", message, help="name a new folder, or add `--force` to replace files of the same names")]
                )
            refuse_links(folder, files)
            for name, data in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                write_file(str(folder / name), data)
            return
        _make(folder, files)
    except OSError as wrong:
        reason = show_reason(wrong)
        raise DiskError(
            [
                Diagnostic(
                    "PC0725", f"cannot write `{folder}`: {reason}", help=advise_write(wrong, "name a folder inside a folder that exists")
                )
            ]
        ) from wrong


def advise_write(wrong: Exception, usual: str = "name a file in a folder that exists") -> str:
    """Return what to do about a failed write; `usual` if the error says nothing else."""
    return _ADVICE.get(getattr(wrong, "errno", None) or 0, usual)


def refuse_links(folder: AnyPath, names: Iterable[str]) -> None:
    """Raise `DiskError` (PC0725) if a link stands in the way of a file that is to be written inside `folder`: it may lead anywhere.

    The user named the folder. Somebody else may have filled it.
    """
    link = next(filter(None, (find_link(folder, name) for name in names)), None)
    if link is not None:
        message = f"cannot write to `{os.path.join(os.fspath(folder), link)}`: it is a symbolic link, and promptc does not follow links"
        raise DiskError([Diagnostic("PC0725", message, help="remove the link, or name another folder")])


def _make(folder: Path, files: Mapping[str, bytes]) -> None:
    """Create the folder under a temporary name, then rename it."""
    with make_folder_beside(folder) as beside:
        fill_folder(beside, files)
        os.replace(beside, folder)
    sync_folder(folder.parent)


def write_file(name: str, data: bytes, *, mode: int = 0o666) -> None:
    """Write `data` to the file `name`, which is replaced in one step: a reader sees the old file or the new one.

    A new file has the `mode`, less the umask of the process. A link is followed. What is not a regular file, such as a pipe or `/dev/null`,
    is written to directly. Raises `DiskError` (PC0725) if it cannot be written.
    """
    given = Path(name)
    try:
        if given.exists() and not given.is_file() and not given.is_dir():
            given.write_bytes(data)
            return
        if name.endswith("/"):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        path = Path(os.path.realpath(given))
        replace_file(path, data, like=path if path.exists() else None, mode=mode)
    except (OSError, ValueError) as wrong:
        reason = show_reason(wrong)
        raise DiskError([Diagnostic("PC0725", f"cannot write `{name}`: {reason}", help=advise_write(wrong))]) from wrong


def replace_file(
    path: AnyPath, data: bytes, *, like: AnyPath | None = None, check: Callable[[], None] = lambda: None, mode: int = 0o666
) -> None:
    """Put a file of these bytes at `path`, in one step that survives a power cut. A link at `path` is replaced.

    `check` is called when the new file is on the disk and only has to be renamed; it may raise. The new file has the mode of the file
    `like`, and its owner if that is allowed; without `like`, it has `mode`. Raises `OSError`.
    """
    old = os.stat(like) if like is not None else None
    _replace(path, lambda opened: _fill(opened, data, old, is_kept=True), mode=mode, like=old, check=check)
    sync_folder(os.path.dirname(os.fspath(path)) or ".")


def replace_remade(path: AnyPath, data: bytes, *, mode: int = 0o666) -> None:
    """Put a file at `path` as `replace_file` does, but without a sync: a power cut may take it, and then it is made again."""
    _replace(path, lambda opened: _fill(opened, data, None, is_kept=False), mode=mode, like=None, check=lambda: None)


def replace_filled(path: AnyPath, fill: Callable[[IO[bytes]], None]) -> None:
    """Put a file at `path` as `replace_file` does. `fill` is called with the open file and writes it. Raises `OSError`."""

    def fill_and_sync(opened: int) -> None:
        with os.fdopen(os.dup(opened), "wb") as stream:
            fill(stream)
        os.fsync(opened)

    _replace(path, fill_and_sync, mode=0o666, like=None, check=lambda: None)
    sync_folder(os.path.dirname(os.fspath(path)) or ".")


class GrowingFile:
    """A file that grows at `path` with `.part` after it, until `finish_part` moves it to `path`.

    Only one process at a time can open it. What was written before `sync` returned survives a kill and a power cut. Every call may raise
    `OSError`.
    """

    def __init__(self, path: str, size: int) -> None:
        """Open or create the file, and keep its first `size` bytes.

        Raises `BlockingIOError` if another process has it open, and `OSError` if it has fewer bytes.
        """
        self.part = name_part(path)
        self._opened = os.open(self.part, _GROWING, 0o666)
        is_ours = False
        try:
            self._take(size)
            is_ours = True
        finally:
            if not is_ours:
                os.close(self._opened)

    def _take(self, size: int) -> None:
        if not stat.S_ISREG(os.fstat(self._opened).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", self.part)
        if _lock(self._opened) is False:
            raise BlockingIOError(errno.EAGAIN, "another process is writing it", self.part)
        if os.fstat(self._opened).st_size < size:
            raise OSError(errno.EINVAL, "it is shorter than it was", self.part)
        os.ftruncate(self._opened, size)
        os.lseek(self._opened, size, os.SEEK_SET)

    def write(self, data: bytes) -> None:
        """Append the bytes."""
        _write_all(self._opened, data)

    def sync(self) -> None:
        """Flush what was appended to the disk."""
        os.fsync(self._opened)

    def close(self) -> None:
        """Close the file. It stays, and can be opened again."""
        os.close(self._opened)


def name_part(path: str) -> str:
    """Return the path of the file that grows until it replaces the one at `path`."""
    return f"{path}.part"


def finish_part(path: str) -> None:
    """Move what grew to `path`, once it is closed. If it was moved before, do nothing. Raises `OSError`."""
    try:
        os.replace(name_part(path), path)
    except FileNotFoundError:
        if not os.path.exists(path):
            raise
    sync_folder(os.path.dirname(path) or ".")


@contextmanager
def make_folder_beside(path: AnyPath) -> Iterator[str]:
    """Yield the path of a new, empty folder next to `path`, to be filled and renamed in the `with` block.

    The folder is locked until the end of the block. If the block raises, the folder is removed with all that is in it. Raises `OSError`.
    """
    beside, opened = _open_beside(path, _FOLDERS, 0o777)
    is_done = False
    try:
        yield beside
        is_done = True
    finally:
        if not is_done:
            _remove_folder(beside)
        os.close(opened)


def fill_folder(folder: AnyPath, files: Mapping[str, bytes]) -> None:
    """Write the files, which are named by paths joined by `/`, into a new folder, and flush all of it to the disk. Raises `OSError`."""
    folders = {os.fspath(folder)}
    for name, data in files.items():
        path = os.path.join(folder, *name.split("/"))
        folders.add(os.path.dirname(path))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        opened = _make_file(path, 0o666)
        try:
            _fill(opened, data, None, is_kept=True)
        finally:
            os.close(opened)
    for one in folders:
        sync_folder(one)


def sync_folder(folder: AnyPath) -> None:
    """Flush renames in a folder to the disk, on systems that can. Raises `OSError`."""
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


def name_beside(path: AnyPath, number: int = 0) -> str:
    """Return the path at which a new version of `path` is written. Other runs may be writing at the first numbers."""
    folder, name = os.path.split(os.fspath(path))
    mark = blake2b(os.fsencode(name), digest_size=6).hexdigest()
    return os.path.join(folder, f"{_BESIDE}{mark}-{number}{_UNFINISHED}")


def is_beside(name: str) -> bool:
    """Return whether a file name is one that `name_beside` gives: that of a file which a run is writing, or did not finish."""
    return name.startswith(_BESIDE) and name.endswith(_UNFINISHED)


def _replace(path: AnyPath, fill: Callable[[int], None], *, mode: int, like: os.stat_result | None, check: Callable[[], None]) -> None:
    beside, opened = _open_beside(path, _FILES, mode if like is None else stat.S_IMODE(like.st_mode) | stat.S_IWUSR)
    is_done = False
    try:
        fill(opened)
        check()
        if os.name != "posix":  # other systems cannot rename an open file
            os.close(opened)
        os.replace(beside, path)
        is_done = True
    finally:
        if not is_done:
            _remove_file(beside)
        with suppress(OSError):
            os.close(opened)


def _fill(opened: int, data: bytes, like: os.stat_result | None, *, is_kept: bool) -> None:
    _write_all(opened, data)
    if like is not None:
        _make_alike(opened, like)
    if is_kept:
        os.fsync(opened)


def _write_all(opened: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(opened, rest) :]


def _make_file(path: str, mode: int) -> int:
    return os.open(path, _NEW, mode)


def _remove_file(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _make_folder(path: str, mode: int) -> int:
    os.mkdir(path, mode)
    try:
        return os.open(path if os.name == "posix" else os.devnull, _INSIDE)  # other systems cannot open or lock folders
    except FileNotFoundError:  # another run took it for one that a killed run left
        raise FileExistsError(errno.EEXIST, "it was made by two at once", path) from None


def _remove_folder(path: str) -> None:
    """Remove the folder with its content, without following links. Errors are ignored."""
    import shutil

    shutil.rmtree(path, ignore_errors=True)


@frozen
class _Kind:
    """How a temporary file or folder is created and opened, recognized, and removed."""

    make: Callable[[str, int], int]
    is_one: Callable[[int], bool]
    remove: Callable[[str], None]


_FILES = _Kind(_make_file, stat.S_ISREG, _remove_file)
_FOLDERS = _Kind(_make_folder, stat.S_ISDIR, _remove_folder)


def _open_beside(path: AnyPath, kind: _Kind, mode: int) -> tuple[str, int]:
    """Create a temporary file or folder next to `path`, and return its path and descriptor. It is locked for as long as it is open."""
    for number in range(_MOST_BESIDE):
        beside = name_beside(path, number)
        for _ in range(2):
            try:
                opened = kind.make(beside, mode)
            except FileExistsError:
                if not _remove_left(beside, kind):
                    break
                continue
            if _take(opened, beside, kind):
                return beside, opened
    raise FileExistsError(errno.EEXIST, "the folder is full of what killed runs left", name_beside(path))


def _take(opened: int, beside: str, kind: _Kind) -> bool:
    """Return whether the new file or folder is ours. It is closed if another run took it for one that a killed run left."""
    is_ours = None
    try:
        is_ours = _lock(opened) is not False and (is_at(opened, beside) or os.name != "posix")
    finally:
        if is_ours is None:  # interrupted
            kind.remove(beside)
        if not is_ours:
            os.close(opened)
    return is_ours


def _remove_left(beside: str, kind: _Kind) -> bool:
    """Remove what a dead run left at this path, and return whether it is gone. A lock dies with the process that has it."""
    try:
        opened = os.open(beside, _LEFT)
    except OSError:
        return not os.path.lexists(beside)
    try:
        if not kind.is_one(os.fstat(opened).st_mode) or _lock(opened) is not True or not is_at(opened, beside):
            return False
        kind.remove(beside)
        return not os.path.lexists(beside)
    except OSError:
        return False
    finally:
        os.close(opened)


def _lock(opened: int) -> bool | None:
    """Return whether the file was locked, or None if the system cannot tell."""
    try:
        return lock_file(opened) if os.name == "posix" else None
    except OSError:
        return None


def _make_alike(opened: int, like: os.stat_result) -> None:
    """Copy owner and mode. The owner comes first, since changing it clears bits of the mode."""
    own = os.fstat(opened)
    if hasattr(os, "fchown") and (like.st_uid, like.st_gid) != (own.st_uid, own.st_gid):
        with suppress(PermissionError):
            os.fchown(opened, like.st_uid, like.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(opened, stat.S_IMODE(like.st_mode))
