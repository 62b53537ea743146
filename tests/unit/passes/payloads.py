"""Messages and tools for the tests of request bodies, and what a body holds of them."""

from collections.abc import Iterator, Mapping
from typing import Any

from promptc.diag.findings import Span
from promptc.frontend.output import load_provider
from promptc.model.pack import Response
from promptc.model.section import Tool
from promptc.passes.payload.bodies import ContentBlock, Message, Payload, ReplyLimits
from promptc.passes.payload.checks import build_payload

SPAN = Span("pack.yaml", 1, 1)
TOOL = Tool("engage", "Open a scene.", {"type": "object", "properties": {"npc": {"type": "string"}}, "required": ["npc"]}, SPAN)
RESPONSE = Response({"type": "object", "properties": {"mood": {"type": "string"}}}, "turn", SPAN)
LIMITS = ReplyLimits(800, 4000)
LONG = 5000
"""Tokens up to a breakpoint: enough for every family of models."""


def build(provider: str, *messages: Message, tools: Any = (), response: Any = None, model: str | None = None, **more: Any) -> Payload:
    """The payload for the provider of that name."""
    limits = more.get("limits", LIMITS)
    return build_payload(messages, tools, response, provider=load_provider(provider), limits=limits, model=model)


def say(role: str, *texts: str, name: str = "item `1` of `log`") -> Message:
    """A message of texts, which are parts of their own."""
    return Message(role, tuple(ContentBlock(text) for text in texts), name, SPAN)


def mark(role: str, *texts: str, prefix: int = LONG, name: str = "`rules`") -> Message:
    """A message of one text that breakpoints cut: behind every part but the last one."""
    last = len(texts) - 1
    blocks = (
        ContentBlock(text, ends=f"s{place}" if place < last else "", prefix=prefix, continues=place > 0) for place, text in enumerate(texts)
    )
    return Message(role, tuple(blocks), name, SPAN)


def use(id: str = "a", name: str = "engage", arguments: Any = None, text: str = "") -> Message:
    """The assistant's use of a tool, with what it said."""
    part = {"type": "tool_use", "id": id, "name": name, "input": {"npc": "mira"} if arguments is None else arguments}
    return Message("assistant", (*([ContentBlock(text)] if text else []), ContentBlock(part=part)), f"use {id}", SPAN)


def give(id: str = "a", content: Any = "done", **more: Any) -> Message:
    """The result of a use."""
    return Message(
        "user", (ContentBlock(part={"type": "tool_result", "tool_use_id": id, "content": content, **more}),), f"result {id}", SPAN
    )


def iter_texts(value: Any) -> Iterator[str]:
    """Every text of a body's messages, in order, without keys, roles and types."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key not in ("type", "role", "cache_control", "prompt_cache_breakpoint", "functionCall", "functionResponse"):
                yield from iter_texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from iter_texts(one)
    elif isinstance(value, str):
        yield value


def count_breakpoints(value: Any) -> int:
    """How many cache breakpoints a body has, wherever they stand."""
    if isinstance(value, Mapping):
        own = sum(key in ("cache_control", "prompt_cache_breakpoint") for key in value)
        return own + sum(count_breakpoints(one) for one in value.values())
    return sum(count_breakpoints(one) for one in value) if isinstance(value, list) else 0
