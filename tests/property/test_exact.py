"""Exact and Bounded: the reported count is the tokenizer's own of what was emitted, and never over the budget."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import promptc
from promptc.diag.findings import PromptcError
from promptc.model.messages import PROVIDERS
from promptc.pipeline import Outcome, Prompt
from tests.property.drawing.draws import draw_any, draw_frozen, draw_hostile
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import Loaded
from tests.property.oracle.counting import count, count_messages
from tests.property.oracle.media import MEDIA, choose_model, sum_media
from tests.property.oracle.offering import count_offered, list_shown
from tests.property.oracle.selecting import show_part
from tests.property.proof import Proof, Tally

_FACTS = Path(promptc.__file__).parent / "frontend" / "providers.json"


# contract 11.1 and 11.2
@pytest.mark.parametrize("draw", [draw_any, draw_hostile, draw_frozen])
def test_exact_and_bounded(proof: Proof, draw: Callable[[Random], Drawn]) -> None:
    proof.hold(f"exact and bounded ({draw.__name__})", judge_exact, draw, 1000)


def judge_exact(loaded: Loaded, tally: Tally) -> str | None:
    for total in iter_totals(loaded):
        outcome = loaded.compile(total)
        tally["renders"] += 1
        wrong = find_miscount(loaded, outcome, total, tally)
        if wrong is not None:
            return f"at {total} {wrong}"
    return None


def find_miscount(loaded: Loaded, outcome: Outcome, total: int, tally: Tally, model: str | None = None) -> str | None:
    """Holds one prompt to a count of the libraries themselves, and to its budget. `model` is the one that the render named."""
    if outcome.emitted is None:
        return None
    tally["prompts"] += 1
    counted = count_emitted(loaded, outcome, model)
    if counted != outcome.tokens or counted != outcome.report["tokens"]:
        return f"the tokenizer counts {counted}, reported are {outcome.tokens}"
    return f"{counted} tokens are emitted for a budget of {total}" if counted > total else None


# contract 8.17 and 11.1
def test_exact_by_the_account_of_a_provider(proof: Proof) -> None:
    proof.hold("exact for providers", judge_provider, draw_any, 600)


def judge_provider(loaded: Loaded, tally: Tally) -> str | None:
    """By the facts of the file that holds them, whatever the frame made of them."""
    rng = Random(repr(loaded.drawn.state))
    name = rng.choice(PROVIDERS)
    facts = json.loads(_FACTS.read_text(encoding="utf-8"))["providers"][name]
    costs = {key: fact["value"] for key, fact in facts.items() if isinstance(fact, dict)}
    for total in (4000, rng.randint(1, 900), rng.randint(1, 300)):
        outcome = loaded.compile(total, format=name)
        tally["renders"] += 1
        if outcome.emitted is None:
            continue
        counter, offered = outcome.fitted.layout.meter.counter.name, _list_offered(outcome, facts["search"]["value"])
        counted = count_messages(counter, _show_messages(outcome), message=costs["message_tokens"], whole=costs["prompt_tokens"])
        added = _add_tools(loaded, outcome, name, facts)
        counted += count_offered(counter, offered) + added + count_media(loaded, outcome, provider=name)
        if counted != outcome.tokens or counted > total:
            return f"at {total} {name} counts {counted}, reported are {outcome.tokens}"
    return None


# contract 8.17
def test_a_body_is_fitted_to_its_provider(proof: Proof) -> None:
    tally = proof.hold("a body is fitted to its provider", judge_body, draw_any, 600)
    assert tally["bodies"] and tally["refused"]


def judge_body(loaded: Loaded, tally: Tally) -> str | None:
    """Whatever account the prompt was fitted to."""
    rng = Random(repr(loaded.drawn.state))
    fitted, name = rng.choice(("messages", *PROVIDERS)), rng.choice(PROVIDERS)
    for total in iter_totals(loaded):
        outcome = loaded.compile(total, format=fitted)
        if outcome.emitted is None:
            continue
        found, wanted = _find_body(Prompt(outcome), name), _find_body(loaded.compile(total, format=name), name)
        tally["bodies" if isinstance(found, dict) else "refused"] += 1
        if found != wanted:
            return f"at {total}, fitted to {fitted}, the body for {name} is {found!r}, not {wanted!r}"
    return None


def _find_body(made: Prompt | Outcome, name: str) -> Any:
    """The body, or the codes of what refuses it."""
    if isinstance(made, Outcome) and made.emitted is None:
        return [one.code for one in made.errors]
    try:
        return (made if isinstance(made, Prompt) else Prompt(made)).to(name)
    except PromptcError as error:
        return [one.code for one in error.diagnostics]


def iter_totals(loaded: Loaded) -> Iterator[int]:
    """More than the pack needs, and two totals at random places under that."""
    natural = loaded.compile(4000).tokens or 200
    rng = Random(natural)
    yield from (4000, rng.randint(1, natural), rng.randint((natural + 1) // 2, natural))


def count_emitted(loaded: Loaded, outcome: Outcome, model: str | None = None) -> int:
    """The count of the output's bytes, or of its messages with the stated overhead, by the libraries; of media by their rules."""
    assert outcome.emitted is not None
    counter = outcome.fitted.layout.meter.counter.name
    if outcome.fitted.layout.format == "text":
        return count(counter, outcome.emitted.text.encode().decode())
    told = count_messages(counter, _show_messages(outcome)) + count_offered(counter, _list_offered(outcome))
    return told + count_media(loaded, outcome, model=model)


def count_media(loaded: Loaded, outcome: Outcome, *, provider: str | None = None, model: str | None = None) -> int:
    """Tokens of the media in the messages, by what their sections say of them."""
    assert outcome.emitted is not None
    manifest = loaded.drawn.manifest
    specs = {section["id"]: section for section in manifest["sections"]}
    owners = {part.message: part.section for part in outcome.emitted.parts}
    tokens = 0
    for place, message in enumerate(outcome.emitted.messages):
        media = specs[owners[place]].get("items", {}).get("message", {}).get("media")
        if media is not None and isinstance(message["content"], list):
            tokens += sum_media(choose_model(manifest, specs[owners[place]], provider, model), media, message["content"])
    return tokens


def _show_messages(outcome: Outcome) -> list[tuple[str, str]]:
    return [(one["role"], _show(one["content"])) for one in Prompt(outcome).messages]


def _list_offered(outcome: Outcome, seen: str = "described") -> list[Any]:
    """What is offered, of which so much of deferred tools is seen."""
    response = outcome.fitted.layout.response
    return [*list_shown(Prompt(outcome).tools, seen), *([response.schema] if response is not None else [])]


# contract 8.49 and 8.51
def _add_tools(loaded: Loaded, outcome: Outcome, name: str, facts: dict[str, Any]) -> int:
    """What a provider adds to tools and the response, by its facts."""
    search, manifest = facts["search"], loaded.drawn.manifest
    tools, shown = Prompt(outcome).tools, list_shown(Prompt(outcome).tools, search["value"])
    added = facts["tools_tokens"]["value"] * bool(tools) + facts["tool_tokens"]["value"] * len(shown)
    model = manifest.get("output", {}).get("models", {}).get(name)
    can_search = search["value"] != "none" and (model is None or model.startswith(tuple(search["models"])))
    if tools and can_search and "deferred" in _find_forms(manifest, outcome.fitted.strained.tier):
        added += search["tokens"]
    return int(added + (facts["response_tokens"]["value"] if outcome.fitted.layout.response is not None else 0))


def _find_forms(manifest: dict[str, Any], tier: int) -> list[str]:
    """The forms of tools that are items, as the tiers up to this one leave them."""
    given = manifest.get("tools")
    forms = list(given.get("forms", ())) if isinstance(given, dict) else []
    for one in manifest.get("strain", {}).get("tiers", [])[: tier + 1]:
        changed = one.get("tools")
        forms = changed["forms"] if isinstance(changed, dict) and "forms" in changed else forms
    return forms


def _show(content: object) -> str:
    return "\n".join(show_part(part) for part in content if part["type"] not in MEDIA) if isinstance(content, list) else str(content)
