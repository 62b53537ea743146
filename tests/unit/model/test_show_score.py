"""Scores, as they are shown: cut off, never rounded up, in whole numbers, and the same wherever one is told."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.cli.commands.index import read_score
from promptc.model.section import MICRO, show_score


@pytest.mark.parametrize(
    ("micro", "shown"),
    [(0, "0.000"), (7_999, "0.007"), (7_500, "0.007"), (999, "0.000"), (1_000, "0.001"), (249_999, "0.249"), (1_000_000, "1.000")],
)
def test_it_is_cut_off(micro, shown):
    assert show_score(micro) == shown


@pytest.mark.parametrize(("micro", "shown"), [(-150_000, "-0.150"), (-1, "-0.000001"), (-2_000_000, "-2.000"), (150_000, "0.150")])
def test_what_a_boost_takes_away_is_below_nothing(micro, shown):
    assert show_score(micro, 6 if len(shown) > 6 else 3) == shown


@given(st.integers(0, MICRO), st.integers(1, 6))
def test_what_is_shown_as_a_floor_lets_it_pass(micro, places):
    shown = show_score(micro, places)
    assert read_score(shown) <= micro < read_score(shown) + 10 ** (6 - places) and re.fullmatch(rf"[01]\.[0-9]{{{places}}}", shown)
