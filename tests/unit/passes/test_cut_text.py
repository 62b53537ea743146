from pathlib import Path

import pytest

from promptc.passes.items.render import Most, find_cut
from promptc.text.counters import load_counter
from promptc.text.counters.counter import Meter
from promptc.text.guard import Guard
from tests.unit.text.test_prefix import Whole


@pytest.fixture(params=["cl100k_base", "o200k_base"])
def exact(request):
    return load_counter(request.param, folder=Path())


@pytest.mark.parametrize("unit", ["word ", "A b. ", "a\n", "Wörter, und. "])
@pytest.mark.parametrize("at", ["sentence", "word"])
def test_the_longest_cut_that_fits_costs_what_it_keeps(unit, at, exact):
    costs = []
    for length in (4_000, 40_000):
        counter = Whole(exact)
        cut = find_cut(
            unit * (length // len(unit)), Most("tokens", 60), at=at, side="end", marker=" […]", guard=Guard(), meter=Meter(counter)
        )
        assert cut is not None
        assert cut.measure_size("tokens") <= 60
        costs.append(counter.characters)
    assert costs[0] == costs[1]


def test_where_nothing_fits_the_shortest_is_left(exact):
    cut = find_cut("abc " * 2_000, Most("tokens", 0), at="word", side="end", marker="", guard=Guard(), meter=Meter(exact))
    assert cut is not None
    assert cut.text == "abc"
