"""Tool calls that go one by one: whatever stands, every use is answered where its provider looks for the result, and no result is alone."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptc.diag.findings import FitError
from promptc.model.messages import PROVIDERS
from tests.pictures import make_png, show
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn
from tests.published import MODELS, check_published

_STEPS = ({"whole": "call"}, {"whole": "call", "step": 3}, {"whole": "call", "by": "-this.number"}, {"whole": "call", "floor": 2})


_PICTURE = show(make_png(256, 256))
_TEXT = st.integers(0, 9).map(lambda count: {"type": "text", "text": "y " * count})
_TOLD = st.integers(0, 9).map(lambda count: "y " * count + "z") | st.lists(_TEXT | st.just(_PICTURE), max_size=3)


@st.composite
def talks(draw: Any) -> list[dict[str, Any]]:
    """Turns of which some use several tools; their results stand in one message, or in one each; now and then a thought was signed."""
    turns: list[dict[str, Any]] = [{"role": "user", "content": "Begin."}]
    for turn in range(draw(st.integers(1, 5))):
        ids = [f"t{turn}_{place}" for place in range(draw(st.integers(1, 4)))]
        text = [{"type": "text", "text": f"I look at {turn}."}] * draw(st.integers(0, 1))
        thought = [{"type": "thinking", "thinking": "hm", "signature": "s"}] * draw(st.sampled_from((0, 0, 1)))
        uses = [{"type": "tool_use", "id": id, "name": "look", "input": {"at": "x " * draw(st.integers(0, 9))}} for id in ids]
        told = [{"type": "tool_result", "tool_use_id": id, "content": draw(_TOLD)} for id in ids]
        turns.append({"role": "assistant", "content": [*thought, *text, *uses]})
        turns += [{"role": "user", "content": one} for one in ([told] if draw(st.booleans()) else [[one] for one in told])]
        if draw(st.booleans()):
            turns.append({"role": "assistant", "content": f"That was {turn}."})
    return [*turns, {"role": "user", "content": "Go on."}]


@pytest.fixture(scope="module")
def packs(tmp_path_factory: Any) -> list[Any]:
    loaded = []
    for step in _STEPS:
        kinds = ["text", "tool_use", "tool_result", "thinking", "image"]
        message = {"role": "item.role", "content": "item.content", "parts": kinds, "media": {"model": "gpt-4o"}}
        section = {"id": "log", "items": {"from": "state.turns", "message": message, "keep": [{"where": "item.content == 'Go on.'"}]}}
        manifest: dict[str, Any] = {"promptc": 1, "name": "paired", "version": "1.0.0", "tokenizer": "cl100k_base"}
        manifest |= {"budget": {"context": 9000, "reserve": 90}}
        manifest |= {"sections": [section], "truncate": [{"evict": {"section": "log", **step}}]}
        loaded.append(load_drawn(Drawn(manifest, {}), tmp_path_factory.mktemp("paired")))
    return loaded


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=talks(), place=st.integers(0, len(_STEPS) - 1), share=st.integers(5, 100))
def test_what_stands_is_paired(packs: list[Any], provider: str, turns: list[dict[str, Any]], place: int, share: int) -> None:
    if provider in ("openai", "openai-compatible"):
        turns = [_describe(turn) for turn in turns]
    whole = packs[place].render({"turns": turns}, format=provider)
    try:
        prompt = packs[place].render({"turns": turns}, format=provider, budget=max(40, whole.tokens * share // 100))
    except FitError:
        return
    body = prompt.to(provider, MODELS[provider])
    check_published(provider, body)
    for uses, results in _PAIRS[provider](body):
        assert uses == results


def _describe(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn without the pictures that tools gave: OpenAI's chat takes none there."""
    if isinstance(turn["content"], str):
        return turn
    return {**turn, "content": [{**part, "content": "seen"} if "tool_use_id" in part else part for part in turn["content"]]}


def _pair_openai(body: Any) -> Iterator[tuple[list[str], list[str]]]:
    """The ids of each message's uses, and of the results directly behind it."""
    messages = body["messages"]
    at = 0
    while at < len(messages):
        one, at = messages[at], at + 1
        assert one["role"] != "tool"
        results = []
        while at < len(messages) and messages[at]["role"] == "tool":
            results.append(messages[at].get("tool_call_id", messages[at].get("tool_name")))
            at += 1
        uses = [call.get("id", call["function"]["name"]) for call in one.get("tool_calls", ())]
        yield sorted(uses), sorted(results)


def _pair_responses(body: Any) -> Iterator[tuple[list[str], list[str]]]:
    """Runs of uses, and the runs of results behind them."""
    uses: list[str] = []
    results: list[str] = []
    for one in [*body["input"], {}]:
        kind = one.get("type")
        if kind == "function_call_output":
            results.append(one["call_id"])
            continue
        if results or kind != "function_call":
            yield sorted(uses), sorted(results)
            uses, results = [], []
        uses += [one["call_id"]] if kind == "function_call" else []


def _pair_anthropic(body: Any) -> Iterator[tuple[list[str], list[str]]]:
    """The ids of a message's uses, and of the results that the next one begins with."""
    uses: list[str] = []
    for one in body["messages"]:
        content = one["content"] if isinstance(one["content"], list) else []
        kinds = [part["type"] for part in content]
        results = [part["tool_use_id"] for part in content if part["type"] == "tool_result"]
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        yield sorted(uses), sorted(results)
        uses = [part["id"] for part in content if part["type"] == "tool_use"]
    assert not uses


def _pair_gemini(body: Any) -> Iterator[tuple[list[str], list[str]]]:
    uses: list[str] = []
    for one in body["contents"]:
        yield sorted(uses), sorted(part["functionResponse"]["id"] for part in one["parts"] if "functionResponse" in part)
        uses = [part["functionCall"]["id"] for part in one["parts"] if "functionCall" in part]
    assert not uses


_PAIRS = {
    "openai": _pair_openai,
    "openai-responses": _pair_responses,
    "openai-compatible": _pair_openai,
    "anthropic": _pair_anthropic,
    "gemini": _pair_gemini,
    "ollama": _pair_openai,
}
