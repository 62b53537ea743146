"""Trims and what they cannot do: messages of parts, which they leave whole and say so, and texts with no place to cut at."""

import json
import tomllib

import pytest

import promptc
from tests.contract.sources import PACKAGE
from tests.unit.check.lint import codes, lint, messages

_HEAD = "promptc: 1\nname: chat\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 4000\n"
_DONG = " ".join(["dong"] * 90)
_LOG = [
    {"role": "user", "content": "Ring the bell, please, and tell me what you hear. " * 3},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "ring", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": _DONG}]},
]
_MESSAGE = "message: {role: item.role, content: item.content, parts: [text, tool_use, tool_result]}"


def _render(folder, body, state, code):
    (folder / "pack.yaml").write_text(_HEAD + body, encoding="utf-8")
    prompt = promptc.load(folder).render(state, format="messages")
    return prompt, [one.message for one in prompt.warnings if one.code == code]


def _chat(steps, budget=100, more=""):
    return f"sections: [{{id: log, budget: {budget}, items: {{from: state.log, {_MESSAGE}{more}}}, overflow: {steps}}}]\n"


# contract 5.14
def test_a_trim_tells_which_messages_it_leaves_whole(tmp_path):
    prompt, said = _render(tmp_path, _chat("[{trim: {at: word}}, {evict: {}}]"), {"log": _LOG}, "PC0543")
    assert said == ["`log.overflow[0]` leaves 2 items of `log` whole: a trim cuts only texts, and their content is a list of parts"]
    assert prompt.tokens <= 4000


@pytest.mark.parametrize(
    "chat",
    [
        _chat("[{trim: {at: word}}, {evict: {}}]", 160),  # the text alone gives enough
        _chat("[{trim: {at: word}}, {evict: {}}]", 900),
        _chat("[{trim: {at: word, order: [item.content is string]}}, {evict: {}}]"),
        _chat("[{trim: {at: word, to: 150}}, {evict: {}}]"),
        _chat("[{evict: {}}, {trim: {}}]"),
        _chat("[{evict: {}}]", 100, ", keep: [{where: item.content is not string, last: 2}]").replace("budget: 100", "budget: 300"),
    ],
)
def test_where_a_trim_had_nothing_to_do_with_parts(tmp_path, chat):
    assert _render(tmp_path, chat, {"log": _LOG}, "PC0543")[1] == []


def test_trim_each_tells_which_messages_it_leaves_whole(tmp_path):
    said = _render(tmp_path, _chat("[{evict: {}}]", 900, ", trim_each: {to: 60}"), {"log": _LOG}, "PC0543")[1]
    assert said == ["`trim_each` leaves item `2` of `log` whole: a trim cuts only texts, and its content is a list of parts"]
    assert _render(tmp_path, _chat("[{evict: {}}]", 900, ", trim_each: {to: 160}"), {"log": _LOG}, "PC0543")[1] == []


@pytest.mark.parametrize("code", ["PC0543", "PC0693"])
def test_what_is_offered_instead_shortens_the_result(tmp_path, code):
    """The example of the code, as it stands there."""
    good = tomllib.loads((PACKAGE / "diag" / "codes.toml").read_text(encoding="utf-8"))[code]["good"].strip("\n")
    section = "".join(f"    {line}\n" for line in good.splitlines())
    body = f"sections:\n  - id: log\n    budget: 140\n{section}"
    long = [*_LOG[:2], {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": _DONG * 3}]}]
    prompt, said = _render(tmp_path, body, {"log": long}, "PC0543")
    assert said == []
    [result] = prompt.messages[-1]["content"]
    assert len(result["content"]) <= 400 and _DONG.startswith(result["content"])
    assert prompt.messages[0]["content"].startswith("Ring") and len(prompt.messages) == 3


def _schema(*contents):
    item = {
        "type": "object",
        "properties": {"role": {"enum": ["user"]}, "content": {"anyOf": list(contents)}},
        "required": ["role", "content"],
    }
    log = {"type": "array", "maxItems": 9, "items": {**item, "additionalProperties": False}}
    return {"type": "object", "properties": {"log": log}, "required": ["log"], "additionalProperties": False}


_TEXT = {"type": "string"}
_PARTS = {"type": "array", "items": {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}}}


def test_check_tells_of_trims_that_messages_may_never_feel(tmp_path):
    body = "output: {format: messages}\n" + _chat("[{trim: {at: word}}, {evict: {}}]", 100, ", trim_each: {to: 60}")

    def look(*contents, body=body):
        return [one for one in lint(tmp_path, body, schema=_schema(*contents)) if one.code == "PC0693"]

    [found] = look(_TEXT, _PARTS)
    assert (found.level, found.message[:18]) == ("note", "`log.overflow[0]` ")
    assert [one.level for one in look(_PARTS)] == ["warn", "warn"]
    assert [one.message for one in look(_PARTS)] == [
        "`trim_each` never cuts a message of `log`: each is a list of parts, and a trim cuts only texts",
        "`log.overflow[0]` never cuts a message of `log`: each is a list of parts, and a trim cuts only texts",
    ]
    assert look(_TEXT) == []
    ordered = body.replace("{at: word}", "{at: word, order: [item.content is string]}").replace(", trim_each: {to: 60}", "")
    assert look(_TEXT, _PARTS, body=ordered) == []


def test_check_tells_of_a_trim_of_the_whole_prompt(tmp_path):
    body = "output: {format: messages}\n" + _chat("[{evict: {}}]") + "truncate: [{trim: {section: log, to: 30}}, log]\n"
    found = lint(tmp_path, body, schema=_schema(_TEXT, _PARTS))
    assert codes(found) == ["PC0693"]
    assert messages(found, "PC0693")[0].startswith("`truncate[0]` cuts no message of `log`")


# --- cuts that leave far less than would fit ---


def _words(step, cap="60"):
    items = 'items: {from: state.log, text: "Player: {{ item }}"}'
    return f"sections: [{{id: log, budget: {cap}, {items}, overflow: [{{trim: {step}}}]}}]\n"


_LONG = "qwertzuiopasdfghjklyxcvbnm" * 20


# contract 5.15
@pytest.mark.parametrize(
    ("step", "cap", "held", "boundary"),
    [
        ("{at: word}", "60", "2 tokens of item `0` of `log`, and 56 would fit", "word"),
        ("{at: sentence}", "60", "2 tokens of item `0` of `log`, and 56 would fit", "word"),
        ("{at: word, to: 40}", "60", "2 tokens of item `0` of `log`, and 40 would fit", "word"),
        ("{at: word}", "{chars: 200}", "7 characters of item `0` of `log`, and 200 would fit", "word"),
        ("{at: word, to: {chars: 100}}", "60", "7 characters of item `0` of `log`, and 100 would fit", "word"),
    ],
)
def test_a_cut_that_leaves_next_to_nothing(tmp_path, step, cap, held, boundary):
    [said] = _render(tmp_path, _words(step, cap), {"log": [_LONG]}, "PC0544")[1]
    assert said == f"`log.overflow[0]` leaves {held}: no {boundary} of the text ends in between"
    mended = step.replace("word", "token").replace("sentence", "token")
    prompt, left = _render(tmp_path, _words(mended, cap), {"log": [_LONG]}, "PC0544")
    assert left == [] and len(json.dumps(prompt.messages)) > 100


def test_a_cut_of_a_text_and_one_of_the_whole_prompt(tmp_path):
    body = 'budget: 60\nsections: [{id: say, text: "Player: {{ state.say }}"}]\ntruncate: [{trim: {section: say, at: word}}]\n'
    (tmp_path / "pack.yaml").write_text(_HEAD.replace("budget: 4000\n", "") + body, encoding="utf-8")
    [said] = [one.message for one in promptc.load(tmp_path).render({"say": _LONG}).warnings if one.code == "PC0544"]
    assert said == "`truncate[0]` leaves 2 tokens of `say`, and 60 would fit: no word of the text ends in between"


@pytest.mark.parametrize(
    ("step", "log"),
    [
        ("{at: word}", ["The lamp is lit and the keeper sleeps. " * 12]),
        ("{at: sentence}", ["The lamp is lit and the keeper sleeps. " * 12]),
        ("{at: token}", [_LONG]),
        ("{at: word, to: 6}", ["The lamp is lit. " * 30]),
        ("{at: word}", [_LONG[:20]]),
    ],
)
def test_cuts_that_keep_what_they_can(tmp_path, step, log):
    assert _render(tmp_path, _words(step), {"log": log}, "PC0544")[1] == []


def test_many_cuts_of_one_step_are_told_once_and_those_of_what_went_not_at_all(tmp_path):
    [said] = _render(tmp_path, _words("{at: word, to: 40}"), {"log": [_LONG] * 3}, "PC0544")[1]
    assert said.startswith("`log.overflow[0]` leaves 2 tokens of item `0` of `log`") and said.endswith("in between (2 more like it)")
    evicting = _words("{at: word, to: 40}", "44").replace("}]}]", "}, {evict: {}}]}]")
    prompt, said = _render(tmp_path, evicting, {"log": [_LONG, "Hello. " * 25]}, "PC0544")
    assert said == [] and "Hello." in prompt.messages[0]["content"]
