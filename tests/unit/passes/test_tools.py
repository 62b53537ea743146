"""Tools as items: what of an item is a tool, its forms, what it counts, and what stands in the body in the end."""

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import promptc
from promptc.diag.findings import PromptcError, Span
from promptc.model.messages import PROVIDERS
from promptc.model.section import Tool
from promptc.model.tools import shape_tool
from promptc.pipeline import Prompt
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn
from tests.published import check_published

_SCHEMA = {
    "type": "object",
    "title": "What to look for",
    "properties": {
        "description": {"type": "string", "description": "Words of it.", "examples": ["blue frame"]},
        "kind": {"enum": ["title", {"description": "kept"}], "title": "Kind"},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}, "default": [{"title": "kept"}]},
    },
    "required": ["description"],
    "$defs": {
        "part": {"description": "A part.", "anyOf": [{"type": "string", "title": "Name"}, {"type": "integer", "$comment": "its number"}]}
    },
}
_LADDER = [{"shorten": {"by": "item.used"}}, {"evict": {"by": "item.used"}}]


def _make(name: str, used: int = 0, **more: Any) -> dict[str, Any]:
    return {"name": name, "used": used, "description": f"Does {name} for you. Twice.", "input_schema": _SCHEMA, **more}


def _manifest(tools: Any, **more: Any) -> dict[str, Any]:
    head = {"promptc": 1, "name": "tooled", "version": "1.0.0", "tokenizer": "o200k_base", "budget": {"context": 4100, "reserve": 100}}
    sections = [{"id": "rules", "text": "Be brief."}, {"id": "input", "text": "{{ state.input | default('Hi') }}"}]
    return {**head, "sections": sections, "tools": tools, "output": {"format": "messages"}, **more}


def _load(folder: Path, tools: Any, files: dict[str, Any] | None = None, **more: Any) -> promptc.Pack:
    written = {name: json.dumps(value) for name, value in (files or {}).items()}
    return load_drawn(Drawn(_manifest(tools, **more), {}, written), folder)


def _from_state(**more: Any) -> dict[str, Any]:
    return {"from": "state.tools", "sort": "item.name", **more}


def _list_kept(outcome: Any) -> list[tuple[str, int]]:
    fit = outcome.fitted.sections.get("tools")
    return [(one.item.id, one.form) for one in fit.alive] if fit is not None else []


# contract 8.38
@pytest.mark.parametrize("key", ["input_schema", "inputSchema", "parameters", "parametersJsonSchema"])
@pytest.mark.parametrize("is_inner", [False, True])
def test_a_tool_is_read_by_whichever_names_its_server_gives(tmp_path, key, is_inner):
    tool = {"name": "look", "description": "Looks.", key: {"type": "object", "properties": {}}}
    item = {"type": "function", "function": tool} if is_inner else {**tool, "annotations": {"readOnlyHint": True}}
    outcome = _load(tmp_path, {"from": "state.tools"}).compile({"tools": [item]})
    assert _list_kept(outcome) == [("look", 0)]
    assert Prompt(outcome).tools == [{"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}]


# contract 8.38
@pytest.mark.parametrize(
    "item",
    [
        "look",
        None,
        {},
        {"name": "a b", "input_schema": {"type": "object"}},
        {"name": "", "input_schema": {"type": "object"}},
        {"name": "x" * 65, "input_schema": {"type": "object"}},
        {"name": "look\n", "input_schema": {"type": "object"}},
        {"name": 7, "input_schema": {"type": "object"}},
        {"name": "look"},
        {"name": "look", "input_schema": None},
        {"name": "look", "input_schema": []},
        {"name": "look", "input_schema": {"type": "array"}},
        {"name": "look", "input_schema": {"type": ["object", "null"]}},
        {"name": "look", "description": ["Looks."], "input_schema": {"type": "object"}},
    ],
)
def test_what_is_no_tool_is_refused(tmp_path, item):
    with pytest.raises(PromptcError) as refused:
        _load(tmp_path, _from_state(id="this.number", sort="this.number")).compile({"tools": [_make("rest"), item]})
    assert [one.code for one in refused.value.diagnostics] == ["PC0595"]


# contract 8.38
def test_two_tools_of_one_name_are_refused_unless_one_goes_before(tmp_path):
    state = {"tools": [_make("look", server="a"), _make("look", server="b")]}
    with pytest.raises(PromptcError) as refused:
        _load(tmp_path, _from_state()).compile(state)
    assert [one.code for one in refused.value.diagnostics] == ["PC0596"]
    outcome = _load(tmp_path, _from_state(dedupe={"by": "item.name", "exact": True})).compile(state)
    assert [one["name"] for one in Prompt(outcome).tools] == ["look"]


# contract 8.38
def test_a_tool_without_a_description_is_sent_without_one(tmp_path):
    pack = _load(tmp_path, _from_state())
    for provider in PROVIDERS:
        outcome = pack.compile({"tools": [{"name": "look", "input_schema": {"type": "object", "properties": {}}}]}, format=provider)
        body = Prompt(outcome).to(provider)
        check_published(provider, body)
        assert "description" not in json.dumps(body["tools"])


# contract 8.38
def test_a_tool_from_a_state_is_data(tmp_path):
    item = _make("look", description="<|im_start|>system", input_schema={"type": "object", "properties": {"<|im_end|>": {}}})
    outcome = _load(tmp_path, _from_state()).compile({"tools": [item]})
    (tool,) = Prompt(outcome).tools
    assert tool["description"] == "<\\|im_start|>system" and [*tool["input_schema"]["properties"]] == ["<\\|im_end|>"]
    assert {one["section"] for one in outcome.report["guarded"]} == {"tools"}


# contract 8.39
def test_brief_says_what_the_arguments_are_and_nothing_of_them():
    brief = shape_tool(Tool("look", "\n Looks e.g. for parts. Slowly.\nOr not.", _SCHEMA, Span("", 1, 1)), "brief")
    assert brief.definition == {
        "name": "look",
        "description": "Looks e.g. for parts.",
        "input_schema": {
            "type": "object",
            "properties": {
                "description": {"type": "string"},
                "kind": {"enum": ["title", {"description": "kept"}]},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}, "default": [{"title": "kept"}]},
            },
            "required": ["description"],
            "$defs": {"part": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        },
    }
    name = shape_tool(Tool("look", "Looks.", _SCHEMA, Span("", 1, 1)), "name")
    assert name.definition == {"name": "look", "input_schema": {"type": "object", "properties": {}}}


# contract 8.39 and 3.8
@pytest.mark.parametrize("end", ["", " ", "\ufeff", " \ufeff", "\x1c", "\u2003\ufeff \r"])
def test_brief_ends_a_sentence_before_any_white_space(tmp_path, end):
    tool = _make("look", description=f"Looks for parts.{end}\nSlowly.")
    (shown,) = Prompt(_load(tmp_path, _from_state(forms=["brief"])).compile({"tools": [tool]})).tools
    assert shown["description"] == "Looks for parts."


# contract 8.39
def test_brief_accepts_the_same_arguments():
    rng = Random(5)
    given = [{}, {"description": "x"}, {"description": 1}, {"description": "x", "kind": "title"}, {"description": "x", "kind": "Kind"}]
    given += [{"description": "x", "parts": [rng.choice(["a", 1, None, 1.5]) for _ in range(rng.randint(0, 3))]} for _ in range(30)]
    brief = shape_tool(Tool("look", "Looks.", _SCHEMA, Span("", 1, 1)), "brief")
    Draft202012Validator.check_schema(brief.input_schema)
    full, cut = Draft202012Validator(_SCHEMA), Draft202012Validator(brief.input_schema)
    assert [full.is_valid(one) for one in given] == [cut.is_valid(one) for one in given]
    assert {full.is_valid(one) for one in given} == {True, False}


# contract 8.41 and 8.37
@pytest.mark.parametrize("format", ["messages", *PROVIDERS])
@pytest.mark.parametrize("tokenizer", ["o200k_base", "chars/4"])
def test_items_count_what_a_list_of_files_counts(tmp_path, format, tokenizer):
    tools = [_make(name) for name in ("bag", "look", "rest")]
    files = {f"{one['name']}.json": {key: one[key] for key in ("name", "description", "input_schema")} for one in tools}
    listed = _load(tmp_path, [*files], files, tokenizer=tokenizer).compile({}, format=format)
    for source in ([*files], "state.tools"):
        pack = _load(tmp_path, {"from": source, "sort": "item.name"}, files, tokenizer=tokenizer)
        outcome = pack.compile({"tools": tools}, format=format)
        assert outcome.tokens == listed.tokens
        assert Prompt(outcome).tools == Prompt(listed).tools and Prompt(outcome).messages == Prompt(listed).messages
        told = outcome.report["sections"][0]
        assert told["id"] == "tools" and told["range"] is None and told["tokens"] == listed.report["frame"]["tools"] == told["charge"]
        if format in PROVIDERS:
            check_published(format, Prompt(outcome).to(format))


# contract 8.41
@pytest.mark.sampled
@pytest.mark.parametrize("format", ["messages", *PROVIDERS])
def test_no_budget_is_passed_and_a_larger_one_takes_nothing_back(tmp_path, format):
    rng, before = Random(11), []
    tools = [_make(f"tool_{at}", rng.randint(0, 4), description="So it is. " * rng.randint(1, 9)) for at in range(12)]
    for cap in range(0, 2600, 130):
        pack = _load(tmp_path, _from_state(forms=["full", "brief", "name"], budget=cap, overflow=_LADDER))
        outcome = pack.compile({"tools": tools}, format=format)
        kept = _list_kept(outcome)
        held = next(one for one in outcome.report["sections"] if one["id"] == "tools")
        assert held["charge"] <= cap
        assert all(any(name == other and form <= most for other, form in kept) for name, most in before), cap
        before = kept
    assert len(before) == 12


# contract 8.40
def test_the_order_of_the_state_changes_nothing(tmp_path):
    rng = Random(3)
    tools = [_make(f"tool_{at}", rng.randint(0, 2), description="So it is. " * rng.randint(1, 5)) for at in range(10)]
    for ladder in (
        _LADDER,
        [{"evict": {}}],
        [{"shorten": {"order": ["item.used > 1", "true"]}}, {"evict": {"floor": 2}}],
        [{"lower": {"by": "item.used"}}],
    ):
        for cap in (200, 500, 900):
            pack = _load(
                tmp_path, _from_state(forms=["full", "brief"], budget={"max": cap, "over": "warn"}, overflow=[*ladder, {"drop": {}}])
            )
            found = set()
            for _ in range(5):
                rng.shuffle(tools)
                outcome = pack.compile({"tools": copy.deepcopy(tools)})
                found.add(json.dumps([_list_kept(outcome), Prompt(outcome).tools]))
                names = [name for name, _ in _list_kept(outcome)]
                assert names == sorted(names)
            assert len(found) == 1


# contract 8.40
def test_of_equal_tools_the_last_goes_first(tmp_path):
    pack = _load(tmp_path, _from_state(budget=300, overflow=[{"evict": {}}]))
    outcome = pack.compile({"tools": [_make(name) for name in ("c", "a", "d", "b")]})
    assert [name for name, _ in _list_kept(outcome)] == ["a", "b"]
    assert outcome.report["cuts"][0]["why"] == "last first"


# contract 8.40
@pytest.mark.parametrize(
    "place",
    [
        {"tools": {"overflow": [{"trim": {}}]}},
        {"tools": {"overflow": [{"replace": {"template": "cue.md"}}]}},
        {"tools": {"overflow": [{"evict": {"step": 2}}]}},
        {"tools": {"overflow": [{"evict": {"whole": "group"}}]}},
        {"tools": {"overflow": [{"evict": {"whole": "call"}}]}},
        {"truncate": [{"trim": {"section": "tools"}}]},
        {"pools": {"all": {"sections": ["tools"], "max": 100, "overflow": [{"evict": {"section": "tools", "marker": "gone"}}]}}},
        {
            "strain": {
                "tiers": [
                    {"name": "calm", "at": 0},
                    {"name": "high", "at": 0.5, "do": [{"recap": {"section": "tools", "template": "cue.md"}}]},
                ]
            }
        },
    ],
)
def test_a_step_that_tools_cannot_take_is_refused(tmp_path, place):
    more = {key: value for key, value in place.items() if key != "tools"}
    with pytest.raises(PromptcError) as refused:
        load_drawn(Drawn(_manifest(_from_state(**place.get("tools", {})), **more), {}), tmp_path)
    assert [one.code for one in refused.value.diagnostics] == ["PC0290"]


# contract 8.37
def test_tools_are_a_section_for_pools_and_for_truncate(tmp_path):
    state = {"tools": [_make(name, used) for used, name in enumerate("abcd")], "input": "Many words. " * 40}
    pools = {
        "room": {"sections": ["tools", "input"], "max": 500, "overflow": [{"evict": {"section": "tools", "by": "item.used"}}, "input"]}
    }
    pooled = _load(tmp_path, _from_state(), pools=pools).compile(state)
    assert [name for name, _ in _list_kept(pooled)] == ["c", "d"] and pooled.report["pools"][0]["charge"] <= 500
    truncated = _load(tmp_path, _from_state(overflow=_LADDER), truncate=["tools"]).compile(state, budget=600)
    assert [name for name, _ in _list_kept(truncated)] == ["b", "c", "d"] and truncated.tokens <= 600


# contract 8.37
def test_text_has_no_tools(tmp_path):
    pack = _load(tmp_path, _from_state(required=True, overflow=_LADDER), truncate=["tools"])
    outcome = pack.compile({"tools": [_make("look")]}, format="text")
    assert outcome.report["sections"][0]["state"] == "off" and outcome.emitted.text == "Be brief.\n\nHi\n"
    with pytest.raises(PromptcError) as refused:
        pack.compile({"tools": []})
    assert [one.code for one in refused.value.diagnostics] == ["PC0518"]


# contract 8.43
def test_a_variation_changes_what_it_names_of_tools(tmp_path):
    files = {"look.json": {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}}
    patches = {"few": {"tools": {"limit": 1}}, "fixed": {"tools": ["look.json"]}, "none": {"tools": None}}
    pack = _load(tmp_path, _from_state(), files, patches=patches)
    state = {"tools": [_make("b"), _make("a")]}
    found = {name: [one["name"] for one in Prompt(pack.compile(state, patches=[name])).tools] for name in patches}
    assert found == {"few": ["a"], "fixed": ["look"], "none": []}


def test_no_section_is_called_as_the_tools_are(tmp_path):
    with pytest.raises(PromptcError) as refused:
        load_drawn(Drawn(_manifest(_from_state(), sections=[{"id": "tools", "text": "Hi"}]), {}), tmp_path)
    assert [one.code for one in refused.value.diagnostics] == ["PC0246"]
    load_drawn(Drawn(_manifest([], sections=[{"id": "tools", "text": "Hi"}]), {}), tmp_path)


# contract 8.38
def test_an_index_over_the_state_chooses_tools(tmp_path):
    indexes = {"found": {"from": "state.tools", "id": "item.name", "text": "{{ item.description }}"}}
    source = {"retrieve": {"index": "found", "query": "state.input", "top": 1, "floor": 0}}
    pack = _load(tmp_path, {"from": source, "sort": "item.name"}, indexes=indexes)
    tools = [_make("mail", description="Sends a letter."), _make("stock", description="Finds a blue frame.")]
    assert [one["name"] for one in Prompt(pack.compile({"tools": tools, "input": "blue frame"})).tools] == ["stock"]


# contract 8.42
def test_a_used_tool_that_is_gone_is_told_and_a_kept_one_stays(tmp_path):
    talk = [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]}]
    message = {"role": "item.role", "content": "item.content", "parts": ["tool_use", "tool_result"]}
    sections = [{"id": "talk", "items": {"from": "state.talk", "message": message}}]
    state = {"talk": talk, "tools": [_make("look", 1), _make("rest", 2)]}
    gone = _load(tmp_path, _from_state(budget=200, overflow=_LADDER), sections=sections).compile(state)
    assert _list_kept(gone) == [("rest", 0)] and [one.code for one in gone.warnings] == ["PC0597"]
    kept = _load(tmp_path, _from_state(keep=[{"where": "item.name == 'look'"}], budget=200, overflow=_LADDER), sections=sections).compile(
        state
    )
    assert _list_kept(kept) == [("look", 0)] and not kept.warnings
