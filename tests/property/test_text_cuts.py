"""Cuts nest, and never leave nothing."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.text.characters import normalize
from promptc.text.cutting import BOUNDARIES, iter_kept, list_boundaries
from tests.cuts import iter_cuts
from tests.property.text_drawing import stretched, texts


def _draw_ends(data, text):
    ends = data.draw(st.sets(st.integers(1, len(text)), max_size=20)) if text else set()
    return sorted(ends | {len(text)}) if text else []


def _places(kept, text):
    if kept.side == "middle":
        return set(range(kept.start)) | set(range(kept.stop, len(text)))
    return set(range(kept.start, kept.stop))


# contract 5.14, 5.17 and 5.47
@pytest.mark.parametrize("side", ["end", "start", "middle"])
@given(text=texts, order=st.permutations(BOUNDARIES), data=st.data())
def test_cuts_nest_and_leave_something_in_any_order_of_boundaries(side, text, order, data):
    ends = _draw_ends(data, text)
    cuts = list(iter_cuts(text, order, side=side, token_ends=lambda: ends))
    assert side != "end" or cuts == list(iter_kept(text, order, token_ends=lambda: ends))
    places = [set(range(len(text))), *(_places(kept, text) for kept in cuts)]
    assert all(later < earlier for earlier, later in pairwise(places))
    for kept in cuts:
        left = kept.join(text)
        assert left.strip()
        assert left == (left.lstrip() if side == "start" else left if side == "middle" and kept.stop < len(text) else left.rstrip())
    assert [kept.boundary for kept in cuts] == sorted((kept.boundary for kept in cuts), key=order.index)


@given(text=texts, data=st.data())
def test_lines_are_cut_where_words_are(text, data):
    ends = _draw_ends(data, text)
    lines, words = ({kept.stop for kept in iter_kept(text, list_boundaries([at]), token_ends=ends)} for at in ("line", "word"))
    assert lines <= words


@given(text=stretched)
def test_normalised_text_stays_as_it_is(text):
    assert normalize(normalize(text)) == normalize(text)
