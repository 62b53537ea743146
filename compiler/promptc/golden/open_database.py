"""A database of a case, open for SQL that the case gives."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

_DENIED = frozenset((sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH))


@contextlib.contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """The SQLite file, in a transaction that is kept if nothing is raised, closed afterwards. SQL reaches no other file from it."""
    with contextlib.closing(sqlite3.connect(path)) as opened, opened:
        opened.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action in _DENIED else sqlite3.SQLITE_OK)
        yield opened
