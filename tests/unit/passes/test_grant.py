"""Grants of sections with shares."""

from itertools import pairwise

from promptc.model.section import Ratio
from promptc.passes.fit.fit import Claim, count_shares
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn


def test_a_percentage_as_the_most_of_grow_takes_nothing_from_others_as_the_total_grows(tmp_path):
    """Two ceilings of 30 % that both rise by a token at the same total would take two where the total gave one."""
    budgets = {"a": {"grow": 10, "max": "30%"}, "b": {"grow": 10, "max": "30%"}, "c": {"grow": 1}}
    items = {"from": "state.list", "text": "word"}
    manifest = {
        "promptc": 1,
        "name": "shares",
        "version": "1.0.0",
        "tokenizer": "cl100k_base",
        "budget": 1000,
        "sections": [{"id": name, "items": items, "budget": budget} for name, budget in budgets.items()],
    }
    state = {"list": list(range(100))}
    pack = load_drawn(Drawn(manifest, state), tmp_path)
    grants = [pack.compile(state, budget=total).fitted.grants for total in range(60, 140)]
    falls = [(less, more) for less, more in pairwise(grants) if any(more[name] < less[name] for name in budgets)]
    assert not falls


def test_a_share_of_nothing_stays_at_its_floor():
    for floor in (0, 3):
        nothing, half = Claim(floor, Ratio(0), Ratio(0)), Claim(0, Ratio(50), Ratio(1, 2))
        assert count_shares({"a": nothing}, {}, 100) == {"a": floor}
        assert count_shares({"a": nothing, "b": half}, {}, 100) == {"a": floor, "b": 50}
