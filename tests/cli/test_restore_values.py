"""`promptc apply --restore` of values that an operation replaced."""

import json
from pathlib import Path

import pytest

PACK = """\
promptc: 1
name: plans
version: 1.0.0
tokenizer: cl100k_base
budget: 200
sections: [{id: main, text: "{{ state.plan | json }}"}]
operations:
  put:
    args: {plan: null}
    edits:
      - {set: /plan, to: args.plan, archive: plans}
      - {keep: /log, last: 1, archive: log}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "pack.yaml").write_text(PACK)
    (tmp_path / "state.json").write_text('{"plan": {"b": 1.0, "a": []}, "log": [1, 2, 3]}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _plan():
    return json.loads(Path("state.json").read_bytes())["plan"]


def _archives():
    found = [(path, json.loads(path.read_text().splitlines()[1])) for path in sorted(Path("state.json.archive").glob("plans.*"))]
    return {json.dumps(value, sort_keys=True): str(path) for path, value in found}


# contract 9.18 and 9.24
def test_what_is_replaced_is_archived_and_comes_back_as_it_was(here, run):
    before = Path("state.json").read_text()
    done = run("apply", ".", "put", "state.json", "--arg", 'plan="x"')
    assert done.code == 0 and "what was at /plan in state.json.archive/plans." in done.err and _plan() == "x"
    back = run("apply", ".", "--restore", "state.json")
    assert "the value put back at /plan" in back.err and "2 elements put back at /log" in back.err
    assert Path("state.json").read_text() == before, "with the order of its keys, and its numbers as they were written"
    again = run("apply", ".", "--restore", "state.json")
    assert again.code == 0 and "PC0840" not in again.err and Path("state.json").read_text() == before


# contract 9.24
def test_a_value_replaced_many_times_comes_back_step_by_step_or_at_once(here, run):
    for plan in ("1", "2", "1", "2", "3"):
        assert run("apply", ".", "put", "state.json", "--arg", f"plan={plan}").code == 0
    stuck = run("apply", ".", "--restore", "state.json", _archives()['{"a": [], "b": 1.0}'])
    assert stuck.code == 0 and "PC0840 warning" in stuck.err and "`/plan` has changed since `put` wrote it" in stuck.err
    assert _plan() == 3, "nothing that came later is lost"
    assert run("apply", ".", "--restore", "state.json").code == 0 and _plan() == {"b": 1.0, "a": []}


# contract 9.24
def test_what_was_changed_since_stays(here, run):
    run("apply", ".", "put", "state.json", "--arg", "plan=1")
    Path("state.json").write_text('{"plan": "mine", "log": []}')
    done = run("apply", ".", "--restore", "state.json")
    assert done.code == 0 and "PC0840 warning" in done.err and _plan() == "mine"


def test_the_same_value_is_no_loss(here, run):
    for _ in range(2):
        run("apply", ".", "put", "state.json", "--arg", "plan=7")
    assert len(_archives()) == 1


# contract 9.24
def test_what_was_not_there_is_taken_away_again(here, run):
    edits = """
  open:
    edits:
      - {set: /at/last, to: "'noon'", archive: at}
      - {append: /log, to: "4", archive: log}
      - {append: /seen/log, each: "[1, 2]", archive: seen}
"""
    Path("pack.yaml").write_text(PACK.rstrip("\n") + edits)
    before = Path("state.json").read_text()
    for _ in range(2):
        done = run("apply", ".", "open", "state.json")
        assert (
            "the note that nothing was at /at/last in" in done.err
            and "what was appended to /seen/log in" in done.err
            and "archived\n" not in done.err
        )
        assert json.loads(Path("state.json").read_text())["seen"] == {"log": [1, 2]}
        back = run("apply", ".", "--restore", "state.json")
        assert "the value taken away from /at/last" in back.err and "2 elements taken away from /seen/log" in back.err
        assert Path("state.json").read_text() == before, "with all that was made on the way"
    run("apply", ".", "open", "state.json")
    state = json.loads(Path("state.json").read_text())
    state["log"], state["at"] = [*state["log"], 4, 5], {**state["at"], "next": "one"}
    Path("state.json").write_text(json.dumps(state))
    assert run("apply", ".", "--restore", "state.json").code == 0
    left = {**json.loads(before), "log": [1, 2, 3, 4, 5], "at": {"next": "one"}}
    assert json.loads(Path("state.json").read_text()) == left, "what came later stays"
    Path("state.json").write_text('{"at": {"last": "two"}, "log": []}')
    stuck = run("apply", ".", "--restore", "state.json")
    assert "PC0840 warning" in stuck.err and json.loads(Path("state.json").read_text()) == {"at": {"last": "two"}, "log": []}


def test_without_its_note_equal_elements_that_stay_out_are_told(here, run):
    """The note knows that the `1` in the list is another one; the list does not."""
    Path("state.json").write_text('{"plan": 1, "log": [1, 2, 3]}')
    run("apply", ".", "put", "state.json", "--arg", "plan=1")
    Path("state.json").write_text('{"plan": 1, "log": [3, 1]}')
    note = Path("state.json.note").read_bytes()
    Path("state.json.note").unlink()
    done = run("apply", ".", "--restore", "state.json")
    assert json.loads(Path("state.json").read_bytes())["log"] == [2, 3, 1]
    assert done.code == 0 and "PC0840 warning: 1 of 2 elements in `state.json.archive/log." in done.err
    assert "were not restored: `/log` has equal ones, which may be others" in done.err
    Path("state.json").write_text('{"plan": 1, "log": [3, 1]}')
    Path("state.json.note").write_bytes(note)
    done = run("apply", ".", "--restore", "state.json")
    assert json.loads(Path("state.json").read_bytes())["log"] == [1, 2, 3, 1] and "PC0840" not in done.err
