"""Files of tools and response schemas, as a pack reads them."""

import json
from pathlib import Path

import pytest

import promptc
from promptc.diag.findings import PromptcError

HEAD = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 1000\noutput: {format: messages}\n"
BODY = "sections: [{id: main, text: hello}]\n"
TOOL = {"name": "look", "description": "Look around.", "input_schema": {"type": "object", "properties": {"z": {}, "a": {}}}}


def load(folder: Path, tool: bytes | str | None = None, response: str | None = None, more: str = "") -> promptc.Prompt:
    """What a pack of one tool, one schema or both renders."""
    text = HEAD + BODY + more
    if tool is not None:
        (folder / "look.json").write_bytes(tool if isinstance(tool, bytes) else tool.encode())
        text += "tools: [look.json]\n"
    if response is not None:
        (folder / "the turn.schema.json").write_text(response, encoding="utf-8")
        text += "response: the turn.schema.json\n"
    (folder / "pack.yaml").write_text(text, encoding="utf-8")
    return promptc.load(folder).render({})


def find(folder: Path, **files: str | bytes) -> list[tuple[str, int, int]]:
    """Codes and places of what is wrong."""
    with pytest.raises(PromptcError) as raised:
        load(folder, **files)
    return [(one.code, one.span.line, one.span.column) for one in raised.value.diagnostics if one.span is not None]


# contract 8.7 and 8.9
def test_a_tool_and_a_schema_keep_the_order_of_their_keys(tmp_path):
    prompt = load(tmp_path, json.dumps(TOOL), '{"properties": {"thought": {}, "answer": {}}, "type": "object"}')
    assert json.dumps(prompt.tools) == json.dumps([TOOL])
    assert json.dumps(prompt.response) == '{"properties": {"thought": {}, "answer": {}}, "type": "object"}'
    assert prompt.to("openai")["response_format"]["json_schema"]["name"] == "the_turn_schema"


def test_a_mark_and_other_line_ends_change_nothing(tmp_path):
    plain = json.dumps(TOOL, indent=1)
    prompt = load(tmp_path, plain)
    other = load(tmp_path, b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode())
    assert other.tools == prompt.tools and other.tokens == prompt.tokens
    assert other.report["digests"]["pack"] != prompt.report["digests"]["pack"]  # the mark is a byte of the file


# contract 8.8
@pytest.mark.parametrize(
    ("tool", "found"),
    [
        ("", [("PC0103", 1, 1)]),
        ("{", [("PC0130", 1, 2)]),
        ("true", [("PC0283", 1, 1)]),
        ("[1]", [("PC0283", 1, 1)]),
        ('{"name": "a", "name": "b"}', [("PC0106", 1, 15)]),
        ("[" * 200 + "]" * 200, [("PC0105", 1, 101)]),
        (b"\xff\xfe{\x00}\x00", [("PC0101", 1, 1)]),
        ('{\n"name": "a",\n"description": "d"}', [("PC0283", 1, 1)]),
        ('{"name": "a", "description": "d",\n "parameters": {"type": "object"}}', [("PC0283", 2, 2)]),
        ('{"name": "é", "description": "\\t", "input_schema": {"type": "object"}}', [("PC0284", 1, 10), ("PC0284", 1, 30)]),
        (json.dumps({**TOOL, "name": "n" * 65}), [("PC0284", 1, 10)]),
        (json.dumps({**TOOL, "input_schema": {}}), [("PC0285", 1, 65)]),
        (json.dumps({**TOOL, "input_schema": {"type": ["object"]}}), [("PC0285", 1, 65)]),
        (json.dumps({**TOOL, "input_schema": {"type": "obj"}}), [("PC0310", 1, 66)]),
        (json.dumps({**TOOL, "input_schema": {"type": "object", "$ref": "other.json"}}), [("PC0312", 1, 84)]),
        (json.dumps({**TOOL, "input_schema": {"type": "object", "$ref": "#"}}), [("PC0313", 1, 49)]),
    ],
)
def test_what_is_wrong_in_a_tool_has_its_place(tmp_path, tool, found):
    assert find(tmp_path, tool=tool) == found


# contract 8.8
@pytest.mark.parametrize(
    ("response", "found"),
    [
        ("true", [("PC0287", 1, 1)]),
        ("[]", [("PC0287", 1, 1)]),
        ('{"type": "objet"}', [("PC0310", 1, 2)]),
        ('{"properties": {"a": {"$ref": "#/$defs/b"}}}', [("PC0312", 1, 23)]),
        ('{"pattern": "("}', [("PC0314", 1, 2)]),
    ],
)
def test_what_is_wrong_in_a_schema_has_its_place(tmp_path, response, found):
    assert find(tmp_path, response=response) == found


def test_a_word_that_is_no_keyword_is_a_warning(tmp_path):
    prompt = load(tmp_path, json.dumps({**TOOL, "input_schema": {"type": "object", "propertes": {}}}), '{"tipe": "object"}')
    assert [one.code for one in prompt.warnings] == ["PC0311", "PC0311"]


_CLOSED = {"type": "object", "properties": {"a": {}}, "required": ["a", "b"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("response", "codes"),
    [
        ({"type": "array"}, ["PC0288"]),
        ({"type": ["string", "null"]}, ["PC0288"]),
        ({"type": ["object", "null"]}, []),
        ({}, []),
        (_CLOSED, ["PC0289"]),
        ({**_CLOSED, "additionalProperties": True}, []),
        ({**_CLOSED, "patternProperties": {"^b$": {}}}, []),
        ({"type": "object", "properties": {"c": {"items": _CLOSED}}}, ["PC0289"]),
    ],
)
def test_what_no_answer_can_be_is_a_warning(tmp_path, response, codes):
    assert [one.code for one in load(tmp_path, response=json.dumps(response)).warnings] == codes


def test_what_no_call_can_have_is_a_warning(tmp_path):
    prompt = load(tmp_path, json.dumps({**TOOL, "input_schema": _CLOSED}))
    assert [one.message for one in prompt.warnings] == [
        "`required` names `b`, which `properties` does not declare and `additionalProperties: false` forbids"
    ]


def test_no_path_leaves_the_pack(tmp_path):
    own = tmp_path / "own"
    (own / "folder.json").mkdir(parents=True)
    (tmp_path / "out.json").write_text(json.dumps(TOOL), encoding="utf-8")
    (own / "link.json").symlink_to("../out.json")
    (own / "large.json").write_text(json.dumps({**TOOL, "description": "d" * 4_000_000}), encoding="utf-8")
    wanted = {"../out.json": "PC0150", "link.json": "PC0152", "folder.json": "PC0153", "none.json": "PC0151", "large.json": "PC0102"}
    for name, code in wanted.items():
        for key in (f"tools: [{name}]", f"response: {name}", f"patches: {{p: {{tools: [{name}]}}}}"):
            (own / "pack.yaml").write_text(f"{HEAD}{BODY}{key}\n", encoding="utf-8")
            with pytest.raises(PromptcError) as raised:
                promptc.load(own)
            assert [one.code for one in raised.value.diagnostics] == [code]


def test_tools_of_cases_not_chosen_are_read(tmp_path):
    more = "variants: {mood: {select: \"'calm'\", cases: {calm: {}, tense: {tools: [other.json], response: turn.json}}}}\n"
    (tmp_path / "other.json").write_text(json.dumps({**TOOL, "name": "other"}), encoding="utf-8")
    digests = set()
    for schema in ("{}", '{"type": "object"}'):
        (tmp_path / "turn.json").write_text(schema, encoding="utf-8")
        prompt = load(tmp_path, json.dumps(TOOL), more=more)
        assert [tool["name"] for tool in prompt.tools] == ["look"] and prompt.response is None
        digests.add(prompt.report["digests"]["pack"])
    assert len(digests) == 2
    (tmp_path / "turn.json").write_text("false", encoding="utf-8")
    assert [code for code, *_ in find(tmp_path, tool=json.dumps(TOOL), more=more)] == ["PC0287"]


def test_two_tools_of_one_name_are_an_error_of_the_case_that_has_both(tmp_path):
    more = "variants: {mood: {select: state.mood, default: calm, cases: {calm: {}, tense: {tools: [look.json, twin.json]}}}}\n"
    (tmp_path / "twin.json").write_text(json.dumps({**TOOL, "description": "Peek."}), encoding="utf-8")
    assert len(load(tmp_path, json.dumps(TOOL), more=more.replace("state.mood", "none")).tools) == 1
    pack = promptc.load(tmp_path)
    with pytest.raises(PromptcError) as raised:
        pack.render({}, variants={"mood": "tense"})
    assert [one.code for one in raised.value.diagnostics] == ["PC0286"]
    assert "PC0286" in [one.code for one in pack.check()]
