"""Whatever a pack says of media, tools, deferral and breakpoints, the body of a request is of the type that the provider publishes."""

from random import Random
from typing import Any

from promptc.frontend.output import load_provider
from promptc.pipeline import Prompt
from tests.property.drawing.requests import PROVIDER, draw_request
from tests.property.load_drawn import Loaded
from tests.property.proof import Proof, Tally
from tests.published import MODELS, RefusedError, check_published
from tests.unit.passes.payloads import count_breakpoints


# contract 8.13, 8.48 and 8.50
def test_a_body_is_of_the_published_type(proof: Proof) -> None:
    tally = proof.hold("bodies of the published types", judge_body, draw_request, 2000)
    assert tally["bodies"] and tally["with tools deferred"] and tally["with media"] and tally["with breakpoints"]


def judge_body(loaded: Loaded, tally: Tally) -> str | None:
    provider = loaded.drawn.state[PROVIDER]
    model = MODELS[provider]
    for total in (Random(repr(loaded.drawn.state)).randint(100, 1500), 8000):
        outcome = loaded.compile(total, format=provider, model=model)
        if outcome.emitted is None:
            tally["too small"] += 1
            continue
        body = Prompt(outcome).to(provider, model)
        try:
            check_published(provider, body)
        except RefusedError as wrong:
            return f"{provider} refuses: {wrong}"
        wrong_tools = _find_wrong_tools(provider, body, Prompt(outcome).tools)
        if wrong_tools is not None:
            return f"{provider}: {wrong_tools}"
        points = count_breakpoints(body)
        if points > load_provider(provider).breakpoints.count:
            return f"{provider}: {points} breakpoints"
        tally["bodies"] += 1
        tally["with tools deferred"] += any(one.get("defer_loading") for one in Prompt(outcome).tools)
        tally["with media"] += any(item.get("media") for one in outcome.report["sections"] for item in one["items"])
        tally["with breakpoints"] += points > 0
        return None if outcome.tokens <= total else f"{outcome.tokens} tokens are over {total}"
    return None


def _find_wrong_tools(provider: str, body: dict[str, Any], offered: list[dict[str, Any]]) -> str | None:
    """What is wrong with the tools of a body: each that is offered is there, loaded ones first, the tool that searches between."""
    listed = body.get("tools", [])
    listed = listed[0]["functionDeclarations"] if provider == "gemini" and listed else listed
    own = [one.get("function", one) for one in listed if not str(one.get("type", "")).startswith("tool_search")]
    if [one["name"] for one in own] != [one["name"] for one in offered]:
        return f"{own} are sent, not {offered}"
    marks = [bool(one.get("defer_loading")) for one in listed]
    searching = [place for place, one in enumerate(listed) if str(one.get("type", "")).startswith("tool_search")]
    if marks != sorted(marks) or searching != ([marks.index(True) - 1] if any(marks) else []):
        return f"the order of the tools is {listed}"
    if any(one["name"] in [tool["name"] for tool in offered if tool.get("defer_loading")] and "cache_control" in one for one in own):
        return "a deferred tool is marked for the cache"
    return None
