"""Every part of a message is rendered, noted as left out, or stops the render: none disappears."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError
from promptc.model.section import PART_KINDS
from promptc.passes.payload.checks import _KEYS
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn

TEXT = {"type": "text", "text": "Look at this."}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 2000}}
USE = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "seen"}
TOOLS = ("text", "tool_use", "tool_result")


def _load(folder, parts=None):
    message = {"role": "item.role", "content": "item.content"} | ({"parts": list(parts)} if parts is not None else {})
    section = {"id": "log", "items": {"from": "state.log", "id": "item.id", "message": message}}
    manifest = {"promptc": 1, "name": "log", "version": "1.0.0", "tokenizer": "cl100k_base", "budget": 4000, "sections": [section]}
    return load_drawn(Drawn(manifest, {}), folder)


def _log(*contents):
    return {"log": [{"id": f"m{place}", "role": "assistant", "content": content} for place, content in enumerate(contents)]}


def _render(folder, *contents, parts=None, format="messages"):
    return _load(folder, parts).render(_log(*contents), format=format)


def _refuse(folder, *contents, parts=None, format="messages"):
    with pytest.raises(PromptcError) as wrong:
        _render(folder, *contents, parts=parts, format=format)
    (found,) = wrong.value.diagnostics
    return found


# contract 8.13
@pytest.mark.parametrize("part", [TEXT, USE, RESULT])
def test_a_key_of_null_is_no_key_of_a_part(tmp_path, part):
    """A schema that declares the keys of all kinds of parts gives each part the others', as none."""
    nothing = dict.fromkeys(("text", "id", "name", "input", "tool_use_id", "cache_control"))
    given, bare = _log([{**nothing, **part}]), _log([part])
    pack = _load(tmp_path, TOOLS)
    with_null, without = (pack.render(state, format="messages") for state in (given, bare))
    assert (with_null.messages, with_null.tokens) == (without.messages, without.tokens)


def test_null_inside_what_a_tool_is_given_is_its_own_matter(tmp_path):
    (message,) = _render(tmp_path, [{**USE, "input": {"who": None}}], parts=TOOLS).messages
    assert message["content"] == [{**USE, "input": {"who": None}}]


# contract 4.23
@pytest.mark.parametrize("format", ["text", "messages", "anthropic"])
@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"text": "Hello"}, "has no `type`"),
        ({"image": {"data": "iVBORw0KGgo"}}, "has no `type`"),
        ({"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo"}}}, "has no `type`"),
        ({"type": None, "text": "Hello"}, "has a `type` that must be a string, not null"),
        ({"type": 1, "text": "Hello"}, "has a `type` that must be a string, not 1"),
        ({"type": ["text"], "text": "Hello"}, 'has a `type` that must be a string, not `["text"]`'),
        ("Hello", "is the bare string `Hello`, not a mapping"),
        ("", "is an empty string, not a mapping"),
        (None, "is null, not a mapping"),
        (True, "is true, not a mapping"),
        (7, "is 7, not a mapping"),
        ([TEXT], 'is `[{"text": "Look at this.", "type": "text"}]`, not a mapping'),
        ({"type": "text"}, "is of the type `text` and has no text"),
        ({"type": "input_text", "text": 5}, "is of the type `input_text` and has no text"),
    ],
)
def test_what_is_no_part_is_refused_wherever_it_stands(tmp_path, part, said, format):
    found = _refuse(tmp_path, "Well?", [TEXT, part], format=format)
    assert found.code == "PC0515" and f"part 2 of item `m1` of `log` {said}" in found.message


# contract 4.24
def test_what_parts_leaves_out_is_counted_and_named(tmp_path):
    prompt = _render(tmp_path, [TEXT, IMAGE, USE], [TEXT])
    (section,) = prompt.report["sections"]
    assert section["left_out"] == {"parts": 2}
    assert [message["content"] for message in prompt.messages] == [[TEXT], [TEXT]]
    assert not prompt.warnings and prompt.tokens < 40


def test_a_message_that_goes_whole_is_a_warning(tmp_path):
    prompt = _render(tmp_path, [IMAGE, IMAGE, USE], [IMAGE], [TEXT])
    (section,) = prompt.report["sections"]
    assert section["left_out"] == {"empty": 2, "parts": 4}
    (found,) = prompt.warnings
    assert found.code == "PC0581"
    assert "item `m0` of `log` is left out (1 more like it): `parts` lets none of its parts pass: 2 `image`, `tool_use`" in found.message


# contract 4.24
def test_blank_texts_are_counted_without_a_warning(tmp_path):
    prompt = _render(tmp_path, [{"type": "text", "text": " \n"}], [TEXT, {"type": "text", "text": ""}], [])
    assert prompt.report["sections"][0]["left_out"] == {"empty": 2, "parts": 2}
    assert not prompt.warnings


# contract 4.25
@pytest.mark.parametrize("format", ["text", "messages", "anthropic", "openai"])
@pytest.mark.parametrize("kind", ["video", "refusal", "file_search_call"])
def test_a_kind_that_no_request_holds_is_refused_where_parts_names_it(tmp_path, kind, format):
    found = _refuse(tmp_path, [TEXT, {**IMAGE, "type": kind}], parts=["text", kind], format=format)
    assert found.code == "PC0561" and f"part 2 of item `m0` of `log` is of the kind `{kind}`" in found.message
    assert f"leave `{kind}` out of `parts`" in found.help


# contract 4.25
@pytest.mark.parametrize(
    "held",
    [
        [IMAGE],
        [TEXT, IMAGE],
        {"content": [{"deep": [IMAGE]}]},
        [{"type": "image", "data": "iVBORw0KGgo", "mimeType": "image/png"}],
        [{"type": "image", "source": "gate.png"}],
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo"}}],
        [{"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo"}],
        [{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0"}}],
        [{"type": "input_audio", "input_audio": {"data": "UklGR", "format": "wav"}}],
        [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo"}}],
        [{"type": "resource", "resource": {"uri": "file:///a", "mimeType": "application/pdf", "blob": "JVBERi0"}}],
        {"source": {"type": "base64", "media_type": "audio/wav", "data": "UklGR"}},
        {"screenshot": "data:image/png;base64,iVBORw0KGgo"},
        "DATA:image/jpeg;base64,iVBORw0KGgo",
        [{"type": "Image", "source": {"data": "iVBORw0KGgo"}}],
        [{"type": "IMAGE_URL", "image_url": "https://example.com/gate.png"}],
        {"image": {"data": "iVBORw0KGgo"}},
        {"Image": {"bytes": "iVBORw0KGgo"}},
        [{"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo"}}}],
        [{"document": {"format": "pdf", "name": "map", "source": {"bytes": "JVBERi0"}}}],
        [{"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://films/gate.mp4"}}}}],
        {"created": 1, "data": [{"b64_json": "iVBORw0KGgo"}]},
        {"screenshot": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"},
        {"photo": "/9j/4AAQSkZJRgABAQAAAQABAAD"},
        ['{"png": "' + "iVBORw0KGgo" * 20 + '"}'],
        [{"type": "text", "text": "Seen: ![](data:image/png;charset=x;base64,iVBORw0KGgo)"}],
        ["AAAAIGZ0eXBpc29tAAACAGlzb21pc28yYXZjMW1wNDE"],
        ["_9j_4AAQSkZJRgABAQAAAQABAAD="],
    ],
)
@pytest.mark.parametrize("half", ["tool_use", "tool_result"])
def test_a_picture_inside_a_turn_of_tools_is_refused(tmp_path, held, half):
    """Whatever its shape: as JSON it would be its base64."""
    turn = [{**USE, "input": {"it": held}}, RESULT] if half == "tool_use" else [USE, {**RESULT, "content": held}]
    found = _refuse(tmp_path, turn, parts=TOOLS)
    place = 1 if half == "tool_use" else 2
    assert found.code == "PC0580" and f"part {place} of item `m0` of `log`, a `{half}`, contains" in found.message


@pytest.mark.parametrize(
    ("begins", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF", "image/webp or audio/wav"),
        (b"%PDF-", "application/pdf"),
        (b"ID3", "audio/mpeg"),
        (b"OggS", "audio/ogg"),
        (b"fLaC\0", "audio/flac"),
        (b"\x1aE\xdf\xa3", "video/webm"),
        (b"PK\3\4", "application/zip"),
        (b"\0\0\0 ftyp", "video/mp4"),
    ],
)
def test_bytes_inside_a_turn_of_tools_are_called_by_how_they_begin(tmp_path, begins, kind):
    found = _refuse(tmp_path, [USE, {**RESULT, "content": {"it": base64.b64encode(begins + bytes(60)).decode()}}], parts=TOOLS)
    assert found.code == "PC0580" and f"contains a part of the kind `{kind}`" in found.message


@pytest.mark.parametrize(
    "held",
    [
        [{"type": "file", "name": "notes.txt"}],
        {"type": "image", "alt": "a gate"},
        [{"type": "document"}],
        {"mimeType": "application/json", "data": "{}"},
        {"mimeType": "image/png", "url": "https://example.com/gate.png"},
        "data: image/png is a type",
        "data:image/png;base64",
        "photos/9j/4AAQSkZJRgABAQAAAQABAAD",
        "iVBORw0KGgo is how a PNG begins",
        {"iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB": "a key"},
        {"image": {"alt": "a gate", "source": "gate.png"}},
        {"image": "gate.png"},
        {"file": {"name": "notes.txt", "data": "a line"}},
        {"document": {"title": "Map", "data": "a line", "source": {"name": "the tower"}}},
        {"digest": "dGhlIHRleHQgb2YgYSBsb25nIG5vdGUgd2l0aG91dCBhIHBpY3R1cmUgaW4gaXQ" * 4},
        None,
        5,
    ],
)
def test_plain_data_of_a_tool_stays_data(tmp_path, held):
    prompt = _render(tmp_path, [USE, {**RESULT, "content": held}], parts=TOOLS)
    assert prompt.messages[0]["content"][1]["content"] == held


# contract 4.23
def test_texts_of_openais_responses_are_texts(tmp_path):
    """In every body they are what that provider calls a text."""
    given = [{"type": "input_text", "text": "Who?"}, {"type": "output_text", "text": "Me.", "annotations": []}]
    prompt = _render(tmp_path, given)
    assert [part["type"] for part in prompt.messages[0]["content"]] == ["text", "text"]
    assert prompt.report["sections"][0]["left_out"] == {}
    assert _render(tmp_path, given, format="text").text == "Who?\nMe.\n"
    assert _render(tmp_path, given, parts=["input_text"]).messages == prompt.messages


# contract 4.24
@pytest.mark.parametrize("parts", [["text", "tool_use"], ["text", "tool_result"]])
def test_one_half_without_the_other_passes_nothing_of_a_tool(tmp_path, parts):
    """No use stands without its result, and no text goes with a half."""
    prompt = _render(tmp_path, [TEXT, USE], [RESULT, TEXT], parts=parts)
    assert [message["content"] for message in prompt.messages] == [[TEXT], [TEXT]]
    assert prompt.report["sections"][0]["left_out"] == {"parts": 2}


def test_the_kinds_are_those_that_bodies_take():
    assert {"text", *_KEYS} == set(PART_KINDS)


_WORD = st.text("abc ", max_size=3)
_PART = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(("text", "input_text", "output_text")), "text": _WORD}),
    st.fixed_dictionaries({"type": st.sampled_from(("image", "document", "refusal", "thinking"))}, optional={"source": _WORD}),
    st.fixed_dictionaries({"type": st.just("tool_use"), "id": st.just("a"), "name": st.just("look"), "input": st.just({})}),
    st.fixed_dictionaries(
        {"type": st.just("tool_result"), "tool_use_id": st.just("a"), "content": _WORD | st.just([IMAGE]) | st.just([TEXT])}
    ),
    st.dictionaries(st.sampled_from(("type", "text", "x")), _WORD | st.none() | st.integers(0, 2), max_size=3),
    st.none() | st.booleans() | st.integers(0, 9) | _WORD | st.just([]),
)


# contract 4.22
@given(
    contents=st.lists(st.lists(_PART, max_size=4), min_size=1, max_size=3),
    parts=st.lists(st.sampled_from((*PART_KINDS, "image", "x")), min_size=1, max_size=4, unique=True),
    format=st.sampled_from(("text", "messages")),
)
def test_every_part_is_rendered_counted_or_refused(tmp_path_factory, contents, parts, format):
    pack = _load(tmp_path_factory.mktemp("read"), parts)
    refused: set[str] = set()
    try:
        outcome = pack.compile(_log(*contents), format=format)
    except PromptcError as error:
        refused = {one.code for one in error.diagnostics}
    if refused:
        assert refused <= {"PC0515", "PC0561", "PC0580", "PC0584"}
        return
    (section,) = outcome.report["sections"]
    kept = (
        {entry.item.id: entry.item.content or () for entry in outcome.fitted.sections["log"].alive}
        if "log" in outcome.fitted.sections
        else {}
    )
    alone = section["left_out"].get("unit", 0)
    shown = sum(len(content) for content in kept.values())
    gone = sum(len(content) for place, content in enumerate(contents) if f"m{place}" not in kept) if alone else 0
    lost = section["left_out"].get("parts", 0)
    given_parts = sum(map(len, contents))
    assert shown + lost == given_parts if not alone else shown + lost <= given_parts <= shown + lost + gone
    for place, content in enumerate(contents):
        for one in kept.get(f"m{place}", ()):
            assert any(part == one or {**part, "type": "text"} == one for part in content)
    if not any(section["left_out"].values()):
        text = outcome.emitted.text if format == "text" else json.dumps(outcome.emitted.messages)
        assert all(part["text"].strip() in text for content in contents for part in content if part["type"].endswith("text"))
