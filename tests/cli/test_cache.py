"""`promptc cache` beyond its goldens: the picture, its options, sessions that cannot be read, and the claims of cases."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.contract.sources import ROOT

BASE = ROOT / "fixtures" / "switchboard" / "base"


@pytest.fixture
def talk(tmp_path, monkeypatch):
    shutil.copytree(BASE, tmp_path / "base")
    monkeypatch.chdir(tmp_path)
    return [line for line in (BASE / "session.jsonl").read_text(encoding="utf-8").splitlines() if line]


def test_the_picture_is_xml_with_a_row_a_turn(run, talk):
    done = run("cache", "base", "--session", "base/session.jsonl", "--svg")
    assert done.code == 0
    texts = [one.text for one in ET.fromstring(done.out).iter("{http://www.w3.org/2000/svg}text")]
    assert {str(turn) for turn in range(1, 13)} <= set(texts)
    assert texts.count("clock changed, state key /now") == 11


@pytest.mark.dear
def test_files_and_a_session_are_one_session(run, talk, tmp_path):
    for number, line in enumerate(talk[:3], 1):
        (tmp_path / f"{number}.json").write_text(line, encoding="utf-8")
    (tmp_path / "rest.jsonl").write_text("\n\n".join(talk[3:]), encoding="utf-8")
    apart = run("cache", "base", "1.json", "2.json", "3.json", "--session", "rest.jsonl", "--json")
    whole = run("cache", "base", "--session", "base/session.jsonl", "--json")
    unnamed = [{**one, "turns": [{**turn, "state": ""} for turn in one["turns"]]} for one in map(json.loads, (apart.out, whole.out))]
    assert unnamed[0] == unnamed[1]


def test_set_and_patches_hold_for_every_turn(run, talk):
    asked = ("cache", "base", "--session", "base/session.jsonl", "--no-trials", "--json")
    still = json.loads(run(*asked, "--set", '/now="noon"').out)
    assert still["reuse"] > 80 and json.loads(run(*asked, "--patch", "last").out)["reuse"] > 80


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "PC0130"),
        (b'{"line": 4}', "PC0303"),
        (b"", "and 1 is given"),
        (b"[1]", "PC0390"),
    ],
)
def test_a_line_that_is_no_state(run, talk, tmp_path, content, says):
    (tmp_path / "s.jsonl").write_bytes(talk[0].encode() + b"\n" + content + b"\n")
    done = run("cache", "base", "--session", "s.jsonl")
    assert done.code and says in done.err and not done.out
    assert says == "and 1 is given" or "s.jsonl:2" in done.err


def test_a_turn_that_does_not_fit_is_named(run, talk):
    done = run("cache", "base", "--session", "base/session.jsonl", "--budget", "900")
    assert done.code == 3 and "turn 1, base/session.jsonl:1" in done.err and not done.out


def test_what_prints_two_things_is_refused(run, talk):
    assert "PC0721" in run("cache", "base", "--session", "base/session.jsonl", "--svg", "--json").err


def test_hostile_ids_are_shown_escaped(run, talk, tmp_path):
    states = [json.loads(line) for line in talk[:2]]
    for state in states:
        state["now"] = "noon"
        state["notes"] = [{"id": "a\x1b[31m\nb", "text": "x", "score": 1}] if state is states[0] else []
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, states)), encoding="utf-8")
    done = run("cache", "base", "--session", "s.jsonl", "--no-trials")
    assert done.code == 0 and "\x1b" not in done.out and "notes/a\\x1b[31m\\nb went" in done.out


_OVERRULED = """\
promptc: 1
name: talk
version: 1.0.0
tokenizer: o200k_base
budget: 60
sections:
  - {id: clock, text: "It is {{ state.now }}."}
  - {id: rules, text: "Be brief, and be kind to those who ask.", pinned: true}
  - {id: lines, items: {from: state.lines, text: "{{ item }}"}}
truncate: [{evict: {section: lines}}]
variants:
  mood:
    select: state.mood
    cases: {calm: {}, storm: {sections: {clock: {before: rules}}, truncate: [{evict: {section: lines}}]}}
"""


@pytest.mark.parametrize(("mood", "edit"), [("calm", "move `clock` after `lines`"), ("storm", "")])
def test_an_edit_that_a_variant_overrules_is_not_promised(mood, edit, run, tmp_path):
    (tmp_path / "pack.yaml").write_text(_OVERRULED, encoding="utf-8")
    lines = [f"{number}. The door is open, and the rain comes in." for number in range(12)]
    states = [{"now": f"{turn}", "mood": mood, "lines": lines[: turn + 1]} for turn in range(12)]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, states)), encoding="utf-8")
    found = json.loads(run("cache", str(tmp_path), "--session", str(tmp_path / "s.jsonl"), "--json").out)["trials"]
    assert [one["edit"] for one in found] == ([edit] if edit else [])


def test_claims_of_a_case_say_why(run, talk, tmp_path):
    case = tmp_path / "base" / "cases" / "talk"
    case.mkdir(parents=True)
    for number in (5, 6, 9):
        (case / f"{number}.json").write_text(talk[number - 1], encoding="utf-8")
    claims = 'expect: {prefix_reuse: ">= 50", flaps: 0, cost: "<= 40"}'
    (case / "case.yaml").write_text(f"title: a talk\nstates: [5.json, 6.json, 9.json]\n{claims}\n", encoding="utf-8")
    said = run("test", "base").out
    assert "prefix_reuse: 0, not >= 50; turn 2 begins as the turn before up to here: clock changed, state key /now" in said
    assert "cost: none, not <= 40; a price needs a provider and a model" in said
    assert "flaps: " in said and "came first" in said


def test_a_carried_tier_is_that_of_the_turn_before(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tiers = "strain: {previous: state.tier, tiers: [{name: calm, at: 0}, {name: full, at: 0.8, leave: 0.4}]}\n"
    section = '  - {id: log, budget: 100, items: {from: range(state.n), text: "line {{ item }}"}}\n'
    head = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: o200k_base\nbudget: 200\n"
    (tmp_path / "pack.yaml").write_text(f"{head}{tiers}sections:\n{section}", encoding="utf-8")
    (tmp_path / "s.jsonl").write_text("".join(f'{{"tier": null, "n": {n}}}\n' for n in (5, 25, 15)), encoding="utf-8")
    asked = ("cache", ".", "--session", "s.jsonl", "--no-trials", "--json")
    alone, carried = json.loads(run(*asked).out), json.loads(run(*asked, "--carry", "/tier").out)
    assert [one["what"] for one in alone["flaps"]] == ["tier calm"] and carried["flaps"] == []
    for wrong in ("tier", "", "/tie", "/tier/name"):
        done = run(*asked, "--carry", "/tier", "--carry", wrong)
        assert done.code == 2 and "PC0759 nothing reads" in done.err and "`/tier`" in done.err and not done.out


def test_what_a_list_shows_is_carried_to_where_its_freeze_reads_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    freeze = "freeze: {shown: state.shown.lore}"
    items = f'items: {{from: state.lore, id: item, where: "state.said | mentions(item)", {freeze}, text: "{{{{ item }}}}"}}'
    head = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: o200k_base\nbudget: 200\n"
    (tmp_path / "pack.yaml").write_text(f"{head}sections:\n  - id: lore\n    {items}\n", encoding="utf-8")
    lines = (f'{{"said": "{said}", "lore": ["tower", "ferry"], "shown": {{"lore": []}}}}\n' for said in ("tower", "ferry", "tower"))
    (tmp_path / "s.jsonl").write_text("".join(lines), encoding="utf-8")
    asked = ("cache", ".", "--session", "s.jsonl", "--no-trials", "--json")
    alone, carried = json.loads(run(*asked).out), json.loads(run(*asked, "--carry", "/shown/lore").out)
    assert alone["flaps"] and not carried["flaps"]
    for wrong in ("/shown/lor", "/shown", "shown/lore", "x/shown/lore", ""):
        done = run(*asked, "--carry", wrong)
        assert done.code == 2 and "PC0759 nothing reads" in done.err and "`/shown/lore`" in done.err and not done.out
    edit = ("--try", "sections.lore.items.freeze=null", "--carry", "/shown/lore")
    assert run(*asked, *edit).code == 0, "the file has a list that reads it, and the edit is compared with the file"
    (tmp_path / "pack.yaml").write_text(f"{head}sections:\n  - {{id: main, text: Hello}}\n", encoding="utf-8")
    assert "leave `--carry` out" in run(*asked, "--carry", "/shown/lore").err


def test_an_empty_prompt_is_a_turn_like_any_other(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: o200k_base\nbudget: 200\n"
    (tmp_path / "pack.yaml").write_text(head + 'sections: [{id: main, text: "{{ state.text }}"}]\n', encoding="utf-8")
    (tmp_path / "s.jsonl").write_text('{"text": ""}\n{"text": ""}\n{"text": "Be kind."}\n{"text": ""}\n', encoding="utf-8")
    for more in ((), ("--json",), ("--svg",)):
        done = run("cache", ".", "--session", "s.jsonl", *more)
        assert done.code == 0 and not done.err, done.err
    assert [one["same"] for one in json.loads(run("cache", ".", "--session", "s.jsonl", "--json").out)["turns"]] == [0, 0, 0, 0]


def test_a_session_that_its_provider_does_not_take_is_refused_as_its_turns_are(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: o200k_base\nbudget: 900\noutput: {format: messages}\n"
    (tmp_path / "pack.yaml").write_text(head + 'sections: [{id: main, text: "{{ state.text }}"}]\n', encoding="utf-8")
    (tmp_path / "cases" / "alone").mkdir(parents=True)
    for number in (1, 2):
        (tmp_path / "cases" / "alone" / f"{number}.json").write_text('{"text": "Be kind."}', encoding="utf-8")
    case = "title: no message of a user\nstates: [1.json, 2.json]\nwith: {format: anthropic}\nexpect: {prefix_reuse: 100}\n"
    (tmp_path / "cases" / "alone" / "case.yaml").write_text(case, encoding="utf-8")
    assert "PC0560" in run("test", ".").out


@pytest.mark.dear
def test_the_figures_of_a_try_stand_beside_those_of_the_file(run, talk):
    asked = ("cache", "base", "--session", "base/session.jsonl", "--json")
    plain, tried = json.loads(run(*asked).out), json.loads(run(*asked, "--try", "sections.notes.items.limit=1").out)
    names = ("reuse", "least", "read", "written", "tokens", "cost")
    assert tried["tried"] == ["sections.notes.items.limit=1"] and tried["tokens"] < plain["tokens"]
    assert tried["without"] == {**{name: plain[name] for name in names}, "flaps": len(plain["flaps"])}
    assert plain["tried"] == [] and plain["without"] is None
    assert all(one["tokens"][0] == sum(turn["tokens"] for turn in tried["turns"][-60:]) for one in tried["trials"])


def test_a_try_may_mend_a_session_that_does_not_fit(run, talk):
    manifest = Path("base/pack.yaml")
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("context: 2600", "context: 210"), encoding="utf-8")
    asked = ("cache", "base", "--session", "base/session.jsonl", "--no-trials")
    assert run(*asked).code == 3
    done = run(*asked, "--try", "budget.context=2600")
    assert done.code == 0 and "without that the session cannot be rendered" in done.out


def test_gates_hold_for_what_is_tried(run, talk):
    asked = ("cache", "base", "--session", "base/session.jsonl", "--no-trials", "--max-flaps", "5")
    assert run(*asked).code == 1 and run(*asked, "--try", "sections.notes.items.limit=1").code == 0


def test_a_key_of_each_element_is_one_cause(run, tmp_path):
    (tmp_path / "pack.yaml").write_text(
        "promptc: 1\nname: talk\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 4000\n"
        "sections: [{id: talk, items: {from: state.talk, text: '{{ item.text }}'}}]\n"
    )
    talk = [{"text": f"The {turn}th line of many."} for turn in range(12)]
    turns = [json.dumps({"talk": [*talk[:turn], {"text": f"Asks {turn}."}]}) for turn in range(1, 12)]
    (tmp_path / "s.jsonl").write_text("\n".join(turns))
    done = run("cache", str(tmp_path), "--session", str(tmp_path / "s.jsonl"), "--no-trials")
    assert "  10 turns: talk changed, state key /talk/*/text, first 1 in turn 2\n" in done.out
