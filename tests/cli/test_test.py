"""`promptc test`, over a repository of a few cases made for each test."""

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from promptc.golden.verdicts.pending import list_pending, read_pending
from tests.cli.conftest import PACK, STATE, command, environment

GOLDEN = "You stand in the harbour.\n\nYou see:\n- gulls\n- a ladder\n- fog\n"


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    """A repository with two cases that pass; nothing known."""
    monkeypatch.setenv("PROMPTC_CACHE", str(tmp_path / ".cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "packs/tavern").mkdir(parents=True)
    (tmp_path / "packs/tavern/pack.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "fixtures/tavern").mkdir(parents=True)
    (tmp_path / "fixtures/tavern/state.json").write_text(json.dumps(STATE), encoding="utf-8")
    make_case(tmp_path, "calm", golden=GOLDEN)
    make_case(tmp_path, "fog", golden=GOLDEN.replace("- gulls\n- a ladder\n", ""), state="{base: ../state.json, set: {/seen: [fog]}}")
    return tmp_path


def make_case(there: Path, name: str, more: str = "", *, golden: str | None = None, state: str = "../state.json") -> Path:
    folder = there / "fixtures/tavern" / name
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text(f"title: {name}\nstate: {state}\n{more}golden: [text]\n", encoding="utf-8")
    if golden is not None:
        (folder / "golden.txt").write_bytes(golden.encode())
    return folder


def change_pack(there: Path, old: str, new: str) -> None:
    manifest = there / "packs/tavern/pack.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_all_pass_and_nothing_is_written(there, run):
    before = {path: path.read_bytes() for path in there.rglob("*") if path.is_file()}
    done = run("test", "--no-cache")
    assert (done.code, done.out, done.err) == (0, "2 passed\n", "")
    assert {path: path.read_bytes() for path in there.rglob("*") if path.is_file()} == before


def test_the_tokens_of_a_golden_without_a_note_are_counted(there, run):
    change_pack(there, "You stand in", "At last you are in")
    assert "\n  tokens 20 → 22 (+2)\n" in run("test", "--ci").out
    markdown = run("test", "--ci", "--format", "markdown").out
    assert "| `tavern/calm` | failed | 20 → 22 (+2) |  |  |" in markdown
    assert "\n    tokens 20 → 22 (+2)\n" in run("test", "--ci", "--format", "concise").out
    assert run("test").code == 1
    noted = there / "fixtures/tavern/calm/golden.inputs.json"
    (seen,) = (read_pending(one) for one in list_pending(["fixtures/tavern/calm"]))
    assert seen.before is not None and (seen.before.tokens, seen.before.sections, seen.after.tokens) == (20, {}, 22)
    assert run("accept", "--all").code == 0 and set(json.loads(noted.read_text(encoding="utf-8"))) == {
        *("counter", "figures", "files", "promptc"),
    }


@pytest.mark.parametrize(
    "golden", ["[]", "nothing", '[{"role": 1, "content": "x"}]', '[{"role": "user"}]', '[{"role": "user", "content": 3}]']
)
def test_a_golden_that_is_no_prompt_has_no_tokens(there, run, golden):
    case = make_case(there, "said", "with: {format: messages}\n")
    manifest = case / "case.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("[text]", "[messages]"), encoding="utf-8")
    assert run("test", "-k", "said").code == 0 and run("accept", "--all").code == 0
    noted = json.loads((case / "golden.inputs.json").read_text(encoding="utf-8"))["figures"]["tokens"]
    (case / "golden.inputs.json").unlink()
    change_pack(there, "You stand in", "At last you are in")
    whole = run("test", "--ci", "-k", "said").out
    assert noted == 26 and "\n  tokens 26 → 28 (+2)\n" in whole
    (case / "golden.messages.json").write_text(golden, encoding="utf-8")
    done = run("test", "--ci", "-k", "said")
    assert done.code == 1 and ("\n  tokens 28\n" in done.out) is (golden != "[]")


def test_a_name_moves_no_cursor(there, run):
    make_case(there, "plain").rename(there / "fixtures/tavern/a\x1b[31m\u202e\nb")
    done = run("test")
    assert "promptc accept" in done.err
    assert not {"\x1b", "\u202e"} & {*done.out, *done.err} and "a\\x1b[31m\\u202e\\nb" in done.err


def test_a_difference_is_shown_and_left_pending(there, run):
    change_pack(there, "You stand in", "You are in")
    done = run("test")
    assert done.code == 1
    assert done.out.startswith("FAILED tavern/calm  calm\n") and done.out.endswith("0 passed, 2 failed\n")
    assert "stand" in done.out and "are" in done.out
    assert "promptc review" in done.err and "promptc accept tavern/calm" in done.err
    folder = there / "fixtures/tavern/calm"
    assert (folder / "golden.txt").read_text(encoding="utf-8") == GOLDEN
    assert (folder / "golden.txt.new").read_text(encoding="utf-8") == GOLDEN.replace("stand", "are")
    noted = json.loads((folder / "golden.inputs.json.new").read_text(encoding="utf-8"))
    assert set(noted["files"]) == {"fixtures/tavern/calm/case.yaml", "fixtures/tavern/state.json", "packs/tavern/pack.yaml"}
    assert noted["figures"]["items"]["seen"] == STATE["seen"]


def test_what_was_noted_tells_of_the_next_change(there, run):
    change_pack(there, "budget: 40\n", "budget: 39\n")
    change_pack(there, "You stand", "You, stand")
    run("test")
    assert run("accept", "--all").code == 0
    assert run("test").code == 0
    assert (there / "fixtures/tavern/calm/golden.inputs.json").is_file()
    change_pack(there, "budget: 39", "budget: 12")
    done = run("test", "fixtures/tavern/calm")
    assert "seen  " in done.out and "dropped `gulls`" in done.out


def test_a_run_ends_with_a_table_of_what_is_not_as_it_was(there, run):
    """Goldens by kind in their order, claims apart from them, why cases were skipped; and no table where all is well."""
    shutil.copytree(there / "fixtures/tavern/fog", there / "fixtures/tavern/told")
    case = there / "fixtures/tavern/told/case.yaml"
    case.write_text(case.read_text(encoding="utf-8").replace("[text]", "[report, text]"), encoding="utf-8")
    assert run("test").code == 0 and run("accept", "--all").code == 0 and run("test").out == "3 passed (3 unchanged since)\n"
    make_case(there, "claimed", "expect: {contains: [stand]}\n", golden=GOLDEN)
    make_case(there, "unread")
    (there / "fixtures/tavern/calm/golden.report.json").write_text("{}", encoding="utf-8")
    (make_case(there, "wrong") / "case.yaml").write_text("title: 1\n", encoding="utf-8")
    change_pack(there, "You stand in", "You are now in")
    done = run("test", "--no-cache")
    assert done.out.endswith("""\

passed                     0
failed                     4
  goldens that differ      5  4 text, 1 report
  claims that do not hold  1
broken                     1
new                        1
  goldens not there yet    1  1 text
obsolete                   1

0 passed, 4 failed, 1 broken, 1 new, 1 obsolete
""")
    assert all(len(line) <= 80 for line in done.out.splitlines()[-11:])
    for kind in ("concise", "json"):
        assert "goldens that differ" not in run("test", "--format", kind).out


# contract 14.17
def test_a_pending_golden_goes_when_all_is_well_again(there, run):
    change_pack(there, "You stand in", "You are in")
    run("test")
    assert list(there.rglob("*.new"))
    change_pack(there, "You are in", "You stand in")
    assert run("test").out == "2 passed\n"
    assert not list(there.rglob("*.new"))


@pytest.mark.parametrize("way", ["option", "variable"])
def test_in_ci_nothing_is_written(there, run, monkeypatch, way):
    make_case(there, "unread")
    change_pack(there, "You stand in", "You are in")
    if way == "variable":
        monkeypatch.setenv("CI", "true")
    done = run("test", *(["--ci"] if way == "option" else []))
    assert done.code == 1 and done.out.endswith("0 passed, 2 failed, 1 new\n")
    assert not list(there.rglob("*.new"))


# contract 14.15 and 14.16
def test_what_is_new_or_obsolete_fails_in_ci_only(there, run):
    make_case(there, "unread")
    (there / "fixtures/tavern/calm/golden.report.json").write_text("{}", encoding="utf-8")
    done = run("test")
    assert done.code == 0 and done.out.endswith("2 passed, 1 new, 1 obsolete\n")
    assert "OBSOLETE tavern/calm" in done.out
    (there / "fixtures/tavern/unread/golden.txt.new").unlink()
    assert run("test", "--ci").code == 1


def test_a_pending_golden_fails_in_ci(there, run):
    (there / "fixtures/tavern/calm/golden.txt.new").write_text("stale", encoding="utf-8")
    done = run("test", "--ci")
    assert done.code == 1 and "PC0923" in done.out and done.out.endswith("1 passed, 1 failed\n")
    assert (there / "fixtures/tavern/calm/golden.txt.new").exists()


def test_noted_inputs_that_were_left_behind_are_no_golden(there, run):
    """Nothing could be accepted or rejected, and the next run that writes takes them away."""
    left = there / "fixtures/tavern/calm/golden.inputs.json.new"
    left.write_text("{}", encoding="utf-8")
    done = run("test", "--ci")
    assert (done.code, done.out) == (0, "2 passed\n") and left.exists()
    (there / "fixtures/tavern/calm/golden.txt.new").write_text("stale", encoding="utf-8")
    assert run("test", "--ci", "--format", "concise").out.count("PC0923") == 1
    run("test")
    assert not list(there.rglob("*.new"))


@pytest.mark.parametrize("filter", [("-k", "fog"), ("tavern/fog",), ("tavern/f*",), ("--changed",)])
def test_obsolete_is_never_told_on_a_filtered_run(there, run, filter):
    (there / "fixtures/tavern/fog/golden.report.json").write_text("{}", encoding="utf-8")
    assert "obsolete" not in run("test", *filter).out


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ((), 2),
        (("fixtures",), 2),
        (("fixtures/tavern/fog",), 1),
        (("fixtures/tavern/fog/case.yaml", "fixtures/tavern"), 2),
        (("packs/tavern",), 2),
        (("packs/tavern/pack.yaml", "tavern/fog"), 2),
        (("tavern/calm",), 1),
        (("-k", "FOG"), 1),
        (("-k", "not fog"), 1),
        (("-k", "fog or (tavern and calm)"), 2),
        (("-k", "*/c*"), 1),
    ],
)
def test_what_is_asked_for(run, asked, count):
    assert run("test", *asked).out == f"{count} passed\n"


# contract 14.16
@pytest.mark.parametrize("asked", [("-k", "storm"), ("tavern/storm",), ("packs",), ("nowhere",)])
def test_no_case_at_all_is_an_error(run, asked):
    done = run("test", *asked)
    assert done.code == 2 and not done.out and "PC0907" in done.err


@pytest.mark.parametrize("more", [(), ("packs/tavern",), ("-k", "fog"), ("--changed",)])
def test_a_pack_without_a_case_is_an_error_wherever_others_have_some(there, run, more):
    """Its cases are told where they are looked for; a run of nothing would pass."""
    (there / "packs/inn").mkdir()
    (there / "packs/inn/pack.yaml").write_text(PACK.replace("tavern", "inn"), encoding="utf-8")
    done = run("test", "packs/inn", *more, "--format", "json")
    assert done.code == 2 and not done.out and "PC0907 no case is found of the pack `packs/inn`" in done.err
    told = " ".join(done.err.split())
    assert "looked for in `packs/inn` and `fixtures`; `promptc test FOLDER` runs those of another folder" in told
    assert "`fixtures/inn/first/case.yaml`" in told and "`packs/inn/cases/first/case.yaml`" in told


def test_cases_of_several_packs_are_run(there, run):
    """Also where they stand in one folder."""
    shutil.copytree(there / "packs/tavern", there / "packs/inn")
    change_pack(there, "You stand in", "You are in")
    shutil.copytree(there / "fixtures/tavern", there / "fixtures/inn")
    assert run("test", "packs/inn", "--ci").out == "2 passed\n"
    for asked in (("packs/inn", "packs/tavern"), ("packs/tavern", "packs/inn"), ("packs/tavern", "packs/inn/pack.yaml", "fixtures")):
        assert run("test", "--ci", "--no-cache", *asked).out.endswith("2 passed, 2 failed\n")


def test_a_pack_and_a_folder_of_its_cases_are_asked_for_at_once(there, run):
    """Beside cases of others, and beside a pack that has none, which is still told."""
    shutil.copytree(there / "packs/tavern", there / "packs/inn")
    shutil.copytree(there / "fixtures/tavern", there / "fixtures/inn")
    for asked in (("packs/tavern", "fixtures/tavern"), ("fixtures/tavern", "packs/tavern"), ("packs/tavern", "fixtures/tavern/fog")):
        assert run("test", "--ci", "--no-cache", *asked).out == "2 passed\n"
    shutil.rmtree(there / "fixtures/inn")
    done = run("test", "packs/inn", "fixtures/tavern")
    assert done.code == 2 and "no case is found of the pack `packs/inn`" in done.err


def test_a_pack_alone_in_its_folder_without_a_case(there, run, monkeypatch):
    (there / "packs/tavern").rename(there / "alone")
    shutil.rmtree(there / "fixtures")
    monkeypatch.chdir(there / "alone")
    done = run("test", ".")
    assert done.code == 2 and "no case is found of the pack `.`" in done.err


@pytest.mark.parametrize("asked", ["empty", "packs/empty"])
def test_a_folder_without_a_case_is_an_error_wherever_others_have_some(there, run, asked):
    (there / asked).mkdir()
    done = run("test", "fixtures", asked)
    assert done.code == 2 and not done.out and f"PC0907 there is no case in `{asked}`" in done.err


def test_a_case_that_cannot_be_read_may_be_of_any_pack(there, run):
    (there / "packs/inn").mkdir()
    (there / "packs/inn/pack.yaml").write_text(PACK.replace("tavern", "inn"), encoding="utf-8")
    (there / "fixtures/tavern/calm/case.yaml").write_text("title: [\n", encoding="utf-8")
    assert run("test", "packs/inn").code == 1


def test_a_pack_has_its_own_cases(there, run):
    """`packs/x/cases/y` belongs to `packs/x`; another pack's cases are not meant."""
    (there / "packs/inn/cases").mkdir(parents=True)
    (there / "packs/inn/pack.yaml").write_text(PACK.replace("tavern", "inn"), encoding="utf-8")
    (there / "fixtures/tavern/calm").rename(there / "packs/inn/cases/calm")
    (there / "packs/inn/cases/state.json").write_text(json.dumps(STATE), encoding="utf-8")
    assert run("test", "packs/inn", "--ci").out == "1 passed\n"
    assert run("test", "packs/tavern").out == "1 passed\n"
    change_pack(there, "You stand in", "You are in")
    assert run("test", "inn/cases/calm").code == 0


def test_a_lone_pack_with_its_cases(tmp_path, run, monkeypatch):
    lone = tmp_path / "packs/tavern"
    (lone / "cases").mkdir()
    (tmp_path / "fixtures/tavern/calm").rename(lone / "cases/calm")
    (lone / "cases/state.json").write_text(json.dumps(STATE), encoding="utf-8")
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    lone.rename(moved / "prompts")
    for left in ("packs", "fixtures"):
        (tmp_path / left).rename(tmp_path / f"old-{left}")
    monkeypatch.chdir(moved / "prompts")
    change_pack_file = moved / "prompts/pack.yaml"
    assert run("test").out == "1 passed\n"
    change_pack_file.write_text(PACK.replace("state.place", "state.plaice"), encoding="utf-8")
    done = run("test", "--ci")
    assert "FAILED cases/calm" in done.out and "pack.yaml:7:" in done.out


def test_what_is_broken_does_not_keep_the_rest_from_being_run(there, run):
    make_case(there, "a_no_state", state="../sate.json", golden=GOLDEN)
    (make_case(there, "b_no_yaml", golden=GOLDEN) / "case.yaml").write_text("title: [", encoding="utf-8")
    linked = make_case(there, "c_link")
    (linked / "golden.txt").symlink_to("../calm/golden.txt")
    (make_case(there, "d_twice", golden=GOLDEN) / "case.yaml").write_text("title: x\ntitle: y\n", encoding="utf-8")
    (make_case(there, "e_no_kind", golden=GOLDEN) / "case.yaml").write_text("title: x\n", encoding="utf-8")
    done = run("test")
    assert done.code == 1 and done.out.endswith("2 passed, 5 broken\n")
    for told in ("PC0902", "PC0110", "PC0906", "is a link", "PC0106", "PC0901"):
        assert told in done.out
    assert "fixtures/tavern/b_no_yaml/case.yaml:1:" in done.out
    assert not list(there.rglob("*.new"))
    assert (linked / "golden.txt").is_symlink()


# contract 14.16
def test_a_pending_golden_that_cannot_be_written(there, run):
    """A folder in its place stands for a read-only folder and a full disk, which an administrator does not meet."""
    for name in ("golden.txt.new", "golden.inputs.json.new"):
        (there / "fixtures/tavern/calm" / name / "held").mkdir(parents=True)
    change_pack(there, "You stand in", "You are in")
    done = run("test")
    assert done.code == 4 and done.out.endswith("0 passed, 2 failed\n")
    assert "PC0903" in done.out and "cannot be written" in done.out
    assert (there / "fixtures/tavern/fog/golden.txt.new").is_file()


def test_an_interrupt_while_a_pending_golden_is_written(there, run, monkeypatch):
    """At the worst place: it is written, and has not got its name."""

    def interrupt(*_):
        raise KeyboardInterrupt

    change_pack(there, "You stand in", "You are in")
    monkeypatch.setattr("promptc.golden.verdicts.pending.os.replace", interrupt)
    assert run("test", "-j", "1").code == 130
    left = {path.name for path in there.joinpath("fixtures/tavern").rglob("*") if path.is_file()}
    assert left == {"state.json", "case.yaml", "golden.txt"}


# contract 14.17
def test_a_case_that_breaks_its_claims_offers_no_golden(there, run):
    make_case(there, "claims", 'expect: {tokens: "<= 3"}\n', golden="old\n")
    done = run("test", "tavern/claims")
    assert done.code == 1 and "PC0924" in done.out
    assert not list(there.rglob("*.new"))


def test_a_pack_that_cannot_be_loaded_fails_its_cases(there, run):
    change_pack(there, "name: tavern", "nmae: tavern")
    done = run("test")
    assert done.code == 1 and done.out.endswith("0 passed, 2 failed\n")
    assert "PC0924 the render was refused: PC0201 (the exit code is 3, not 0)" in done.out and "PC0201 unknown" in done.out


def test_what_passed_is_not_run_again_until_something_changes(there, run):
    assert run("test").out == "2 passed\n"
    assert run("test").out == "2 passed (2 unchanged since)\n"
    assert run("test", "--changed").out == "0 passed, 2 left out as unchanged\n"
    (there / "fixtures/tavern/fog/case.yaml").write_text(
        "title: fog\nstate: {base: ../state.json, set: {/seen: [mist]}}\ngolden: [text]\n", encoding="utf-8"
    )
    done = run("test", "--changed")
    assert done.code == 1 and done.out.endswith("0 passed, 1 failed, 1 left out as unchanged\n")


def test_what_is_tried_is_compared_and_nothing_is_written_or_remembered(there, run):
    """A golden that is pending stays, too."""
    (there / "fixtures/tavern/calm/golden.txt.new").write_text("pending", encoding="utf-8")
    assert run("test").code == 0
    (there / "fixtures/tavern/calm/golden.txt.new").write_text("pending", encoding="utf-8")
    before = {path: path.read_bytes() for path in there.rglob("*") if path.is_file()}
    done = run("test", "--try", "sections.seen.budget=8")
    assert done.code == 1 and "FAILED tavern/calm" in done.out and "[-- gulls-]" in done.out and "cause" not in done.out
    assert done.err == "nothing was written: this is the result of `--try sections.seen.budget=8`\n"
    same = run("test", "--try", "sections.seen.budget=40")
    assert (same.code, same.out) == (0, "2 passed\n")
    assert {path: path.read_bytes() for path in there.rglob("*") if path.is_file()} == before


def test_what_passed_with_something_tried_is_not_believed_without_it(there, run):
    (there / "fixtures/tavern/calm/golden.txt").write_text(GOLDEN.replace("- gulls\n", ""), encoding="utf-8")
    assert run("test", "--try", "sections.seen.budget=12", "-k", "calm").code == 0
    assert run("test", "-k", "calm").code == 1
    assert run("test", "--try", "sections.seen.budget=12", "-k", "calm").code == 0


@pytest.mark.parametrize(
    ("asked", "code", "says"),
    [
        (["--try", "sections.sene.budget=8"], 2, "`sections` has no `sene` (the pack `packs/tavern`)"),
        (["--try", "sections.seen.budget=-8"], 3, "--try sections.seen.budget:1:1: PC0206"),
        (["--try", "sections.seen.budget"], 2, "PC0721"),
        (["--try", "sections.seen.budget=8", "--changed"], 2, "nothing of `--try` is remembered"),
    ],
)
def test_what_cannot_be_tried_is_told_once(there, run, asked, code, says):
    done = run("test", *asked)
    assert (done.code, done.out) == (code, "") and done.err.count(says) == 1


def test_cases_that_call_a_command_are_left_out_of_a_try(there, run):
    folder = make_case(there, "listed")
    (folder / "case.yaml").write_text('title: a map\nrun: ["map", "packs/tavern"]\nexpect: {exit: 0}\n', encoding="utf-8")
    assert run("test", "--try", "budget=400").out == "2 passed, 1 left out as unchanged\n"


def test_what_is_tried_holds_for_cases_in_circumstances_of_their_own(there, run):
    make_case(there, "bare", "given: {missing: [tiktoken]}\n", golden=GOLDEN)
    make_case(there, "elsewhere", "given: {large: {x.bin: 9}}\n", golden=GOLDEN)
    done = run("test", "--try", "sections.seen.budget=8", "--format", "concise")
    assert done.code == 1 and "FAILED tavern/bare" in done.out and "FAILED tavern/elsewhere" in done.out


def test_a_case_that_cannot_be_read_does_not_end_a_try(there, run):
    (make_case(there, "broken") / "case.yaml").write_text("title: [\n", encoding="utf-8")
    done = run("test", "--try", "sections.seen.budget=40")
    assert done.code == 1 and "BROKEN tavern/broken" in done.out and done.out.endswith("\n2 passed, 1 broken\n")


def test_of_several_packs_each_must_have_what_is_tried(there, run):
    (there / "packs/inn").mkdir()
    (there / "packs/inn/pack.yaml").write_text(PACK.replace("name: tavern", "name: inn").replace("id: seen", "id: met"), encoding="utf-8")
    folder = make_case(there, "../inn/one", golden=GOLDEN)
    done = run("test", "--try", "sections.seen.budget=40")
    assert done.code == 2 and "(the pack `packs/inn`)" in done.err
    assert run("test", "packs/tavern", "--try", "sections.seen.budget=40").code == 0
    assert folder.is_dir()


CHANGES = {
    "the state": lambda there: (there / "fixtures/tavern/state.json").write_text(json.dumps({**STATE, "seen": ["fog"]}), encoding="utf-8"),
    "the pack": lambda there: change_pack(there, "You see:", "Seen:"),
    "a golden": lambda there: (there / "fixtures/tavern/calm/golden.txt").write_text(f"{GOLDEN}x", encoding="utf-8"),
    "a golden that is gone": lambda there: (there / "fixtures/tavern/calm/golden.txt").unlink(),
    "the case": lambda there: (there / "fixtures/tavern/calm/case.yaml").write_text(
        'title: calm\nstate: ../state.json\nexpect: {tokens: "< 9"}\ngolden: [text]\n', encoding="utf-8"
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_every_input_counts(there, run, what):
    run("test")
    CHANGES[what](there)
    with_memory, without = run("test", "--ci"), run("test", "--ci", "--no-cache")
    assert with_memory.code == without.code == 1
    assert "FAILED tavern/calm" in without.out or "NEW tavern/calm" in without.out
    assert with_memory.out.replace(" (1 unchanged since)", "") == without.out


def test_a_revision_chooses_what_differs_from_it(there, run):
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=there, check=True, capture_output=True)

    git("init", "-q")
    git("add", "packs", "fixtures")
    git("commit", "-qm", "first")
    assert run("test", "--since", "HEAD").out == "0 passed, 2 left out as unchanged\n"
    (there / "fixtures/tavern/fog/notes.md").write_text("x", encoding="utf-8")
    assert run("test", "--since", "HEAD").out == "1 passed, 1 left out as unchanged\n"
    change_pack(there, "version: 1.0.0", "version: 1.0.1")
    assert run("test", "--since", "HEAD").out == "2 passed\n"
    refused = run("test", "--since", "no-such-branch")
    assert refused.code == 2 and "PC0910" in refused.err


@pytest.mark.dear
def test_the_output_is_the_same_whatever_the_number_of_processes(there, run):
    for number in range(60):
        make_case(there, f"case_{number:02}", golden=GOLDEN if number % 3 else "other\n")
    alone = run("test", "--ci", "-j", "1", "--no-cache")
    assert alone.out.endswith("42 passed, 20 failed\n")
    for jobs in ("2", "3"):
        assert run("test", "--ci", "-j", jobs, "--no-cache").out == alone.out


def _heed_interrupts():
    """As a terminal's processes do; what runs in the background of a script is started deaf to them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("sent", "to_all", "code"),
    [(signal.SIGINT, False, 130), (signal.SIGINT, True, 130), (signal.SIGTERM, False, 143)],
    ids=["by a signal", "as a terminal sends it", "asked to end"],
)
@pytest.mark.dear
def test_an_interrupt_in_the_middle(there, sent, to_all, code):
    """It ends with 130, or 143; no process is left, no golden is touched, and what is pending is whole."""
    for number in range(1500):
        make_case(there, f"case_{number:04}", golden="old\n")
    env = environment(PROMPTC_CACHE=str(there / ".cache"), CI="")
    started = subprocess.Popen(
        command(["test", "-j", "2", "--no-cache", "--format", "concise"]),
        cwd=there,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
        preexec_fn=_heed_interrupts,
    )
    begun = started.stdout.readline()
    (os.killpg if to_all else os.kill)(started.pid, sent)
    out, err = started.communicate(timeout=60)
    assert started.returncode == code and b"Traceback" not in err
    assert begun.startswith(b"FAILED tavern/case_0000") and b"1,500 failed" not in out
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)
    assert {path.read_text(encoding="utf-8") for path in there.rglob("case_*/golden.txt")} == {"old\n"}
    pending = list(there.rglob("golden.txt.new"))
    assert 0 < len(pending) < 1500
    assert {path.read_text(encoding="utf-8") for path in pending} == {GOLDEN}
    assert not list(there.rglob("fixtures/**/*.tmp"))


@pytest.fixture
def elsewhere(there):
    """The repository where everybody may look; an empty folder in which it stands."""
    with tempfile.TemporaryDirectory(prefix="promptc-test-") as made:
        Path(made).chmod(0o755)
        for name in ("packs", "fixtures"):
            shutil.copytree(there / name, Path(made, name))
        yield Path(made)


def start_in(folder: Path, *arguments: str, **more) -> subprocess.CompletedProcess[str]:
    env = environment(PROMPTC_CACHE="", HOME="/nowhere", CI="")
    return subprocess.run(command(arguments), cwd=folder, env=env, capture_output=True, text=True, check=False, **more)


def obey_permissions() -> None:
    """In a process that is about to start another: without CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, which only an administrator has."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        assert [libc.prctl(24, capability, 0, 0, 0) for capability in (1, 2)] == [0, 0]


def test_a_read_only_folder(elsewhere):
    """Not even its owner may write there; an administrator gives up what lets them do so all the same."""
    other = {"preexec_fn": obey_permissions}
    change_pack(elsewhere, "You stand in", "You are in")
    calm, fog = elsewhere / "fixtures/tavern/calm", elsewhere / "fixtures/tavern/fog"
    (calm / "golden.txt.new").write_text("You are in the harbour.\n", encoding="utf-8")
    calm.chmod(0o555)
    before = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    accepted = start_in(elsewhere, "accept", "tavern/calm", **other)
    assert accepted.returncode == 4 and "PC0945" in accepted.stderr and "Permission denied" in accepted.stderr
    assert accepted.stderr.endswith("not accepted, and still pending:\n    fixtures/tavern/calm/golden.txt\n")
    (fog / "golden.txt.new").unlink(missing_ok=True)
    done = start_in(elsewhere, "test", "--no-cache", **other)
    assert done.returncode == 4 and done.stdout.endswith("0 passed, 2 failed\n")
    assert "PC0903" in done.stdout and "Permission denied" in done.stdout
    assert (fog / "golden.txt.new").is_file()
    assert {path: path.read_bytes() for path in before} == before
    calm.chmod(0o755)


def test_a_full_disk(elsewhere):
    """One of a few kilobytes; where that cannot be made, a limit of what a process may write."""
    change_pack(elsewhere, "You stand in", "You are in")
    small = elsewhere / "small"
    small.mkdir()
    is_mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True, check=False)
    try:
        for name in ("packs", "fixtures"):
            shutil.copytree(elsewhere / name, small / name)
        more = {}
        if is_mounted.returncode == 0:
            with contextlib.suppress(OSError), (small / "ballast").open("wb", buffering=0) as file:
                while file.write(b"#" * 4096):
                    pass
        else:
            more = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))}
        before = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}
        done = start_in(small, "test", "--no-cache", **more)
        assert done.returncode == 4 and done.stdout.endswith("0 passed, 2 failed\n")
        assert "PC0903" in done.stdout and ("No space left" in done.stdout or "too large" in done.stdout)
        assert {path: path.read_bytes() for path in small.rglob("*") if path.is_file()} == before
    finally:
        if is_mounted.returncode == 0:
            subprocess.run(["umount", str(small)], check=True)


def test_concise_tells_each_failure_without_a_cause_by_itself(there, run):
    change_pack(there, "You stand in", "You are in")
    done = run("test", "--ci", "--format", "concise")
    assert done.out == (
        "FAILED tavern/calm  fixtures/tavern/calm/golden.txt:1:1: PC0920 1 golden of `tavern/calm` differs (text)\n"
        "    tokens 20\n"
        "FAILED tavern/fog  fixtures/tavern/fog/golden.txt:1:1: PC0920 1 golden of `tavern/fog` differs (text)\n"
        "    tokens 12\n"
        "0 passed, 2 failed\n"
    )


# contract 14.11 and 14.12
def test_a_session_carries_its_tier_and_measures_reuse(there, run):
    folder = there / "fixtures/tavern/session"
    folder.mkdir()
    (folder / "case.yaml").write_text(
        "title: two turns\nstates: [../state.json, {set: {/seen: [gulls, a ladder, rain]}}]\n"
        'expect: {prefix_reuse: ">= 50", tier_changes: 0}\ngolden: [text]\n',
        encoding="utf-8",
    )
    (folder / "golden.1.txt").write_text(GOLDEN, encoding="utf-8")
    (folder / "golden.2.txt").write_text(GOLDEN.replace("fog", "rain"), encoding="utf-8")
    assert run("test", "tavern/session").out == "1 passed\n"
    (folder / "golden.2.txt").write_text(GOLDEN, encoding="utf-8")
    done = run("test", "tavern/session")
    assert done.code == 1 and "golden.2.txt" in done.out and (folder / "golden.2.txt.new").is_file()
    assert not (folder / "golden.1.txt.new").exists()


def test_what_was_accepted_is_not_run_again(there, run):
    """What is pending is what came out, so once it is accepted it is known to pass; by another's hand it is not."""
    change_pack(there, "You stand in", "You are in")
    assert run("test").code == 1
    assert run("accept", "tavern/calm").code == 0
    (there / "fixtures/tavern/fog/golden.txt.new").unlink()
    (there / "fixtures/tavern/fog/golden.inputs.json.new").unlink()
    done = run("test", "--ci")
    assert done.code == 1 and done.out.endswith("1 passed (1 unchanged since), 1 failed\n")
    (there / "fixtures/tavern/calm/golden.txt").write_text("You are in the harbour.\n", encoding="utf-8")
    assert run("test", "--ci").out.endswith("0 passed, 2 failed\n")


def test_a_claim_that_broke_is_judged_again_whatever_is_accepted(there, run):
    folder = make_case(there, "claimed", 'expect: {tokens: "< 9"}\n')
    assert "PC0924" in run("test").out
    (folder / "golden.txt").write_text(GOLDEN, encoding="utf-8")
    done = run("test")
    assert done.code == 1 and "PC0924" in done.out


@pytest.fixture
def below(there):
    """A repository of its own below the working folder: `sub/lighthouse`, with a case that fails and one without a state."""
    lone = there / "sub/lighthouse"
    (lone / "cases/c1").mkdir(parents=True)
    (lone / "pack.yaml").write_text(PACK, encoding="utf-8")
    (lone / "cases/state.json").write_text(json.dumps(STATE), encoding="utf-8")
    (lone / "cases/c1/case.yaml").write_text("title: c1\nstate: ../state.json\ngolden: [text]\n", encoding="utf-8")
    (lone / "cases/c1/golden.txt").write_text("old\n", encoding="utf-8")
    return lone


@pytest.mark.parametrize("format", ["github", "sarif", "junit", "json", "full", "concise", "markdown"])
def test_paths_are_those_from_the_working_folder(below, run, format):
    done = run("test", "sub/lighthouse", "--ci", "--no-cache", "--format", format)
    assert done.code == 1 and "sub/lighthouse/cases/c1/golden.txt" in done.out
    assert done.out.count("cases/c1/golden.txt") == done.out.count("sub/lighthouse/cases/c1/golden.txt")


@pytest.mark.parametrize("format", ["github", "sarif", "junit", "full", "concise", "markdown"])
def test_no_case_can_turn_round_what_people_read(there, run, format):
    """Marks for the direction of text, and controls, are spelled out in the name, the title and the messages of a case."""
    text = 'title: "the \u202e title"\nstate: ../state.json\nexpect: {contains: ["a\u202eb\\u2028c"]}\n'
    (make_case(there, "na\u2066me") / "case.yaml").write_text(text, encoding="utf-8")
    done = run("test", "--ci", "--no-cache", "--format", format)
    assert done.code == 1 and "\\u202e" in done.out and not set(done.out) & set("\u202e\u2028\u2066")


def test_paths_in_messages_and_causes_are_those_from_the_working_folder(there, below, run):
    (below / "cases/c1/golden.txt").unlink()
    assert "`sub/lighthouse/cases/c1/golden.txt` yet" in run("test", "sub/lighthouse", "--ci").out
    subprocess.run(["git", "init", "-q"], cwd=there, check=True)
    run("test", "sub/lighthouse")
    run("accept", "--all", "sub/lighthouse")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "add", "."], cwd=there, check=True)
    subprocess.run([*git, "commit", "-qm", "x"], cwd=there, check=True)
    (below / "pack.yaml").write_text(PACK.replace("You stand", "You sit"), encoding="utf-8")
    assert "cause: sub/lighthouse/pack.yaml:7:" in run("test", "sub/lighthouse", "--ci").out


def test_a_case_that_does_nothing_is_told_what_it_may(there, run):
    (there / "fixtures/tavern/calm/case.yaml").write_text("title: x\n", encoding="utf-8")
    out = run("test").out
    assert "PC0901" in out and "`state`, `states`, `apply`, `recall`, `check`, `run`" in out


def test_a_folder_that_cannot_be_looked_into_is_broken(there, run, monkeypatch):
    """As without the rights to; an administrator, who may run the tests, has them."""
    scan = os.scandir
    closed = str(there / "fixtures/tavern/calm")

    def refuse(path):
        if path == closed:
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    done = run("test")
    assert done.code == 1 and done.out.endswith("1 passed, 1 broken\n")
    assert "PC0903 cannot look into the folder `fixtures/tavern/calm`: Permission denied" in done.out


# contract 14.10
def test_where_the_exit_code_is_another_nothing_else_is_compared(there, run):
    make_case(there, "fails", 'expect: {exit: 3, tokens: "<= 3", contains: [castle]}\n', golden="old\n")
    done = run("test", "tavern/fails")
    assert done.code == 1 and done.out.count("PC0924") == 1 and "not 3" in done.out
    assert not list(there.rglob("*.new"))


# contract 14.11
def test_the_first_turn_of_a_session_that_fails_is_the_last(there, run):
    folder = make_case(there, "session")
    turns = "states: [../state.json, {set: {/seen: 7}}, {set: {/seen: []}}]\n"
    (folder / "case.yaml").write_text(f"title: three turns\n{turns}expect: {{exit: 3, errors: [PC0509]}}\n", encoding="utf-8")
    assert run("test", "tavern/session").out == "1 passed\n"


def test_a_golden_is_seen_with_the_figures_of_its_own_turn_or_none(there, run):
    """A note has the figures of the last turn alone, and those before also when another golden of the case was accepted."""
    (there / "fixtures/tavern/calm/golden.txt").unlink()
    states = "title: calm\nstates: [../state.json, {set: {/seen: [fog]}}]\ngolden: [text]\n"
    (there / "fixtures/tavern/calm/case.yaml").write_text(states, encoding="utf-8")
    run("test")
    run("accept", "--all")
    change_pack(there, "You stand in", "At last you are in")
    run("test")

    def see():
        seen = [read_pending(one) for one in list_pending(["."]) if "calm" in one.path]
        return [(one.before and one.before.tokens, one.after and one.after.tokens) for one in seen]

    assert see() == [(None, None), (12, 14)]
    run("accept", "fixtures/tavern/calm/golden.1.txt")
    assert see() == [(12, 14)]


# contract 14.10
def test_a_key_that_a_turn_adds_is_found_in_the_case(there, run):
    (there / "packs/tavern/schema.json").write_text(
        '{"type": "object", "additionalProperties": false, "properties": {"place": {}, "seen": {}}}', encoding="utf-8"
    )
    change_pack(there, "budget: 400\n", "budget: 400\nstate: {schema: schema.json}\n")
    case = there / "fixtures/tavern/calm/case.yaml"
    case.write_text(
        "title: calm\nstates: [../state.json, {set: {/place: inn}}, {set: {/extra/deep: 1}}]\ngolden: [text]\n", encoding="utf-8"
    )
    out = run("test").out
    assert "fixtures/tavern/calm/case.yaml:2:" in out and "unknown key `extra` (turn 3)" in out and "state.json:1:1" not in out
    change_pack(there, "budget: 400\n", "budget: 400\nstrain: {previous: state.extra | default(none), tiers: [{name: calm, at: 0}]}\n")
    case.write_text("title: calm\ncarry: /extra\nstates: [../state.json, {set: {/place: inn}}]\ngolden: [text]\n", encoding="utf-8")
    assert "fixtures/tavern/calm/case.yaml:2:8: PC0304" in run("test").out


def test_a_folder_whose_name_is_not_utf8(there, run):
    folder = there / "fixtures/tavern" / os.fsdecode(b"odd\xff")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes no such name")
    (folder / "case.yaml").write_text("title: odd\nstate: ../state.json\ngolden: [text]\n", encoding="utf-8")
    done = run("test", "--no-cache", "-j", "1")
    assert done.code == 0 and done.out.startswith("NEW tavern/odd")
    assert run("accept", "--all").code == 0 and (folder / "golden.txt").is_file()
    assert run("test", "--no-cache", "-j", "1").code == 0
    assert b"odd\\udcff" in (folder / "golden.inputs.json").read_bytes()
