"""What `explain` says that another order of steps would have kept is what a render of the pack in that order keeps."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

import yaml

from tests.property.drawing.draws import draw_any, draw_monotone
from tests.property.holding import find_holding
from tests.property.load_drawn import Library, Loaded
from tests.property.proof import Proof, Tally


# contract 13.20
def test_the_order_that_is_named_keeps_what_is_promised(proof: Proof) -> None:
    library = proof.library

    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_promise(loaded, tally, library)

    tally = proof.hold("the order that is named", judge, draw_any, 1000)
    assert tally["promises"] or tally["packs"] < 50


def judge_promise(loaded: Loaded, tally: Tally, library: Library) -> str | None:
    rng = Random(repr(loaded.drawn.manifest))
    for total in (4000, *(rng.randint(1, 200) for _ in range(4))):
        outcome = loaded.compile(total)
        for told in (one.described for one in outcome.slack):
            manifest = reorder(loaded.drawn.manifest, told)
            if manifest is None:
                continue
            tally["promises"] += 1
            tally["promises of a new step"] += told["add"] is not None
            after = library.load(replace(loaded.drawn, manifest=manifest)).compile(total)
            named = f"at {total}: {told}"
            if after.tokens != told["tokens"] or after.tokens - outcome.tokens != told["more"] or told["more"] < 1:
                return f"{named}: the render has {after.tokens} tokens, from {outcome.tokens}"
            losses = _find_losses(outcome, after, told)
            if losses:
                return f"{named}: {losses}"
    return None


def _find_losses(before: Any, after: Any, told: dict[str, Any]) -> str:
    """An item that the other order has less of, or no more where that is promised."""
    there = {(one["id"], item["id"]): item["chars"] for one in after.report["sections"] for item in one["items"]}
    for section in before.report["sections"]:
        for item in section["items"]:
            if item["chars"] > there.get((section["id"], item["id"]), -1):
                return f"less is left of {section['id']}/{item['id']}"
    had = {(one["id"], item["id"]): item["chars"] for one in before.report["sections"] for item in one["items"]}
    missed = [key for key in _iter_items(told) if there.get(key, 0) <= had.get(key, -1)]
    return f"no more is left of {missed[0]}" if missed else ""


def _iter_items(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    return ((section, name) for section, names in told["items"].items() for name in names)


# contract 11.4
def test_the_other_order_is_monotone_too(proof: Proof) -> None:
    """A ladder in another order is a ladder: what it leaves at a smaller total stays at a larger one."""
    library = proof.library

    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_nested(loaded, tally, library)

    tally = proof.hold("the other order nests", judge, draw_monotone, 200)
    assert tally["pairs"] or tally["packs"] < 50


def judge_nested(loaded: Loaded, tally: Tally, library: Library) -> str | None:
    total = Random(repr(loaded.drawn.manifest)).randint(10, 120)
    for told in (one.described for one in loaded.compile(total).slack):
        manifest = reorder(loaded.drawn.manifest, told)
        other = library.load(replace(loaded.drawn, manifest=manifest)) if manifest is not None else None
        smaller = None
        for size in range(total - 8, total + 9) if other is not None else ():
            holding = find_holding(other.compile(size))
            if smaller is not None:
                tally["pairs"] += 1
                losses = smaller.find_losses(holding) if holding is not None else ["nothing fits"]
                if losses:
                    return f"{told}: from {size - 1} to {size} tokens {losses[0]}"
            smaller = holding
    return None


def reorder(manifest: dict[str, Any], told: dict[str, Any]) -> dict[str, Any] | None:
    """The manifest as an author changes it who reads that; None where a tier has the list, which its address does not tell."""
    changed = deepcopy(manifest)
    address, _, rest = told["before"].partition("[")
    place = int(rest.rstrip("]")) if rest else 0
    if address == "truncate":
        steps = changed["truncate"]
    elif address.startswith("pools."):
        steps = changed["pools"][address.split(".")[1]]["overflow"]
    else:
        name = address.split(".")[0]
        if any("overflow" in tier.get("sections", {}).get(name, {}) for tier in manifest.get("strain", {}).get("tiers", [])):
            return None
        section = changed["tools"] if name == "tools" else next(one for one in changed["sections"] if one["id"] == name)
        steps = section.setdefault("overflow", [{"evict": {}}])
    if told["add"] is not None:
        steps.insert(place, yaml.safe_load(f"{{{told['add']}}}"))
    else:
        steps.insert(place, steps.pop(int(told["step"].partition("[")[2].rstrip("]"))))
    return changed
