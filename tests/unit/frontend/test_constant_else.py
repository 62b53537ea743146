"""What stands for an answer and has no tag is judged when the pack is loaded."""

import json

import pytest

import promptc
from promptc.diag.findings import PromptcError

HEAD = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 1000\n"
SCHEMA = {"type": "object", "required": ["loops"], "properties": {"loops": {"type": "array"}}}


def _list_found(folder, otherwise, check="{schema: answer.schema.json}"):
    """The messages of a pack whose one question has this `else`."""
    (folder / "answer.schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    (folder / "plain.json").write_text('{"memories": []}\n', encoding="utf-8")
    (folder / "question.yaml").write_text(HEAD + "sections: [{id: main, role: user, text: What?}]\n", encoding="utf-8")
    ask = f"{{few: {{pack: question.yaml, check: {check}, else: {otherwise}}}}}"
    body = f"sections: [{{id: main, text: hello}}]\noperations: {{learn: {{asks: {ask}, edits: [{{set: /few, to: answers.few}}]}}}}\n"
    (folder / "pack.yaml").write_text(HEAD + body, encoding="utf-8")
    try:
        assert promptc.load(folder).model.operations
    except PromptcError as error:
        return [one.message for one in error.diagnostics if one.code == "PC0226"]
    return []


# contract 9.12
@pytest.mark.parametrize(
    ("otherwise", "says"),
    [
        ("{text: '{\"memories\": []}'}", "it is missing the key `loops`"),
        ("plain.json", "it is missing the key `loops`"),
        ("{text: '{\"loops\": 1}'}", "`/loops` must be a list, not 1"),
        ("{text: 'nothing'}", "JSON: a value is expected here"),
    ],
)
def test_a_constant_that_is_never_valid(tmp_path, otherwise, says):
    (found,) = _list_found(tmp_path, otherwise)
    assert found.startswith("the `else` of `few` does not match the schema of its answers: ") and says in found


@pytest.mark.parametrize(
    "otherwise",
    [
        "{text: '{\"loops\": []}'}",
        "{text: '{{ \"x\" | tokens }}'}",
        "{text: '{% set a = 1 %}{{ a }}'}",
        "{text: '{{ state.loops | json }}'}",
        "{text: '{{ args | json }}'}",
    ],
)
def test_one_that_may_be_valid(tmp_path, otherwise):
    assert _list_found(tmp_path, otherwise) == []


def test_headings_judge_no_else(tmp_path):
    assert _list_found(tmp_path, "{text: nothing}", "{headings: [Loops]}") == []
