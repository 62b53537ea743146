"""The law of fitting: what is emitted is what a slow fitter finds that counts the whole layout anew at every notch."""

from collections.abc import Mapping
from random import Random

import pytest

from tests.property.drawing.draws import KINDS, RICH, draw_any, draw_frozen
from tests.property.load_drawn import Loaded
from tests.property.oracle.fitting import Expected, expect
from tests.property.proof import Proof, Tally, count_packs


def test_same_as_the_slow_fitter(proof: Proof) -> None:
    proof.hold("same as the slow fitter", judge_fitting, draw_any, 1000)


@pytest.mark.parametrize("counter", KINDS)
def test_so_it_is_for_every_kind_of_counter(proof: Proof, encodings: Mapping[str, str], counter: str) -> None:
    """Over packs with pools, tools that are items, and media."""
    proof.hold(f"same as the slow fitter ({counter})", judge_fitting, RICH[counter], count_packs(proof, 6))


def test_so_it_is_where_lists_freeze(proof: Proof) -> None:
    proof.hold("same as the slow fitter (frozen)", judge_fitting, draw_frozen, 1000)


def judge_fitting(loaded: Loaded, tally: Tally) -> str | None:
    rng = Random(repr(loaded.drawn.manifest))
    for total in (4000, rng.randint(1, 120), rng.randint(20, 200), rng.randint(1, 60)):
        outcome = loaded.compile(total)
        wrong = _compare(outcome, expect(loaded.drawn, total, outcome.fitted.strained.selection.guard), tally)
        if wrong is not None:
            return f"at {total}: {wrong}"
    return None


def _compare(outcome, expected: Expected, tally: Tally) -> str | None:
    fitted = outcome.fitted
    tally["renders"] += 1
    if fitted.strained.tier != expected.tier:
        return f"the tier is {fitted.strained.tier}, not {expected.tier}"
    raises = {name: list(pair) for name, pair in fitted.strained.raises.items()}
    if raises != expected.raises:
        return f"{raises} would raise the tier, not {expected.raises}"
    if (outcome.emitted is None) != bool(expected.short):
        return f"it is short of {fitted.short or outcome.errors or 'nothing'}, not of {expected.short or 'nothing'}"
    if outcome.emitted is None:
        tally["failures"] += 1
        return None if (fitted.short or "total") == expected.short else f"it is short of {fitted.short}, not of {expected.short}"
    if dict(fitted.grants) != expected.grants:
        return f"the grants are {dict(fitted.grants)}, not {expected.grants}"
    tally["notches"] += sum(len(log) for log in expected.logs.values())
    emitted = outcome.emitted
    shown, wanted = (emitted.text, expected.text) if expected.format == "text" else (list(emitted.messages), expected.messages)
    if shown != wanted:
        return f"{shown!r} is emitted, not {wanted!r}"
    return None if outcome.tokens == expected.tokens else f"{outcome.tokens} tokens, not {expected.tokens}"
