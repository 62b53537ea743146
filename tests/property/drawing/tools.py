"""Random tools and response schemas: their files, and the lists of a pack and of its tiers that name them."""

import json
from random import Random
from typing import Any

from tests.property.drawing.words import draw_text

_TOOLS = ("tool_a.json", "tool_b.json", "tool_c.json")
_SCHEMAS = ("answer_a.json", "answer_b.json")
_TYPES: tuple[dict[str, Any], ...] = (
    {"type": "string"},
    {"type": "integer", "minimum": 0},
    {"enum": ["a", "é", None, 3]},
    {"type": "array", "items": {"type": "number"}},
    {"const": 0.5},
)


def draw_tools(rng: Random, manifest: dict[str, Any]) -> dict[str, str]:
    """Puts tools, a response schema or both into some packs and some of their tiers; gives the files they name."""
    if rng.random() < 0.6:
        return {}
    manifest |= _draw_offer(rng)
    for tier in manifest.get("strain", {}).get("tiers", [])[1:]:
        if rng.random() < 0.5:
            tier |= {key: rng.choice((None, value)) for key, value in _draw_offer(rng).items()}
    return {name: _draw_tool(rng, name) for name in _TOOLS} | {name: json.dumps(_draw_schema(rng), ensure_ascii=False) for name in _SCHEMAS}


def _draw_offer(rng: Random) -> dict[str, Any]:
    offer: dict[str, Any] = {}
    if rng.random() < 0.8:
        offer["tools"] = rng.sample(_TOOLS, rng.randint(0, 2))
    if rng.random() < 0.5:
        offer["response"] = rng.choice(_SCHEMAS)
    return offer


def _draw_tool(rng: Random, name: str) -> str:
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
