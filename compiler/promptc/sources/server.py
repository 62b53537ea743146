"""Database servers, through SQLAlchemy and psycopg: their connections, and their errors as diagnostics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from weakref import finalize

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from promptc.diag.findings import Diagnostic, DiskError, Span
from promptc.diag.typed import Any
from promptc.sources.address import Address, Kind

_PATIENCE = 5
"""The timeout of a lock, in seconds; half the timeout of a connection."""

_LONGEST_STATEMENT = 60
_COPY = "restore it from a backup, or import the segments again"
_IMPORT = "import into a table that promptc made"

_SERVER_CLASSES: dict[str, tuple[str, str, str]] = {
    "55P03": ("PC0162", "is locked by another program", "try again when the other program has finished"),
    "57014": ("PC0162", "took more than 60 seconds to answer", "try again, or find out what keeps it busy"),
    "40": ("PC0162", "was changed by another program at the same time", "try again; nothing was changed"),
    "28": ("PC0168", "refuses the login", "check the user and the password in its URL"),
    "3D": ("PC0160", "does not exist on its server", "make the database, or correct the name"),
    "42501": ("PC0168", "gives no permission for that", "grant the user what it needs on the table"),
    "25006": ("PC0168", "cannot be written: it is read-only", "name the server that may be written"),
    "53": ("PC0168", "has no room left on its server", "try again later"),
    "57": ("PC0163", "has been shut down, or is starting", "try again when the server runs"),
    "08": ("PC0163", "cannot be reached: the connection was lost", "check the server and the network, then try again"),
    "XX": ("PC0161", "is damaged", "ask who runs the server; " + _COPY),
    "42": ("PC0164", "has a table that is not a table of segments", "name the table with `table`, or import into one that promptc made"),
    "23": ("PC0164", "has a table that refuses the segments", _IMPORT),
    "22": ("PC0164", "has a table that refuses the segments", _IMPORT),
}


class Server:
    """The connections to one server, which are reused from one read to the next. See `database.Database` for `read` and `write`."""

    def __init__(self, address: Address, span: Span | None) -> None:
        """Make a server without opening a connection."""
        self._address = address
        self._span = span
        self._reader: Engine | None = None

    @contextmanager
    def read(self) -> Iterator[_ServerSession]:
        if self._reader is None:
            self._reader = _make_engine(self._address.target, self._load_driver(), is_writing=False)
            finalize(self, self._reader.dispose)
        with self.explain(), self._reader.connect() as connection, connection.begin():
            yield _ServerSession(connection)

    @contextmanager
    def write(self) -> Iterator[_ServerSession]:
        engine = _make_engine(self._address.target, self._load_driver(), is_writing=True)
        try:
            with self.explain(), engine.connect() as connection, connection.begin():
                yield _ServerSession(connection)
        finally:
            engine.dispose()

    @contextmanager
    def explain(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as wrong:
            code, what, help = _explain(wrong)
            raise DiskError([Diagnostic(code, f"the store `{self._address.shown}` {what}", self._span, help)]) from None

    def close(self) -> None:
        if self._reader is not None:
            self._reader.dispose()
            self._reader = None

    def _load_driver(self) -> Any:
        try:
            import psycopg
        except ImportError:
            message = f"the store `{self._address.shown}` needs psycopg, which is not installed"
            help = 'install it: `pip install "promptc-compiler[postgres]"`'
            raise DiskError([Diagnostic("PC0166", message, self._span, help)]) from None
        return psycopg


class _ServerSession:
    """A transaction of a server."""

    kind: Kind = "postgresql"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def iter_rows(self, statement: str, given: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, ...]]:
        with self._connection.execute(text(statement), given or {}, execution_options={"stream_results": True}) as found:
            yield from map(tuple, found)

    def run(self, statement: str, given: Sequence[Mapping[str, Any]] = ({},)) -> None:
        self._connection.execute(text(statement), given)


def _make_engine(url: str, driver: Any, *, is_writing: bool) -> Engine:
    given = make_url(url)
    usual = {"connect_timeout": str(2 * _PATIENCE), "application_name": "promptc"}
    asked = {"client_encoding": "utf8", **{name: value for name, value in usual.items() if name not in given.query}}
    options: dict[str, Any] = {"isolation_level": "READ COMMITTED" if is_writing else "REPEATABLE READ"}
    if not is_writing:
        options["postgresql_readonly"] = True
    engine = create_engine(given, module=driver, connect_args=asked, pool_pre_ping=True, use_native_hstore=False, execution_options=options)
    event.listen(engine, "begin", _bound_server)
    return engine


def _bound_server(connection: Connection) -> None:
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{int(_PATIENCE * 1000)}ms'")
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{_LONGEST_STATEMENT}s'")


def _explain(wrong: SQLAlchemyError) -> tuple[str, str, str]:
    state = getattr(getattr(wrong, "orig", None), "sqlstate", None) or ""
    for size in (5, 2):
        if state[:size] in _SERVER_CLASSES:
            return _SERVER_CLASSES[state[:size]]
    if isinstance(wrong, PoolTimeoutError):
        return "PC0162", "has no free connection", "try again later"
    if not state and isinstance(wrong, DBAPIError):
        return _explain_connection(str(wrong.orig))
    return "PC0168", f"refuses the command (SQLSTATE {state or 'unknown'})", "ask who runs the server"


def _explain_connection(said: str) -> tuple[str, str, str]:
    """Return the diagnostic of a failed connection, which has no SQLSTATE.

    The library's message may have addresses, so only the kind of the failure is reported.
    """
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
