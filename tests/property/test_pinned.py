"""Pinned content and `keep` are in the output, whole, or there is none; the order is the manifest's."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from promptc.pipeline import Outcome, Prompt
from tests.property.drawing.draws import draw_any
from tests.property.load_drawn import Loaded
from tests.property.oracle.layout import Layout
from tests.property.oracle.offering import write_json
from tests.property.proof import Proof, Tally


# contract 4.15, 5.41 and 11.6
def test_pinned_content_and_keep_stay_whole(proof: Proof) -> None:
    proof.hold("pinned and kept", judge_pinned, draw_any, 2000)


# contract 11.7
def test_the_order_is_the_manifests(proof: Proof) -> None:
    proof.hold("order", judge_order, draw_any, 1000)


def judge_pinned(loaded: Loaded, tally: Tally) -> str | None:
    rng = Random(repr(loaded.drawn.manifest))
    for total in (rng.randint(1, 150), rng.randint(1, 60), rng.randint(20, 90)):
        outcome = loaded.compile(total)
        tally["renders"] += 1
        wrong = find_lost(outcome, tally)
        if wrong is not None:
            return f"at {total}: {wrong}"
    return None


def find_lost(outcome: Outcome, tally: Tally) -> str | None:
    """What is pinned or kept and is not in a prompt, or not whole."""
    if outcome.emitted is None:
        return None
    whole = _show(outcome)
    for name, fit in outcome.fitted.sections.items():
        for place, item in enumerate(fit.selected.items):
            if not (fit.section.pinned or item.kept):
                continue
            tally["items"] += 1
            if item.content is None and item.text not in whole:
                return f"item {place} of {name} is not in the output: {item.text!r}"
            if not any(entry.item is item and entry.is_alive and entry.text == item.text for entry in fit.entries):
                return f"item {place} of {name} does not stand as it was selected"
    return None


def _show(outcome: Outcome) -> str:
    assert outcome.emitted is not None
    return "".join([*(part.text for part in outcome.emitted.parts), *map(write_json, Prompt(outcome).tools)])


def judge_order(loaded: Loaded, tally: Tally) -> str | None:
    for total in (4000, 60):
        outcome = loaded.compile(total)
        wrong = find_disorder(loaded, outcome, tally)
        if wrong is not None:
            return f"at {total}: {wrong}"
    return None


def find_disorder(loaded: Loaded, outcome: Outcome, tally: Tally) -> str | None:
    """Sections that stand otherwise than the manifest says."""
    if outcome.emitted is None:
        return None
    tally["prompts"] += 1
    shown = list(dict.fromkeys(part.section for part in outcome.emitted.parts))
    places = {name: place for place, name in enumerate(_order(loaded, outcome))}
    return f"the sections stand in the order {shown}" if shown != sorted(shown, key=places.__getitem__) else None


def _order(loaded: Loaded, outcome: Outcome) -> list[str]:
    manifest = loaded.drawn.manifest
    if outcome.fitted.layout.format == "text":
        return [section["id"] for section in manifest["sections"]]
    return [name for _, names in Layout(manifest, "chars/4", "messages").plan for name in names]


def test_halves_of_a_tools_use_stay_together(proof: Proof) -> None:
    """A use and its result are one unit for every stage and step."""
    proof.hold("tool uses", judge_units, draw_any, 2000)


def judge_units(loaded: Loaded, tally: Tally) -> str | None:
    rng = Random(repr(loaded.drawn.manifest))
    for total in (4000, rng.randint(1, 150), rng.randint(1, 60), rng.randint(20, 90)):
        outcome = loaded.compile(total)
        wrong = find_half(outcome, tally)
        if wrong is not None:
            return f"at {total}: {wrong}"
    return None


# contract 8.5 and 5.50
def find_half(outcome: Outcome, tally: Tally) -> str | None:
    """A section that selected a tool's use and its result, and holds one of them."""
    for name, fit in outcome.fitted.sections.items() if outcome.emitted is not None else ():
        used, answered = _list_calls(item.content for item in fit.selected.items)
        uses, results = _list_calls(entry.item.content for entry in fit.alive)
        tally["items"] += len(uses)
        if (uses ^ results) & used & answered:
            return f"{name} holds half of {sorted((uses ^ results) & used & answered)}"
    return None


def _list_calls(contents: Iterable[Sequence[Mapping[str, Any]] | None]) -> tuple[set[str], set[str]]:
    """The ids of the uses of tools, and of their results."""
    parts = [part for content in contents if content is not None for part in content]
    uses = {str(part["id"]) for part in parts if part["type"] == "tool_use"}
    return uses, {str(part["tool_use_id"]) for part in parts if part["type"] == "tool_result"}
