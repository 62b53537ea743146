"""What an answer must be beside its schema: the claims of its check, and a new state that is valid."""

from pathlib import Path
from typing import Any

import pytest

from promptc.diag.findings import PromptcError
from promptc.operations.run import run_operation
from tests.unit.operations.small import write_pack

FEWER = '{that: answers.digest.points | length >= state.digest | length, else: "{{ state.digest | length }} points became fewer"}'
STATE = {"title": "T", "digest": ["a", "b"]}


def _write(
    tmp_path: Path, *claims: str, edit: str = "{set: /digest, to: answers.digest.points}", check: str = "schema: digest.schema.json"
) -> Any:
    asks = f"asks: {{digest: {{pack: digest.yaml, check: {{{check}, that: [{', '.join(claims)}]}}, else: digest.json.j2}}}}"
    return write_pack(tmp_path, f"operations:\n  one:\n    args: {{least: 0}}\n    {asks}\n    edits:\n      - {edit}\n")


def _refusal(done: Any) -> str:
    (found,) = done.warnings
    assert found.code == "PC0800" and done.fallbacks == ("digest",)
    return str(found.message.partition("stands: ")[2])


def test_an_answer_that_breaks_a_claim_is_refused_for_the_reason_its_else_gives(tmp_path: Path) -> None:
    pack = _write(tmp_path, FEWER)
    done = run_operation(pack, STATE, "one", answers={"digest": '{"points": ["a"]}'})
    assert done.value == STATE and _refusal(done) == "2 points became fewer"
    taken = run_operation(pack, STATE, "one", answers={"digest": '{"points": ["x", "y"]}'})
    assert taken.value["digest"] == ["x", "y"] and not taken.warnings


def test_claims_see_arguments_and_the_first_that_breaks_is_told(tmp_path: Path) -> None:
    pack = _write(tmp_path, "{that: answers.digest.points, else: none}", "{that: answers.digest.points | length >= args.least, else: few}")
    for answer, least, why in (("[]", 0, "none"), ('["a"]', 2, "few")):
        assert _refusal(run_operation(pack, STATE, "one", {"least": least}, {"digest": f'{{"points": {answer}}}'})) == why


def test_a_claim_that_cannot_be_judged_of_an_answer_refuses_it(tmp_path: Path) -> None:
    pack = _write(tmp_path, "{that: \"(answers.digest.points[0] | int('x')) + 1\", else: no}")
    why = _refusal(run_operation(pack, STATE, "one", answers={"digest": '{"points": ["a"]}'}))
    assert why.startswith("`(answers.digest.points[0] | int('x')) + 1` cannot be judged: ")


def test_what_stands_for_an_answer_makes_no_claim(tmp_path: Path) -> None:
    done = run_operation(_write(tmp_path, "{that: false, else: never}"), STATE, "one")
    assert done.value == STATE and [found.code for found in done.warnings] == ["PC0801"]


def test_claims_alone_are_a_check(tmp_path: Path) -> None:
    check = "{max: 40, that: [{that: '\"rain\" in answers.digest', else: dry}]}"
    asks = f"asks: {{digest: {{pack: digest.yaml, check: {check}, else: {{text: no}}}}}}"
    pack = write_pack(tmp_path, f"operations:\n  one:\n    {asks}\n    edits:\n      - {{set: /title, to: answers.digest}}\n")
    assert run_operation(pack, STATE, "one", answers={"digest": "rain"}).value["title"] == "rain"
    assert _refusal(run_operation(pack, STATE, "one", answers={"digest": "sun"})) == "dry"


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


def test_an_answer_that_would_leave_an_invalid_state_is_refused(tmp_path: Path) -> None:
    pack = _write(tmp_path, FEWER, edit="{set: /strain, to: answers.digest.points | first}")
    given = {"digest": '{"points": ["furious", "b"]}'}
    with pytest.raises(PromptcError, match=r"PC0810 `one` would leave a state that is invalid, so nothing is changed: .*`a`"):
        run_operation(pack, STATE, "one", answers=given)
    done = run_operation(pack, {"digest": ["tense"]}, "one", answers=given)
    assert done.value["strain"] == "tense" and "`one` would leave a state that is invalid: " in _refusal(done)
    assert "`furious`" in _refusal(done)


def test_an_answer_of_which_no_edit_can_be_made_is_refused(tmp_path: Path) -> None:
    pack = _write(tmp_path, FEWER, edit="{append: /history, each: \"'z' if 'z' in answers.digest.points else answers.digest.points\"}")
    done = run_operation(pack, {"history": []}, "one", answers={"digest": '{"points": ["z"]}'})
    assert done.value == {"history": []} and "must be a list, not `z`" in _refusal(done)


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


def test_where_several_answers_are_bad_all_are_refused(tmp_path: Path) -> None:
    edits = "      - {set: /digest, to: answers.digest.points}\n"
    both = SECOND.replace(edits, edits + '      - {set: /title, to: "answers.digest.points[1]"}\n').replace(
        "digest.json.j2}", '{text: \'{"points": ["a", "b"]}\'}}'
    )
    done = run_operation(write_pack(tmp_path, both), {}, "one", answers={"digest": '{"points": ["x"]}', "tier": "furious"})
    assert done.fallbacks == ("digest", "tier") and done.value == {"digest": ["a", "b"], "title": "b", "strain": "calm"}


# --- what is replaced ---


def test_a_replaced_value_is_archived_once_and_only_where_something_is_lost(tmp_path: Path) -> None:
    sets = "{set: /title, to: args.new, archive: titles}, {set: /title, to: args.new ~ '!', archive: titles}"
    edits = f'{{edits: [{sets}], args: {{new: x}}, say: "{{{{ removed.titles }}}}"}}'
    pack = write_pack(tmp_path, f"operations:\n  one: {edits}\n")
    done = run_operation(pack, {"title": "old"}, "one")
    (archive,) = done.archives
    assert (archive.name, archive.pointer, archive.elements, archive.is_value) == ("titles", "/title", ("old",), True)
    assert done.value == {"title": "x!"} and done.said == "1"
    assert not run_operation(pack, {}, "one").archives, "a default that nobody wrote is not lost"
    assert not run_operation(write_pack(tmp_path, f"operations:\n  one: {edits.replace(' ~ ', ' or ')}\n"), {"title": "x"}, "one").archives
