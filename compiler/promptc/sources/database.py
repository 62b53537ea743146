"""Databases, through SQLAlchemy Core: one for reading, another for writing, and what the driver says as findings."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote
from weakref import finalize

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import NullPool

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span
from promptc.diag.typed import Any
from promptc.files.reading import TooLongError, read_beginning, read_mode
from promptc.sources.address import Address
from promptc.sources.still_file import MOST_COPIED, SECONDS, TURN, ChangedError, OpenedFile, SqlWatch, StillFile, choose_place

PATIENCE = 5
"""Seconds that a lock is waited for, and twice that a connection to a server."""

_MAKE = "`promptc segments import` makes one; or correct the path"
_BESIDE = ("-journal", "-wal", "-shm")
"""What SQLite opens with a database, by its name."""

_LONGEST = 16_000_000
_LONGEST_READ = 4_000_000
_TURNS_READ, _TURNS_WRITTEN = 500_000, 5_000_000
_HEAP = 128 << 20
_LONGEST_STATEMENT = 60
_MAGIC = b"SQLite format 3\0"
_IMPORT = "import into a table that promptc made"
_COPY = "restore it from a backup, or import the segments again"
_COPY_FILE = "restore it from a backup; or remove it and import the segments again"

_FILE_CODES: dict[int, tuple[str, str, str]] = {
    sqlite3.SQLITE_BUSY: ("PC0162", "is locked by another program", "try again when that has ended"),
    sqlite3.SQLITE_LOCKED: ("PC0162", "is locked by another program", "try again when that has ended"),
    sqlite3.SQLITE_CORRUPT: ("PC0161", "is damaged", _COPY_FILE),
    sqlite3.SQLITE_TOOBIG: ("PC0161", "holds a value, or a row, of more than 4000000 bytes", "split the segment"),
    sqlite3.SQLITE_INTERRUPT: (
        "PC0168",
        "took more than 50000000 steps, or 5 seconds of the processor, and was stopped",
        "is the table a view without end?",
    ),
    sqlite3.SQLITE_NOMEM: ("PC0168", "took more than 128 MB of memory and was stopped", "is the table a view that makes long texts?"),
    sqlite3.SQLITE_FULL: ("PC0168", "cannot be written: the disk is full", "make room; nothing was changed"),
    sqlite3.SQLITE_READONLY: ("PC0168", "cannot be written: it is read-only", "give the permission; nothing was changed"),
    sqlite3.SQLITE_PERM: ("PC0168", "cannot be opened: permission denied", "give the permission"),
    sqlite3.SQLITE_CANTOPEN: ("PC0168", "cannot be opened", "check its permissions and those of its folder"),
    sqlite3.SQLITE_IOERR: ("PC0168", "cannot be read or written: the disk fails", "check the disk"),
    sqlite3.SQLITE_CONSTRAINT: ("PC0164", "has a table that refuses the segments", _IMPORT),
}

_SERVER_CLASSES: dict[str, tuple[str, str, str]] = {
    "55P03": ("PC0162", "is locked by another program", "try again when that has ended"),
    "57014": ("PC0162", "took more than 60 seconds to answer", "try again, or look what holds it up"),
    "40": ("PC0162", "was changed by another program at the same time", "try again; nothing was changed"),
    "28": ("PC0168", "refuses the login", "check the user and the password in its URL"),
    "3D": ("PC0160", "does not exist on its server", "make the database, or correct the name"),
    "42501": ("PC0168", "gives no permission for that", "grant the user what it needs on the table"),
    "25006": ("PC0168", "cannot be written: it is read-only", "name the server that may be written"),
    "53": ("PC0168", "has no room left on its server", "try again later"),
    "57": ("PC0163", "has been shut down, or is starting", "try again when the server runs"),
    "08": ("PC0163", "cannot be reached: the connection was lost", "check the server and the network, then try again"),
    "XX": ("PC0161", "is damaged", "ask who runs the server; " + _COPY),
    "42": ("PC0164", "has a table that is none of segments", "name the table with `table`, or import into one that promptc made"),
    "23": ("PC0164", "has a table that refuses the segments", _IMPORT),
    "22": ("PC0164", "has a table that refuses the segments", _IMPORT),
}


class Database:
    """A database that transactions are made of. Several threads may use it; `close` gives its connections back, and so does its end."""

    def __init__(self, address: Address, span: Span | None = None) -> None:
        """Nothing is opened yet. `span` is where the address was named."""
        self.address = address
        self._span = span
        self._reader: Engine | None = None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one moment of the database and cannot change it, nor what lies beside it.

        `DiskError`, raised at once, from within, or at the end where another program changed what was read: PC0160 to PC0168.
        """
        self._check_file(is_writing=False)
        if self._reader is None:
            self._reader = self._make_engine(is_writing=False)
            finalize(self, self._reader.dispose)
        with self.explain(), self._reader.connect() as connection, connection.begin(), self._keep_still(connection):
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is alone in changing the database: all of it is done, or, where anything is raised, nothing.

        A SQLite file that is not there is made; where the transaction then fails it stays, empty: another program may have it open, and
        to a reader it is none. `DiskError` as for `read`.
        """
        self._check_file(is_writing=True)
        engine = self._make_engine(is_writing=True)
        try:
            with self.explain(), engine.connect() as connection, connection.begin():
                yield connection
        finally:
            engine.dispose()

    def close(self) -> None:
        """Gives the connections back; another read opens them again."""
        if self._reader is not None:
            self._reader.dispose()
            self._reader = None

    @contextmanager
    def explain(self) -> Iterator[None]:
        """What the driver raises within becomes a `DiskError`."""
        try:
            yield
        except SQLAlchemyError as wrong:
            raise DiskError([explain_failure(wrong, self.address, self._span)]) from None

    def _make_engine(self, *, is_writing: bool) -> Engine:
        if self.address.kind == "sqlite":
            opening = partial(_open_file, self.address.target) if is_writing else partial(_open_still, self.address, self._span)
            return _make_file_engine(opening, "BEGIN IMMEDIATE" if is_writing else "BEGIN")
        return _make_server_engine(self.address.target, self._load_driver(), is_writing=is_writing)

    def _check_file(self, *, is_writing: bool) -> None:
        """Refuses what SQLite would not explain, or would wait for: nothing there, nothing in it, a folder, a pipe."""
        path = Path(self.address.target)
        if self.address.kind != "sqlite":
            return
        try:
            found = path.stat()
        except OSError as wrong:
            missing = isinstance(wrong, (FileNotFoundError, NotADirectoryError))
            if not (missing and is_writing and path.parent.is_dir()):
                raise self._fail(*_describe_missing(wrong, self.address.shown, is_writing=is_writing)) from None
            return
        if not stat.S_ISREG(found.st_mode):
            raise self._fail("PC0161", f"the store `{self.address.shown}` is no file", "name a SQLite file")
        if found.st_size == 0 and not is_writing:
            raise self._fail("PC0160", f"there is nothing in the store `{self.address.shown}` yet", _MAKE)
        for ending in _BESIDE:
            mode = read_mode(f"{os.path.realpath(path)}{ending}")
            if mode and not stat.S_ISREG(mode):
                message = f"beside the store `{self.address.shown}` stands `{path.name}{ending}`, which is no regular file"
                raise self._fail("PC0161", message, "SQLite would open it: remove it")

    @contextmanager
    def _keep_still(self, connection: Connection) -> Iterator[None]:
        """Of a file that was changed meanwhile nothing can be believed, neither rows nor that it is damaged."""
        opened: Any = connection.connection.dbapi_connection
        wrong: Exception | None = None
        try:
            yield
        except (PromptcError, SQLAlchemyError) as raised:
            wrong = raised
        if isinstance(opened, StillFile) and opened.place.has_changed():
            message = f"the store `{self.address.shown}` was changed by another program while it was read"
            raise self._fail("PC0162", message, "try again when that has ended")
        if wrong is not None:
            raise wrong

    def _load_driver(self) -> Any:
        try:
            import psycopg
        except ImportError:
            message = f"the store `{self.address.shown}` needs psycopg, which is not installed"
            raise self._fail("PC0166", message, 'install it: `pip install "promptc-compiler[postgres]"`') from None
        return psycopg

    def _fail(self, code: str, message: str, help: str = "") -> DiskError:
        return DiskError([Diagnostic(code, message, self._span, help)])


def _describe_missing(wrong: OSError, shown: str, *, is_writing: bool) -> tuple[str, str, str]:
    if not isinstance(wrong, (FileNotFoundError, NotADirectoryError)):
        return "PC0168", f"the store `{shown}` cannot be opened: {wrong.strerror or 'the path does not do'}", ""
    if is_writing:
        return "PC0168", f"the store `{shown}` cannot be made: its folder is not there", "make the folder, or correct the path"
    return "PC0160", f"there is no store `{shown}`", _MAKE


def _make_file_engine(opening: Callable[[], sqlite3.Connection], begin: str) -> Engine:
    engine = create_engine("sqlite://", creator=opening, poolclass=NullPool)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


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
        raise DiskError([Diagnostic("PC0162", f"{name} is changed all the time", span, "try again when that has ended")]) from None
    except OSError as wrong:
        message = f"{name} cannot be read, or copied: {wrong.strerror or wrong}"
        raise DiskError([Diagnostic("PC0168", message, span, "check the permissions, and the room for temporary files")]) from None
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


def _make_server_engine(url: str, driver: Any, *, is_writing: bool) -> Engine:
    given = make_url(url)
    usual = {"connect_timeout": str(2 * PATIENCE), "application_name": "promptc"}
    asked = {"client_encoding": "utf8", **{name: value for name, value in usual.items() if name not in given.query}}
    options: dict[str, Any] = {"isolation_level": "READ COMMITTED" if is_writing else "REPEATABLE READ"}
    if not is_writing:
        options["postgresql_readonly"] = True
    engine = create_engine(given, module=driver, connect_args=asked, pool_pre_ping=True, use_native_hstore=False, execution_options=options)
    event.listen(engine, "begin", _bound_server)
    return engine


def _bound_server(connection: Connection) -> None:
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{int(PATIENCE * 1000)}ms'")
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{_LONGEST_STATEMENT}s'")


def explain_failure(wrong: SQLAlchemyError, address: Address, span: Span | None) -> Diagnostic:
    """The finding of a failed statement or connection: PC0160 to PC0164, or PC0168 for what has no words of its own."""
    code, what, help = _explain_file(wrong, address) if address.kind == "sqlite" else _explain_server(wrong)
    return Diagnostic(code, f"the store `{address.shown}` {what}", span, help)


def _explain_file(wrong: SQLAlchemyError, address: Address) -> tuple[str, str, str]:
    number = getattr(getattr(wrong, "orig", None), "sqlite_errorcode", 0) & 0xFF
    if number == sqlite3.SQLITE_NOTADB:
        if _has_magic(address.target):
            return _FILE_CODES[sqlite3.SQLITE_CORRUPT]
        return "PC0161", "is no SQLite database", "name the file that `promptc segments import` made"
    return _FILE_CODES.get(number, ("PC0164", f"has a table that cannot be read: {_describe(wrong)}", _IMPORT))


def _has_magic(path: str) -> bool:
    try:
        return read_beginning(path, len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _explain_server(wrong: SQLAlchemyError) -> tuple[str, str, str]:
    state = getattr(getattr(wrong, "orig", None), "sqlstate", None) or ""
    for size in (5, 2):
        if state[:size] in _SERVER_CLASSES:
            return _SERVER_CLASSES[state[:size]]
    if isinstance(wrong, PoolTimeoutError):
        return "PC0162", "has no free connection", "try again later"
    if not state and isinstance(wrong, DBAPIError):
        return _explain_connection(str(wrong.orig))
    return "PC0168", f"refuses what was asked (SQLSTATE {state or 'unknown'})", "ask who runs the server"


def _explain_connection(said: str) -> tuple[str, str, str]:
    """A connection that failed has no state; what the library says of it names addresses, so only its kind is told."""
    lowered = said.lower()
    if "authentication failed" in lowered or "no password supplied" in lowered or "pg_hba" in lowered:
        return _SERVER_CLASSES["28"]
    if 'database "' in lowered and "does not exist" in lowered:
        return _SERVER_CLASSES["3D"]
    if 'role "' in lowered and "does not exist" in lowered:
        return _SERVER_CLASSES["28"]
    if "server closed the connection" in lowered or "connection is lost" in lowered or "terminating connection" in lowered:
        return _SERVER_CLASSES["08"]
    if "starting up" in lowered or "shutting down" in lowered or "too many clients" in lowered:
        return _SERVER_CLASSES["57"]
    return "PC0163", "cannot be reached", "check the host and port in its URL, the server and the network"


def _describe(wrong: SQLAlchemyError) -> str:
    """SQLite's own words; they hold names of the schema, and no secret."""
    said = str(getattr(wrong, "orig", None) or type(wrong).__name__)
    return "".join(one if one.isprintable() else "?" for one in said)[:200]
