"""What a database driver reports, as a finding in our words: never with a password, and the same on every machine where it can be."""

import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from promptc.diag.findings import Diagnostic, Span
from promptc.files.reading import read_beginning
from promptc.sources.database.address import Address

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
