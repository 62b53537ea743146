"""Lints are sound: what `check` says of drawn packs can never happen does not, in any render, and a pack that renders is not refused."""

from pathlib import Path
from random import Random

import pytest

import promptc
from promptc.check.registry import MONOTONY, check_pack
from promptc.diag.findings import Diagnostic
from promptc.pipeline import Outcome
from tests.property.drawing.packs import Drawn, draw_pack
from tests.property.drawing.sections import Taste
from tests.property.load_drawn import load_drawn

_BUDGETS = (1, 9, 20, 45, 100, 300, 4000)
_DRAWS = 400


def _draw(seed: int, place: int, *, inside: bool) -> Drawn:
    rng = Random(f"check {seed} {place} {inside}")
    return draw_pack(rng, Taste(tokenizer="chars/4", shares=rng.random() < 0.5, inside=inside))


@pytest.mark.parametrize("inside", [True, False])
def test_what_is_called_dead_never_acts(tmp_path: Path, prove_seed, draws, inside):
    for place in range(draws(_DRAWS)):
        drawn = _draw(prove_seed, place, inside=inside)
        pack = load_drawn(drawn, tmp_path)
        found = check_pack(pack.model)
        assert not [str(one) for one in found if one.level == "error" and one.code != "PC0627"]  # a minimum above the pool's cap
        for budget in _BUDGETS:
            for format in promptc.api.FORMATS:
                assert not _find_broken(pack, drawn, found, budget=budget, format=format)


def test_what_is_inside_the_conditions_is_not_named(tmp_path: Path, prove_seed, draws):
    """Drawn packs may leave a section uncapped beside shares, or cap it in characters; all else they keep to."""
    for place in range(draws(_DRAWS)):
        found = check_pack(load_drawn(_draw(prove_seed, place, inside=True), tmp_path).model)
        assert not [str(one) for one in found if one.code in MONOTONY - {"PC0619", "PC0620"}]


def _find_broken(pack: promptc.Pack, drawn: Drawn, found: tuple[Diagnostic, ...], **asked) -> list[str]:
    try:
        outcome = pack.compile(drawn.state, **asked)
    except promptc.PromptcError:
        return []
    acted = {(one.step.span.line, one.step.span.column) for _, run in outcome.fitted.iter_runs() for one in run.applied}
    dead = [one for one in found if one.code in ("PC0611", "PC0612") and one.span is not None]
    return [str(one) for one in dead if (one.span.line, one.span.column) in acted] + _find_present(outcome, found)


def _find_present(outcome: Outcome, found: tuple[Diagnostic, ...]) -> list[str]:
    present = {one.section.id for one in outcome.fitted.strained.selection.sections if one.state == "present"}
    return [str(one) for one in found if one.code == "PC0643" and one.message.split("`")[1] in present]
