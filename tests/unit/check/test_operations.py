"""What `check` says of operations: names, kinds, pointers, values, and the packs of questions."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.check.lint import codes, lint

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "title": {"type": "string", "default": ""},
        "turn": {"type": "integer", "default": 0},
        "cleared": {"type": "boolean", "default": False},
        "log": {
            "type": "array",
            "items": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False},
            "default": [],
        },
        "notes": {"type": "object", "default": {}},
        "any": {"default": None},
    },
}
ANSWER = """{"type": "object", "required": ["points"], "additionalProperties": false,
"properties": {"points": {"type": "array", "items": {"type": "string"}}, "title": {"type": "string"}}}"""
QUESTION = "promptc: 1\nname: q\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 500\nsections: [{id: main, role: user, text: '%s'}]\n"
HEAD = """\
let: {long: state.log | length > 3}
sections: [{id: main, role: user, text: "{{ long }}"}]
operations:
  one:
    args: {keep: 3, note: "", loud: false}
    asks:
      plan: {pack: question.yaml, check: {schema: answer.json}, else: {text: "ELSE"}}
      word: {pack: question.yaml, when: args.loud, else: {text: "none"}}
    edits:
"""


def _lint(tmp_path: Path, *edits: str, otherwise: str = '{\\"points\\": []}', question: str = "hello", more: str = "") -> Any:
    body = HEAD.replace("ELSE", otherwise) + "".join(f"      - {edit}\n" for edit in edits or ("{remove: /any}",)) + more
    return lint(tmp_path, body, schema=SCHEMA, files={"question.yaml": QUESTION % question, "answer.json": ANSWER})


def test_claims_are_typed(tmp_path: Path) -> None:
    claim = "{schema: answer.json, that: [{that: %s, else: no}]}"
    for text, found in (
        ("answers.plan.points | length > args.keep", set()),
        ("answers.plan.pionts", {"PC0635"}),
        ("answers.word", set()),
        ("answers.plan.points > 3", {"PC0651"}),
    ):
        body = HEAD.replace("ELSE", '{\\"points\\": []}').replace("{schema: answer.json}", claim % text) + "      - {remove: /any}\n"
        assert (
            set(codes(lint(tmp_path, body, schema=SCHEMA, files={"question.yaml": QUESTION % "hello", "answer.json": ANSWER}))) == found
        ), text


GOOD = (
    "{set: /title, to: answers.plan.points | join}",
    "{set: /turn, to: state.turn + args.keep}",
    "{set: /cleared, to: args.loud or long}",
    "{set: /title, to: answers.word, when: args.loud}",
    "{append: /log, each: \"[{'text': args.note}]\"}",
    "{keep: /log, where: item.text != args.note}",
    "{keep: /log, last: args.keep, archive: log}",
    "{set: /notes/free, to: answers.plan}",
    "{set: /any, to: answers}",
    "{remove: /log/0/text}",
)


@pytest.mark.parametrize("edit", GOOD)
def test_what_suits_is_left_alone(tmp_path: Path, edit: str) -> None:
    say = '    say: "{{ removed.log }} went, {{ args.note | upper }}"\n' if "archive" in edit else ""
    assert codes(_lint(tmp_path, edit, more=say)) == []


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        ("{set: /titel, to: state.title}", "PC0811"),
        ("{set: /log/0/txt, to: state.title}", "PC0811"),
        ("{set: /title/part, to: state.title}", "PC0811"),
        ("{keep: /titel, last: 1}", "PC0811"),
        ("{set: /title, to: state.turn}", "PC0812"),
        ("{set: /turn, to: answers.word, when: args.loud}", "PC0812"),
        ("{set: /log, to: answers.plan}", "PC0812"),
        ("{append: /log, to: args.note}", "PC0812"),
        ("{append: /log, each: answers.plan.points}", "PC0812"),
        ("{keep: /title, last: 1}", "PC0812"),
        ("{set: /title, to: answers.plan.pionts}", "PC0635"),
        ("{set: /title, to: answers.plam}", "PC0635"),
        ("{set: /title, to: answers.plan.title}", "PC0650"),
        ("{set: /title, to: args.noet}", "PC0635"),
        ("{set: /title, to: state.titel}", "PC0635"),
        ("{set: /title, to: strain.tier}", "PC0631"),
        ("{set: /title, to: item.text}", "PC0631"),
        ("{keep: /log, where: item.txt}", "PC0635"),
        ("{set: /title, to: long, when: lonk}", "PC0630"),
    ],
)
def test_what_does_not_is_named(tmp_path: Path, edit: str, code: str) -> None:
    found = _lint(tmp_path, edit)
    assert code in codes(found), found
    assert all(one.span is not None and one.span.line == 16 for one in found), found


def test_an_edit_takes_elements_by_their_place_with_last(tmp_path: Path) -> None:
    (found,) = _lint(tmp_path, "{keep: /log, where: this.number > 2}")
    assert found.code == "PC0631" and found.help == "use `item`; to take elements by their place, write `last` with a number of elements"


def test_an_else_is_asked_for_what_is_not_answered_yet(tmp_path: Path) -> None:
    assert codes(_lint(tmp_path, otherwise="{{ answers.word | upper }}")) == ["PC0651"]
    assert codes(_lint(tmp_path, otherwise="{{ removed.log }}")) == ["PC0631"]


# contract 3.19 and 9.19
def test_say_knows_its_archives(tmp_path: Path) -> None:
    found = _lint(tmp_path, "{keep: /log, last: 1, archive: log}", more='    say: "{{ removed.lgo }}"\n')
    assert codes(found) == ["PC0635"] and "did you mean `log`?" in found[0].help


def test_the_pack_of_a_question_is_checked_with_its_names(tmp_path: Path) -> None:
    assert codes(_lint(tmp_path, question="{{ args.note }} {{ answers.plan }} {{ state.title }}")) == []
    (found,) = _lint(tmp_path, question="{{ state.titel }} {{ args.note }}")
    assert found.code == "PC0635" and found.span is not None and found.span.file.endswith("question.yaml")


# contract 3.19
def test_conditions_see_arguments_and_no_answers(tmp_path: Path) -> None:
    assert codes(_lint(tmp_path, more="    when: state.turn > args.keep\n")) == []
    assert codes(_lint(tmp_path, more="    when: answers.plan\n")) == ["PC0631"]
