"""Cases and goldens that hold nothing: a golden that nobody reads, a case that claims nothing."""

import pytest

from promptc.cli.main import main
from tests.cli.test_test import GOLDEN, change_pack, make_case, there  # noqa: F401

_UNREAD = "BROKEN tavern/lost\n  PC0922 `fixtures/tavern/lost` has goldens and no `case.yaml`: nobody reads `golden.txt`\n"


@pytest.fixture
def lost(there):  # noqa: F811
    """A case whose file was renamed; its golden is not what comes out."""
    folder = make_case(there, "lost", golden="other")
    (folder / "golden.inputs.json").write_text("{}", encoding="utf-8")
    (folder / "case.yaml").rename(folder / "case.yml")
    return folder


# contract 14.15
@pytest.mark.parametrize(
    "asked", [(), ("fixtures",), ("packs/tavern",), ("--changed",), ("--ci",), ("-k", "lost"), ("fixtures/tavern/lost",)]
)
def test_goldens_without_a_case_are_an_error_wherever_they_are_met(lost, run, asked):
    done = run("test", *asked)
    assert done.code == 1 and _UNREAD in done.out
    assert "`case.yml` is not read: call it `case.yaml`" in done.out and "prune" not in done.out + done.err
    (lost / "case.yml").rename(lost / "case.yaml")
    assert "FAILED tavern/lost" in run("test", *asked).out


@pytest.mark.parametrize("asked", [("-k", "calm"), ("tavern/calm",), ("fixtures/tavern/calm",)])
def test_a_run_of_other_cases_does_not_tell_of_them(lost, run, asked):
    assert run("test", *asked).out == "1 passed\n"


def test_a_pack_is_told_of_its_own_alone(there, lost, run):  # noqa: F811
    elsewhere = there / "fixtures/inn"
    (there / "fixtures/tavern/lost").rename(elsewhere)
    assert run("test", "packs/tavern").out == "2 passed\n"
    assert "BROKEN inn" in run("test").out


def test_the_only_case_of_a_folder_was_renamed(there, lost, run):  # noqa: F811
    """There is something to run, which cannot be: that is no usage error."""
    done = run("test", "fixtures/tavern/lost", "--format", "concise")
    assert done.code == 1 and done.out.endswith("0 passed, 1 broken\n")


def test_goldens_beside_no_case_at_all_can_be_pruned(there, lost, run):  # noqa: F811
    (lost / "case.yml").unlink()
    done = run("test")
    assert done.code == 1 and "write its `case.yaml`; run `promptc prune` to remove what no case asks for" in done.out
    assert run("prune").code == 0 and not list(lost.iterdir())


def test_goldens_beside_a_misnamed_case_are_never_pruned(lost, run):
    done = run("prune")
    assert done.code == 3 and "PC0922" in done.err and "call it `case.yaml`" in done.err
    assert (lost / "golden.txt").exists()


def test_what_was_left_pending_by_a_case_that_is_gone_is_obsolete(there, run):  # noqa: F811
    """As after another branch is checked out, where git leaves what it ignores."""
    folder = make_case(there, "gone")
    run("test")
    (folder / "case.yaml").unlink()
    done = run("test")
    assert done.code == 0 and done.out.endswith(", 2 obsolete\n")
    assert run("test", "--ci").code == 1


def test_a_file_that_promptc_never_writes_is_no_golden(there, run):  # noqa: F811
    (there / "fixtures/tavern/golden.py").write_text("", encoding="utf-8")
    (there / "fixtures/tavern/calm/golden.retriever.txt").write_text("", encoding="utf-8")
    assert run("test", "--ci").out == "2 passed\n"
    run("prune")
    assert (there / "fixtures/tavern/golden.py").exists() and (there / "fixtures/tavern/calm/golden.retriever.txt").exists()


# contract 14.8
@pytest.mark.parametrize(
    "claims",
    [
        "",
        "expect: {}\n",
        "golden: []\n",
        "expect: {contains: [], lacks: [], variants: {}, sections: {}}\n",
    ],
)
@pytest.mark.parametrize("does", ["state: ../state.json", "states: [../state.json, ../state.json]", "run: [check, packs/tavern]"])
def test_a_case_that_holds_nothing_is_broken(there, run, claims, does):  # noqa: F811
    folder = make_case(there, "idle")
    (folder / "case.yaml").write_text(f"title: idle\n{does}\n{claims}", encoding="utf-8")
    done = run("test")
    assert done.code == 1 and "PC0901 the case holds nothing" in done.out and "2 passed, 1 broken\n" in done.out
    assert "golden: [text]" in done.out and "expect: {exit: 0}" in done.out


# contract 14.8
@pytest.mark.parametrize(
    "claims",
    [
        "expect: {exit: 0}",
        "expect: {warnings: []}",
        "expect: {errors: []}",
        "expect: {flags: {}}",
        "expect: {strain: null}",
        "expect: {sections: {seen: {items: 3}}}",
        "expect: {sections: {seen: present}}",
        "expect: {sections: {seen: {}}}",
        "golden: [text]",
    ],
)
def test_a_case_that_holds_something_is_run(there, run, claims):  # noqa: F811
    folder = make_case(there, "held", golden=GOLDEN)
    (folder / "case.yaml").write_text(f"title: held\nstate: ../state.json\n{claims}\n", encoding="utf-8")
    assert run("test", "tavern/held").out == "1 passed\n"


# contract 14.8
def test_a_check_claims_that_nothing_is_found(there, run):  # noqa: F811
    folder = make_case(there, "checked")
    (folder / "case.yaml").write_text("title: checked\ncheck: true\n", encoding="utf-8")
    assert main(["check", "packs/tavern"]) == 0
    assert run("test", "tavern/checked").out == "1 passed\n"
    (there / "packs/tavern/pack.yaml").write_text("promptc: 1\n", encoding="utf-8")
    assert run("test", "tavern/checked").code == 1


def test_goldens_beside_a_case_that_holds_nothing_are_kept(there, run):  # noqa: F811
    """Its `golden` was forgotten, more likely than the files."""
    (there / "fixtures/tavern/calm/case.yaml").write_text("title: calm\nstate: ../state.json\n", encoding="utf-8")
    done = run("test")
    assert done.out.endswith("1 passed, 1 broken\n") and "prune" not in done.out + done.err
    pruned = run("prune")
    assert pruned.code == 3 and "PC0901" in pruned.err and (there / "fixtures/tavern/calm/golden.txt").exists()


# contract 14.15
@pytest.mark.parametrize(
    ("lines", "column", "told"),
    [
        ("golden: [text, messages]", 16, "the golden `messages` would hold nothing: the case makes no messages"),
        ("golden: [payload]", 10, "for the body of a request, add `with: {format: openai}` or another provider"),
        ("golden: [text]\nwith: {format: messages}", 10, "help: choose one of `messages`, `report`, `diagnostics`\n"),
        ("golden: [state]", 10, "the golden `state` would hold nothing: only an operation writes a state"),
        ("golden: [archive]", 10, "the golden `archive` would hold nothing: only an operation archives something"),
    ],
)
def test_a_golden_of_what_a_case_never_makes_is_broken(there, run, lines, column, told):  # noqa: F811
    """It would be empty, and equal to itself whatever the pack becomes."""
    folder = make_case(there, "empty")
    (folder / "case.yaml").write_text(f"title: nothing to compare\nstate: ../state.json\n{lines}\n", encoding="utf-8")
    done = run("test", "tavern/empty")
    assert done.code == 1 and "BROKEN tavern/empty" in done.out and told in done.out and f"case.yaml:3:{column}: PC0901" in done.out
    assert not list(folder.glob("*.new"))


# contract 14.11
@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("carry: /tire\nstates: [../state.json, {set: {/place: inn}}]", "2:8: PC0759 nothing reads `/tire`"),
        ("carry: [/tier, /seen]\nstates: [../state.json, {set: {/place: inn}}]", "2:16: PC0759 nothing reads `/seen`"),
        ("states: talk.jsonl", "2:9: PC0901 `states` names `talk.jsonl`, which has a state on each line"),
        ("carry: /tier\nstate: ../state.json", "2:1: PC0901 `carry` hands on from turn to turn, and the case has no `states`"),
    ],
)
def test_a_carry_that_nothing_reads_breaks_the_case(there, run, lines, told):  # noqa: F811
    change_pack(there, "budget: 400\n", "budget: 400\nstrain: {previous: state.tier | default(none), tiers: [{name: calm, at: 0}]}\n")
    case = there / "fixtures/tavern/calm/case.yaml"
    case.write_text(f"title: calm\n{lines}\ngolden: [text]\n", encoding="utf-8")
    done = run("test", "tavern/calm")
    assert done.code == 1 and "BROKEN tavern/calm" in done.out and f"fixtures/tavern/calm/case.yaml:{told}" in done.out
    if "tire" in lines:
        assert "did you mean `/tier`?" in done.out


@pytest.mark.parametrize("name", ["case.yml", "cases.yaml"])
def test_a_misnamed_case_without_goldens_is_an_error(lost, run, name):
    (lost / "golden.txt").unlink()
    (lost / "golden.inputs.json").unlink()
    (lost / "case.yml").rename(lost / name)
    done = run("test")
    assert done.code == 1 and f"PC0922 `fixtures/tavern/lost` has a `{name}` and no `case.yaml`: nobody reads it\n" in done.out
    assert f"`{name}` is not read: call it `case.yaml`" in done.out
