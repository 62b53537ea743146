"""What a key takes of its expression: `check` and the run agree, for every key that takes one and every kind of value."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import promptc
from promptc.check import takes
from promptc.check.registry import check_pack
from promptc.diag.findings import Diagnostic, PromptcError
from promptc.model.sources import Segment
from tests.contract.sources import ROOT
from tests.property.load_drawn import render_yaml
from tests.unit.passes.small_sources import SmallSources, compile_small

HOLE = "HOLE"
LONG = "One sentence stands here. Another one follows it. A third one ends it."
STATE = {"log": [{"role": "user", "text": f"{number}. {LONG}", "id": f"i{number}", "at": number} for number in range(4)]}
ITEM = {"type": "object", "additionalProperties": False, "required": ["role", "text", "id", "at"], "properties": {
    "role": {"enum": ["user"]}, "text": {"type": "string"}, "id": {"type": "string"}, "at": {"type": "integer"}}}  # fmt: skip
TOOL = {"name": "look", "description": "Looks around.", "input_schema": {"type": "object", "properties": {}}}
PART = {"type": "object", "additionalProperties": False, "required": ["id", "type", "text"], "properties": {
    "id": {"type": "string"}, "type": {"enum": ["text"]}, "text": {"type": "string"}}}  # fmt: skip
BARE = {"type": "object", "additionalProperties": False, "required": ["id"], "properties": {"id": {"type": "string"}}}


def _list(element: Any) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": element}


KINDS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "text": ({"type": "string"}, ["user", "x y"]),
    "text that is no case": ({"enum": ["zebra", "lion"]}, ["zebra", "lion"]),
    "whole number": ({"type": "integer"}, [0, 3, 3.0]),
    "whole number under 0": ({"type": "integer", "maximum": -1}, [-1, -7]),
    "fraction": ({"enum": [1.5, 2.25]}, [1.5, 2.25]),
    "fraction between": ({"type": "number", "minimum": 1.25, "maximum": 1.75}, [1.25, 1.5]),
    "whole number or fraction": ({"type": "number"}, [2, 1.5]),
    "boolean": ({"type": "boolean"}, [True, False]),
    "nothing": ({"type": "null"}, [None]),
    "list of texts": (_list({"type": "string"}), [["user"], ["a", "b"]]),
    "list of whole numbers": (_list({"type": "integer"}), [[1], [2, 3]]),
    "list of fractions": (_list({"enum": [0.5]}), [[0.5]]),
    "list of booleans": (_list({"type": "boolean"}), [[True]]),
    "list of nothing": (_list({"type": "null"}), [[None]]),
    "list of lists": (_list(_list({"type": "string"})), [[["a"]]]),
    "list of parts": (_list(PART), [[{"id": "a", "type": "text", "text": "hello"}]]),
    "list of mappings": (_list(BARE), [[{"id": "a"}]]),
    "empty list": ({"type": "array", "maxItems": 0}, [[]]),
    "mapping": (BARE, [{"id": "a"}]),
    "text or list": ({"anyOf": [{"type": "string"}, _list(BARE)]}, ["user", [{"id": "a"}]]),
    "nothing or number": ({"type": ["null", "integer"]}, [None, 3]),
    "anything": ({}, ["user", 3, None, True, ["user"], [{"id": "a", "type": "text", "text": "hello"}]]),
}
CONSTANTS: list[Any] = [
    *("'zebra'", "3.0", "-1", "1.5", "[]", "[1.5]", "[none]", "{'id': 'a'}", "(1, 2)", "range(3)", "['user'] | map('upper')"),
    *(3, 3.0, -1, 1.5, True, None),
]
"""Expressions that read nothing, and YAML's numbers, truths and nulls."""


def _items(more: dict[str, Any], **section: Any) -> dict[str, Any]:
    form = {} if {"message", "forms"} & more.keys() else {"text": "{{ this.number }}: " + LONG}
    return {"sections": [{"id": "log", "role": "user", "items": {"from": "state.log", **form, **more}, **section}]}


def _source(source: dict[str, Any], store: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"stores": {"main": {"url": "sqlite:gone.db", **(store or {})}}, **_items({"from": source})}


def _index(index: dict[str, Any], **retrieve: Any) -> dict[str, Any]:
    notes = {"from": "state.log", "text": "A sentence.", **index}
    return {"indexes": {"notes": notes}, **_items({"from": {"retrieve": {"index": "notes", "query": "'sentence'", **retrieve}}})}


def _ladder(step: dict[str, Any]) -> dict[str, Any]:
    return _items({"forms": ["long.j2", "short.j2"]}, budget=30, overflow=[step, {"drop": {}}])


def _truncate(step: dict[str, Any]) -> dict[str, Any]:
    (name, keys), made = next(iter(step.items())), _ladder(step)
    del made["sections"][0]["budget"], made["sections"][0]["overflow"]
    return {**made, "budget": 30, "truncate": [{name: {"section": "log", **keys}}, {"drop": {"section": "log"}}]}


def _strain(strain: dict[str, Any], *do: dict[str, Any]) -> dict[str, Any]:
    tiers = [{"name": "calm", "at": 0}, {"name": "user", "at": 0.01, **({"do": [*do]} if do else {})}]
    return {**_items({}, budget=900), "strain": {"tiers": tiers, **strain}}


def _operation(operation: dict[str, Any]) -> dict[str, Any]:
    return {**_items({}), "operations": {"one": {"edits": [{"remove": "/any"}], **operation}}}


def _ask(ask: dict[str, Any]) -> dict[str, Any]:
    return _operation({"asks": {"word": {"pack": "question.yaml", "else": {"text": "none"}, **ask}}})


def _tools(**keys: Any) -> dict[str, Any]:
    return {**_items({}), "output": {"format": "messages"}, "tools": {"from": "state.tools", **keys}}


def _edit(edit: dict[str, Any]) -> dict[str, Any]:
    return _operation({"edits": [edit]})


PLACES: dict[str, dict[str, Any]] = {
    "pack.visible": {"visible": HOLE, **_items({})},
    "extension.visible": {"visible": HOLE, **_items({})},
    "let_value": {"let": {"one": HOLE}, **_items({})},
    "band.band": {"let": {"one": {"band": HOLE, "of": {"low": 0, "high": 5}}}, **_items({})},
    "assignment.assign": {"let": {"one": {"assign": HOLE, "of": {"low": 1, "high": 1}}}, **_items({})},
    "assert.that": {"asserts": [{"that": HOLE, "else": "no", "level": "warn"}], **_items({})},
    "store.locale": _source({"segments": {"scope": "npc"}}, {"locale": HOLE}),
    "store.version": _source({"segments": {"scope": "npc"}}, {"version": HOLE}),
    "index.from": _index({"from": HOLE}),
    "index.id": _index({"id": HOLE}),
    "section.when": _items({}, when=HOLE),
    "section_budget_range.from": _items({}, budget={"from": HOLE, "max": 900}),
    "items.id": _items({"id": HOLE}),
    "items.number": _items({"number": HOLE}),
    "items.where": _items({"where": HOLE}),
    "items.tally": _items({"tally": HOLE}),
    "source": _items({"from": HOLE}),
    "segments.ref": _source({"segments": {"scope": "npc", "ref": HOLE}}),
    "segments.each": _source({"segments": {"scope": "npc", "each": HOLE}}),
    "segments.where": _source({"segments": {"scope": "npc", "where": HOLE}}),
    "segments.locale": _source({"segments": {"scope": "npc", "locale": HOLE}}),
    "segments.version": _source({"segments": {"scope": "npc", "version": HOLE}}),
    "retrieve.query": _index({}, query=HOLE),
    "retrieve.version": _index({}, version=HOLE),
    "retrieve.where": _index({}, where=HOLE),
    "boost.where": _index({}, boost=[{"add": 0.1, "where": HOLE}]),
    "window.last": _items({"window": {"last": HOLE}}),
    "anchors.where": _items({"window": {"last": 2}, "anchors": {"where": HOLE, "last": 1}}),
    "anchors.last": _items({"window": {"last": 2}, "anchors": {"where": "true", "last": HOLE}}),
    "kept.where": _items({"keep": [{"where": HOLE, "last": 1}]}),
    "kept.last": _items({"keep": [{"where": "true", "last": HOLE}]}),
    "freeze.shown": _items({"freeze": {"shown": HOLE}}),
    "freeze.late": _items({"freeze": {"shown": "['a']", "late": HOLE}}),
    "dedupe.by": _items({"dedupe": {"by": HOLE}}),
    "sort": _items({"sort": HOLE}),
    "sort_key.by": _items({"sort": {"by": HOLE, "desc": True}}),
    "one_sort_key": _items({"sort": ["item.at", HOLE]}),
    "limit_per.by": _items({"limit_per": {"by": HOLE, "caps": {"user": 1}}}),
    "group.by": _items({"group": {"by": HOLE}}),
    "tool_items.id": _tools(id=HOLE),
    "tool_items.when": _tools(when=HOLE),
    "tool_items.where": _tools(where=HOLE),
    "tool_items.tally": _tools(tally=HOLE),
    "tool_source": _tools(**{"from": HOLE}),
    "message_media.tokens": {
        "output": {"format": "messages"},
        **_items(
            {
                "message": {
                    "role": "'user'",
                    "content": "[{'type': 'image', 'width': 9, 'height': 9, 'source': {'type': 'url', 'url': 'https://a.example/b.png'}}]",
                    "parts": ["image"],
                    "media": {"model": "gpt-5.6", "tokens": HOLE},
                }
            }
        ),
    },
    "message.role": {"output": {"format": "messages"}, **_items({"message": {"role": HOLE, "content": "item.text"}})},
    "message.name": {
        "output": {"format": "messages"},
        **_items({"message": {"role": "'user'", "name": HOLE, "content": "item.text"}}),
    },
    "message.content": {"output": {"format": "messages"}, **_items({"message": {"role": "item.role", "content": HOLE}})},
    "trim.by": _ladder({"trim": {"at": "word", "to": 3, "by": HOLE}}),
    "order": _ladder({"evict": {"order": [HOLE]}}),
    "evict.by": _ladder({"evict": {"by": HOLE}}),
    "shorten.by": _ladder({"shorten": {"by": HOLE}}),
    "lower.by": _ladder({"lower": {"by": HOLE}}),
    "recap.where": _ladder({"recap": {"where": HOLE, "template": "short.j2"}}),
    "axis.select": {**_items({}), "variants": {"mood": {"select": HOLE, "cases": {"user": {}, "calm": {}}}}},
    "strain.previous": _strain({"previous": HOLE}),
    "operation.when": _operation({"when": HOLE}),
    "ask.when": _ask({"when": HOLE}),
    "claim.that": _ask({"check": {"that": [{"that": HOLE, "else": "no"}]}}),
    "edit.to": _edit({"set": "/any", "to": HOLE}),
    "edit.each": _edit({"append": "/list", "each": HOLE}),
    "edit.last": _edit({"keep": "/list", "last": HOLE}),
    "edit.where": _edit({"keep": "/list", "where": HOLE}),
    "edit.when": _edit({"set": "/any", "to": "1", "when": HOLE}),
    "truncate_trim.by": _truncate({"trim": {"at": "word", "to": 3, "by": HOLE}}),
    "truncate_evict.by": _truncate({"evict": {"by": HOLE}}),
    "truncate_shorten.by": _truncate({"shorten": {"by": HOLE}}),
    "truncate_lower.by": _truncate({"lower": {"by": HOLE}}),
    "truncate_recap.where": _truncate({"recap": {"where": HOLE, "template": "short.j2"}}),
    "tier_trim.by": _strain({}, {"trim": {"section": "log", "to": 5, "at": "word", "by": HOLE}}),
    "tier_recap.where": _strain({}, {"recap": {"section": "log", "where": HOLE, "template": "short.j2"}}),
}
FREE = frozenset({
    "pack.visible", "extension.visible",
    "let_value", "assert.that", "section.when", "tool_items.when", "tool_items.where", "items.where", "segments.where",
    "retrieve.where", "boost.where", "anchors.where", "freeze.late",
    "kept.where", "order", "recap.where", "operation.when", "ask.when", "claim.that", "edit.to", "edit.where", "edit.when",
    "truncate_recap.where", "tier_recap.where",
})  # fmt: skip
"""Keys that take any value: conditions, and what is kept as it is."""


def _fill(made: Any, value: Any) -> Any:
    if isinstance(made, dict):
        return {key: _fill(one, value) for key, one in made.items()}
    return [_fill(one, value) for one in made] if isinstance(made, list) else value if made == HOLE else made


def _write(folder: Path, place: str, hole: Any, schema: dict[str, Any]) -> promptc.Pack:
    state = {
        "type": "object",
        "additionalProperties": False,
        "required": ["log", "v"],
        "properties": {
            "log": {"type": "array", "minItems": 4, "items": ITEM},
            "v": schema,
            "any": {},
            "tools": {"type": "array", "default": [TOOL]},
            "list": {"type": "array", "default": [1, 2]},
        },
    }
    (folder / "state.schema.json").write_text(json.dumps(state), encoding="utf-8")
    (folder / "long.j2").write_text(LONG, encoding="utf-8")
    (folder / "short.j2").write_text("Short.", encoding="utf-8")
    head = {
        "promptc": 1,
        "name": "tiny",
        "version": "1.0.0",
        "tokenizer": "chars/4",
        "budget": 1000,
        "state": {"schema": "state.schema.json"},
    }
    question = {key: value for key, value in head.items() if key != "state"} | {
        "sections": [{"id": "main", "role": "user", "text": "hello"}]
    }
    (folder / "question.yaml").write_text(render_yaml(question), encoding="utf-8")
    (folder / "pack.yaml").write_text(render_yaml({**head, **_fill(PLACES[place], hole)}), encoding="utf-8")
    return promptc.load(folder)


def _fails(pack: promptc.Pack, value: Any) -> str:
    """The code the run fails with; empty where it gives a prompt, or a new state."""
    state = {**STATE, "v": value, "any": 0}
    segments = [Segment("s1", "npc", ref_id="user", content="hello")]
    try:
        if pack.model.operations:
            pack.apply(state, "one")
        else:
            compile_small(pack, state, SmallSources(segments))
    except PromptcError as error:
        return error.diagnostics[0].code
    return ""


def _check(pack: promptc.Pack) -> list[Diagnostic]:
    return [one for one in check_pack(pack.model) if one.level == "error"]


def _iter_given() -> Iterator[tuple[str, Any, dict[str, Any], list[Any]]]:
    for kind, (schema, values) in KINDS.items():
        yield kind, "state.v", schema, values
    for constant in CONSTANTS:
        yield f"the constant {constant!r}", constant, {}, [0]


# contract 3.1
@pytest.mark.sampled(9)
@pytest.mark.parametrize("place", PLACES)
def test_check_says_what_every_run_says(tmp_path: Path, place: str) -> None:
    taken = []
    for kind, hole, schema, values in _iter_given():
        pack = _write(tmp_path, place, hole, schema)
        codes = [_fails(pack, value) for value in values]
        found = _check(pack)
        told = [one.code for one in found]
        if place == "tool_source" and told == ["PC0635"]:  # a list, and not of tools: they have no name
            told = ["PC0651"]
        if (
            place == "freeze.shown" and (kind.startswith("list of") or "[" in kind) and all(codes)
        ):  # what stands in a list is not known to `check`
            told = ["PC0651"]
        assert told == (["PC0651"] if all(codes) else []), (kind, codes, [one.message for one in found])
        taken.append(not all(codes))
    assert any(taken) and all(taken) is (place in FREE)


def _iter_places(part: Any, name: str) -> Iterator[str]:
    if not isinstance(part, dict):
        return
    if part.get("$ref") == "#/$defs/expression":
        yield name
    for inner in (*part.get("anyOf", ()), part.get("items")):
        yield from _iter_places(inner, name)
    for key, inner in part.get("properties", {}).items():
        yield from _iter_places(inner, f"{name}.{key}")


# contract 3.1
def test_every_key_that_takes_an_expression_is_tried() -> None:
    parts = json.loads((ROOT / "schemas/pack.schema.json").read_text(encoding="utf-8"))["$defs"]
    named = {place for name, part in parts.items() if not name.endswith("_part") for place in _iter_places(part, name)}
    at_chat = {"chat_template_options.now"}  # tests/contract/test_chat_format.py tries it: it needs a tokenizer of its own
    assert named == PLACES.keys() | at_chat


# contract 3.1
def test_the_documentation_says_what_keys_take() -> None:
    said = (ROOT / "docs/reference/check.md").read_text(encoding="utf-8")
    taken = {one.wants for one in vars(takes).values() if isinstance(one, takes.Takes)}
    assert not [one for one in taken if f" | {one} |" not in said]


@pytest.mark.parametrize("last", [True, -1, -1.0, 2.5])
def test_what_is_no_count_stops_the_run(tmp_path: Path, last: Any) -> None:
    """A run and `check` may agree on what neither should take: `true` was a window of one item, -1 one without bound."""
    pack = _write(tmp_path, "window.last", last, {})
    assert _fails(pack, 0) == "PC0507" and [one.code for one in _check(pack)] == ["PC0651"]
