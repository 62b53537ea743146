"""`promptc check` of several packs at once, and the commands that take a pack alone, or the current folder."""

import json
import shutil

import pytest

from tests.cli.conftest import ROOT

STARTER = "starters/chat"
RETRIEVING = "starters/rag"
BROKEN = "fixtures/bad/PC0201"
TAKE_A_PACK_ALONE = [("check",), ("map",), ("schema", "state"), ("index", "build"), ("index", "status")]


def test_a_folder_stands_for_the_packs_in_it(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("packs/b", "packs/a/inner", "packs/.hidden"):
        shutil.copytree(ROOT / STARTER, tmp_path / name)
    together = run("check", "packs", "--format", "json")
    apart = [json.loads(run("check", name, "--format", "json").out) for name in ("packs/a/inner", "packs/b")]
    assert together.code == 0
    assert json.loads(together.out) == [one for some in apart for one in some]


def test_one_that_cannot_be_loaded_does_not_hide_the_others(run, monkeypatch):
    monkeypatch.chdir(ROOT)
    done = run("check", BROKEN, STARTER)
    assert done.code == 3
    assert "PC0201" in done.err and "PC0201" not in done.out
    assert done.out == run("check", STARTER).out


def test_services_are_shown_all_of_it_where_they_look(run, monkeypatch):
    monkeypatch.chdir(ROOT)
    github = run("check", BROKEN, STARTER, "--format", "github")
    assert github.code == 3 and github.out.startswith(f"::error file={BROKEN}/pack.yaml,line=7,col=29,title=promptc PC0201::")
    results = json.loads(run("check", BROKEN, STARTER, "--format", "sarif").out)["runs"][0]["results"]
    assert [one["ruleId"] for one in results][:2] == ["PC0201", "PC0201"]
    assert len(results) == len(github.out.splitlines())


def test_a_folder_without_packs_is_told(run, monkeypatch):
    monkeypatch.chdir(ROOT)
    done = run("check", "docs")
    assert done.code == 4 and "PC0154" in done.err and not done.out


@pytest.mark.parametrize("command", TAKE_A_PACK_ALONE)
def test_a_pack_that_is_not_named_is_the_current_folder(command, run, monkeypatch, tmp_path):
    shutil.copytree(ROOT / RETRIEVING, tmp_path / "rag")
    monkeypatch.chdir(tmp_path / "rag")
    here, named = run(*command), run(*command, ".")
    assert here == named and here.code == 0 and here.out


@pytest.mark.parametrize("command", TAKE_A_PACK_ALONE)
def test_no_pack_is_named_and_there_is_none(command, run, monkeypatch, tmp_path):
    shutil.copytree(ROOT / RETRIEVING, tmp_path / "rag")
    monkeypatch.chdir(tmp_path)
    done = run(*command)
    assert (done.code, done.out) == (2, "")
    assert "PC0720 no pack is named, and the current folder has no `pack.yaml`" in " ".join(done.err.split())
    assert f"`promptc {' '.join(command)} my-pack`" in done.err
