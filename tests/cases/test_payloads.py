"""The packs of all fixtures as request bodies: of the published types, every message's text in them to the byte."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

import promptc
from promptc.diag.findings import FitError, PromptcError
from promptc.frontend.output import load_provider
from promptc.golden.cases.case import Case
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.model.media import list_media
from promptc.model.messages import PROVIDERS
from promptc.passes.payload.bodies import read_messages
from tests.cases.case import list_axes, load_cases, read_raw
from tests.cases.given import OwnShell
from tests.published import MODELS, check_published
from tests.unit.passes.payloads import count_breakpoints, iter_texts

_OF_ONE = ("album/gemini",)
"""Cases that no other provider takes: only Gemini's models have a published count of sounds."""


def _choose() -> Iterator[Case]:
    """Of every pack the cases that ask for messages, and one that does not."""
    seen: set[str] = set()
    for case in load_cases():
        asks = case.flags.get("format") not in (None, "text") and case.name not in _OF_ONE
        if case.exit == 0 and case.kind == "render" and "call" not in case.given and (asks or case.pack not in seen):
            seen.add(case.pack)
            yield case


CASES = list(_choose())


def _render(case: Case) -> dict[str, Any]:
    """The prompt by format: as messages, and for each provider for which it fits."""
    prompts = {}
    with SuiteResources() as shelf, OwnShell().surround(case, shelf) as there, work_in(there.root):
        pack, state = promptc.load(case.pack), read_raw(case)
        for format in ("messages", *PROVIDERS):
            with suppress(*([FitError] if format in PROVIDERS else [])):
                prompts[format] = pack.render(
                    state,
                    budget=case.flags.get("budget"),
                    variants=list_axes(case),
                    patches=tuple(case.flags.get("patch", ())),
                    format=format,
                    stores=there.stores,
                )
    return prompts


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bodies_hold_what_the_messages_say(case: Case) -> None:
    prompts = _render(case)
    prompt = prompts.pop("messages")
    outcome = prompt._outcome
    messages = read_messages(outcome.fitted.layout, outcome.emitted)
    for message, shown in zip(messages, prompt.messages, strict=True):
        parts = shown["content"] if isinstance(shown["content"], list) else [{"type": "text", "text": shown["content"]}]
        assert "".join(block.text for block in message.blocks) == "".join(part.get("text", "") for part in parts if part["type"] == "text")
        assert [block.part for block in message.blocks if block.part is not None] == [part for part in parts if part["type"] != "text"]
    for provider, fitted in prompts.items():
        with suppress(FitError):
            _check_body(fitted, provider)


def _check_body(prompt: Any, provider: str) -> None:
    facts = load_provider(provider)
    if facts.needs_user and not any(message["role"] == "user" for message in prompt.messages):
        with pytest.raises(PromptcError, match="PC0560"):
            prompt.build_payload(provider)
        return
    parts = [part for message in prompt.messages if isinstance(message["content"], list) for part in message["content"]]
    shown = [(one["type"], part["type"] == "tool_result") for part in parts for one in list_media(part)]
    if any(facts.find_media(kind, in_result=in_result) is None for kind, in_result in shown):
        with pytest.raises(PromptcError, match="PC0589"):
            prompt.build_payload(provider)
        return
    payload = prompt.build_payload(provider, MODELS[provider])
    without_limit = {"max_tokens": 1} if any(one.code == "PC0563" for one in payload.warnings) else {}
    check_published(provider, {**payload.body, **without_limit})
    assert count_breakpoints(payload.body) <= facts.breakpoints.count
    whole = "".join(iter_texts(payload.body))
    for shown in prompt.messages:
        if isinstance(shown["content"], str):
            assert shown["content"] in whole
