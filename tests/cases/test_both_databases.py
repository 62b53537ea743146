"""Every case that asks a store gives the same prompt and report from PostgreSQL as from SQLite, to the byte."""

import contextlib
import sqlite3

import pytest

from promptc.sources.database.address import read_address
from promptc.sources.segments.segment_store import SegmentStore
from promptc.sources.segments.tables import COLUMNS
from tests.cases import given
from tests.cases.case import load_cases
from tests.cases.run_case import run_case, run_once

CASES = [case for case in load_cases() if "stores" in case.given]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_prompts_are_equal(case, postgres, monkeypatch):
    imported = given._import_stores

    @contextlib.contextmanager
    def import_into_server(case, root):
        with imported(case, root) as urls:
            yield {name: _copy(url, postgres) for name, url in urls.items()}

    first = run_once(case.name)
    monkeypatch.setattr(given, "_import_stores", import_into_server)
    second = run_case(case)
    for kind in ("text", "messages", "report", "diagnostics"):
        assert first.render_golden(kind) == second.render_golden(kind)
    assert first.exit == second.exit


def test_there_are_cases_with_stores():
    assert len(CASES) > 10


def _copy(url, server):
    """All rows as they are, malformed ones too, in the opposite order."""
    import psycopg

    store = SegmentStore(read_address(server))
    store.write([], prune=True)
    store.close()
    with contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:"))) as file, psycopg.connect(server) as connection:
        rows = file.execute(f"SELECT {', '.join(COLUMNS)} FROM prompt_segments ORDER BY rowid DESC").fetchall()
        places = ", ".join("%s::int::boolean" if one == "active" else "%s" for one in COLUMNS)
        connection.cursor().executemany(f"INSERT INTO prompt_segments ({', '.join(COLUMNS)}) VALUES ({places})", rows)
    return server
