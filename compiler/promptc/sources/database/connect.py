"""Databases, through SQLAlchemy Core: one for reading, another for writing, and what the driver says as findings."""

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
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span
from promptc.diag.typed import Any
from promptc.files.reading import TooLongError, find_mode
from promptc.sources.database.address import Address
from promptc.sources.database.explain_failure import explain_failure
from promptc.sources.database.still_file import MOST_COPIED, ChangedError, OpenedFile, StillFile, find_place
from promptc.sources.database.watch import SECONDS, TURN, SqlWatch

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
        return _make_server_engine(self.address.target, self._find_driver(), is_writing=is_writing)

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
            mode = find_mode(f"{os.path.realpath(path)}{ending}")
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

    def _find_driver(self) -> Any:
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
        place = find_place(os.path.realpath(address.target))
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
