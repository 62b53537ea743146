"""`promptc check --fix` and `--diff`: what is written, what is told, and that every prompt stays."""

import json
import os
import shutil

import pytest

from tests.cli.conftest import ROOT

MENDED = {"definition": ["PC0639"] * 2, "step": ["PC0611"] * 3, "missing": ["PC0679"], "role": ["PC0680"] * 2, "media": ["PC0695"]}


@pytest.fixture
def pack(tmp_path, monkeypatch):
    """Copies a pack to the working folder."""
    monkeypatch.chdir(tmp_path)
    return lambda name, to="keeper": shutil.copytree(ROOT / "fixtures/mend" / name, tmp_path / to)


def test_every_fix_has_its_pack():
    assert {one.name for one in (ROOT / "fixtures/mend").iterdir()} == MENDED.keys()


# contract 12.11
@pytest.mark.parametrize("name", MENDED)
def test_what_is_fixed_is_told_and_every_prompt_stays(name, pack, run):
    folder = pack(name)
    shown = run("check", "keeper", "--diff")
    before, stores = (folder / "pack.yaml").read_bytes(), []
    if name == "missing":
        (folder / "segments.yaml").write_text("segments: [{id: one, scope: core, content: Be brief.}]\n", encoding="utf-8")
        stores = ["--store", "main=sqlite:store.db"]
        done = run("segments", "import", "keeper/segments.yaml", "--pack", "keeper", "--url", "sqlite:store.db")
        assert done.code == 0, done.err
    asked = [("render", "keeper", "keeper/state.json", "--format", shape, *stores) for shape in ("text", "messages")]
    rendered = [run(*one) for one in asked]
    assert [one.code for one in rendered] == [0, 0] and all(one.out for one in rendered)
    done = run("check", "keeper", "--fix")
    assert (done.code, done.out.splitlines()[0]) == (0, "nothing found" + ("" if name == "media" else "; 1 more note with --verbose"))
    told = done.err.splitlines()
    assert [line.split(" ")[2] for line in told] == MENDED[name]
    assert all(line.startswith("fixed keeper/pack.yaml:") for line in told)
    assert shown.err == done.err.replace("fixed ", "would fix ") and shown.code == done.code
    after = (folder / "pack.yaml").read_bytes()
    assert after != before and after.count(b"#") == before.count(b"#")
    assert [run(*one).out for one in asked] == [one.out for one in rendered]
    assert run("check", "keeper", "--fix").err == "" and (folder / "pack.yaml").read_bytes() == after


def test_how_many_can_be_fixed_is_told_where_some_can(pack, run):
    pack("step")
    assert run("check", "keeper").out.endswith("3 warnings; 1 more note with --verbose\n3 findings can be fixed with --fix\n")
    assert "can be fixed" not in run("check", "keeper", "--quiet").out
    run("check", "keeper", "--fix")
    assert "can be fixed" not in run("check", "keeper").out


def test_what_cannot_be_fixed_is_found_as_ever(pack, run):
    folder = pack("step")
    text = (folder / "pack.yaml").read_text("utf-8").replace("{{ state.who }}", "{{ state.whom }}")
    (folder / "pack.yaml").write_text(text, encoding="utf-8")
    for option in ("--diff", "--fix"):
        done = run("check", "keeper", option)
        assert done.code == 1 and ("PC0636" in done.out) == (option == "--fix")
    (folder / "pack.yaml").write_text("promptc: 1\n", encoding="utf-8")
    done = run("check", "keeper", "--fix")
    assert done.code == 3 and "PC0" in done.err and (folder / "pack.yaml").read_text("utf-8") == "promptc: 1\n"


def test_several_packs_are_fixed_each_in_its_file(pack, run):
    pack("step", "packs/one")
    pack("role", "packs/two")
    done = run("check", "packs", "--fix")
    assert done.code == 0 and len(done.err.splitlines()) == 5
    assert run("check", "packs").code == 0


def test_programs_are_given_the_edits(pack, run):
    pack("role")
    found = json.loads(run("check", "keeper", "--format", "json").out)
    assert [one["code"] for one in found] == ["PC0680", "PC0680"]
    assert found[1]["fix"] == {
        "file": "keeper/pack.yaml",
        "edits": [{"line": 11, "column": 17, "end_line": 11, "end_column": 29, "new": ""}],
    }
    results = json.loads(run("check", "keeper", "--format", "sarif").out)["runs"][0]["results"]
    (fix,) = results[1]["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == results[1]["locations"][0]["physicalLocation"]["artifactLocation"]
    region = {"startLine": 11, "startColumn": 17, "endLine": 11, "endColumn": 29}
    assert change["replacements"] == [{"deletedRegion": region, "insertedContent": {"text": ""}}]


def test_a_link_is_not_followed(pack, run, tmp_path):
    folder = pack("role")
    (folder / "pack.yaml").rename(tmp_path / "outside.yaml")
    (folder / "pack.yaml").symlink_to(tmp_path / "outside.yaml")
    before = (tmp_path / "outside.yaml").read_bytes()
    done = run("check", "keeper", "--fix")
    assert done.code in (3, 4) and (tmp_path / "outside.yaml").read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_the_file_keeps_its_mode(pack, run):
    folder = pack("role")
    (folder / "pack.yaml").chmod(0o640)
    assert run("check", "keeper", "--fix").code == 0
    assert (folder / "pack.yaml").stat().st_mode & 0o777 == 0o640
