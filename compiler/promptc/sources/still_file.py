"""SQLite files with a write-ahead log, opened so that nothing is written beside them.

SQLite makes `-shm` and `-wal` beside such a file even to read it. So promptc reads a copy, in a folder for temporary files. A file that is
large and has nothing in its log is read where it lies, as one that nobody changes, and is looked at again afterwards.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.reading import read_beginning, read_file

MOST_COPIED = 256_000_000
"""Bytes of a file and its log that are copied where something is in the log."""

MOST_COPIED_AT_REST = 16_000_000
"""Bytes of a file that is copied though nothing is in its log: so few cost no time, and what is read is of one moment."""

_FORMS = slice(18, 20)
_LOGGED = 2
_LOG_HEAD = 32
"""Bytes at the beginning of a log, which are others whenever it is begun anew."""

_TRIES, _PAUSE = 20, 0.1
TURN = 100
"""Steps of SQLite's machine between two looks. One step may make four million bytes, so there are few."""

SECONDS = 5
"""Seconds of the processor."""


class ChangedError(OSError):
    """A file was changed again and again while it was copied."""


@frozen
class OpenedFile:
    """What is opened in place of a file: `path`, with these options of SQLite's. `has_changed` tells whether what was read may be torn;
    `remove` takes away what was made for it.
    """

    path: str
    options: str = ""
    has_changed: Callable[[], bool] = lambda: False
    remove: Callable[[], None] = lambda: None


class _Cursor(sqlite3.Cursor):
    """What SQLite says of a damaged file may hold bytes of it, which `sqlite3` fails to decode. Then all that is told is the damage."""

    connection: StillFile

    def execute(self, *given: Any) -> Any:
        with _working(self.connection):
            return super().execute(*given)

    def fetchone(self) -> Any:
        with _working(self.connection):
            return super().fetchone()

    def fetchmany(self, *given: Any) -> list[Any]:
        with _working(self.connection):
            return super().fetchmany(*given)

    def fetchall(self) -> list[Any]:
        with _working(self.connection):
            return super().fetchall()


@contextmanager
def _working(connection: StillFile) -> Iterator[None]:
    connection.watch.resume()
    try:
        yield
    except UnicodeDecodeError:
        raise _make_error("the file is damaged", sqlite3.SQLITE_CORRUPT) from None
    except MemoryError:
        raise _make_error("out of memory", sqlite3.SQLITE_NOMEM) from None


def _make_error(message: str, code: int) -> sqlite3.DatabaseError:
    made = sqlite3.DatabaseError(message)
    made.sqlite_errorcode = code
    return made


class StillFile(sqlite3.Connection):
    """A connection to a file, or to what stands in for it, which goes when the connection is closed."""

    place: OpenedFile
    watch: SqlWatch

    def cursor(self, factory: Any = _Cursor) -> Any:
        return super().cursor(factory)

    def close(self) -> None:
        super().close()
        self.place.remove()


def choose_place(path: str) -> OpenedFile:
    """Where the file at `path`, which is no link, can be read without a file made beside it. Raises `OSError`: `TooLongError` for more to
    copy than `MOST_COPIED` bytes, `ChangedError` for a file that is never at rest.
    """
    before = _look(path)
    is_logged = _LOGGED in read_beginning(path, _FORMS.stop)[_FORMS]
    if _measure(f"{path}-wal") or (is_logged and (_measure(f"{path}-journal") or _measure(path) <= MOST_COPIED_AT_REST)):
        return _copy(path)
    return OpenedFile(path, "&immutable=1", lambda: _look(path) != before) if is_logged else OpenedFile(path)


def _copy(path: str) -> OpenedFile:
    from tempfile import TemporaryDirectory

    folder = TemporaryDirectory(prefix="promptc-")
    is_done = False
    try:
        for _ in range(_TRIES):
            if _copy_once(path, f"{folder.name}{os.sep}copy"):
                is_done = True
                return OpenedFile(f"{folder.name}{os.sep}copy", remove=folder.cleanup)
            time.sleep(_PAUSE)
        raise ChangedError(0, "another program changes it all the time", path)
    finally:
        if not is_done:
            folder.cleanup()


def _copy_once(path: str, target: str) -> bool:
    """Whether the copy is of one moment: the file was the same before and after, and its log, if longer, no other."""
    left, before = MOST_COPIED, _look(path)
    for ending in ("", "-journal", "-wal"):
        Path(f"{target}{ending}").unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            content = read_file(f"{path}{ending}", left)
            left -= len(content)
            Path(f"{target}{ending}").write_bytes(content)
    return _look(path) == before


def _look(path: str) -> tuple[Any, ...]:
    """What is another where the pages of the file, or where they are to be found, were changed."""
    head = b""
    with suppress(FileNotFoundError):
        head = read_beginning(f"{path}-wal", _LOG_HEAD)
    return _stamp(path), head, _stamp(f"{path}-journal")


def _stamp(path: str) -> tuple[int, ...]:
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _measure(path: str) -> int:
    """The bytes of a file; none of one that is not there."""
    stamp = _stamp(path)
    return stamp[1] if stamp else 0


class SqlWatch:
    """For `set_progress_handler`: stops SQLite after so many turns, and once it has used so many seconds of the processor (None: however
    many). What else the process does between `resume` and the next look counts too.
    """

    def __init__(self, most_turns: int, seconds: float | None) -> None:
        self._turns = most_turns
        self._left = seconds
        self.resume()

    def resume(self) -> None:
        """SQLite goes on from here."""
        self._last = time.process_time()

    def __call__(self) -> bool:
        """Whether it is over."""
        self._turns -= 1
        if self._left is not None:
            now = time.process_time()
            self._left -= now - self._last
            self._last = now
        return self._turns < 0 or (self._left is not None and self._left < 0)
