"""`promptc models`, and `--model` and `--models` of the commands that render."""

import json
from time import process_time

import pytest

from promptc.model.budget import load_models

PACK, STATE = "fixtures/models/base", "fixtures/models/base/state.json"
OWN = "fixtures/models/own_table/models.toml"


def test_the_list_fits_80_columns_and_has_every_model(run):
    done = run("models")
    assert done.code == 0 and not done.err
    assert max(map(len, done.out.splitlines())) <= 80
    assert [line.split()[0] for line in done.out.splitlines()[1:-2]] == list(load_models().models)
    assert f"as of {load_models().as_of}" in done.out


def test_the_list_is_cut_to_what_begins_so(run):
    found = json.loads(run("models", "claude-opus", "gpt-4o-mini", "--format", "json").out)
    assert [one["name"] for one in found] == ["gpt-4o-mini", "claude-opus-5-5", "claude-opus-5"]
    assert all(one["source"] and one["as_of"] == load_models().as_of for one in found)
    assert found[1]["tokenizer"] is None


def test_a_model_that_is_not_listed(run):
    done = run("models", "gpt-4o-minni")
    assert done.code == 2 and "PC0524" in done.err and "did you mean `gpt-4o-mini`?" in done.err


def test_a_table_of_the_users_is_listed_too(run):
    found = json.loads(run("models", "gpt-4o", "--models", OWN, "--format", "json").out)
    first = found[0]
    assert (first["name"], first["context"], first["as_of"]) == ("gpt-4o", 4500, "2027-01-02")


def test_a_name_cannot_turn_the_terminal_around(run, tmp_path):
    (tmp_path / "own.toml").write_text('as_of = 2027-01-02\n[[model]]\nname = "our\\u202Emodel"\ncontext = 4500\n', encoding="utf-8")
    done = run("models", "our", "--models", str(tmp_path / "own.toml"))
    assert done.out.splitlines()[1].startswith("our\\u202emodel ") and "\u202e" not in done.out


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ((), "model gpt-4o: context 128,000, reserve 4,000 (as of "),
        (("--model", "gpt-4.1"), "model gpt-4.1: context 1,047,576, reserve 4,000 (as of "),
        (("--models", OWN), "model gpt-4o: context 4,500, reserve 4,000 (as of 2027-01-02)"),
        (("--patch", "local"), "model qwen3:8b: context 16,384, reserve 4,000 (as the pack says)"),
        (("--model", "gpt-4.1", "--budget", "300"), "model gpt-4.1: context 1,047,576, reserve 4,000 (as of "),
    ],
)
def test_explain_names_the_model(run, given, line):
    done = run("explain", PACK, STATE, *given)
    assert done.code == 0 and line in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_long_line_of_a_model_is_wrapped(run):
    done = run("explain", PACK, STATE, "--model", "gpt-5-mini")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "model gpt-5-mini: context 400,000, input 272,000, reserve 4,000 (as of" in done.out


# contract 8.22
def test_check_judges_the_models_that_are_asked_for(run):
    assert run("check", PACK).code == 0
    done = run("check", PACK, "--model", "gpt-4o", "--model", "claude-opus-5-5")
    assert done.code == 0 and "PC0658" in done.out and "`claude-opus-5-5`" in done.out
    wrong = run("check", PACK, "--model", "gpt-nine")
    assert wrong.code == 1 and "PC0524" in wrong.out and "budget: {model: gpt-4o" in wrong.out


def test_the_map_names_the_model(run):
    assert "the window of `gpt-4o`, 4000 are kept for the answer" in run("map", PACK).out


# contract 8.20
def test_a_cached_render_and_one_that_is_not_are_the_same(run):
    for given in ((), ("--model", "gpt-4.1"), ("--models", OWN)):
        assert run("render", PACK, STATE, *given) == run("render", PACK, STATE, *given, "--no-cache")
    assert run("render", PACK, STATE, "--models", OWN).out != run("render", PACK, STATE).out


def test_a_wrong_model_on_the_command_line_is_a_usage_error(run):
    done = run("render", PACK, STATE, "--model", "gpt-nine")
    assert done.code == 2 and "PC0524" in done.err and not done.out


@pytest.fixture
def asking(tmp_path):
    """A pack with an operation whose question is for a model that only the user's table has; the options that name it."""
    (tmp_path / "pack.yaml").write_text(_ASKING, encoding="utf-8")
    (tmp_path / "digest.yaml").write_text(_DIGEST, encoding="utf-8")
    (tmp_path / "answer.schema.json").write_text('{"type": "object"}', encoding="utf-8")
    (tmp_path / "state.json").write_text('{"digest": "old"}', encoding="utf-8")
    (tmp_path / "models.toml").write_text('as_of = 2027-01-02\n[[model]]\nname = "our-finetune"\ncontext = 4500\n', encoding="utf-8")
    return tmp_path


def test_an_operation_follows_a_table_of_the_users(run, asking):
    pack, state, own = str(asking), str(asking / "state.json"), ("--models", str(asking / "models.toml"))
    asked = run("apply", pack, "checkpoint", state, *own)
    assert asked.code == 0 and "Write a digest of: old" in asked.out
    alone = run("apply", pack, "checkpoint", state)
    assert alone.code == 3 and "PC0524" in alone.err and "our-finetune" in alone.err
    assert run("apply", pack, "--list", state, *own).code == 0


def test_an_answer_is_checked_with_a_table_of_the_users(run, asking):
    """The state chooses the case whose response it is, and with it the budget."""
    pack, state, own = str(asking), str(asking / "state.json"), ("--models", str(asking / "models.toml"))
    (asking / "answer.json").write_text("{}", encoding="utf-8")
    given = ("answer", pack, str(asking / "answer.json"), "--state", state)
    assert run(*given, *own).code == 0
    alone = run(*given)
    assert alone.code == 3 and "PC0524" in alone.err


_ASKING = """
promptc: 1
name: logbook
version: 0.1.0
tokenizer: chars/4
budget: {model: our-finetune, reserve: 4000}
response: answer.schema.json
sections:
  - {id: digest, text: "{{ state.digest }}"}
operations:
  checkpoint:
    title: Write a digest
    asks: {digest: {pack: digest.yaml, else: {text: nothing}}}
    edits: [{set: /digest, to: answers.digest}]
    say: done
"""
_DIGEST = """
promptc: 1
name: digest
version: 0.1.0
tokenizer: chars/4
budget: {model: our-finetune, reserve: 4000}
sections:
  - {id: ask, role: user, text: "Write a digest of: {{ state.digest }}"}
"""


def test_a_table_of_a_stranger_shows_no_controls_and_stays_narrow(run, tmp_path):
    table = tmp_path / "models.toml"
    named = ('"m\\u001b[31m\\u202e"', '"' + "m" * 9000 + '"')
    models = "".join(f"[[model]]\nname = {name}\ncontext = 9\ntokenizer = {name}\n" for name in named)
    table.write_text(f"as_of = 2027-01-02\n{models}", encoding="utf-8")
    done = run("models", "--models", str(table))
    assert done.code == 0 and "m\\x1b[31m\\u202e" in done.out and all(one.isprintable() for one in done.out.splitlines())
    assert max(map(len, done.out.splitlines())) < 200


@pytest.mark.parametrize("lines", ['[[model]]\nname = "m{n}"\n', '[[model]]\nname = "m"\nx = 1\n', "k{n} = 1\n", "[[media]]\nmodels = 1\n"])
def test_a_long_table_is_read_in_linear_time(run, tmp_path, lines):
    table = tmp_path / "models.toml"
    table.write_text("as_of = 2027-01-02\n" + "".join(lines.format(n=n) for n in range(15_000)), encoding="utf-8")
    begun = process_time()
    assert run("models", "gpt-5.6", "--models", str(table)).code in (0, 3)
    assert process_time() - begun < 15
