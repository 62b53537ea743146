"""Files, and new folders, put in place in one step: whoever reads one, whenever a run is killed, has the old or the new one, whole.

`write_file` and `write_folder` write what a user named, and tell what is wrong as findings; `replace_file`, `replace_remade` and
`make_folder_beside` are what they are made of, and raise `OSError`.

What is made again when it is missing need not outlive a power cut; all else is on the disk when the call returns. A `GrowingFile` is
written for hours, beside the one whose place it takes when it is whole, and outlives the run that writes it.

The new one is written beside the old one, under a name of its own, and locked for as long as it is written. So what a killed run left
there is told from what another run is writing: the next write of the same file or folder removes it.
"""

from __future__ import annotations

import errno
import os
import stat
from _blake2 import blake2b
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.frozen import frozen
from promptc.diag.typed import IO
from promptc.files.lock import is_at, lock_file
from promptc.files.reading import AnyPath

_BINARY = getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | _BINARY
_LEFT = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_GROWING = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | _BINARY
_INSIDE = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EACCES, errno.EBADF, errno.ENOTSUP)
"""What systems say that cannot promise it for folders."""

_MOST_BESIDE = 1000


def write_folder(folder: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Makes `folder` with the files, named by paths inside it that are joined by `/`; a reader sees all of it or nothing.

    A folder that is there and not empty is PC0176. With `force` files of the same names are replaced one by one, others stay.
    `DiskError` (PC0725) when it cannot be written.
    """
    try:
        if folder.is_dir() and any(folder.iterdir()):
            if not force:
                message = f"the folder `{folder}` is not empty"
                raise DiskError(
                    [Diagnostic("PC0176", message, help="name a new folder, or add `--force` to replace files of the same names")]
                )
            for name, data in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                write_file(str(folder / name), data)
            return
        _make(folder, files)
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        raise DiskError([Diagnostic("PC0725", f"cannot write `{folder}`: {reason}", help="name a folder in one that is there")]) from wrong


def _make(folder: Path, files: Mapping[str, bytes]) -> None:
    """By way of a folder beside it."""
    with make_folder_beside(folder) as beside:
        fill_folder(beside, files)
        os.replace(beside, folder)
    sync_folder(folder.parent)


def write_file(name: str, data: bytes, *, mode: int = 0o666) -> None:
    """Writes `data` to the file `name`, replacing it in one step: a reader sees the old file or the new one.

    A new file has the `mode`, less the mask of the process. A link is followed. What is no regular file, such as a pipe or `/dev/null`, is
    written to. `DiskError` (PC0725) when it cannot be.
    """
    given = Path(name)
    try:
        if given.exists() and not given.is_file() and not given.is_dir():
            given.write_bytes(data)
            return
        path = Path(os.path.realpath(given))
        replace_file(path, data, like=path if path.exists() else None, mode=mode)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        raise DiskError([Diagnostic("PC0725", f"cannot write `{name}`: {reason}", help="name a file in a folder that exists")]) from wrong


def replace_file(
    path: AnyPath, data: bytes, *, like: AnyPath | None = None, check: Callable[[], None] = lambda: None, mode: int = 0o666
) -> None:
    """Puts a file of these bytes at `path`, in a step that outlives a power cut; a link in its place is replaced.

    `check` is called when the new file is on the disk and has only to be renamed; it may raise. Its mode is that of the file `like`, its
    owner too where that is allowed; without one, `mode`. Raises `OSError`.
    """
    old = os.stat(like) if like is not None else None
    _replace(path, lambda opened: _fill(opened, data, old, is_kept=True), mode=mode, like=old, check=check)
    sync_folder(os.path.dirname(os.fspath(path)) or ".")


def replace_remade(path: AnyPath, data: bytes, *, mode: int = 0o666) -> None:
    """Puts a file at `path` as `replace_file` does, for what is made again when it is missing: a power cut may take it."""
    _replace(path, lambda opened: _fill(opened, data, None, is_kept=False), mode=mode, like=None, check=lambda: None)


def replace_filled(path: AnyPath, fill: Callable[[IO[bytes]], None]) -> None:
    """Puts a file at `path` as `replace_file` does, which `fill` writes to the open file that it is given. Raises `OSError`."""

    def fill_and_sync(opened: int) -> None:
        with os.fdopen(os.dup(opened), "wb") as stream:
            fill(stream)
        os.fsync(opened)

    _replace(path, fill_and_sync, mode=0o666, like=None, check=lambda: None)
    sync_folder(os.path.dirname(os.fspath(path)) or ".")


class GrowingFile:
    """A file that grows as `path` with `.part` behind it, until `finish` puts it in the place of `path`. Only one process at a time has it
    open. What was there when `sync` returned outlives a kill and a power cut. Every call may raise `OSError`.
    """

    def __init__(self, path: str, size: int) -> None:
        """Opens it, or makes it, with its first `size` bytes. Raises `BlockingIOError` where another process has it open."""
        self._path = path
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
        """Adds the bytes at the end."""
        _write_all(self._opened, data)

    def sync(self) -> None:
        """Has on the disk what was added."""
        os.fsync(self._opened)

    def close(self) -> None:
        """It stays as it is, for whoever opens it again."""
        os.close(self._opened)


def name_part(path: str) -> str:
    """The path of what grows until it takes the place of `path`."""
    return f"{path}.part"


def finish_part(path: str) -> None:
    """Puts what grew in the place of `path`, once it is closed; where that was done before, nothing is. Raises `OSError`."""
    try:
        os.replace(name_part(path), path)
    except FileNotFoundError:
        if not os.path.exists(path):
            raise
    sync_folder(os.path.dirname(path) or ".")


@contextmanager
def make_folder_beside(path: AnyPath) -> Iterator[str]:
    """The path of a new, empty folder beside `path`, to be filled and renamed within. It is locked meanwhile; where something is raised
    within, it goes with all that is in it. Raises `OSError`.
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
    """Writes the files into a new folder, named by paths inside it that are joined by `/`, and has all of it on the disk. Raises
    `OSError`.
    """
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
    """Has on the disk what was renamed in a folder, where the system can promise that. Raises `OSError`."""
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
    """The path of what is written before it takes the place of `path`; others may be writing the first ones."""
    folder, name = os.path.split(os.fspath(path))
    mark = blake2b(os.fsencode(name), digest_size=6).hexdigest()
    return os.path.join(folder, f".promptc-{mark}-{number}.tmp")


def _replace(path: AnyPath, fill: Callable[[int], None], *, mode: int, like: os.stat_result | None, check: Callable[[], None]) -> None:
    beside, opened = _open_beside(path, _FILES, mode if like is None else stat.S_IMODE(like.st_mode) | stat.S_IWUSR)
    is_done = False
    try:
        fill(opened)
        check()
        if os.name != "posix":  # what is open cannot be renamed there
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
        return os.open(path if os.name == "posix" else os.devnull, _INSIDE)  # a folder cannot be opened elsewhere, nor locked
    except FileNotFoundError:  # another run took it for one that was left
        raise FileExistsError(errno.EEXIST, "it was made by two at once", path) from None


def _remove_folder(path: str) -> None:
    """No link in it is followed."""
    import shutil

    shutil.rmtree(path, ignore_errors=True)


@frozen
class _Kind:
    """What is written beside another: how it is made and opened, told from others, and removed."""

    make: Callable[[str, int], int]
    is_one: Callable[[int], bool]
    remove: Callable[[str], None]


_FILES = _Kind(_make_file, stat.S_ISREG, _remove_file)
_FOLDERS = _Kind(_make_folder, stat.S_ISDIR, _remove_folder)


def _open_beside(path: AnyPath, kind: _Kind, mode: int) -> tuple[str, int]:
    """A new one, by its path, locked for as long as it is open."""
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
    """Whether the new one is ours; it is closed where another run took it for one that was left."""
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
    """Whether what stood there was left by a run that is dead, and is gone. A lock dies with the one who holds it."""
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
    """Whether the file is locked by us now; None where the system cannot tell."""
    try:
        return lock_file(opened) if os.name == "posix" else None
    except OSError:
        return None


def _make_alike(opened: int, like: os.stat_result) -> None:
    """Owner first, since a change of it takes away from the mode."""
    own = os.fstat(opened)
    if hasattr(os, "fchown") and (like.st_uid, like.st_gid) != (own.st_uid, own.st_gid):
        with suppress(PermissionError):
            os.fchown(opened, like.st_uid, like.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(opened, stat.S_IMODE(like.st_mode))
