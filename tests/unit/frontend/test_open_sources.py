"""The sources of a render: a store as it was at one moment, and let go at the end; an index read once."""

import contextlib
import shutil
import sqlite3

import pytest

import promptc
from promptc.diag.findings import DiskError
from promptc.frontend.sources import OpenSources
from promptc.model.sources import Segment
from promptc.sources.address import read_address
from promptc.sources.segment_store import SegmentStore
from tests.cases.case import ROOT

HEAD = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
PACK = (
    HEAD
    + "stores: {main: {url: 'sqlite:a.db'}}\nsections:\n  - {id: a, items: {from: {segments: {scope: a}}, text: '{{ item.content }}'}}\n"
)


@pytest.fixture
def pack(tmp_path):
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as opened:
        opened.execute("PRAGMA journal_mode = WAL")
    _write(tmp_path, "first")
    return promptc.load(tmp_path)


def _write(folder, content):
    SegmentStore(read_address(f"sqlite:{folder}/a.db")).write([Segment("a", "a", None, content), Segment("b", "b", None, content)])


def test_a_render_sees_one_moment(pack, tmp_path):
    opened = OpenSources("", {})
    (store,) = pack.model.stores
    chosen = opened.choose({})
    first = chosen.read_segments(store, [("a", None)], [], None)
    _write(tmp_path, "second")
    second = chosen.read_segments(store, [("b", None)], [], None)
    assert [one.content for one in (*first.rows, *second.rows)] == ["first", "first"]
    chosen.close()
    later = opened.choose({})
    assert [one.content for one in later.read_segments(store, [("a", None)], [], None).rows] == ["second"]
    later.close()
    opened.close()


def test_the_next_render_sees_what_was_written(pack, tmp_path):
    assert pack.render({}).text == "first\n"
    _write(tmp_path, "second")
    assert pack.render({}).text == "second\n"


def test_nothing_is_held_after_a_render_or_after_one_that_fails(pack, tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as opened:
        opened.execute("PRAGMA journal_mode = DELETE")
    pack.render({})
    with pytest.raises(promptc.PromptcError):
        pack.render({}, budget=1)
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db", timeout=0)) as opened, opened:
        opened.execute("UPDATE prompt_segments SET content = 'third'")
    assert pack.render({}).text == "third\n"


def test_a_table_that_goes_while_it_is_held_is_a_finding(pack, tmp_path):
    chosen = OpenSources("", {}).choose({})
    (store,) = pack.model.stores
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as opened:
        opened.execute("DROP TABLE prompt_segments")
    with pytest.raises(DiskError) as raised:
        chosen.read_segments(store, [("a", None)], [], None)
    assert [one.code for one in raised.value.diagnostics] == ["PC0164"]
    chosen.close()


def test_urls_take_the_place_of_what_the_pack_says(pack, tmp_path):
    (tmp_path / "a.db").rename(tmp_path / "b.db")
    with pytest.raises(DiskError):
        pack.render({})
    assert pack.render({}, stores={"main": f"sqlite:{tmp_path}/b.db"}).text == "first\n"
    with pytest.raises(promptc.PromptcError) as raised:
        pack.render({}, stores={"mian": "sqlite:b.db"})
    assert [one.code for one in raised.value.diagnostics] == ["PC0707"]


def test_an_index_is_read_when_it_is_first_asked(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "fixtures" / "tale" / "base", tmp_path, dirs_exist_ok=True)
    calls = []
    monkeypatch.setattr("promptc.frontend.corpus.open_corpus", lambda *asked: calls.append(asked[2]) or ())
    (index, _) = promptc.load(tmp_path).model.indexes
    opened = OpenSources("sha256:0", {})
    for version in ("1", "2", "1"):
        opened.choose({}).open_corpus(index, version)
    assert calls == ["1", "2"]


def test_versions_without_end_take_no_room_without_end(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "fixtures" / "tale" / "base", tmp_path, dirs_exist_ok=True)
    calls = []
    monkeypatch.setattr("promptc.frontend.corpus.open_corpus", lambda *asked: calls.append(asked[2]) or ())
    (index, _) = promptc.load(tmp_path).model.indexes
    opened = OpenSources("sha256:0", {})
    for version in (*map(str, range(500)), "499"):
        opened.choose({}).open_corpus(index, version)
    assert len(calls) == 500 and len(opened._indexes) < 100
