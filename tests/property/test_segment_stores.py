"""The same rows give the same answers from SQLite and from PostgreSQL, and what `choose` promises holds for any rows."""

import contextlib
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptc.frontend.segments import render_yaml
from promptc.sources.address import read_address
from promptc.sources.segment_store import SegmentStore
from promptc.sources.segments import choose, name_place, rank_locales
from tests.property.segment_drawing import LOCALES, NAMES, TEXTS, VERSIONS, segments

WANTED = st.lists(
    st.tuples(
        st.one_of(st.sampled_from(["core", "npc"]), NAMES),
        st.one_of(st.none(), st.lists(st.one_of(st.sampled_from(["mira", "bo"]), NAMES))),
    ),
    max_size=4,
)
PREFERRED = st.lists(LOCALES.filter(bool), max_size=3)
# Rows as another program may write them: both databases hold any of these.
RAW = st.tuples(
    st.one_of(TEXTS, NAMES),
    st.sampled_from(["core", "npc", "Core"]),
    st.one_of(st.none(), st.sampled_from(["mira", "Mira", "m\u0131ra"])),
    TEXTS,
    st.one_of(
        st.none(),
        st.sampled_from(["{}", "[]", "", "{", '{"order": "x"}', '{"key": 1, "order": 2}', '{"a": 1e999}', '{"b":1,"a":{"d":1,"c":2}}']),
    ),
    st.booleans(),
    st.one_of(st.none(), st.sampled_from(["", "de", "de_CH", "EN", "x"])),
    st.one_of(st.none(), st.sampled_from(["", "1.0.0", "1.0", "01.0.0", "2.0.0-rc.1"])),
    st.one_of(st.none(), st.integers(-3, 3)),
)
INSERT = "INSERT INTO prompt_segments (id, scope, ref_id, content, metadata, active, locale, version, priority) VALUES (?,?,?,?,?,?,?,?,?)"
LOOSE = """CREATE TABLE prompt_segments
    (id TEXT, scope TEXT, ref_id TEXT, content TEXT, metadata TEXT, active BOOLEAN, locale TEXT, version TEXT, priority INT)"""


@pytest.mark.dear
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(drawn=st.lists(segments(), min_size=1, max_size=3), wanted=WANTED, locales=PREFERRED, version=VERSIONS, prune=st.booleans())
def test_both_databases_hold_and_choose_the_same(drawn, wanted, locales, version, prune, postgres, tmp_path_factory):
    results = []
    for url in (f"sqlite:{tmp_path_factory.mktemp('store') / 'a.db'}", postgres):
        _clear(url)
        with contextlib.closing(SegmentStore(read_address(url))) as store:
            changes = [store.write(one, prune=prune) for one in drawn]
            stored = store.load_all()
            results.append((changes, repr(stored), render_yaml(stored.segments), repr(store.read(wanted, locales, version))))
    assert results[0] == results[1]
    assert prune is False or sorted(map(repr, drawn[-1])) == sorted(map(repr, stored.segments))


@pytest.mark.dear
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows=st.lists(RAW, max_size=12), wanted=WANTED, locales=PREFERRED, version=VERSIONS)
def test_both_databases_judge_rows_alike(rows, wanted, locales, version, postgres, tmp_path_factory):
    import psycopg

    url = f"sqlite:{tmp_path_factory.mktemp('store') / 'a.db'}"
    with contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:"))) as made, made:
        made.execute(LOOSE)
        made.executemany(INSERT, rows)
    _clear(postgres)
    with psycopg.connect(postgres) as made:
        made.execute(LOOSE)
        made.cursor().executemany(INSERT.replace("?", "%s"), rows)
    results = []
    for place in (url, postgres):
        with contextlib.closing(SegmentStore(read_address(place))) as store:
            results.append((repr(store.load_all()), repr(store.read([("npc", None), *wanted], locales, version))))
    assert results[0] == results[1]


@given(drawn=segments(), locales=PREFERRED, version=VERSIONS)
def test_of_one_segment_one_is_chosen(drawn, locales, version):
    ranks = rank_locales(locales)
    choice = choose(drawn, ranks, version)
    places = [name_place(one) for one in choice.chosen if name_place(one)[2] is not None]
    assert len(places) == len(set(places))
    assert len(choice.chosen) + choice.passed_over + len(choice.foreign) == len(drawn)
    assert choose(list(reversed(drawn)), ranks, version) == choice
    assert choose(choice.chosen, ranks, version).chosen == choice.chosen
    for one in choice.chosen:
        others = [
            other for other in drawn if name_place(other) == name_place(one) and (other.locale or "").lower() == (one.locale or "").lower()
        ]
        assert version is None or one.version == version or all(other.version != version for other in others)


def _clear(url):
    if url.startswith("postgresql:"):
        import psycopg

        with psycopg.connect(url) as connection:
            connection.execute("DROP TABLE IF EXISTS prompt_segments")
            connection.execute("DROP TABLE IF EXISTS promptc_schemas")
