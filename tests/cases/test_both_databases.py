"""Every case that asks a store gives the same prompt and report from PostgreSQL as from SQLite, to the byte."""

import contextlib
import sqlite3

import pytest

from promptc.diag.frozen import replace
from promptc.sources.address import read_address
from promptc.sources.segment_store import COLUMNS, SegmentStore
from tests.cases.case import load_cases
from tests.cases.given import OwnShell
from tests.cases.run_case import digest, run_case, run_once

CASES = [case for case in load_cases() if "stores" in case.given]


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_prompts_are_equal(case, postgres, monkeypatch):
    first = run_once(case.name)
    surround = OwnShell.surround

    @contextlib.contextmanager
    def surround_with_server(self, case, resources):
        with surround(self, case, resources) as environment:
            yield replace(environment, stores={name: _copy(url, postgres) for name, url in environment.stores.items()})

    monkeypatch.setattr(OwnShell, "surround", surround_with_server)
    assert digest(run_case(case)) == digest(first)


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
