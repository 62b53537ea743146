"""What a store does, with SQLite and with PostgreSQL."""

import sqlite3
import threading
from contextlib import closing

import pytest

from promptc.diag.findings import DiskError
from promptc.model.sources import Segment
from promptc.sources import segment_store
from promptc.sources.address import read_address
from promptc.sources.database import _FileSession
from promptc.sources.segment_store import LATEST, SegmentStore
from promptc.sources.segments import Changes, Malformed
from promptc.sources.server import _ServerSession

HAND_MADE = """CREATE TABLE prompt_segments
    (id TEXT, scope TEXT, ref_id TEXT, content TEXT, metadata TEXT, active BOOLEAN, locale TEXT, version TEXT)"""
ROWS = (
    Segment("core", "core", None, "Be brief."),
    Segment("mira.en", "npc", "mira", "Mira.", {"key": "intro", "order": 2}, locale="en"),
    Segment("mira.de", "npc", "mira", "Mira (de).", {"key": "intro", "order": 2}, locale="de", version="1.0.0"),
    Segment("mira.de2", "npc", "mira", "Mira (de, 2).", {"key": "intro", "order": 2}, locale="de", version="1.10.0"),
    Segment("mira.de1", "npc", "mira", "Mira (de, 1.9).", {"key": "intro", "order": 2}, locale="de", version="1.9.0"),
    Segment("mira.end", "npc", "mira", "End.", {"key": "end", "order": 10}),
    Segment("mira.start", "npc", "mira", "Start.", {"key": "start"}),
    Segment("bo", "npc", "bo", "Bo.", {"order": 0.5}),
    Segment("bo.off", "npc", "bo", "Bo, once.", active=False),
)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """A database that is empty, or in SQLite is not there."""
    return f"sqlite:{tmp_path / 'segments.db'}" if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
def store(url):
    """The store in it."""
    opened = SegmentStore(read_address(url))
    yield opened
    opened.close()


@pytest.fixture
def execute(url):
    """Runs SQL in it, as another program would: `execute(statement, *rows)`, with `?` for values."""

    def run(statement, *rows):
        if url.startswith("sqlite:"):
            with closing(sqlite3.connect(url.removeprefix("sqlite:"))) as connection, connection:
                return [list(connection.execute(statement, row)) for row in rows or ((),)]
        import psycopg

        with psycopg.connect(url) as connection:
            done = [connection.execute(statement.replace("?", "%s"), row) for row in rows or ((),)]
            return [one.fetchall() if one.description else [] for one in done]

    return run


def _ids(part):
    return [one.id for one in part]


def test_what_is_written_is_read(store):
    assert store.write(ROWS) == Changes(len(ROWS), 0, 0, 0)
    stored = store.load_all()
    assert stored.segments == tuple(sorted(ROWS, key=lambda one: (one.scope, one.ref_id or "", one.id)))
    assert (stored.malformed, stored.version) == ((), LATEST)
    assert store.load_all("core").segments == ROWS[:1]


def test_a_second_write_changes_what_differs(store):
    store.write(ROWS)
    assert store.write(ROWS) == Changes(0, 0, len(ROWS), 0)
    changed = (Segment("core", "core", None, "Be kind.", priority=3), Segment("new", "core", None, ""))
    assert store.write(changed) == Changes(1, 1, 0, 0)
    assert len(store.load_all().segments) == len(ROWS) + 1
    assert store.write(changed, prune=True) == Changes(0, 0, 2, len(ROWS) - 1)
    assert store.load_all().segments == changed


def test_wishes_are_answered_one_by_one(store):
    store.write(ROWS)
    rows = store.read([("core", None), ("npc", ["mira", "bo", "mira"]), ("npc", ["bo"]), ("npc", []), ("none", None)], ["de-CH", "en"])
    assert [_ids(part) for part in rows.parts] == [["core"], ["mira.start", "bo", "mira.de2", "mira.end"], ["bo"], [], []]
    assert (rows.inactive, rows.passed_over, rows.malformed, rows.foreign) == (1, 3, (), ())
    assert _ids(rows.rows) == ["core", "mira.start", "bo", "mira.de2", "mira.end", "bo"]


# contract 4.29
@pytest.mark.parametrize(
    ("locales", "version", "found", "foreign"),
    [
        (["de"], "1.0.0", "mira.de", ()),
        (["de"], "3.0.0", "mira.de2", ()),
        (["DE-at"], None, "mira.de2", ()),
        (["fr", "en-GB"], "1.0.0", "mira.en", ()),
        ([], None, "mira.de2", ()),
        (["fr"], None, None, ("mira.de", "mira.de1", "mira.de2", "mira.en")),
    ],
)
def test_locale_and_version_choose(locales, version, found, foreign, store):
    store.write(ROWS)
    rows = store.read([("npc", ["mira"])], locales, version)
    assert [one.id for one in rows.rows if one.metadata.get("key") == "intro"] == ([found] if found else [])
    assert rows.foreign == foreign


MALFORMED = [
    (("m1", "[]", None, None), "`metadata` is not an object"),
    (("m2", "{", None, None), "`metadata` is not JSON"),
    (("m3", '{"a": 1, "a": 2}', None, None), "`metadata` has a key twice"),
    (("m4", '{"order": "high"}', None, None), "`metadata.order` is not a number"),
    (("m5", '{"a": NaN}', None, None), "`metadata` holds NaN"),
    (("m6", "{}", "de_CH", None), "its locale `de_CH` is not a language tag such as `de` or `de-CH`"),
    (("m7", "{}", None, "1.0"), 'its version `"1.0"` is not a version such as `1.0.0`'),
    (("m8", '{"a": "\\ud800"}', None, None), "`metadata` holds half of a surrogate pair"),
    (("m9", "[" * 3000 + "]" * 3000, None, None), "`metadata` is not JSON"),
]


# contract 4.26
def test_malformed_rows_are_named_and_left_out(store, execute):
    store.write(ROWS)
    insert = "INSERT INTO prompt_segments (id, scope, content, metadata, locale, version) VALUES (?, 'core', 'x', ?, ?, ?)"
    execute(insert, *(row for row, _ in MALFORMED))
    wanted = tuple(Malformed(row[0], why) for row, why in MALFORMED)
    rows = store.read([("core", None)])
    assert _ids(rows.rows) == ["core"]
    assert rows.malformed == store.load_all().malformed
    assert [one.id for one in rows.malformed] == [one.id for one in wanted]
    assert [one.why for one in rows.malformed[:-1]] == [one.why for one in wanted[:-1]]


def test_a_table_made_by_hand_is_read_and_taken_on(store, execute):
    execute(HAND_MADE)
    execute("INSERT INTO prompt_segments VALUES ('a', 'core', NULL, 'A', NULL, TRUE, '', NULL)")
    assert store.read([("core", None)]).rows == (Segment("a", "core", None, "A"),)
    assert store.load_all().version == 0
    store.write([Segment("b", "core", None, "B", priority=2)])
    assert store.load_all().segments == (Segment("a", "core", None, "A"), Segment("b", "core", None, "B", priority=2))
    store.close()
    assert store.load_all().version == LATEST


def test_a_column_may_be_computed_from_others(store, execute):
    execute(
        "CREATE TABLE prompt_segments (id TEXT, scope TEXT, ref_id TEXT GENERATED ALWAYS AS (id || '!') STORED, "
        "content TEXT GENERATED ALWAYS AS (scope || ' of ' || id) STORED, metadata TEXT, active BOOLEAN, locale TEXT, version TEXT)"
    )
    execute("INSERT INTO prompt_segments (id, scope, active) VALUES ('a', 'core', TRUE)")
    assert store.read([("core", ["a!"])]).rows == (Segment("a", "core", "a!", "core of a"),)


def test_a_newer_schema_is_refused(store, execute):
    store.write(ROWS)
    execute(f"UPDATE promptc_schemas SET version = {LATEST + 1}")
    for call in (store.load_all, lambda: store.read([("core", None)]), lambda: store.write(ROWS)):
        with pytest.raises(DiskError) as raised:
            call()
        assert raised.value.diagnostics[0].code == "PC0165"


@pytest.mark.parametrize("made", [None, "CREATE TABLE prompt_segments (id TEXT, scope TEXT)"])
def test_a_wrong_table_is_refused(made, store, execute):
    execute(made or "CREATE TABLE other (id TEXT)")
    with pytest.raises(DiskError) as raised:
        store.load_all()
    assert raised.value.diagnostics[0].code == "PC0164"
    assert "prompt_segments" in raised.value.diagnostics[0].message


def test_a_failed_write_changes_nothing(store, execute):
    store.write(ROWS[:1])
    with pytest.raises(DiskError):
        store.write([Segment("ok", "core", None, "ok"), Segment("x", None, None, "no scope")])
    assert store.load_all().segments == ROWS[:1]


def test_names_in_a_reference_are_data(store):
    store.write(ROWS)
    assert store.read([("npc' OR 1=1 --", None), ("npc", ["mira' OR '1'='1", "%", "_"])]).rows == ()


def test_a_table_of_another_name(url):
    store = SegmentStore(read_address(url), "Other_Segments")
    assert store.write(ROWS).added == len(ROWS)
    assert len(store.load_all().segments) == len(ROWS)
    store.close()


def test_no_wishes_open_nothing():
    assert SegmentStore(read_address("sqlite:no/such/file.db")).read([]).parts == ()


def test_one_query_a_scope_however_many_references(store, monkeypatch):
    store.write(ROWS)
    asked = []
    opened = _FileSession if store.address.kind == "sqlite" else _ServerSession
    run = opened.iter_rows
    monkeypatch.setattr(opened, "iter_rows", lambda self, asks, given=None: asked.append(asks) or run(self, asks, given))
    wishes = [("npc", [f"n{number}", "mira"]) for number in range(300)] + [("core", None), ("npc", ["bo"])]
    rows = store.read(wishes)
    assert len(rows.parts) == 302 and all(_ids(part) for part in rows.parts)
    assert len([one for one in asked if 'FROM "prompt_segments"' in one and "content" in one]) == 2


@pytest.mark.dear
def test_more_references_than_one_statement_takes(store):
    store.write(ROWS)
    rows = store.read([("npc", [*(f"n{number}" for number in range(50_000)), "mira", "bo"])], ["de"])
    assert _ids(rows.rows) == ["mira.start", "bo", "mira.de2", "mira.end"]


def test_imports_at_the_same_time_are_one_after_the_other(url):
    done, wrong = [], []

    def work(number):
        store = SegmentStore(read_address(url))
        try:
            done.append(store.write([Segment(f"{number}.{place}", "core", None, "x") for place in range(50)] + [ROWS[0]]))
        except DiskError as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    assert not wrong and sorted(one.added for one in done) == [50, 50, 50, 51]
    store = SegmentStore(read_address(url))
    assert len(store.load_all().segments) == 201
    store.close()


# contract 4.29
def test_a_key_decides_what_is_one_segment(store):
    tiers = [Segment(f"t{tier}", "npc", "mira", f"tier {tier}", {"tier": tier, "order": tier}) for tier in range(3)]
    twins = [Segment(id, "npc", "bo", id, {"key": "k"}, priority=priority) for id, priority in (("b", 1), ("a", 1), ("c", 0))]
    store.write([*tiers, *twins])
    assert _ids(store.read([("npc", ["mira"])]).rows) == ["t0", "t1", "t2"]
    assert _ids(store.read([("npc", ["bo"])]).rows) == ["a"]


def test_what_a_scope_is_about_is_listed_by_code_point(store, execute, monkeypatch):
    store.write((*ROWS, Segment("zed", "npc", "Zed", "Zed.", locale="fr"), Segment("place", "place", "port", "A port.")))
    execute("INSERT INTO prompt_segments (id, scope, ref_id, content, active) VALUES ('odd', 'npc', ?, 'x', ?)", ("a\x01b", True))
    with store.hold() as held:
        assert held.list_refs("npc") == ("Zed", "bo", "mira")
        assert held.list_refs("core") == held.list_refs("no such") == ()
    monkeypatch.setattr(segment_store, "_MOST_LISTED", 3)
    with store.hold() as held:
        assert held.list_refs("npc") is None and held.list_refs("place") == ("port",)
    monkeypatch.setattr(segment_store, "_MOST_LISTED_BYTES", 3)
    with store.hold() as held:
        assert held.list_refs("place") is None
