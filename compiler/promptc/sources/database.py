"""Databases: transactions that read or write, and diagnostics for what goes wrong with a file.

A `Transaction` runs plain SQL that both kinds of database understand. Transactions of files are made here, with Python's own `sqlite3`,
those of servers in `server`, with SQLAlchemy.

Reading a file writes nothing next to it. SQLite creates `-shm` and `-wal` files even to read a file that has a write-ahead log, so promptc
reads a copy in a temporary folder. A large file whose log is empty is read in place, as an immutable file, and checked for changes
afterwards (`choose_place`).
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, show_reason
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, Protocol
from promptc.files.reading import TooLongError, read_beginning, read_file, read_mode, read_stamp
from promptc.sources.address import Address, Kind

PATIENCE = 5
"""The timeout of a lock, in seconds."""

_MAKE = "correct the path, or make the store with `promptc segments import`"
_BESIDE = ("-journal", "-wal", "-shm")
"""Suffixes of the files that SQLite opens together with a database."""

_LONGEST = 16_000_000
_LONGEST_READ = 4_000_000
_TURNS_READ, _TURNS_WRITTEN = 500_000, 5_000_000
_HEAP = 128 << 20
_MAGIC = b"SQLite format 3\0"
_IMPORT = "import into a table that promptc made"
_COPY_FILE = "restore it from a backup; or remove it and import the segments again"

_FILE_CODES: dict[int, tuple[str, str, str]] = {
    sqlite3.SQLITE_BUSY: ("PC0162", "is locked by another program", "try again when the other program has finished"),
    sqlite3.SQLITE_LOCKED: ("PC0162", "is locked by another program", "try again when the other program has finished"),
    sqlite3.SQLITE_CORRUPT: ("PC0161", "is damaged", _COPY_FILE),
    sqlite3.SQLITE_TOOBIG: ("PC0161", "holds a value, or a row, of more than 4000000 bytes", "split the segment"),
    sqlite3.SQLITE_INTERRUPT: (
        "PC0168",
        "took more than 50000000 steps, or 5 seconds of the processor, and was stopped",
        "check whether the table is a view that never ends",
    ),
    sqlite3.SQLITE_NOMEM: (
        "PC0168",
        "took more than 128 MB of memory and was stopped",
        "check whether the table is a view that makes long texts",
    ),
    sqlite3.SQLITE_FULL: (
        "PC0168",
        "cannot be written: the disk is full, or a trigger of the file writes far more than the segments",
        "free some space, or check its triggers; nothing was changed",
    ),
    sqlite3.SQLITE_READONLY: ("PC0168", "cannot be written: it is read-only", "allow writing to it; nothing was changed"),
    sqlite3.SQLITE_PERM: ("PC0168", "cannot be opened: permission denied", "give yourself the permission to read it"),
    sqlite3.SQLITE_CANTOPEN: ("PC0168", "cannot be opened", "check its permissions and those of its folder"),
    sqlite3.SQLITE_IOERR: ("PC0168", "cannot be read or written: the disk fails", "check the disk"),
    sqlite3.SQLITE_CONSTRAINT: ("PC0164", "has a table that refuses the segments", _IMPORT),
}
_WRITE_CODES: dict[int, tuple[str, str, str]] = {
    sqlite3.SQLITE_TOOBIG: ("PC0161", "makes a value, or a row, of more than 16000000 bytes", "check its triggers; nothing was changed"),
    sqlite3.SQLITE_INTERRUPT: (
        "PC0168",
        "took more than 500000000 steps, or 30 seconds of the processor, to write, and was stopped",
        "check its triggers, or import fewer segments at once; nothing was changed",
    ),
}
"""What differs while a file is written."""

_PAGE = 16
"""The number of rows that are fetched at once: each may have four million bytes."""

MOST_COPIED = 256_000_000
"""The maximum size, in bytes, of a file and its log that are copied because the log is not empty."""

MOST_COPIED_AT_REST = 16_000_000
"""The maximum size, in bytes, of a file that is copied although its log is empty.

Copying so few bytes takes no time, and all that is read is of one moment.
"""

_FORMS = slice(18, 20)
_LOGGED = 2
_LOG_HEAD = 32
"""The bytes at the beginning of a log that change whenever it is started anew."""

_TRIES, _PAUSE = 20, 0.1
"""The number of attempts to copy a file that keeps changing, and the seconds between them."""

TURN = 100
"""The steps of SQLite's machine between two checks: few, as one step may produce four million bytes."""

SECONDS = 5
"""The processor time of a read, in seconds."""

_SECONDS_WRITTEN = 30

_ROOM = 64_000_000
"""The bytes by which a file may always grow when it is written: what is written may take several times as much, for indexes."""


class Transaction(Protocol):
    """A transaction. Statements refer to parameters as `:name`."""

    @property
    def kind(self) -> Kind:
        """The kind of the database."""
        ...

    def iter_rows(self, statement: str, given: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, fetched as they are requested."""
        ...

    def run(self, statement: str, given: Sequence[Mapping[str, Any]] = ({},)) -> None:
        """Run a statement once for each set of parameters."""
        ...


class _Server(Protocol):
    """The connections to a server: `server.Server`."""

    def read(self) -> AbstractContextManager[Transaction]: ...
    def write(self) -> AbstractContextManager[Transaction]: ...
    def explain(self) -> AbstractContextManager[None]: ...
    def close(self) -> None: ...


class Database:
    """A database that opens transactions. Several threads may use it. Its connections are closed by `close`, or when it is deleted."""

    def __init__(self, address: Address, span: Span | None = None) -> None:
        """Make a database without opening it. `span` is the place where the address is named."""
        self.address = address
        self._span = span
        self._server: _Server | None = None

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a transaction that sees a snapshot of the database and can change neither it nor the files next to it.

        Raises `DiskError` (PC0160 to PC0168): at once, inside the context, or at its end if another program changed what was read.
        """
        if self.address.kind != "sqlite":
            with self._open_server().read() as session:
                yield session
            return
        self._check_file(is_writing=False)
        with self.explain(), closing(_open_still(self.address, self._span)) as opened, self._keep_still(opened):
            opened.execute("BEGIN")
            yield _FileSession(opened)

    @contextmanager
    def write(self, size: int = 0) -> Iterator[Transaction]:
        """Open the only transaction that may change the database; if anything is raised inside, nothing is changed.

        A missing SQLite file is created. If the transaction then fails, the file stays, empty: another program may have it open, and
        readers treat it as missing. Triggers of a file run, and share the bounds of the transaction: a file may become twice as large, and
        then grow by several times the `size` in bytes of what is written. Raises `DiskError` as `read` does.
        """
        if self.address.kind != "sqlite":
            with self._open_server().write() as session:
                yield session
            return
        self._check_file(is_writing=True)
        with self._explain_file(_WRITE_CODES), closing(_open_written(self.address.target, size)) as opened, opened:
            opened.execute("BEGIN IMMEDIATE")
            yield _FileSession(opened)

    def close(self) -> None:
        """Close the connections; the next read opens them again."""
        if self._server is not None:
            self._server.close()
            self._server = None

    @contextmanager
    def explain(self) -> Iterator[None]:
        """Turn errors that the driver raises inside the context into a `DiskError`."""
        if self.address.kind != "sqlite":
            with self._open_server().explain():
                yield
            return
        with self._explain_file({}):
            yield

    @contextmanager
    def _explain_file(self, own: Mapping[int, tuple[str, str, str]]) -> Iterator[None]:
        """Explain errors of a file, those in `own` in its words."""
        try:
            yield
        except sqlite3.Error as wrong:
            raise DiskError([_explain(wrong, self.address, self._span, own)]) from None

    def _open_server(self) -> _Server:
        if self._server is None:
            from promptc.sources.server import Server

            self._server = Server(self.address, self._span)
        return self._server

    def _check_file(self, *, is_writing: bool) -> None:
        """Refuse files that SQLite would not explain or would wait for: missing files, empty files, folders, pipes."""
        path = Path(self.address.target)
        try:
            found = path.stat()
        except OSError as wrong:
            missing = isinstance(wrong, (FileNotFoundError, NotADirectoryError))
            if not (missing and is_writing and path.parent.is_dir()):
                raise self._fail(*_describe_missing(wrong, self.address.shown, is_writing=is_writing)) from None
            return
        if not stat.S_ISREG(found.st_mode):
            raise self._fail("PC0161", f"the store `{self.address.shown}` is not a file", "name a SQLite file")
        if found.st_size == 0 and not is_writing:
            raise self._fail("PC0160", f"the store `{self.address.shown}` is empty", _MAKE)
        for ending in _BESIDE:
            mode = read_mode(f"{os.path.realpath(path)}{ending}")
            if mode and not stat.S_ISREG(mode):
                message = f"next to the store `{self.address.shown}` is `{path.name}{ending}`, which is not a regular file"
                raise self._fail("PC0161", message, "SQLite would open it: remove it")

    @contextmanager
    def _keep_still(self, opened: StillFile) -> Iterator[None]:
        """Refuse all results if the file was changed during the read, including the report that it is damaged."""
        wrong: Exception | None = None
        try:
            yield
        except (PromptcError, sqlite3.Error) as raised:
            wrong = raised
        if opened.place.has_changed():
            message = f"the store `{self.address.shown}` was changed by another program while it was read"
            raise self._fail("PC0162", message, "try again when the other program has finished")
        if wrong is not None:
            raise wrong

    def _fail(self, code: str, message: str, help: str = "") -> DiskError:
        return DiskError([Diagnostic(code, message, self._span, help)])


def _describe_missing(wrong: OSError, shown: str, *, is_writing: bool) -> tuple[str, str, str]:
    if not isinstance(wrong, (FileNotFoundError, NotADirectoryError)):
        return "PC0168", f"the store `{shown}` cannot be opened: {wrong.strerror or 'the path does not do'}", ""
    if is_writing:
        return "PC0168", f"the store `{shown}` cannot be created: its folder does not exist", "create the folder, or correct the path"
    return "PC0160", f"there is no store `{shown}`", _MAKE


class _FileSession:
    """A transaction of a file."""

    kind: Kind = "sqlite"

    def __init__(self, opened: StillFile) -> None:
        self._opened = opened

    def iter_rows(self, statement: str, given: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, ...]]:
        cursor = self._opened.cursor().execute(statement, given or {})
        while rows := cursor.fetchmany(_PAGE):
            yield from rows

    def run(self, statement: str, given: Sequence[Mapping[str, Any]] = ({},)) -> None:
        self._opened.cursor().executemany(statement, given) if len(given) > 1 else self._opened.cursor().execute(statement, given[0])


def _open_still(address: Address, span: Span | None) -> StillFile:
    """Open a file for reading without writing anything next to it."""
    name = f"the store `{address.shown}`"
    try:
        place = choose_place(os.path.realpath(address.target))
    except TooLongError:
        message = f"{name} is in use, or was left so, and with its log it has more than {MOST_COPIED:,} bytes, too many to copy"
        help = "end the program that writes it; then open and close it once: `sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'`"
        raise DiskError([Diagnostic("PC0168", message, span, help)]) from None
    except ChangedError:
        raise DiskError(
            [Diagnostic("PC0162", f"{name} is changed all the time", span, "try again when the other program has finished")]
        ) from None
    except OSError as wrong:
        message = f"{name} cannot be read, or copied: {show_reason(wrong)}"
        raise DiskError([Diagnostic("PC0168", message, span, "check the permissions, and the space for temporary files")]) from None
    return _open_place(place)


def _open_place(place: OpenedFile) -> StillFile:
    is_done = False
    try:
        opened = _connect(place, "ro", _LONGEST_READ, SqlWatch(_TURNS_READ, SECONDS))
        opened.execute("PRAGMA query_only = ON")
        is_done = True
        return opened
    finally:
        if not is_done:
            place.remove()


def _open_written(path: str, size: int) -> StillFile:
    """Open a file for writing, creating it if it does not exist. It may grow for `size` bytes of segments."""
    opened, is_done = _connect(OpenedFile(path), "rwc", _LONGEST, SqlWatch(_TURNS_WRITTEN, _SECONDS_WRITTEN)), False
    try:
        (page,), (pages,) = (opened.cursor().execute(f"PRAGMA {name}").fetchone() for name in ("page_size", "page_count"))
        opened.execute(f"PRAGMA max_page_count = {2 * pages + (4 * size + _ROOM) // page}")
        is_done = True
        return opened
    finally:
        if not is_done:
            opened.close()


def _connect(place: OpenedFile, mode: str, longest: int, watch: SqlWatch) -> StillFile:
    """Connect to a file. Transactions begin explicitly; hostile features of its schema are off, and its work is bounded."""
    uri = f"file:{quote(str(Path(place.path).absolute()))}?mode={mode}{place.options}"
    opened = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False, factory=StillFile)
    opened.place = place
    opened.text_factory = _decode
    opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    opened.watch = watch
    opened.set_progress_handler(watch, TURN)
    opened.execute("PRAGMA trusted_schema = OFF")
    opened.execute("PRAGMA temp_store = MEMORY")  # a view or a trigger that sorts cannot fill the disk
    opened.execute(f"PRAGMA hard_heap_limit = {_HEAP}")
    return opened


class ChangedError(OSError):
    """A file kept changing while it was copied."""


@frozen
class OpenedFile:
    """The file that is opened in place of another: `path`, with SQLite's `options`.

    `has_changed` returns whether what was read may be inconsistent; `remove` deletes what was created for it.
    """

    path: str
    options: str = ""
    has_changed: Callable[[], bool] = lambda: False
    remove: Callable[[], None] = lambda: None


class _Cursor(sqlite3.Cursor):
    """A cursor that reports damage properly.

    SQLite's message about a damaged file may have bytes of the file, which `sqlite3` fails to decode. The cursor then only says that the
    file is damaged.
    """

    connection: StillFile

    def execute(self, *given: Any) -> Any:
        with _working(self.connection):
            return super().execute(*given)

    def fetchmany(self, *given: Any) -> list[Any]:
        with _working(self.connection):
            return super().fetchmany(*given)


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
    """A connection to a file, or to its copy, which is deleted when the connection is closed."""

    place: OpenedFile
    watch: SqlWatch

    def cursor(self, factory: Any = _Cursor) -> Any:
        return super().cursor(factory)

    def close(self) -> None:
        super().close()
        self.place.remove()


def choose_place(path: str) -> OpenedFile:
    """Return where the file at `path`, which must not be a link, can be read without creating files next to it.

    Raises `OSError`: `TooLongError` if more than `MOST_COPIED` bytes must be copied, `ChangedError` if the file keeps changing.
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
    """Copy the file and return whether the copy is of one moment: the file, its journal and the head of its log did not change."""
    left, before = MOST_COPIED, _look(path)
    for ending in ("", "-journal", "-wal"):
        Path(f"{target}{ending}").unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            content = read_file(f"{path}{ending}", left)
            left -= len(content)
            Path(f"{target}{ending}").write_bytes(content)
    return _look(path) == before


def _look(path: str) -> tuple[Any, ...]:
    """Return a value that changes if the pages of the file, or the places where they are stored, change."""
    head = b""
    with suppress(FileNotFoundError):
        head = read_beginning(f"{path}-wal", _LOG_HEAD)
    return read_stamp(path), head, read_stamp(f"{path}-journal")


def _measure(path: str) -> int:
    """Return the size of a file in bytes; 0 if it does not exist."""
    stamp = read_stamp(path)
    return stamp[1] if stamp else 0


class SqlWatch:
    """A callback for `set_progress_handler` that stops SQLite after a number of turns or of seconds of processor time.

    Other work of the process between `resume` and the next call also counts.
    """

    def __init__(self, most_turns: int, seconds: float) -> None:
        self._turns = most_turns
        self._left = seconds
        self.resume()

    def resume(self) -> None:
        """Start the clock: SQLite continues from here."""
        self._last = time.process_time()

    def __call__(self) -> bool:
        """Count a turn and return whether SQLite must stop."""
        self._turns -= 1
        now = time.process_time()
        self._left -= now - self._last
        self._last = now
        return self._turns < 0 or self._left < 0


def _decode(value: bytes) -> str | bytes:
    """Decode a text, or return its bytes if it is not UTF-8: then one row is malformed, not the store."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _explain(wrong: sqlite3.Error, address: Address, span: Span | None, own: Mapping[int, tuple[str, str, str]]) -> Diagnostic:
    """Return the diagnostic of a failed statement or connection: PC0161, PC0162, PC0164 or PC0168."""
    code, what, help = own.get(getattr(wrong, "sqlite_errorcode", 0) & 0xFF) or _choose_words(wrong, address)
    return Diagnostic(code, f"the store `{address.shown}` {what}", span, help)


def _choose_words(wrong: sqlite3.Error, address: Address) -> tuple[str, str, str]:
    number = getattr(wrong, "sqlite_errorcode", 0) & 0xFF
    if number == sqlite3.SQLITE_NOTADB:
        if _has_magic(address.target):
            return _FILE_CODES[sqlite3.SQLITE_CORRUPT]
        return "PC0161", "is not a SQLite database", "name the file that `promptc segments import` made"
    return _FILE_CODES.get(number, ("PC0164", f"has a table that cannot be read: {_describe(wrong)}", _IMPORT))


def _has_magic(path: str) -> bool:
    try:
        return read_beginning(path, len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _describe(wrong: sqlite3.Error) -> str:
    """Return SQLite's own message. It may have names of the schema, but no secrets."""
    return "".join(one if one.isprintable() else "?" for one in str(wrong))[:200]
