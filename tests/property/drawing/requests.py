"""Random packs for one provider: talks with media and turns of tools, tools that may be deferred, breakpoints, an answer schema."""

import json
from random import Random
from typing import Any

from promptc.frontend.output import load_provider
from promptc.model.messages import PROVIDERS
from tests.property.drawing.media import draw_media
from tests.property.drawing.packs import Drawn
from tests.property.drawing.tools import draw_state_tools
from tests.property.drawing.words import draw_text

PROVIDER = "provider"
"""The key of a drawn state that says whom the request is for."""

_FORMS = (
    ["full"],
    ["full", "deferred"],
    ["full", "deferred"],
    ["full", "brief", "deferred"],
    ["full", "brief", "name", "deferred"],
    ["full", "name"],
)
_LADDERS = ([{"shorten": {}}], [{"shorten": {"by": "item.level"}}, {"evict": {"by": "item.score"}}], [{"evict": {}}])
_PARTS = ["text", "image", "document", "audio", "tool_use", "tool_result", "thinking"]
_ANSWER = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 9}}, "required": ["a"], "additionalProperties": False}


def draw_request(rng: Random) -> Drawn:
    """A pack whose messages are a request that the provider takes, and its state."""
    provider = rng.choice(PROVIDERS)
    tools = draw_state_tools(rng, 12)
    message = {"role": "item.role", "content": "item.content", "parts": _PARTS, "media": {"tokens": str(rng.choice((0, 7, 90)))}}
    sections = [
        {
            "id": "rules",
            "text": "Be brief. {{ state.rules }}",
            "role": rng.choice(("system", "developer")),
            "cache": rng.random() < 0.7,
        },
        {"id": "facts", "items": {"from": "state.facts", "text": "- {{ item }}"}, "cache": rng.random() < 0.7},
        {"id": "talk", "items": {"from": "state.talk", "message": message}, "cache": rng.random() < 0.7},
        {"id": "input", "pinned": True, "text": "And now?", "cache": rng.random() < 0.6},
    ]
    manifest: dict[str, Any] = {
        "promptc": 1,
        "name": "drawn",
        "version": "1.0.0",
        "tokenizer": rng.choice(("o200k_base", "chars/4")),
        "budget": {"context": 9000, "reserve": 1000},
        "sections": sections,
        "output": {"format": "messages"},
        "truncate": [{"evict": {"section": "talk"}}, {"evict": {"section": "facts"}}],
    }
    if rng.random() < 0.9:
        manifest["tools"] = _draw_tools(rng, provider)
    if rng.random() < 0.3:
        manifest["response"] = "answer.json"
    state = {
        PROVIDER: provider,
        "tools": tools,
        "rules": draw_text(rng, 40),
        "facts": [draw_text(rng, 9) for _ in range(rng.randint(0, 5))],
        "talk": [*_iter_talk(rng, provider, [str(one.get("name")) for one in tools])],
    }
    return Drawn(manifest, state, {"answer.json": json.dumps(_ANSWER)})


def _draw_tools(rng: Random, provider: str) -> dict[str, Any]:
    facts = load_provider(provider)
    forms = ["deferred"] if facts.search is not None and rng.random() < 0.2 else rng.choice(_FORMS)
    room = facts.tools_tokens + (facts.search.tokens if facts.search is not None else 0) + rng.choice((0, 0, 30, 60, 90, 300))
    ladder = [*rng.choice(_LADDERS), {"drop": {}}]
    return {"from": "state.tools", "sort": "item.name", "forms": forms, "budget": room, "overflow": ladder}


def _iter_talk(rng: Random, provider: str, names: list[str]) -> Any:
    for turn in range(rng.randint(0, 5)):
        kind = rng.choice(("say", "show", "use", "think"))
        if kind == "use" and names:
            yield from _iter_use(rng, turn, rng.choice(names))
        elif kind == "think":
            thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
            yield {"role": "assistant", "content": [thought, {"type": "text", "text": f"{turn}. {draw_text(rng)}"}]}
        else:
            shown = [_draw_taken(rng, provider) for _ in range(rng.randint(1, 3))] if kind == "show" else []
            parts = [*shown, {"type": "text", "text": f"{turn}. {draw_text(rng)}"}]
            rng.shuffle(parts)
            yield {"role": "user", "content": parts if rng.random() < 0.8 or shown else f"{turn}."}
            yield {"role": "assistant", "content": f"Yes, {turn}."}


def _iter_use(rng: Random, turn: int, name: str) -> Any:
    ids = [f"call_{turn}_{place}" for place in range(rng.randint(1, 2))]
    said = [{"type": "text", "text": "I look."}] if rng.random() < 0.5 else []
    uses = [{"type": "tool_use", "id": id, "name": name, "input": {"a": rng.choice((1, "x", None, [True]))}} for id in ids]
    yield {"role": "assistant", "content": [*said, *uses]}
    contents = (draw_text(rng), [{"type": "text", "text": "Found."}], {"rows": [1, None]}, None)
    yield {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": rng.choice(contents)} for id in ids]}


def _draw_taken(rng: Random, provider: str) -> dict[str, Any]:
    """A part that the provider takes."""
    facts = load_provider(provider)
    while True:
        part = draw_media(rng, large=False)
        drawn = part.pop("drawn")
        source, taken = drawn["source"], facts.find_media(drawn["type"])
        if taken is None or source["type"] not in taken.by or (provider == "gemini" and source["type"] == "url"):
            continue
        if source["type"] == "url" or source["media_type"] in taken.types:
            return part
