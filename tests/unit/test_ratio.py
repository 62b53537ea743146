"""Ratios compare and reckon as fractions do."""

import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.model.section import Ratio

WHOLE = st.integers(-60, 60) | st.integers()
PAIR = st.tuples(WHOLE, WHOLE.filter(bool))
OTHER = PAIR | WHOLE | st.floats()


@given(PAIR, OTHER)
def test_it_does_what_a_fraction_does(pair, other):
    ratio, fraction = Ratio(*pair), Fraction(*pair)
    second, third = (Ratio(*other), Fraction(*other)) if isinstance(other, tuple) else (other, other)
    assert [ratio < second, ratio <= second, ratio > second, ratio >= second, ratio == second] == [
        fraction < third, fraction <= third, fraction > third, fraction >= third, fraction == third
    ]  # fmt: skip
    assert [second < ratio, second >= ratio, second == ratio] == [third < fraction, third >= fraction, third == fraction]
    assert (ratio.numerator, ratio.denominator, int(ratio), bool(ratio)) == (*fraction.as_integer_ratio(), int(fraction), bool(fraction))


@given(PAIR, PAIR | WHOLE)
def test_it_reckons_exactly(pair, other):
    ratio, fraction = Ratio(*pair), Fraction(*pair)
    second, third = (Ratio(*other), Fraction(*other)) if isinstance(other, tuple) else (other, other)
    made = [ratio + second, ratio - second, ratio * second, second * ratio, *([ratio / second] if second else [])]
    wanted = [fraction + third, fraction - third, fraction * third, third * fraction, *([fraction / third] if third else [])]
    assert [(one.numerator, one.denominator) for one in made] == [one.as_integer_ratio() for one in wanted]


@given(PAIR)
def test_equal_ones_are_one_key(pair):
    ratio = Ratio(*pair)
    assert hash(ratio) == hash(Ratio(pair[0] * 3, pair[1] * 3)) and pickle.loads(pickle.dumps(ratio)) == ratio
    assert Ratio(pair[0]) == pair[0] and hash(Ratio(pair[0])) == hash(pair[0]) and ratio != "x"


def test_nothing_is_divided_by_0():
    with pytest.raises(ZeroDivisionError):
        Ratio(1, 0)
    with pytest.raises(ZeroDivisionError):
        Ratio(1) / Ratio(0)


def test_it_is_read_as_a_float():
    assert float(Ratio(3, 20)) == 0.15 and repr(Ratio(6, 4)) == "Ratio(3, 2)"
