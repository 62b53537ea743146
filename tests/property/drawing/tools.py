"""Random tools and response schemas: their files, the tools of a state, and what a pack and its tiers say of them."""

import json
from random import Random
from typing import Any

from tests.property.drawing.sections import TOOLS, SectionDrawer
from tests.property.drawing.state import TYPES
from tests.property.drawing.words import draw_text

_FILES = ("tool_a.json", "tool_b.json", "tool_c.json")
_SCHEMAS = ("answer_a.json", "answer_b.json")
_KEYS = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema")
"""What servers call the schema of the arguments."""

_TYPES: tuple[dict[str, Any], ...] = (
    {"type": "string"},
    {"type": "integer", "minimum": 0},
    {"enum": ["a", "é", None, 3]},
    {"type": "array", "items": {"type": "number"}},
    {"const": 0.5},
)
_NOTED: tuple[dict[str, Any], ...] = (
    {"type": "string", "description": "Words of it.", "examples": ["gate"]},
    {"title": "Kind", "enum": ["title", {"description": "stays"}]},
    {"type": "array", "items": {"$comment": "a part", "type": "string"}, "default": [{"title": "stays"}]},
    {"anyOf": [{"title": "Name", "type": "string"}, {"const": {"title": "stays"}}]},
    {"type": "object", "properties": {"title": {"description": "Of it.", "type": "string"}}, "additionalProperties": {"title": "Other"}},
)
"""Schemas with what says something to a reader alone, and with what only looks so."""


def draw_tool_items(rng: Random, drawer: SectionDrawer, share: float) -> dict[str, Any] | None:
    """The section that tools are, in such a share of packs."""
    if rng.random() > share:
        return None
    return drawer.draw_tools("state.tools" if rng.random() < 0.7 else list(rng.sample(_FILES, rng.randint(1, 3))))


def draw_offer(rng: Random, manifest: dict[str, Any], items: dict[str, Any] | None) -> dict[str, str]:
    """Puts tools, a response schema or both into some packs and some of their tiers; gives the files they name. `items`: tools that are."""
    if items is not None:
        inner = {key: value for key, value in items.items() if key not in ("id", "items")}
        manifest[TOOLS] = items["items"] | inner
    elif rng.random() < 0.4:
        return {}
    offer = _draw_offer(rng)
    manifest |= offer if items is None else {key: value for key, value in offer.items() if key != TOOLS}
    for tier in manifest.get("strain", {}).get("tiers", [])[1:]:
        if rng.random() < 0.5:
            changes = {key: rng.choice((None, value)) for key, value in _draw_offer(rng).items()}
            if items is not None:
                changes[TOOLS] = rng.choice(({"limit": 2}, {"forms": ["brief", "name"]}, {"limit": 1, "forms": ["name", "brief"]}))
            tier |= changes
    return {name: _draw_file(rng, name) for name in _FILES} | {name: json.dumps(_draw_schema(rng), ensure_ascii=False) for name in _SCHEMAS}


def _draw_offer(rng: Random) -> dict[str, Any]:
    offer: dict[str, Any] = {}
    if rng.random() < 0.8:
        offer[TOOLS] = rng.sample(_FILES, rng.randint(0, 2))
    if rng.random() < 0.5:
        offer["response"] = rng.choice(_SCHEMAS)
    return offer


def _draw_file(rng: Random, name: str) -> str:
    tool = {
        "name": name.removesuffix(".json"),
        "description": f"{draw_text(rng, 3, odd=0.3)}.",
        "input_schema": {"type": "object", **(_draw_schema(rng) if rng.random() < 0.5 else {})},
    }
    return json.dumps(tool, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1)))


def _draw_schema(rng: Random) -> dict[str, Any]:
    if rng.random() < 0.2:
        return {}
    return {"properties": {name: rng.choice(_TYPES) for name in rng.sample(("z", "a", "ü b"), rng.randint(1, 2))}, "type": "object"}


def draw_state_tools(rng: Random, most: int) -> list[dict[str, Any]]:
    """Tools as programs find them, of several servers: no two of one name, with the keys that items have."""
    return [
        _draw_item(rng, f"{name}_{place}") for place, name in enumerate(rng.choices(("look", "a", "find-order"), k=rng.randint(0, most)))
    ]


def _draw_item(rng: Random, name: str) -> dict[str, Any]:
    types = _NOTED if rng.random() < 0.6 else _TYPES
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {one: rng.choice(types) for one in rng.sample(("z", "title", "ü"), rng.randint(0, 2))},
    }
    tool: dict[str, Any] = {"name": name, rng.choice(_KEYS): schema | ({"title": "Arguments"} if rng.random() < 0.2 else {})}
    if rng.random() < 0.8:
        tool["description"] = draw_text(rng, 8, odd=0.3)
    marks = {"type": rng.choice(TYPES), "score": rng.choice((0, 1, 2.5)), "level": rng.randint(0, 3), "hinge": rng.random() < 0.2}
    given = {"function": tool, "name": name} if rng.random() < 0.3 else tool
    return {**given, **marks, "ok": rng.random() < 0.85}
