"""Databases: one transaction for reading, another for writing, and what goes wrong with a file as findings.

A `Transaction` takes plain SQL that both kinds of database read: a file's is made here, by Python's own
`sqlite3`, a server's in `server`, by SQLAlchemy.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span
from promptc.diag.typed import Any, Protocol
from promptc.files.reading import TooLongError, read_beginning, read_mode
from promptc.sources.address import Address, Kind
from promptc.sources.still_file import MOST_COPIED, SECONDS, TURN, ChangedError, OpenedFile, SqlWatch, StillFile, choose_place

PATIENCE = 5
"""Seconds that a lock is waited for."""

_MAKE = "correct the path, or make the store with `promptc segments import`"
_BESIDE = ("-journal", "-wal", "-shm")
"""What SQLite opens with a database, by its name."""

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
        "look whether the table is a view without end",
    ),
    sqlite3.SQLITE_NOMEM: (
        "PC0168",
        "took more than 128 MB of memory and was stopped",
        "look whether the table is a view that makes long texts",
    ),
    sqlite3.SQLITE_FULL: ("PC0168", "cannot be written: the disk is full", "free some space; nothing was changed"),
    sqlite3.SQLITE_READONLY: ("PC0168", "cannot be written: it is read-only", "allow writing to it; nothing was changed"),
    sqlite3.SQLITE_PERM: ("PC0168", "cannot be opened: permission denied", "give yourself the permission to read it"),
    sqlite3.SQLITE_CANTOPEN: ("PC0168", "cannot be opened", "check its permissions and those of its folder"),
    sqlite3.SQLITE_IOERR: ("PC0168", "cannot be read or written: the disk fails", "check the disk"),
    sqlite3.SQLITE_CONSTRAINT: ("PC0164", "has a table that refuses the segments", _IMPORT),
}

_PAGE = 16
"""Rows that are asked for at once: each may have four million bytes."""


class Transaction(Protocol):
    """A transaction. What is given stands in a statement as `:name`."""

    @property
    def kind(self) -> Kind:
        """Which database it is."""
        ...

    def iter_rows(self, statement: str, given: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, read as they are asked for."""
        ...

    def run(self, statement: str, given: Sequence[Mapping[str, Any]] = ({},)) -> None:
        """Does a statement once for each of what is given."""
        ...


class _Server(Protocol):
    """The connections to a server: `server.Server`."""

    def read(self) -> AbstractContextManager[Transaction]: ...
    def write(self) -> AbstractContextManager[Transaction]: ...
    def explain(self) -> AbstractContextManager[None]: ...
    def close(self) -> None: ...


class Database:
    """A database that transactions are made of. Several threads may use it; `close` gives its connections back, and so does its end."""

    def __init__(self, address: Address, span: Span | None = None) -> None:
        """Nothing is opened yet. `span` is where the address was named."""
        self.address = address
        self._span = span
        self._server: _Server | None = None

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A transaction that sees one moment of the database and cannot change it, nor what lies beside it.

        `DiskError`, raised at once, from within, or at the end where another program changed what was read: PC0160 to PC0168.
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
    def write(self) -> Iterator[Transaction]:
        """A transaction that is alone in changing the database: all of it is done, or, where anything is raised, nothing.

        A SQLite file that is not there is made; where the transaction then fails it stays, empty: another program may have it open, and
        to a reader it is none. `DiskError` as for `read`.
        """
        if self.address.kind != "sqlite":
            with self._open_server().write() as session:
                yield session
            return
        self._check_file(is_writing=True)
        with self.explain(), closing(_open_file(self.address.target)) as opened, opened:
            opened.execute("BEGIN IMMEDIATE")
            yield _FileSession(opened)

    def close(self) -> None:
        """Gives the connections back; another read opens them again."""
        if self._server is not None:
            self._server.close()
            self._server = None

    @contextmanager
    def explain(self) -> Iterator[None]:
        """What the driver raises within becomes a `DiskError`."""
        if self.address.kind != "sqlite":
            with self._open_server().explain():
                yield
            return
        try:
            yield
        except sqlite3.Error as wrong:
            raise DiskError([_explain(wrong, self.address, self._span)]) from None

    def _open_server(self) -> _Server:
        if self._server is None:
            from promptc.sources.server import Server

            self._server = Server(self.address, self._span)
        return self._server

    def _check_file(self, *, is_writing: bool) -> None:
        """Refuses what SQLite would not explain, or would wait for: nothing there, nothing in it, a folder, a pipe."""
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
                message = f"beside the store `{self.address.shown}` stands `{path.name}{ending}`, which is not a regular file"
                raise self._fail("PC0161", message, "SQLite would open it: remove it")

    @contextmanager
    def _keep_still(self, opened: StillFile) -> Iterator[None]:
        """Of a file that was changed meanwhile nothing can be believed, neither rows nor that it is damaged."""
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
        return "PC0168", f"the store `{shown}` cannot be made: its folder is not there", "make the folder, or correct the path"
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
    """A file to read from, where nothing is written beside it."""
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
        message = f"{name} cannot be read, or copied: {wrong.strerror or wrong}"
        raise DiskError([Diagnostic("PC0168", message, span, "check the permissions, and the space for temporary files")]) from None
    return _open_place(place)


def _open_place(place: OpenedFile) -> StillFile:
    is_done = False
    try:
        opened = _connect(place, "ro", _LONGEST_READ, _TURNS_READ)
        opened.execute("PRAGMA query_only = ON")
        opened.execute("PRAGMA temp_store = MEMORY")  # what a view sorts fills no disk
        opened.execute(f"PRAGMA hard_heap_limit = {_HEAP}")
        is_done = True
        return opened
    finally:
        if not is_done:
            place.remove()


def _open_file(path: str) -> StillFile:
    return _connect(OpenedFile(path), "rwc", _LONGEST, _TURNS_WRITTEN)


def _connect(place: OpenedFile, mode: str, longest: int, most_turns: int) -> StillFile:
    """Transactions begin when we say so. What a hostile file could do in its schema is off, and its work is bounded."""
    uri = f"file:{quote(str(Path(place.path).absolute()))}?mode={mode}{place.options}"
    opened = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False, factory=StillFile)
    opened.place = place
    opened.text_factory = _decode
    opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    opened.watch = SqlWatch(most_turns, SECONDS if mode == "ro" else None)
    opened.set_progress_handler(opened.watch, TURN)
    opened.execute("PRAGMA trusted_schema = OFF")
    return opened


def _decode(value: bytes) -> str | bytes:
    """A text that is none stays bytes: one row is malformed, not the store."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _explain(wrong: sqlite3.Error, address: Address, span: Span | None) -> Diagnostic:
    """The finding of a failed statement or connection: PC0160 to PC0164, or PC0168."""
    code, what, help = _choose_words(wrong, address)
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
    """SQLite's own words; they hold names of the schema, and no secret."""
    return "".join(one if one.isprintable() else "?" for one in str(wrong))[:200]
