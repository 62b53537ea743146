"""Any conversation gives bodies of the published types, with every text in its order and no more breakpoints than a provider takes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.frontend.output import load_provider
from promptc.model.messages import PROVIDERS
from promptc.model.pack import Response
from promptc.model.section import Tool
from promptc.passes.payload.bodies import ContentBlock, Message, ReplyLimits
from promptc.passes.payload.checks import build_payload
from tests.published import MODELS, check_published
from tests.unit.passes.payloads import SPAN, count_breakpoints, iter_texts

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("type", "text", "role", "a")), inner, max_size=3),
    max_leaves=5,
)
_RESULT = _JSON | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": _TEXT}), max_size=3)
_SCHEMA = st.just({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}) | st.just({"type": "object"})


@st.composite
def conversations(draw: Any) -> tuple[Message, ...]:
    """Messages as a pack gives them: sections of any role, and turns of which some use tools. Every text is another."""
    made: list[Message] = []
    number = 0

    def text() -> str:
        nonlocal number
        number += 1
        return f"<{number}>{draw(_TEXT)}"

    def section(role: str) -> Message:
        texts = [text() for _ in range(draw(st.integers(1, 3)))]
        ends = [draw(st.booleans()) for _ in texts[1:]] + [draw(st.booleans())]
        blocks = [
            ContentBlock(one, ends="s" if end else "", prefix=5000, continues=place > 0)
            for place, (one, end) in enumerate(zip(texts, ends, strict=True))
        ]
        return Message(role, tuple(blocks), f"`s{number}`", SPAN)

    for turn in range(draw(st.integers(0, 5))):
        role = draw(st.sampled_from(("system", "developer", "user", "assistant", "tools", "thought")))
        if role == "tools":
            ids = [f"id{turn}_{place}" for place in range(draw(st.integers(1, 3)))]
            uses = [
                ContentBlock(part={"type": "tool_use", "id": id, "name": "go", "input": draw(st.dictionaries(_TEXT, _JSON, max_size=2))})
                for id in ids
            ]
            results = [ContentBlock(part={"type": "tool_result", "tool_use_id": id, "content": draw(_RESULT), "x": 1}) for id in ids]
            made.append(Message("assistant", (*([ContentBlock(text())] if draw(st.booleans()) else []), *uses), f"item {turn}", SPAN))
            apart = draw(st.booleans())
            made += [
                Message("user", tuple(one), f"item {turn}", SPAN) for one in ([[result] for result in results] if apart else [results])
            ]
        elif role == "thought":
            thought = ContentBlock(part={"type": "thinking", "thinking": "hm", "signature": "s"})
            made.append(Message("assistant", (thought, ContentBlock(text())), f"item {turn}", SPAN))
        else:
            made.append(section(role))
    return (*made, section("user"))


@pytest.mark.parametrize("provider", PROVIDERS)
@given(st.data())
def test_bodies_are_valid_whole_and_in_order(provider: str, data: Any) -> None:
    messages = data.draw(conversations())
    tools = tuple(Tool(name, "", data.draw(_SCHEMA), SPAN) for name in data.draw(st.sampled_from((("go",), ("go", "stop")))))
    response = data.draw(st.none() | st.just(Response({"type": "object"}, "answer", SPAN)))
    facts = load_provider(provider)
    payload = build_payload(messages, tools, response, provider=facts, limits=ReplyLimits(100, 4000), model=MODELS[provider])
    body = json.loads(json.dumps(payload.body))
    check_published(provider, body)
    assert count_breakpoints(body) <= facts.breakpoints.count <= 4
    assert (
        build_payload(messages, tools, response, provider=facts, limits=ReplyLimits(100, 4000), model=MODELS[provider]).body == payload.body
    )

    texts = [block.text for message in messages for block in message.blocks if block.part is None]
    runs = [texts]
    if facts.system == "apart":  # the fold: system text in order, and the rest in order
        system, talk = ([one for one in messages if _is_talk(one) is is_talk] for is_talk in (False, True))
        runs = [[block.text for one in own for block in one.blocks if block.part is None] for own in (system, talk)]
        runs = runs if facts.takes_late_system(MODELS[provider]) else [[*runs[0], *runs[1]]]
    spoken = {key: body[key] for key in ("instructions", "system", "systemInstruction", "messages", "input", "contents") if key in body}
    whole = "".join(iter_texts(spoken))
    for run in runs:
        place = -1
        for text in run:
            assert whole.count(text) >= 1
            place, before = whole.index(text, place + 1), place
            assert place > before


def _is_talk(message: Message) -> bool:
    return message.role not in ("system", "developer")
