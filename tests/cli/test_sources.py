"""Stores and indexes from the command line: where they are, what is told of them, what happens when they are not there."""

import contextlib
import json
import shutil

import pytest

from tests.cli.conftest import ROOT

TALE = ROOT / "fixtures" / "tale" / "base"
STAGES = """\
stage   items  left out
from        3            pack.yaml:31:24
    store `main`, scope `npc`; about ada, bo, locale de-AT → en, version 2.0.0;
      left out: 1 of another locale or version, 2 that `segments.where` refuses
"""


@pytest.fixture
def tale(tmp_path, run):
    """The pack in a folder of its own, its store and its index made."""
    shutil.copytree(TALE, tmp_path, dirs_exist_ok=True)
    with contextlib.chdir(tmp_path):
        assert run("segments", "import", "segments.yaml").code == 0
        assert run("index", "build", ".").code == 0
        yield tmp_path


def test_a_store_is_where_the_command_line_says_else_the_variable_else_the_manifest(tale, run, monkeypatch):
    first = run("render", ".", "state.json")
    assert first.code == 0 and "Ada hütet die Glocke." in first.out
    (tale / "tale.db").rename(tale / "other.db")
    gone = run("render", ".", "state.json")
    assert (gone.code, gone.out) == (4, "") and "PC0160" in gone.err
    assert run("render", ".", "state.json", "--store", "main=sqlite:other.db") == first
    monkeypatch.setenv("PROMPTC_TALE", "sqlite:other.db")
    assert run("render", ".", "state.json") == first
    assert run("render", ".", "state.json", "--store", "main=sqlite:gone.db").code == 4


def test_an_unknown_store_is_a_wrong_command_line(tale, run):
    done = run("render", ".", "state.json", "--store", "mian=sqlite:tale.db")
    assert (done.code, done.out) == (2, "") and "PC0707" in done.err and "did you mean `main`?" in done.err


def test_nothing_of_a_url_is_shown_when_it_is_wrong(tale, run):
    for given in ("main=postgresql//user:secret@host/db", "secret", "main=sqlite:a.db"):
        done = run("render", ".", "state.json", "--store", given, "--store", "main=sqlite:b.db")
        assert done.code in (2, 3) and "secret" not in done.err


@pytest.mark.parametrize("change", ["lore/2/law.md", "index/2/manifest.json"])
def test_a_stale_or_damaged_index_gives_no_prompt(tale, run, change):
    path = tale / change
    path.write_text(path.read_text(encoding="utf-8") + "\nmore\n", encoding="utf-8")
    done = run("render", ".", "state.json", "--report", "report.json")
    assert (done.code, done.out) == (4, "") and "promptc index build" in done.err
    assert not (tale / "report.json").exists()


def test_stages_begin_with_what_was_asked(tale, run):
    assert run("explain", ".", "state.json", "--stages", "npc").out.startswith(STAGES)
    found = run("explain", ".", "state.json", "--stages", "found").out
    assert "`lore`, `notes`, version 2, query `Who would crack the bell?`; 5 chunks" in found and "2 under the floor" in found
    empty = run("explain", ".", "state.json", "--set", '/query=""', "--stages", "found").out
    assert "a query without words retrieves nothing" in empty


def test_an_item_tells_where_it_comes_from(tale, run):
    def tell(address):
        return run("explain", ".", "state.json", "--why", address, "--width", "200").out

    assert "segment `ada-0-de` of the store `main`, scope `npc`, ref_id ada, locale de\n" in tell("npc/ada-0-de")
    chunk = tell("found/510c413ba39e31c6")
    assert "of the index `lore`, lore/2/law.md, version 2\n" in chunk and "boosts +0.050000\n" in chunk
    assert "chunk `n1` of the index `notes`\n" in tell("found/n1")
    found = tell("found")
    assert "5 chunks scored; left out: 2 under the floor; `where` refused 1 before\n" in found
    assert "0.030 `f18c56da7edaeca8` of lore/2/harbour.md (words 0.030, vectors 0.000): under the floor\n" in found


def test_an_expression_sees_each(tale, run):
    assert run("eval", ".", "state.json", "each.mood ~ ' ' ~ item.ref_id", "--item", "npc/ada-1").out == '"tired ada"\n'


# contract 13.1 and 13.11
def test_the_report_is_valid_and_the_same_from_any_store(tale, run):
    shutil.copy(tale / "tale.db", tale / "copy.db")
    reports = []
    for options in ([], ["--store", "main=sqlite:copy.db"], ["--no-cache"]):
        assert run("render", ".", "state.json", "--report", "report.json", *options).code == 0
        reports.append(json.loads((tale / "report.json").read_bytes()))
    assert reports[0] == reports[1] == reports[2]
    assert set(reports[0]["digests"]) == {"pack", "state", "promptc", "stores", "indexes"}


# contract 13.16
def test_what_was_kept_is_counted_where_it_is_asked_for(tale, run, monkeypatch):
    monkeypatch.setenv("PROMPTC_CACHE", str(tale / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tale / "states"))
    said, reports = [], []
    for extra in ((), (), ("--no-cache",)):
        said.append(run("render", ".", "state.json", "--report", "report.json", "--kept", *extra))
        reports.append(json.loads((tale / "report.json").read_text(encoding="utf-8")))
    first, second, plain = (report.pop("kept", None) for report in reports)
    assert said[0] == said[1] == said[2] and reports[0] == reports[1] == reports[2]
    assert plain == {} and all(one["kept"] == 0 < one["made"] for one in first.values())
    assert second.keys() >= {"answers", "segments"} and all(one["made"] == 0 < one["kept"] for one in second.values())
    assert run("render", ".", "state.json", "--report", "report.json").code == 0
    assert json.loads((tale / "report.json").read_text(encoding="utf-8")) == reports[0]
    alone = run("render", ".", "state.json", "--kept")
    assert alone.code == 2 and "`--kept` counts in the report, and no report is written" in alone.err
