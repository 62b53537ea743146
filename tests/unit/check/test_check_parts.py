"""`check` on `items.message.parts`: what can never pass, what is always refused, and half a turn of a tool."""

import json

import pytest

from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn

TEXT = {"type": "object", "properties": {"type": {"const": "text"}, "text": {"type": "string"}}, "required": ["type", "text"]}
FILM = {"type": "object", "properties": {"type": {"enum": ["film", "sound"]}}, "required": ["type"]}
BARE = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}
OPEN = {"type": "object", "properties": {"text": {"type": "string"}}}
ANY_TYPE = {"type": "object", "properties": {"type": {"type": "string"}}}
ALIAS = {"type": "object", "properties": {"type": {"enum": ["input_text"]}}, "required": ["type"]}


def _check(folder, content, parts, media=None, models=None, pinned=False):
    message = {"role": "item.role", "content": "item.content", "parts": parts} | ({"media": media} if media is not None else {})
    turn = {"type": "object", "properties": {"role": {"enum": ["user"]}, "content": content}, "required": ["role", "content"]}
    schema = {"type": "object", "properties": {"log": {"type": "array", "items": turn}}, "required": ["log"]}
    (folder / "state.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    manifest = {
        "promptc": 1,
        "name": "log",
        "version": "1.0.0",
        "tokenizer": "cl100k_base",
        "budget": 4000,
        "state": {"schema": "state.schema.json"},
        "output": {"format": "messages", **({"models": models} if models is not None else {})},
        "sections": [{"id": "log", "items": {"from": "state.log", "window": {"last": 9}, "message": message}, "pinned": pinned}],
    }
    found = load_drawn(Drawn(manifest, {}), folder).check()
    return [one for one in found if one.code.startswith(("PC069", "PC0651", *(["PC06"] if pinned else [])))]


def _list(*elements):
    return {"type": "array", "items": {"anyOf": list(elements)} if len(elements) > 1 else elements[0]}


@pytest.mark.parametrize("content", [_list(FILM), {"anyOf": [{"type": "string"}, _list(FILM)]}, _list(FILM, {"type": "string"})])
def test_types_that_parts_never_names_are_told(tmp_path, content):
    (found,) = _check(tmp_path, content, ["text"])
    assert found.code == "PC0690" and "`film`, `sound`" in found.message and "`item.content`" in found.message


@pytest.mark.parametrize("element", [BARE, {"type": "string"}, {"type": "integer"}])
def test_elements_without_a_type_are_told(tmp_path, element):
    (found,) = _check(tmp_path, {"anyOf": [{"type": "string"}, _list(element)]}, ["text"])
    assert found.code == "PC0690" and "they have no `type`" in found.message
    (found,) = _check(tmp_path, _list(element), ["text"])
    assert found.code == "PC0651", "of a content that is nothing else, every render fails"


@pytest.mark.parametrize(
    "content",
    [
        _list(TEXT),
        _list(TEXT, FILM),
        _list(OPEN),
        _list(ANY_TYPE),
        _list(ALIAS),
        _list(FILM, {}),
        {"type": "string"},
        {"type": "array"},
        {"type": "array", "items": FILM, "maxItems": 0},
        {},
    ],
)
def test_nothing_is_said_where_some_part_may_pass(tmp_path, content):
    assert _check(tmp_path, content, ["text"]) == []


def test_types_that_no_request_holds_are_told(tmp_path):
    assert [(one.code, "`film`" in one.message) for one in _check(tmp_path, _list(TEXT), ["text", "film"])] == [("PC0691", True)]
    (found,) = _check(tmp_path, _list(TEXT), ["text", "tooluse"])
    assert found.code == "PC0691" and found.help == "did you mean `tool_use`?"
    assert _check(tmp_path, _list(TEXT), ["output_text", "thinking", "redacted_thinking"]) == []


@pytest.mark.parametrize(("kind", "other"), [("tool_use", "tool_result"), ("tool_result", "tool_use")])
def test_half_a_turn_of_a_tool_is_told(tmp_path, kind, other):
    (found,) = _check(tmp_path, _list(TEXT), ["text", kind])
    assert found.code == "PC0692" and f"`{kind}` without `{other}`" in found.message
    assert _check(tmp_path, _list(TEXT), ["text", kind, other]) == []


# contract 4.43
@pytest.mark.parametrize(
    ("parts", "media", "models", "codes"),
    [
        (["text", "image"], {"model": "gpt-5.6"}, None, []),
        (["text", "image"], {"tokens": "part.tokens"}, None, []),
        (["text", "input_image"], None, {"openai": "gpt-4o"}, []),
        (["text", "image"], {"model": "gpt-4o"}, {"ollama": "llava"}, []),
        (["text", "document"], None, None, ["PC0694"]),
        (["text", "audio"], {"detail": "low"}, {"openai": "gpt-4o", "ollama": "llava", "gemini": "gemini-9"}, ["PC0694", "PC0694"]),
        (["text"], {"model": "gpt-5.6"}, None, ["PC0695"]),
    ],
)
def test_media_that_nothing_counts_are_told(tmp_path, parts, media, models, codes):
    found = _check(tmp_path, _list(OPEN), parts, media, models)
    assert [one.code for one in found] == codes
    assert all("`llava`" in one.message or "`gemini-9`" in one.message for one in found[1:])


# contract 11.6
def test_nothing_is_proved_of_a_pinned_section_with_media(tmp_path):
    """A picture of a few bytes may count thousands."""
    short = {"type": "object", "properties": {"type": {"enum": ["text", "image"]}}, "required": ["type"], "additionalProperties": False}
    content = {**_list(short), "maxItems": 2}
    assert "PC0655" not in {one.code for one in _check(tmp_path, content, ["text"], pinned=True)}
    (found,) = (one for one in _check(tmp_path, content, ["text", "image"], {"model": "gpt-4o"}, pinned=True) if one.code == "PC0655")
    assert "the size of a picture has no limit in the schema" in found.message
