"""Tools that a model finds by a search of its provider: what is sent and counted, in which order, and what stands where none can search."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import promptc
from promptc.diag.findings import PromptcError
from promptc.frontend.output import load_provider
from promptc.model.messages import PROVIDERS
from promptc.pipeline import Prompt
from tests.cases.recount import count_text
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn
from tests.published import MODELS, check_published

SEARCHING = ("openai-responses", "anthropic")
OTHERS = tuple(name for name in PROVIDERS if name not in SEARCHING)
_SEARCH = {
    "anthropic": {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    "openai-responses": {"type": "tool_search"},
}
_LADDER = [{"shorten": {"by": "item.used"}}, {"evict": {"by": "item.used"}}]


def _make(name: str, used: int = 0, words: int = 9) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"of": {"type": "string", "description": "So it is. " * words}}, "required": ["of"]}
    return {"name": name, "used": used, "description": f"Does {name} for you. {'Twice. ' * (words // 3)}", "input_schema": schema}


def _load(folder: Path, **more: Any) -> promptc.Pack:
    tools = {"from": "state.tools", "sort": "item.name", "forms": ["full", "deferred"], "overflow": _LADDER, **more}
    head = {"promptc": 1, "name": "tooled", "version": "1.0.0", "tokenizer": "o200k_base", "budget": {"context": 9000, "reserve": 100}}
    sections = [{"id": "rules", "text": "Be brief."}, {"id": "input", "text": "Hi", "cache": True}]
    return load_drawn(Drawn({**head, "sections": sections, "tools": tools, "output": {"format": "messages"}}, {}), folder)


def _cap(provider: str, tools: list[dict[str, Any]], kept: int) -> int:
    """What so many of the tools take whole and the others deferred, by the facts of the provider and a count of tiktoken."""
    facts = load_provider(provider)
    assert facts.search is not None
    tokens = facts.tools_tokens + facts.search.tokens
    for place, tool in enumerate(tools):
        whole = {key: tool[key] for key in ("name", "description", "input_schema")}
        if place >= kept and provider == "anthropic":
            continue
        told = whole if place < kept else {"name": tool["name"], "description": tool["description"]}
        tokens += facts.tool_tokens + count_text("o200k_base", json.dumps(told, sort_keys=True, separators=(",", ":")))
    return tokens


# contract 8.48 and 8.49
@pytest.mark.parametrize("provider", SEARCHING)
@pytest.mark.parametrize("kept", range(5))
def test_a_deferred_tool_is_sent_whole_behind_the_tool_that_searches(tmp_path, provider, kept):
    tools = [_make(name, 9 - place) for place, name in enumerate("abcd")]
    pack = _load(tmp_path, budget=_cap(provider, tools, kept))
    outcome = pack.compile({"tools": tools}, format=provider)
    told = outcome.report["sections"][0]
    assert told["tokens"] == told["charge"] == _cap(provider, tools, kept)
    assert [one.get("form", 0) for one in told["items"]] == [0] * kept + [1] * (4 - kept)
    body = Prompt(outcome).to(provider, MODELS[provider])
    check_published(provider, body)
    assert [one.get("name", "search") for one in body["tools"] if one not in _SEARCH.values()] == [*"abcd"]
    assert [one.get("defer_loading", False) for one in body["tools"]] == [False] * (kept + (kept < 4)) + [True] * (4 - kept)
    assert body["tools"][kept : kept + 1] == ([_SEARCH[provider]] if kept < 4 else [])
    assert all(one.get("parameters", one.get("input_schema", {"required": ["of"]}))["required"] == ["of"] for one in body["tools"])
    assert [one.get("defer_loading", False) for one in Prompt(outcome).tools] == [False] * kept + [True] * (4 - kept)
    assert "defer_loading" not in json.dumps(Prompt(outcome).messages)


# contract 8.49
def test_messages_of_no_provider_count_the_most_that_one_shows(tmp_path):
    tools = [_make(name) for name in "abcd"]
    told = _load(tmp_path, forms=["deferred"]).compile({"tools": tools}).report
    shown = [json.dumps({"name": one["name"], "description": one["description"]}, sort_keys=True, separators=(",", ":")) for one in tools]
    assert told["sections"][0]["tokens"] == sum(count_text("o200k_base", one) for one in shown)


# contract 8.49
@pytest.mark.parametrize("step", [{"evict": {}}, {"lower": {"by": "item.used"}}])
def test_what_takes_no_room_is_not_left_out_for_room(tmp_path, step):
    tools = [_make(name, 1 + place) for place, name in enumerate("abcd")]
    ladder = [{"shorten": {"order": ["item.used < 4"]}}, step]
    for cap, kept in ((_cap("anthropic", tools[::-1], 1), "abcd"), (_cap("anthropic", tools, 0), "abc")):
        outcome = _load(tmp_path, budget=cap, overflow=ladder).compile({"tools": tools}, format="anthropic")
        assert [one["name"] for one in Prompt(outcome).tools] == sorted(kept, key="dabc".index)
    short = _load(tmp_path, budget=cap - 1, overflow=ladder).compile({"tools": tools}, format="anthropic")
    assert [one.code for one in short.errors] == ["PC0531"] and f"it still has {cap}" in short.errors[0].message
    told = _load(tmp_path, budget=_cap("openai-responses", tools, 0) - 1, overflow=ladder).compile(
        {"tools": tools}, format="openai-responses"
    )
    assert len(told.report["sections"][0]["items"]) < 4


# contract 8.39
def test_a_form_that_is_not_shorter_is_passed_over_without_a_warning(tmp_path):
    bare = {"name": "bare", "used": 0, "input_schema": {"type": "object", "properties": {}}}
    outcome = _load(tmp_path, forms=["full", "brief", "name"], budget=60).compile({"tools": [bare, _make("look", 1)]})
    assert outcome.report["ladders"]["tools"]["void"] == 2 and not outcome.warnings


# contract 8.50
@pytest.mark.parametrize("provider", SEARCHING)
@pytest.mark.parametrize("forms", [["deferred"], ["full", "deferred"]])
def test_another_deferred_tool_moves_none_before_it(tmp_path, provider, forms):
    rng = Random(7)
    kept = [_make(name, 9) for name in ("crate", "mail", "stock")]
    cold = [{**_make(f"{letter}_{place}"), "input_schema": _make("", 0, 200)["input_schema"]} for place, letter in enumerate("ahnt")]
    whole = len(kept) if len(forms) > 1 else 0
    pack = _load(tmp_path, forms=forms, budget=_cap(provider, [*kept, *cold, _make("x" * 30)], whole), overflow=[_LADDER[0]])
    before: list[Any] = []
    for count in range(1, len(cold) + 1):
        tools = [*kept, *cold[:count]]
        rng.shuffle(tools)
        listed = Prompt(pack.compile({"tools": tools}, format=provider)).to(provider, MODELS[provider])["tools"]
        loaded = [one for one in listed if not one.get("defer_loading")]
        assert [one.get("name") for one in loaded[:-1]] == (["crate", "mail", "stock"] if whole else [])
        assert loaded[-1] == _SEARCH[provider] and listed[: len(loaded)] == loaded
        assert not before or loaded == before, "a tool that is not deferred has moved, or is another"
        before = loaded
        deferred = [one["name"] for one in listed[len(loaded) :]]
        assert deferred == sorted(one["name"] for one in tools if one["name"] not in [loaded.get("name") for loaded in before])


# contract 8.49 and 11.2
@pytest.mark.sampled
@pytest.mark.parametrize("format", ["messages", *PROVIDERS])
@pytest.mark.parametrize("forms", [["full", "deferred"], ["full", "brief", "deferred"], ["full", "brief", "name", "deferred"]])
def test_no_budget_is_passed_and_a_larger_one_takes_nothing_back(tmp_path, format, forms):
    rng, before = Random(11), []
    tools = [_make(f"tool_{place}", rng.randint(0, 4), rng.randint(0, 20)) for place in range(12)]
    for cap in range(0, 3600, 150):
        outcome = _load(tmp_path, forms=forms, budget=cap, overflow=[*_LADDER, {"drop": {}}]).compile({"tools": tools}, format=format)
        held = next(one for one in outcome.report["sections"] if one["id"] == "tools")
        assert held["charge"] <= cap
        kept = {one["id"]: one.get("form", 0) for one in held["items"]}
        assert all(kept.get(name, 9) <= form for name, form in before), cap
        before = [*kept.items()]
        if kept:
            check_published(format, Prompt(outcome).to(format, MODELS[format])) if format in PROVIDERS else None
    assert len(before) == 12


# contract 8.51
@pytest.mark.parametrize("provider", OTHERS)
def test_where_none_can_search_the_forms_end_before_it_and_what_goes_is_told(tmp_path, provider):
    tools = [_make(name, place) for place, name in enumerate("abcd")]
    facts = load_provider(provider)
    cap = facts.tools_tokens + 2 * facts.tool_tokens + 30
    outcome = _load(tmp_path, forms=["full", "name", "deferred"], budget=cap).compile({"tools": tools}, format=provider)
    assert [(one["id"], one.get("form", 0)) for one in outcome.report["sections"][0]["items"]] != []
    assert {one.get("form", 0) for one in outcome.report["sections"][0]["items"]} <= {0, 1}
    gone = {"a", "b", "c", "d"} - {one["id"] for one in outcome.report["sections"][0]["items"]}
    (told,) = outcome.warnings
    assert gone and told.code == "PC0527" and all(f"`{name}`" in told.message for name in gone) and facts.title in told.message
    assert "defer" not in json.dumps(Prompt(outcome).to(provider))
    wide = _load(tmp_path, forms=["full", "name", "deferred"], budget=4000).compile({"tools": tools}, format=provider)
    assert not wide.warnings and len(Prompt(wide).tools) == 4


# contract 8.51
@pytest.mark.parametrize("provider", OTHERS)
def test_deferred_alone_is_refused_where_none_can_search(tmp_path, provider):
    pack = _load(tmp_path, forms=["deferred"])
    with pytest.raises(PromptcError) as refused:
        pack.compile({"tools": [_make("a")]}, format=provider)
    assert [one.code for one in refused.value.diagnostics] == ["PC0526"]
    assert pack.compile({"tools": [_make("a")]}, format="text").tokens


# contract 8.51
@pytest.mark.parametrize(
    ("model", "can"), [("gpt-5.4", True), ("openai/gpt-5.6-mini", True), (None, True), ("gpt-5.3", False), ("gpt-4o", False)]
)
def test_a_model_that_cannot_search_is_treated_as_such_a_provider(tmp_path, model, can):
    tools = [_make(name) for name in "abcd"]
    pack = _load(tmp_path, budget=300)
    outcome = pack.compile({"tools": tools}, format="openai-responses", model=model)
    told = [one.code for one in outcome.warnings]
    assert told == ([] if can else ["PC0527"])
    assert len(Prompt(outcome).tools) == (4 if can else 3)
    if not can:
        assert f"`{model}`" in outcome.warnings[0].message
    for other, is_able in ((model, can), ("gpt-5.6", True), ("gpt-4o", False)):
        body = pack.render({"tools": tools}, format="openai-responses", model=model).to("openai-responses", other)
        assert len(body["tools"]) == (5 if is_able else 3)


# contract 8.51
def test_the_name_of_the_tool_that_searches_is_taken_once_tools_are_deferred(tmp_path):
    tools = [_make("tool_search_tool_bm25"), _make("z")]
    wide = _load(tmp_path).render({"tools": tools}, format="anthropic").to("anthropic")
    assert [one["name"] for one in wide["tools"]] == ["tool_search_tool_bm25", "z"]
    with pytest.raises(PromptcError) as refused:
        _load(tmp_path, forms=["deferred"]).render({"tools": tools}, format="anthropic").to("anthropic")
    assert [one.code for one in refused.value.diagnostics] == ["PC0528"]
    _load(tmp_path, forms=["deferred"]).render({"tools": tools}, format="openai-responses").to("openai-responses")


# contract 8.48
def test_deferred_is_the_last_form(tmp_path):
    with pytest.raises(PromptcError) as refused:
        _load(tmp_path, forms=["full", "deferred", "name"])
    (found,) = refused.value.diagnostics
    assert found.code == "PC0291" and found.help == "write `forms: [full, name, deferred]`"
