"""What an operation does to a state, edit by edit, what it leaves alone, and what its answers must be."""

import json
from pathlib import Path
from typing import Any

import pytest

import promptc
from promptc.api import Pack
from promptc.cache import Cache
from promptc.diag.findings import PromptcError, UsageError
from promptc.operations.run import ask, judge_answer, list_operations, run_operation
from promptc.text.counters.counter import CharacterCounter, Meter
from tests.unit.operations.small import DIGEST_SCHEMA, OPERATIONS, QUESTION, write_pack

ANSWER = '{"points": ["a", "b"]}'
STATE = {"strain": "tense", "log": [{"text": f"b{n}", "hot": n % 3 == 0} for n in range(6)], "title": "T"}


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return write_pack(tmp_path_factory.mktemp("pack"))


def _edit(tmp_path: Path, *edits: str, **head: str) -> Any:
    lines = "".join(f"      - {edit}\n" for edit in edits)
    more = "".join(f"    {key}: {value}\n" for key, value in head.items())
    return write_pack(tmp_path, f"operations:\n  one:\n{more}    edits:\n{lines}")


def _run(tmp_path: Path, state: Any, *edits: str, **head: str) -> Any:
    return run_operation(_edit(tmp_path, *edits, **head), state, "one").value


# --- edits ---


# contract 9.1, 9.15, 9.16 and 9.19
def test_edits_are_made_in_order_and_see_the_state_before(pack: Any) -> None:
    done = run_operation(pack, STATE, "tidy", answers={"digest": ANSWER})
    assert done.value == {"log": STATE["log"][4:], "title": "T", "digest": ["a", "b"], "notes": ["b0", "b3"]}
    assert [*done.value] == ["log", "title", "digest", "notes"], "keys stay in the file's order, new ones behind them"
    assert done.said == "4 of 6 went." and done.is_changed and not done.fallbacks and not done.warnings


# contract 9.17
@pytest.mark.parametrize("edit", ["{set: /scene/place/name, to: \"'hall'\"}", "{append: /scene/place/name, to: \"'hall'\"}"])
def test_mappings_that_are_declared_and_left_out_are_made_on_the_way(tmp_path: Path, edit: str) -> None:
    scene = {"type": "object", "properties": {"scene": {"type": "object", "properties": {"place": {"type": "object"}}}}}
    head = "promptc: 1\nname: log\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 99\nstate: {schema: state.schema.json}\n"
    operations = f"operations: {{one: {{edits: [{edit}, {{set: /scene/turn, to: 1}}]}}}}\n"
    (tmp_path / "state.schema.json").write_text(json.dumps(scene))
    (tmp_path / "pack.yaml").write_text(f"{head}sections: [{{id: a, text: hello}}]\n{operations}")
    pack = promptc.load(tmp_path)
    name = "hall" if "set: /scene/place" in edit else ["hall"]
    for state in ({}, {"scene": {}}, {"scene": {"place": {}}}):
        assert run_operation(pack, state, "one").value == {"scene": {"place": {"name": name}, "turn": 1}}
    with pytest.raises(PromptcError):
        run_operation(pack, {"scene": {"place": "hall"}}, "one")


# contract 9.16
def test_a_left_out_list_begins_with_its_default_or_empty(tmp_path: Path) -> None:
    new = _run(tmp_path, {}, "{append: /history, to: state.title}", "{append: /notes, to: state.title}")
    assert new == {"history": ["the beginning", "Untitled"], "notes": ["Untitled"]}


# contract 9.15
@pytest.mark.parametrize(("last", "kept"), [("0", []), ("2", ["c", "d"]), ("9", ["a", "b", "c", "d"])])
def test_keep_last(tmp_path: Path, last: str, kept: list[str]) -> None:
    assert _run(tmp_path, {"history": [*"abcd"]}, f"{{keep: /history, last: {last}}}") == {"history": kept}


# contract 9.16 and 9.17
def test_keep_where_sees_each_element_with_its_defaults(tmp_path: Path) -> None:
    state = {"log": [{"text": "a"}, {"text": "b", "hot": True}, {"text": "c"}]}
    pack = _edit(tmp_path, "{keep: /log, where: not item.hot, archive: hot}")
    done = run_operation(pack, state, "one")
    assert done.value == {"log": [{"text": "a"}, {"text": "c"}]}, "what stays stays as it was written"
    (archive,) = done.archives
    assert (archive.name, archive.pointer, archive.length, archive.places) == ("hot", "/log", 3, ((1, 2),))
    assert archive.elements == ({"text": "b", "hot": True},)


def test_a_list_edited_twice_is_archived_as_it_was_then(tmp_path: Path) -> None:
    pack = _edit(tmp_path, "{append: /history, each: \"['c', 'd']\"}", "{keep: /history, last: 1, archive: old}")
    (archive,) = run_operation(pack, {"history": ["a"]}, "one").archives
    assert archive.elements == ("a", "c") and archive.length == 3


# contract 9.15
def test_an_edit_whose_when_does_not_hold_is_left_out(tmp_path: Path) -> None:
    assert _run(tmp_path, {"title": "T"}, "{set: /title, to: \"'U'\", when: not state.title}") == {"title": "T"}


# contract 9.17
def test_what_is_not_there_is_removed_and_kept_without_a_word(tmp_path: Path) -> None:
    pack = _edit(tmp_path, "{remove: /strain}", "{keep: /notes, last: 1, archive: notes}")
    done = run_operation(pack, {"title": "T"}, "one")
    assert done.value == {"title": "T"} and not done.is_changed and not done.archives


# contract 9.17
def test_elements_are_edited_by_their_place(tmp_path: Path) -> None:
    state = {"log": [{"text": "a"}, {"text": "b"}]}
    assert _run(tmp_path, state, "{set: /log/1/hot, to: true}", "{remove: /log/0}") == {"log": [{"text": "b", "hot": True}]}


@pytest.mark.parametrize("edit", ["{set: /log/7/text, to: state.title}", "{set: /title/part, to: state.title}", "{append: /title, to: 1}"])
def test_a_pointer_that_leads_nowhere_changes_nothing(tmp_path: Path, edit: str) -> None:
    with pytest.raises(PromptcError) as raised:
        _run(tmp_path, {"title": "T", "log": [{"text": "a"}]}, edit)
    assert [found.code for found in raised.value.diagnostics] == ["PC0807"]


# contract 9.20
@pytest.mark.parametrize(
    ("edit", "code"),
    [
        ("{keep: /log, last: -1}", "PC0808"),
        ("{keep: /log, last: state.log | length > 1}", "PC0808"),
        ("{append: /history, each: state.title}", "PC0808"),
        ("{set: /title, to: 1e308 * 10}", "PC0416"),
        ("{set: /title, to: 7}", "PC0810"),
        ("{append: /log, to: \"{'txt': 'a'}\"}", "PC0810"),
    ],
)
def test_a_value_that_cannot_stand_changes_nothing(tmp_path: Path, edit: str, code: str) -> None:
    with pytest.raises(PromptcError) as raised:
        _run(tmp_path, {"title": "T", "log": [{"text": "a"}]}, edit)
    assert {found.code for found in raised.value.diagnostics} == {code}


# contract 9.20
def test_a_new_state_passes_the_asserts(tmp_path: Path) -> None:
    text = 'asserts: [{that: state.title, else: "a log has a title"}, {that: state.log, else: "empty", level: error}]\n'
    pack = write_pack(
        tmp_path, f"operations: {{one: {{edits: [{{keep: /log, last: 0}}]}}, two: {{edits: [{{set: /title, to: \"''\"}}]}}}}\n{text}"
    )
    with pytest.raises(PromptcError) as raised:
        run_operation(pack, STATE, "one")
    assert [found.code for found in raised.value.diagnostics] == ["PC0810"] and "empty" in str(raised.value)
    assert run_operation(pack, STATE, "two").value["title"] == ""


# contract 9.20
def test_a_new_state_gives_every_let_a_value(tmp_path: Path) -> None:
    head = "promptc: 1\nname: log\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 99\nlet: {first: 'state.log[0]'}\n"
    body = "sections: [{id: a, text: hello}]\noperations: {one: {edits: [{keep: /log, last: 0}]}}\n"
    (tmp_path / "pack.yaml").write_text(head + body)
    pack = promptc.load(tmp_path)
    with pytest.raises(PromptcError) as raised:
        run_operation(pack, STATE, "one")
    assert [found.code for found in raised.value.diagnostics] == ["PC0810"]


def test_a_fault_that_was_there_before_is_told_from_a_new_one(tmp_path: Path) -> None:
    text = "asserts: [{that: \"state.title != 'bad'\", else: a bad title, level: error}]\n"
    edits = "{one: {edits: [{append: /notes, to: \"'x'\"}]}, two: {edits: [{set: /title, to: \"'good'\"}]}}"
    pack = write_pack(tmp_path, f"operations: {edits}\n{text}")
    with pytest.raises(PromptcError, match="PC0810 `one` would leave the state as invalid as it is, so nothing is changed: a bad title"):
        run_operation(pack, {"title": "bad"}, "one")
    assert run_operation(pack, {"title": "bad"}, "two").value["title"] == "good", "an operation may mend it"


# contract 9.1
def test_nothing_given_is_changed(pack: Any) -> None:
    raw = json.dumps(STATE)
    state, args, answers = json.loads(raw), {"keep": 1, "summary": True}, {"digest": ANSWER}
    done = run_operation(pack, state, "tidy", args, answers)
    done.value["log"][0]["text"] = "changed by the caller"
    assert state == json.loads(raw) and args == {"keep": 1, "summary": True} and answers == {"digest": ANSWER}


def test_bytes_and_a_dict_give_the_same(pack: Any) -> None:
    raw = "\ufeff" + json.dumps(STATE).replace("{", "{\r\n")
    given, read = run_operation(pack, STATE, "tidy"), run_operation(pack, raw.encode(), "tidy")
    assert (given.value, given.before, given.said) == (read.value, read.before, read.said)


def test_a_loaded_state_is_asked_about_and_listed_but_not_changed(pack: Any) -> None:
    state = pack.load_state(STATE)
    assert [one.name for one in ask(pack, state, "tidy")] == [one.name for one in ask(pack, STATE, "tidy")]
    assert [one.is_due for one in list_operations(pack, state)] == [one.is_due for one in list_operations(pack, STATE)]
    with pytest.raises(UsageError, match="PC0391"):
        pack.apply(state, "tidy")


def test_a_second_run_changes_nothing_where_edits_are_idempotent(pack: Any) -> None:
    first = run_operation(pack, STATE, "cool")
    second = run_operation(pack, first.value, "cool")
    assert first.is_changed and not second.is_changed and second.value == first.value and not second.archives


# --- answers ---


# contract 9.8
@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        f"```json\n{ANSWER}\n```",
        f"\ufeff\r\n```\r\n{ANSWER}\r\n```\r\n",
        f"Here it is:\n\n```json\n{ANSWER}\n```\nShall I go on?",
        '{"points":\n["a", "b"]}\n\n',
    ],
)
def test_an_answer_in_json_is_read_through_its_fence(pack: Any, answer: str) -> None:
    done = run_operation(pack, STATE, "tidy", answers={"digest": answer})
    assert done.value["digest"] == ["a", "b"] and not done.fallbacks


# contract 9.12 and 9.13
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("\ud800", "half of a surrogate pair"),
        ("Here it is: " + ANSWER, "(line 1, column 1)"),
        ('{"points": ["a"], "points": []}', "points"),
        ('{"points": [NaN]}', ""),
        ('{"points": ["a\\u0000"]}', ""),
        ('{"points": "a"}', "`/points` must be a list"),
        ("{}", "the answer is missing the key `points`"),
        (f"```json\n{ANSWER[:-1]}\n```", "(line 2"),
        (f"So:\n```json\n{ANSWER[:-1]}\n```\nDone.", "(line 3"),
        (f"```json\n{ANSWER}\n```\nor\n```json\n{ANSWER}\n```", "(line 1"),
        (f"```json\n{ANSWER}\nand so on", "(line 1"),
        ('{"points": ["' + "a " * 70 + '"]}', "`max` of 60"),
    ],
)
def test_a_refused_answer_gives_the_else_and_says_why(pack: Any, answer: str, why: str) -> None:
    done = run_operation(pack, STATE, "tidy", answers={"digest": answer})
    assert done.fallbacks == ("digest",) and done.value["digest"] == ["b0", "b3"]
    (found,) = done.warnings
    assert (found.code, found.level) == ("PC0800", "warn") and why in found.message


@pytest.mark.parametrize(
    ("title", "why"),
    [
        ("A folded scene", "must be a folded scene, not null"),
        ("an epoch of the log", "must be an epoch of the log, not null"),
        ("Folded scene", "must be an object, not null"),
        ("", "must be an object, not null"),
    ],
)
def test_a_title_stands_in_a_sentence_as_words_do(tmp_path: Path, title: str, why: str) -> None:
    pack = write_pack(tmp_path, **{"digest.schema.json": json.dumps({"title": title, **DIGEST_SCHEMA})})
    (found,) = run_operation(pack, STATE, "tidy", answers={"digest": "null"}).warnings
    assert f"its `else` takes its place: the answer {why} (line 1" in found.message


# contract 9.9
@pytest.mark.parametrize(
    ("answer", "is_taken"),
    [
        ("## What happened\nx\n## What is open\ny", True),
        ("What happened\nx\n\nWhat is open", True),
        ("# What happened #\n###### What is open", True),
        ("## What is open\n## What happened", False),
        ("## What happened\nwhat is open", False),
        ("## What happened\n####### What is open", False),
        ("## What happened, in short\n## What is open", False),
    ],
)
def test_headings_stand_on_lines_of_their_own_in_order(pack: Any, answer: str, is_taken: bool) -> None:
    done = run_operation(pack, STATE, "tidy", {"summary": True}, {"digest": ANSWER, "summary": answer})
    assert done.fallbacks == (() if is_taken else ("summary",))
    assert done.value["history"][-1] == (answer if is_taken else "a; b"), "the `else` sees the answer before it"


# contract 9.12
def test_an_else_is_cut_to_max_at_a_line(tmp_path: Path) -> None:
    lines = "\\n".join(f"line {n} of many" for n in range(40))
    operations = (
        "operations:\n  one:\n    asks:\n"
        f'      short: {{pack: digest.yaml, check: {{headings: [H], max: 33}}, else: {{text: "{lines}"}}}}\n'
        f'      tiny: {{pack: digest.yaml, check: {{headings: [H], max: 3}}, else: {{text: "{lines}"}}}}\n'
        "    edits: [{set: /notes, to: '[answers.short, answers.tiny]'}]\n"
    )
    short, tiny = run_operation(write_pack(tmp_path, operations), {}, "one").value["notes"]
    assert short.split("\n") == [f"line {n} of many" for n in range(short.count("\n") + 1)] and short.count("\n") >= 3
    assert tiny == "line 0"


# --- what is asked ---


# contract 9.7
def test_what_is_asked(pack: Any) -> None:
    args = {"summary": True, "tone": "plainly"}
    first, second = ask(pack, STATE, "tidy", args)
    assert (first.name, second.name) == ("digest", "summary")
    assert first.prompt.messages == [
        {"role": "system", "content": "Write plainly."},
        {"role": "user", "content": "b0 b1 b2 b3 b4 b5"},
    ]
    assert first.prompt.tokens > 10 and first.digest.startswith("sha256:")
    (later,) = ask(pack, STATE, "tidy", args, {"digest": ANSWER})
    assert later.prompt.messages[1]["content"].endswith("After 2.") and later.digest != second.digest
    assert ask(pack, STATE, "tidy", args, {"digest": ANSWER, "summary": "x"}) == ()
    assert [one.name for one in ask(pack, STATE, "tidy")] == ["digest"], "what its `when` refuses is not asked"


# contract 9.3
def test_what_there_is_and_what_is_due(pack: Any) -> None:
    assert [(one.name, one.title, one.asks, one.is_due) for one in list_operations(pack, STATE)] == [
        ("tidy", "Digest and prune", ("digest", "summary"), True),
        ("cool", "cool", (), False),
    ]
    assert not any(one.is_due for one in list_operations(pack)) and not any(one.is_due for one in list_operations(pack, {}))
    assert pack.render(STATE).report["flags"] == {"due": ["tidy"]} and pack.render({}).report["flags"] == {}


# contract 9.2
@pytest.mark.parametrize("args", [{"keep": True}, {"keep": 1.5}, {"summary": 0}, {"tone": None}, {"tones": "x"}, {"keep": object()}])
def test_arguments_are_of_their_defaults_kinds(pack: Any, args: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        run_operation(pack, STATE, "tidy", args)
    with pytest.raises(UsageError):
        ask(pack, STATE, "tidy", args)


def test_a_kept_pack_tells_what_is_due_and_is_loaded_again_for_the_rest(tmp_path: Path) -> None:
    write_pack(tmp_path / "pack")
    cache = Cache(tmp_path / "cache")
    for _ in range(2):
        with Pack.load(tmp_path / "pack", cache) as kept:
            assert kept.render(STATE).report["flags"] == {"due": ["tidy"]}
    with Pack.load(tmp_path / "pack", cache) as kept:
        assert run_operation(kept, STATE, "tidy", answers={"digest": ANSWER}).said == "4 of 6 went."
        assert [one.name for one in ask(kept, STATE, "tidy")] == ["digest"]


# contract 9.5 and 13.11
def test_a_pack_of_a_question_counts_for_the_digest(tmp_path: Path) -> None:
    before = write_pack(tmp_path).model.digest
    (tmp_path / "digest.yaml").write_text((tmp_path / "digest.yaml").read_text() + "# once more\n")
    assert promptc.load(tmp_path).model.digest != before


# contract 9.4
def test_a_pack_that_extends_another_changes_its_operations(tmp_path: Path) -> None:
    write_pack(tmp_path / "base")
    (tmp_path / "own").mkdir()
    own = (
        "promptc: 1\nname: own\nversion: 1.0.0\nextends: ../base\noperations: {cool: null, tidy: {args: {keep: 1}, asks: {summary: null}, "
    )
    own += "edits: [{keep: /log, last: args.keep, archive: log}]}}\n"
    (tmp_path / "own" / "pack.yaml").write_text(own)
    pack = promptc.load(tmp_path / "own")
    assert [one.name for one in list_operations(pack)] == ["tidy"]
    assert [one.name for one in ask(pack, STATE, "tidy")] == ["digest"], "and finds its files where they were named"
    assert run_operation(pack, STATE, "tidy").value["log"] == STATE["log"][5:]


# contract 9.5
def test_a_question_inside_the_pack_only(tmp_path: Path) -> None:
    with pytest.raises(PromptcError) as raised:
        write_pack(tmp_path / "pack", 'operations: {one: {asks: {q: {pack: ../digest.yaml, else: {text: ""}}}, edits: []}}\n')
    assert [found.code for found in raised.value.diagnostics] == ["PC0150"]


# contract 9.6
@pytest.mark.parametrize(("named", "code"), [("{{ hot | length }}", "PC0410"), ("{{ far(1) }}", "PC0408")])
def test_a_question_sees_data_and_no_name_of_the_manifest_that_asks(tmp_path: Path, named: str, code: str) -> None:
    """So that it stands by itself, and its own definitions mean the same whoever asks."""
    operations = "define:\n  near: state.log[:1]\n  far(n): n > 3\n" + OPERATIONS
    own = QUESTION + "define:\n  near: state.log[-1:]\n"
    pack = write_pack(tmp_path, operations, **{"digest.yaml": own.replace("Write", "{{ near[0].text }}: write")})
    (one,) = ask(pack, STATE, "tidy")
    assert one.prompt.messages[0]["content"].strip() == "b5: write plain."
    with pytest.raises(PromptcError) as raised:
        ask(write_pack(tmp_path, operations, **{"digest.yaml": own.replace("Write", named)}), STATE, "tidy")
    assert code in [found.code for found in raised.value.diagnostics]


# --- What an answer must be beside its schema: the claims of its check, and a new state that is valid ---
FEWER = '{that: answers.digest.points | length >= state.digest | length, else: "{{ state.digest | length }} points became fewer"}'
CLAIMS_STATE = {"title": "T", "digest": ["a", "b"]}


def _write(
    tmp_path: Path, *claims: str, edit: str = "{set: /digest, to: answers.digest.points}", check: str = "schema: digest.schema.json"
) -> Any:
    asks = f"asks: {{digest: {{pack: digest.yaml, check: {{{check}, that: [{', '.join(claims)}]}}, else: digest.json.j2}}}}"
    return write_pack(tmp_path, f"operations:\n  one:\n    args: {{least: 0}}\n    {asks}\n    edits:\n      - {edit}\n")


def _refusal(done: Any) -> str:
    (found,) = done.warnings
    assert found.code == "PC0800" and done.fallbacks == ("digest",)
    return str(found.message.partition("takes its place: ")[2])


# contract 9.10
def test_an_answer_that_breaks_a_claim_is_refused_for_the_reason_its_else_gives(tmp_path: Path) -> None:
    pack = _write(tmp_path, FEWER)
    done = run_operation(pack, CLAIMS_STATE, "one", answers={"digest": '{"points": ["a"]}'})
    assert done.value == CLAIMS_STATE and _refusal(done) == "2 points became fewer"
    taken = run_operation(pack, CLAIMS_STATE, "one", answers={"digest": '{"points": ["x", "y"]}'})
    assert taken.value["digest"] == ["x", "y"] and not taken.warnings


# contract 9.10
def test_claims_see_arguments_and_the_first_that_breaks_is_told(tmp_path: Path) -> None:
    pack = _write(tmp_path, "{that: answers.digest.points, else: none}", "{that: answers.digest.points | length >= args.least, else: few}")
    for answer, least, why in (("[]", 0, "none"), ('["a"]', 2, "few")):
        assert _refusal(run_operation(pack, CLAIMS_STATE, "one", {"least": least}, {"digest": f'{{"points": {answer}}}'})) == why


# contract 9.10
def test_a_claim_that_cannot_be_judged_of_an_answer_refuses_it(tmp_path: Path) -> None:
    pack = _write(tmp_path, "{that: \"(answers.digest.points[0] | int('x')) + 1\", else: no}")
    why = _refusal(run_operation(pack, CLAIMS_STATE, "one", answers={"digest": '{"points": ["a"]}'}))
    assert why.startswith("`(answers.digest.points[0] | int('x')) + 1` cannot be tested: ")


# contract 9.14
def test_what_stands_for_an_answer_makes_no_claim(tmp_path: Path) -> None:
    done = run_operation(_write(tmp_path, "{that: false, else: never}"), CLAIMS_STATE, "one")
    assert done.value == CLAIMS_STATE and [found.code for found in done.warnings] == ["PC0801"]


def test_claims_alone_are_a_check(tmp_path: Path) -> None:
    check = "{max: 40, that: [{that: '\"rain\" in answers.digest', else: dry}]}"
    asks = f"asks: {{digest: {{pack: digest.yaml, check: {check}, else: {{text: no}}}}}}"
    pack = write_pack(tmp_path, f"operations:\n  one:\n    {asks}\n    edits:\n      - {{set: /title, to: answers.digest}}\n")
    assert run_operation(pack, CLAIMS_STATE, "one", answers={"digest": "rain"}).value["title"] == "rain"
    assert _refusal(run_operation(pack, CLAIMS_STATE, "one", answers={"digest": "sun"})) == "dry"


# --- the new state ---

SECOND = """
operations:
  one:
    asks:
      digest: {pack: digest.yaml, check: {schema: digest.schema.json}, else: digest.json.j2}
      tier: {pack: digest.yaml, check: {that: [{that: true, else: never}]}, else: {text: calm}}
    edits:
      - {set: /digest, to: answers.digest.points}
      - {set: /strain, to: answers.tier}
"""


# contract 9.12
def test_an_answer_that_would_leave_an_invalid_state_is_refused(tmp_path: Path) -> None:
    pack = _write(tmp_path, FEWER, edit="{set: /strain, to: answers.digest.points | first}")
    given = {"digest": '{"points": ["furious", "b"]}'}
    with pytest.raises(PromptcError, match=r"PC0810 `one` would leave an invalid state, so nothing is changed: .*`a`"):
        run_operation(pack, CLAIMS_STATE, "one", answers=given)
    done = run_operation(pack, {"digest": ["tense"]}, "one", answers=given)
    assert done.value["strain"] == "tense" and "`one` would leave an invalid state: " in _refusal(done)
    assert "`furious`" in _refusal(done)


# contract 9.13
def test_a_refusal_names_the_place_in_the_schema_and_in_the_answer(tmp_path: Path) -> None:
    pack = _write(tmp_path, FEWER, edit="{set: /strain, to: answers.digest.points | first}")
    given = {"digest": '```json\n{"points": ["b",\n "furious"]}\n```'}
    assert _refusal(run_operation(pack, {"digest": ["tense"]}, "one", answers=given)).endswith(
        "The value is `/points/0` (line 2, column 13) of the answer"
    )
    pack = _write(tmp_path, FEWER, edit="{set: /strain, to: answers.digest.points | join}")
    why = _refusal(run_operation(pack, {"digest": ["tense"]}, "one", answers=given))
    place = promptc.load(tmp_path).model.find_schema_place("/properties/strain/enum")
    assert why.endswith(f"({place}). The value is made of `/points` (line 2, column 12) of the answer")


@pytest.mark.parametrize("to", ["answers.tier", "\"'furious' if answers.tier == 'tense' or answers.tier == 'furious' else 'calm'\""])
@pytest.mark.parametrize("tier", ["furious", "tense"])
def test_a_refusal_of_a_text_names_the_answer(tmp_path: Path, to: str, tier: str) -> None:
    pack = write_pack(tmp_path, SECOND.replace("/strain, to: answers.tier", f"/strain, to: {to}"))
    if to != "answers.tier" or tier == "furious":
        done = run_operation(pack, {}, "one", answers={"digest": '{"points": ["x"]}', "tier": tier})
        (found,) = done.warnings
        assert done.fallbacks == ("tier",) and found.message.endswith(". The value is made of the answer")


# contract 9.12
def test_an_answer_of_which_no_edit_can_be_made_is_refused(tmp_path: Path) -> None:
    pack = _write(tmp_path, FEWER, edit="{append: /history, each: \"'z' if 'z' in answers.digest.points else answers.digest.points\"}")
    done = run_operation(pack, {"history": []}, "one", answers={"digest": '{"points": ["z"]}'})
    assert done.value == {"history": []} and "must be a list, not `z`" in _refusal(done)


# contract 9.14
@pytest.mark.parametrize(
    ("digest", "tier", "fallbacks"),
    [
        ('{"points": ["x"]}', "furious", ("tier",)),
        ('{"points": ["x"]}', "tense", ()),
        ("nothing", "furious", ("digest", "tier")),
    ],
)
def test_of_several_answers_those_that_fit_are_taken(tmp_path: Path, digest: str, tier: str, fallbacks: tuple[str, ...]) -> None:
    done = run_operation(write_pack(tmp_path, SECOND), {"digest": ["a"]}, "one", answers={"digest": digest, "tier": tier})
    assert done.fallbacks == fallbacks
    assert done.value == {"digest": ["a"] if "digest" in fallbacks else ["x"], "strain": "calm" if "tier" in fallbacks else "tense"}


# contract 9.14
def test_where_several_answers_are_bad_all_are_refused(tmp_path: Path) -> None:
    edits = "      - {set: /digest, to: answers.digest.points}\n"
    both = SECOND.replace(edits, edits + '      - {set: /title, to: "answers.digest.points[1]"}\n').replace(
        "digest.json.j2}", '{text: \'{"points": ["a", "b"]}\'}}'
    )
    done = run_operation(write_pack(tmp_path, both), {}, "one", answers={"digest": '{"points": ["x"]}', "tier": "furious"})
    assert done.fallbacks == ("digest", "tier") and done.value == {"digest": ["a", "b"], "title": "b", "strain": "calm"}


# --- what is replaced ---


# contract 9.18 and 9.19
def test_a_replaced_value_is_archived_once_and_only_where_it_changes(tmp_path: Path) -> None:
    sets = "{set: /title, to: args.new, archive: titles}, {set: /title, to: args.new ~ '!', archive: titles}"
    edits = f'{{edits: [{sets}], args: {{new: x}}, say: "{{{{ removed.titles }}}}"}}'
    pack = write_pack(tmp_path, f"operations:\n  one: {edits}\n")
    done = run_operation(pack, {"title": "old"}, "one")
    (archive,) = done.archives
    assert (archive.name, archive.pointer, archive.elements, archive.is_value) == ("titles", "/title", ("old",), True)
    assert done.value == {"title": "x!"} and done.said == "1"
    (absent,) = run_operation(pack, {}, "one").archives
    assert (absent.pointer, absent.elements, absent.is_value) == ("/title", (), True), "that it was not written is noted"
    between = edits.replace("}, {set", "}, {keep: /log, last: 0}, {set")
    assert (
        len(
            run_operation(
                write_pack(tmp_path, f"operations:\n  one: {between}\n"), {"title": "old", "log": [{"text": "a"}]}, "one"
            ).archives
        )
        == 1
    )
    assert not run_operation(write_pack(tmp_path, f"operations:\n  one: {edits.replace(' ~ ', ' or ')}\n"), {"title": "x"}, "one").archives


# --- An answer in which there is nothing to see is none ---
METER = Meter(CharacterCounter())
_NOTHING = ["", " \n", "\n\u200b\n", "\u3164", "\u2800", "\xad\u2060", "\U000e0041", "\u0301", "\ufeff", "\0", "\x1b"]


# contract 9.11
@pytest.mark.parametrize("text", _NOTHING)
def test_nothing_to_see_is_refused(text):
    assert judge_answer(text, None, METER).why == "it is empty"


# contract 9.11
@pytest.mark.parametrize("text", ["a", "1", "。", "😀", "e\u0301", "-", "\u200b1", "ก็"])
def test_anything_else_is_taken(text):
    judged = judge_answer(text, None, METER)
    assert (judged.value, judged.why) == (text, "")
