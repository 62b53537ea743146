"""Commands and paths in what promptc prints: each works as it is printed, in the folder where it is printed."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import PACK, ROOT, STATE

INDEXED = """\
promptc: 1
name: manual
version: 1.0.0
tokenizer: cl100k_base
budget: 400
indexes: {pages: {corpus: "pages/*.md"}}
sections:
  - {id: found, items: {from: {retrieve: {index: pages, query: state.ask}}, text: "{{ item.text }}"}}
"""


@pytest.fixture
def spaced(tmp_path, monkeypatch):
    """A folder with the pack `pk one` and its case `fog é`, and a state `a b.json`."""
    monkeypatch.chdir(tmp_path)
    case = tmp_path / "pk one" / "cases" / "fog é"
    case.mkdir(parents=True)
    (tmp_path / "pk one" / "pack.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "a b.json").write_text(json.dumps(STATE), encoding="utf-8")
    (case / "state.json").write_text(json.dumps(STATE), encoding="utf-8")
    (case / "case.yaml").write_text("title: fog\nstate: state.json\ngolden: [text]\n", encoding="utf-8")
    return tmp_path


def find_command(said):
    """The arguments of the last command of promptc that is printed between backticks."""
    return shlex.split(re.findall(r"`promptc ([^`]*)`", said)[-1])


def test_the_case_that_a_hint_accepts(spaced, run):
    asked = find_command(run("test").err)
    assert asked == ["accept", "cases/fog é"] and run(*asked).code == 0
    assert run("test").code == 0


def test_the_index_that_is_to_be_built(spaced, run):
    pages = spaced / "pk one" / "pages"
    pages.mkdir()
    (pages / "lamp.md").write_text("# Lamp\n\nThe lamp turns.\n", encoding="utf-8")
    (spaced / "pk one" / "pack.yaml").write_text(INDEXED, encoding="utf-8")
    (spaced / "a b.json").write_text('{"ask": "lamp"}', encoding="utf-8")
    done = run("render", "pk one", "a b.json")
    asked = find_command(done.err)
    assert done.code == 4 and asked == ["index", "build", "pk one/pack.yaml", "pages"] and run(*asked).code == 0
    assert "The lamp turns." in run("render", "pk one", "a b.json").out


def test_the_operation_that_an_answer_is_to(spaced, run):
    shutil.copytree(ROOT / "tests" / "cli" / "logbook", "log book")
    asked = find_command(run("answer", "log book", "digest").err)
    assert asked == ["answer", "log book", "digest", "FILE"]
    Path("FILE").write_text("Calm.", encoding="utf-8")
    assert "PC0720" not in run(*asked).err


def test_the_arguments_of_an_operation(spaced, run):
    shutil.copytree(ROOT / "packs" / "helpdesk", "desk")
    listed = run("apply", "desk", "--list").out
    assert [json.loads(shlex.split(line)[1].partition("=")[2]) for line in re.findall(r"--arg .*", listed)] == ["support", "solved"]


def test_the_value_that_was_tried(spaced, run):
    said = run("test", "--try", "sections.seen.header=You see a b").err
    assert shlex.split(re.search("`(--try .*)`", said)[1]) == ["--try", "sections.seen.header=You see a b"]


def test_the_value_to_set(spaced, run):
    said = run("render", "pk one", "a b.json", "--set", "a b=1").err
    assert "`--set '/a b=...'`" in said


def test_the_file_to_unpack(spaced, run):
    Path("two states.jsonl.gz").write_bytes(b"\x1f\x8b rest")
    said = run("batch", "pk one", "two states.jsonl.gz", "-o", "out.jsonl").err
    assert "`gzip -dc 'two states.jsonl.gz' | promptc batch PACK - -o OUT`" in said


# --- paths ---


@pytest.mark.parametrize("command", [("test",), ("prune",), ("matrix", "pk one", ".")])
def test_the_file_of_a_case_that_is_wrong(spaced, run, command):
    """Its root is the pack's folder, which is not the working folder."""
    bad = spaced / "pk one" / "cases" / "bad"
    bad.mkdir()
    (bad / "case.yaml").write_text("nope: 1\n", encoding="utf-8")
    done = run(*command)
    places = re.findall(r"([^\n`]*?bad/case\.yaml):1:1", done.out + done.err)
    assert places and all(Path(place.strip(" ")).is_file() for place in places)


def test_the_command_that_a_finding_of_a_case_says_to_run(tmp_path, run, monkeypatch):
    """The root of the case is the pack's folder; its index has the name of a folder there."""
    case = tmp_path / "a b" / "cases" / "asked"
    case.mkdir(parents=True)
    (tmp_path / "a b" / "pages").mkdir()
    (tmp_path / "a b" / "pages" / "lamp.md").write_text("# Lamp\n\nIt burns oil.\n", encoding="utf-8")
    (tmp_path / "a b" / "pack.yaml").write_text(INDEXED, encoding="utf-8")
    (case / "state.json").write_text('{"ask": "lamp"}', encoding="utf-8")
    (case / "case.yaml").write_text("title: asked\nstate: state.json\nexpect: {exit: 0}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    said = find_command(run("test", "--format", "full").out)
    assert said == ["index", "build", "a b/pack.yaml", "pages"]
    assert run(*said).code == 0 and run("test").code == 0
