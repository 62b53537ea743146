"""Monotone in the total: a larger total budget never removes content, and never turns success into an error."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

import pytest

import promptc
from promptc.check.registry import MONOTONY
from promptc.pipeline import Outcome
from tests.property.drawing.draws import draw_frozen, draw_hostile_monotone, draw_monotone, draw_outside
from tests.property.drawing.steps import CUTS
from tests.property.holding import find_holding
from tests.property.load_drawn import Loaded
from tests.property.proof import Proof, Tally
from tests.size import count_examples

_LOOKED_AT = 0.1
_STORY = "Alpha goes first. Bravo goes second.\nCharlie is the third one. Delta comes next.\nEcho is fifth. Foxtrot ends it all."


# contract 5.34 and 11.4
@pytest.mark.dear
def test_a_larger_total_keeps_what_a_smaller_one_holds(proof: Proof) -> None:
    tally = proof.hold("monotone in the total", judge_monotone, draw_monotone, 2000)
    assert tally["pairs"] > tally["packs"]


@pytest.mark.dear
def test_so_does_one_of_texts_that_look_like_structure(proof: Proof) -> None:
    tally = proof.hold("monotone with hostile texts", judge_monotone, draw_hostile_monotone, 1000)
    assert tally["pairs"] > tally["packs"]


@pytest.mark.dear
def test_so_does_one_with_lists_that_freeze(proof: Proof) -> None:
    tally = proof.hold("monotone with lists that freeze", judge_monotone, draw_frozen, 1000)
    assert tally["pairs"] > tally["packs"]


# contract 11.4
def test_what_voids_it_is_named_by_check(proof: Proof) -> None:
    tally = proof.hold("named by check", judge_named, draw_outside, 2000)
    assert tally["packs that lose content or fail"] > 0 or tally["packs looked at"] < 50


def judge_monotone(loaded: Loaded, tally: Tally) -> str | None:
    """Every total from one token to two more than the pack needs."""
    outcomes = ((total, loaded.compile(total)) for total in range(1, find_natural(loaded.compile(4000)) + 3))
    return find_loss(outcomes, tally, lambda: any(one.code == "PC0696" for one in loaded.pack.check()))


def find_loss(outcomes: Iterable[tuple[int, Outcome]], tally: Tally, may_swap: Callable[[], bool] = lambda: True) -> str | None:
    """What one of these outcomes, in the order of their totals, holds less of than the one before. A text that was cut is a part of what a
    larger total leaves of it, unless it `may_swap` one part for another.
    """
    least, smaller = 0, None
    for total, outcome in outcomes:
        tally["renders"] += 1
        holding = find_holding(outcome)
        if smaller is not None:
            tally["pairs"] += 1
            if holding is None:
                return f"{least} tokens are enough, at {total} it fails: {outcome.errors[0].message}"
            losses = smaller.find_losses(holding)
            if losses:
                return f"from {least} to {total} tokens {losses[0]}"
            swaps = smaller.find_swaps(holding, CUTS)
            tally["swaps"] += bool(swaps)
            if swaps and not may_swap():
                return f"from {least} to {total} tokens {swaps[0]}"
        least, smaller = total, holding
    return None


def judge_named(loaded: Loaded, tally: Tally) -> str | None:
    """A pack that is not monotone is warned about, and so is any that breaks a condition."""
    codes = {found.code for found in loaded.pack.check()}
    if not codes & MONOTONY:
        return "`check` finds nothing that voids monotony"
    if Random(repr(loaded.drawn.manifest)).random() < _LOOKED_AT:
        tally["packs looked at"] += 1
        tally["packs that lose content or fail"] += judge_monotone(loaded, Tally()) is not None
    return None


def find_natural(outcome: Outcome) -> int:
    """What a pack needs that has more than it needs: the whole, or the sum of what its sections ask for."""
    demand = sum(outcome.fitted.layout.meter.tokens(units) for units in outcome.fitted.demand.values())
    return max(outcome.tokens or 0, min(demand, 400))


def test_packs_inside_the_conditions_are_not_warned_about(proof: Proof) -> None:
    def judge(loaded: Loaded, tally: Tally) -> str | None:
        found = [one for one in loaded.pack.check() if one.code in MONOTONY]
        return f"`check` warns of {found[0]}" if found else None

    proof.hold("not warned about", judge, draw_monotone, 2000)


# contract 11.4
@pytest.mark.dear
def test_cuts_nest_unless_check_says_that_two_trims_do_not(tmp_path: Path) -> None:
    """Of a text that several trims cut, a larger total keeps all that a smaller one kept, or the pack is warned about."""
    rng, told, swapped = Random(7), 0, 0
    for number in range(count_examples(160)):
        steps = [{"trim": _draw_trim(rng)} for _ in range(rng.choice((2, 2, 3)))]
        shared = [{"trim": {"section": "story", **_draw_trim(rng)}}] if rng.random() < 0.4 else ["story"]
        story = {"id": "story", "text": _STORY, "overflow": steps} | ({"budget": rng.randint(8, 40)} if rng.random() < 0.5 else {})
        manifest = {"promptc": 1, "name": "n", "version": "1.0.0", "tokenizer": "o200k_base", "budget": 300}
        (tmp_path / f"{number}.yaml").write_text(json.dumps({**manifest, "sections": [story], "truncate": shared}), encoding="utf-8")
        pack = promptc.load(tmp_path / f"{number}.yaml")
        is_named = any(one.code == "PC0696" for one in pack.check())
        outcomes = ((total, pack.compile({}, budget=total)) for total in range(1, 70))
        loss = find_loss(outcomes, Tally(), lambda: False)
        told, swapped = told + is_named, swapped + (loss is not None)
        assert loss is None or is_named, (manifest, steps, shared, loss)
    assert told and swapped


def _draw_trim(rng: Random) -> dict[str, object]:
    """A trim, most often from the side of the others, so that many packs nest."""
    at = rng.choice(("sentence", "line", "word", ["sentence", "word"], ["line", "word"]))
    finest = {"finest": "word"} if rng.random() < 0.2 else {}
    return {"at": at, "from": rng.choice(("end", "end", "start", "middle")), **finest} | ({"floor": 9} if rng.random() < 0.5 else {})
