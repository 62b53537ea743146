"""One edit that moves many goldens is told once, with the cases it moved; and every failure has its cause, or why it has none."""

import json
import subprocess

import pytest
from junitparser import JUnitXml
from sarif_pydantic import Sarif

from promptc.golden import cause
from tests.cli.test_test import GOLDEN, PACK, STATE, change_pack, make_case, there  # noqa: F401

EDIT = "cause: packs/tavern/pack.yaml:7:28 sections.place.text: stand… → are…"
PLACE = next(line for line in PACK.splitlines(keepends=True) if "id: place" in line)


@pytest.fixture(autouse=True)
def many(there):  # noqa: F811
    """The repository with 25 cases, committed."""
    for at in range(23):
        make_case(there, f"more_{at:02}", golden=GOLDEN)
    commit(there)
    return there


def commit(there):  # noqa: F811
    for line in ("init -q", "add packs fixtures", "-c user.name=a -c user.email=a@b.c commit -q -m x"):
        subprocess.run(["git", *line.split()], check=True, cwd=there)


def test_one_edit_is_told_once_with_all_its_cases(many, run):
    change_pack(many, "You stand in", "You are in")
    done = run("test", "--ci")
    assert done.out.count("cause:") == done.out.count("FAILED") == 1 and EDIT in done.out
    assert "not looked for" not in done.out
    told = done.out.partition("  24 more cases with the same cause, 25 goldens in all:\n")[2].splitlines()
    assert told[:24] == [f"    tavern/{name:<7}  text" for name in ("fog", *(f"more_{at:02}" for at in range(23)))]
    assert told[24:] == [
        "",
        "passed                  0",
        "failed                 25",
        "  goldens that differ  25  25 text",
        "",
        "0 passed, 25 failed",
    ]


@pytest.mark.parametrize("kind", ["json", "markdown"])
def test_reports_group_them_too(many, run, kind):
    change_pack(many, "You stand in", "You are in")
    out = run("test", "--ci", "--format", kind).out
    if kind == "markdown":
        assert out.count("<details>") == 1 and "<summary>tavern/calm and 24 more cases</summary>" in out
        assert out.count("| failed |") == 25 and out.count("cause:") == 1
        return
    (cause,) = json.loads(out)["causes"]
    assert cause["cause"] == [EDIT.removeprefix("cause: ")] and len(cause["cases"]) == len(cause["goldens"]) == 25
    assert cause["goldens"][0] == "fixtures/tavern/calm/golden.txt"


def test_two_edits_that_move_different_cases_are_told_apart(many, run):
    (many / "fixtures/tavern/other.json").write_text(json.dumps(STATE | {"place": "the square"}), encoding="utf-8")
    for at in range(3):
        make_case(many, f"other_{at}", golden=GOLDEN.replace("harbour", "square"), state="../other.json")
    commit(many)
    (many / "fixtures/tavern/other.json").write_text(json.dumps(STATE | {"place": "the market"}), encoding="utf-8")
    (many / "fixtures/tavern/state.json").write_text(json.dumps(STATE | {"place": "the inn"}), encoding="utf-8")
    out = run("test", "--ci").out
    assert out.count("FAILED") == 2 and "2 more cases with the same cause, 3 goldens" in out
    assert "24 more cases with the same cause, 25 goldens" in out
    assert out.index("state.json:1:") < out.index("other.json:1:")


@pytest.mark.parametrize("is_first", [True, False])
def test_edits_that_only_together_explain_a_case_are_not_told_of_one_that_needs_fewer(many, run, is_first):
    """Both edits show in every case but the last, which never says what is seen. The edit that it shows is the first or the last."""
    lone = make_case(many, "zone", golden="You stand in the harbour.\n", state="{base: ../state.json, set: {/seen: []}}")
    if not is_first:
        change_pack(many, PLACE, "")
        change_pack(many, "overflow: [evict: {}]\n", f"overflow: [evict: {{}}]\n{PLACE}")
        run("test")
        run("accept", "--all")
    commit(many)
    change_pack(many, "You stand in", "You are in")
    change_pack(many, "You see:", "There are:")
    out = run("test", "--ci").out
    assert lone.is_dir() and out.count("FAILED") == 2
    first, second = out.split("FAILED tavern/zone")
    assert first.count("cause:") == 2 and "24 more cases with the same cause" in first
    assert second.count("cause:") == 1 and "sections.place.text: stand… → are…" in second


def test_a_cause_is_found_for_a_case_whose_state_is_neither_beside_it_nor_beside_its_pack(many, run):
    (many / "fixtures/far.json").write_text(json.dumps(STATE), encoding="utf-8")
    make_case(many, "far", golden=GOLDEN, state="../../far.json")
    commit(many)
    change_pack(many, "You stand in", "You are in")
    assert EDIT in run("test", "--ci", "-k", "far").out


def test_claims_that_do_not_hold_are_told_of_every_case(many, run):
    make_case(many, "claimed", "expect: {contains: [stand]}\n", golden=GOLDEN)
    commit(many)
    change_pack(many, "You stand in", "You are in")
    out = run("test", "--ci").out
    assert "    tavern/claimed  text\n      PC0924 the prompt does not contain `stand`\n" in out


def test_what_the_prompts_come_to_is_told_where_it_is_another(many, run):
    change_pack(many, "budget: 40\n", "budget: 9\n")
    run("test")
    run("accept", "--all")
    commit(many)
    change_pack(many, "budget: 9\n", "budget: 40\n")
    out = run("test", "--ci").out
    assert "    tavern/more_00  text  12 → 20 tokens  seen gained 2\n" in out, out


def test_failures_beyond_the_first_searches_say_that_theirs_was_not_made(many, run, monkeypatch):
    """Each has an edit of its own; one that is moved by an edit that is known has its cause all the same."""
    monkeypatch.setattr(cause, "_MOST_SEARCHES", 2)
    for name in ("calm", "more_00", "more_01"):
        folder = many / "fixtures/tavern" / name
        (folder / "case.yaml").write_text(
            f"title: {name}\nstate: {{base: ../state.json, set: {{/place: {name}}}}}\ngolden: [text]\n", encoding="utf-8"
        )
    out = run("test", "--ci").out
    assert out.count("cause: fixtures/tavern/") == 2 and out.count("cause: not looked for: ") == 1
    assert "more_01" in out.split("not looked for")[0].rpartition("FAILED")[2]


def _list_lines(many, run, kind):
    """What the format says of an edit that gives 24 of the 25 cases two items more; the last has one item alone."""
    change_pack(many, "budget: 40\n", "budget: 9\n")
    run("test")
    assert run("accept", "--all").code == 0
    commit(many)
    change_pack(many, "budget: 9\n", "budget: 40\n")
    return run("test", "--ci", "--format", kind)


SAID = "24 goldens of 24 cases differ, cause: sections.seen.budget: 9 → 40"
OTHER = [f"tavern/{name}  text  12 → 20 tokens  seen gained 2" for name in ("calm   ", "more_00", "more_22")]


def test_concise_tells_one_edit_once_at_its_line_with_all_its_cases(many, run):
    first, *others = _list_lines(many, run, "concise").out.splitlines()
    assert first == f"FAILED tavern/calm  packs/tavern/pack.yaml:10:13: PC0920 {SAID}"
    assert [others[0], others[1], others[23]] == [f"    {one}" for one in OTHER]
    assert others[24:] == ["1 passed, 24 failed"]


def test_an_annotation_stands_at_the_edit_and_names_all_its_cases(many, run):
    (line,) = _list_lines(many, run, "github").out.splitlines()
    head, *others = line.split("%0A")
    assert head == f"::error file=packs/tavern/pack.yaml,line=10,col=13,title=promptc PC0920::{SAID}"
    assert len(others) == 24 and [others[0], others[1], others[23]] == OTHER


def test_sarif_has_one_result_at_the_edit_and_every_golden_beside_it(many, run):
    (result,) = Sarif.model_validate_json(_list_lines(many, run, "sarif").out).runs[0].results
    assert result.message.text.splitlines()[:2] == [SAID, OTHER[0]]
    place = result.locations[0].physical_location
    assert (place.artifact_location.uri, place.region.start_line, place.region.start_column) == ("packs/tavern/pack.yaml", 10, 13)
    goldens = [one.physical_location.artifact_location.uri for one in result.related_locations]
    assert len(goldens) == 24 and goldens[1] == "fixtures/tavern/more_00/golden.txt"
    assert [one.id for one in result.related_locations] == list(range(1, 25))


def test_junit_tells_the_cause_in_every_case_it_moved(many, run):
    done = _list_lines(many, run, "junit")
    cases = [case for suite in JUnitXml.fromroot(JUnitXml.fromstring(done.out.encode())._elem) for case in suite]
    assert len(cases) == 25 and [case.name for case in cases if not case.result] == ["fog"]
    for case in (case for case in cases if case.result):
        (failure,) = case.result
        cause = "differs (text), cause: packs/tavern/pack.yaml:10:13 sections.seen.budget: 9 → 40"
        assert failure.message == f"1 golden of `tavern/{case.name}` {cause}" and failure.type == "PC0920"
        assert "\nwith the same cause: tavern/" in failure.text and failure.text.endswith(", 19 more\n")
        assert "tokens 12 → 20 (+8)" in failure.text and "gained `gulls` · `a ladder`" in failure.text


@pytest.mark.parametrize("kind", ["concise", "github", "sarif", "junit"])
def test_a_strangers_words_stay_in_the_line_of_the_cause(many, run, kind):
    """An edit of a stranger is quoted where others act upon lines: none of it begins one, and none of it is a command."""
    change_pack(many, "You stand in", "::error::%0A \u202e postgres://u:secret@h You stand in")
    out = run("test", "--ci", "--format", kind).out
    assert "25 goldens of 25 cases" in out or kind == "junit"
    assert "\u202e" not in out and "secret" not in out
    if kind == "github":
        (line,) = out.splitlines()
        assert line.startswith("::error file=packs/tavern/pack.yaml,") and "%250A" in line
    elif kind != "concise":
        assert not any(line.lstrip().startswith("::") for line in out.splitlines())


def test_claims_that_one_edit_broke_are_told_beside_it(many, run):
    """The golden that differs is told with the others; the claim, which accepting does not mend, at its own line."""
    make_case(many, "claimed", "expect: {contains: [stand]}\n", golden=GOLDEN)
    commit(many)
    change_pack(many, "You stand in", "You are in")
    lines = run("test", "--ci", "--format", "concise").out.splitlines()
    said = "26 goldens of 26 cases differ, cause: sections.place.text: stand… → are…"
    assert [line for line in lines if line.startswith("FAILED")] == [
        f"FAILED tavern/calm  packs/tavern/pack.yaml:7:28: PC0920 {said}",
        "FAILED tavern/claimed  fixtures/tavern/claimed/case.yaml:3:21: PC0924 the prompt does not contain `stand`",
    ]
    assert "stand" in PACK


@pytest.mark.dear
def test_an_edit_that_leaves_no_prompt_says_why_and_counts_no_golden(many, run):
    make_case(many, "noted")
    assert run("test").code == 0 and run("accept", "--all").code == 0
    commit(many)
    change_pack(many, "pinned: true", "pinned: true, budget: 1")
    why = "packs/tavern/pack.yaml:7:80: PC0530 section `place` is pinned and needs 6 tokens, and its budget is 1"
    done = run("test", "--ci", "--format", "concise")
    first, said, *others = done.out.splitlines()
    assert first.startswith(f"FAILED tavern/calm  {why}")
    assert said.startswith("    26 cases fail, cause: packs/tavern/pack.yaml:7:") and " sections.place" in said
    assert "    tavern/noted    no prompt" in others, others
    assert "  25 more cases with the same cause:\n" in run("test", "--ci").out
