"""A database of a case, open for SQL that the case gives."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

_DENIED = frozenset((sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA))
_PAGES = 25_000
"""100 MB, in pages of 4096 bytes."""

_STEP = 10_000
_STEPS = 5_000
_LONGEST = 16_000_000


@contextlib.contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """The SQLite file, in a transaction that is kept if nothing is raised, closed afterwards. SQL reaches no other file from it and sets
    no pragma; it raises `sqlite3.Error` where it takes more than 50 million steps of SQLite's machine, or makes more than 100 MB.
    """
    left = _STEPS

    def is_over() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    with contextlib.closing(sqlite3.connect(path)) as opened, opened:
        opened.execute(f"PRAGMA max_page_count = {_PAGES}")
        opened.execute("PRAGMA temp_store = MEMORY")
        opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        opened.set_progress_handler(is_over, _STEP)
        opened.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action in _DENIED else sqlite3.SQLITE_OK)
        yield opened
