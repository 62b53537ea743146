"""A database of a case, open for SQL that the case gives."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from promptc.sources.still_file import SECONDS, TURN, SqlWatch

_DENIED = frozenset((sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA))
_PAGES = 25_000
"""100 MB, in pages of 4096 bytes."""

_HEAP = 128 << 20
_TURNS = 500_000
_LONGEST = 4_000_000


@contextlib.contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """The SQLite file, in a transaction that is kept if nothing is raised, closed afterwards. SQL reaches no other file from it and sets
    no pragma. It raises `sqlite3.Error` where it takes more than 50 million steps of SQLite's machine or five seconds of the processor,
    or makes more than 100 MB.
    """
    with contextlib.closing(sqlite3.connect(path)) as opened, opened:
        opened.execute(f"PRAGMA max_page_count = {_PAGES}")
        opened.execute("PRAGMA temp_store = MEMORY")
        opened.execute(f"PRAGMA hard_heap_limit = {_HEAP}")
        opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        opened.set_progress_handler(SqlWatch(_TURNS, SECONDS), TURN)
        opened.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action in _DENIED else sqlite3.SQLITE_OK)
        try:
            yield opened
        except MemoryError:
            raise sqlite3.OperationalError("out of memory") from None
