"""Counting: boundaries that are called safe are, memory changes nothing, places agree with counts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.text.counters.counter import Meter, iter_inner, iter_pieces
from promptc.text.counters.exact import load_counter
from promptc.text.cutting import PrefixMeter, list_boundaries
from tests.cuts import iter_cuts
from tests.property.text_drawing import stretched, texts

EXACT = ["cl100k_base", "o200k_base"]
ALL = [*EXACT, "chars/4"]


def _load(name):
    return load_counter(name, folder=Path())


# contract 10.4 and 10.5
@pytest.mark.parametrize("name", EXACT)
@given(left=texts, right=texts)
def test_counts_add_up_where_a_boundary_is_safe(name, left, right):
    counter = _load(name)
    if counter.is_safe(left, right):
        assert counter.measure(left + right) == counter.measure(left) + counter.measure(right)


@pytest.mark.parametrize("name", EXACT)
@given(left=texts, right=texts, before=texts, after=texts)
def test_a_safe_boundary_stays_so_with_more_text_around(name, left, right, before, after):
    counter = _load(name)
    if left and right and counter.is_safe(left, right):
        assert counter.is_safe(before + left, right + after)


@pytest.mark.parametrize("name", EXACT)
@given(pieces=st.lists(texts.filter(bool), min_size=1, max_size=8))
def test_safe_boundaries_chain(name, pieces):
    counter = _load(name)
    row = pieces[:1]
    for piece in pieces[1:]:
        if counter.is_safe(row[-1], piece):
            row.append(piece)
    assert counter.measure("".join(row)) == sum(map(counter.measure, row))


@pytest.mark.parametrize("name", ALL)
@given(lines=st.lists(texts, max_size=6), end=st.sampled_from(["\n", "\n\n", "\r\n", "\n ", "\n/"]))
def test_a_recount_is_a_count(name, lines, end):
    counter = _load(name)
    text = end.join(lines)
    for one in (text, text + end, end.join(lines[1:]), end.join((text, text))):
        assert counter.recount(one) == counter.measure(one)


@pytest.mark.parametrize("name", ALL)
@given(text=stretched, most=st.integers(0, 3000))
def test_whether_a_text_fits_is_told_as_its_count_tells(name, text, most):
    meter = Meter(_load(name))
    units, size = meter.counter.measure(text), len(text.encode())
    assert meter.counter.bytewise and units <= size
    for limit in (most, units - 1, units, size - 1, size):
        assert meter.fits(text, limit) == (units <= limit)


@pytest.mark.parametrize("name", ALL)
@given(text=texts, before=texts, after=texts)
def test_inner_places_add_up_whatever_stands_around(name, text, before, after):
    counter = _load(name)
    places = counter.find_inner(text)
    if places is not None:
        first, last = places
        assert 0 < first <= last < len(text)
        parts = (before + text[:first], text[first:last], text[last:] + after)
        assert counter.measure(before + text + after) == sum(map(counter.measure, parts))


@pytest.mark.parametrize("name", EXACT)
@given(text=stretched)
def test_the_outermost_inner_places_are_found(name, text):
    counter = _load(name)
    safe = [place for place in range(1, len(text)) if counter.is_safe(text[:place], text[place:])]
    assert counter.find_inner(text) == ((safe[0], safe[-1]) if safe else None)
    assert set(iter_inner(counter, text)) <= set(safe)


@pytest.mark.parametrize("name", ALL)
@given(text=stretched)
def test_pieces_are_the_text_and_add_up(name, text):
    counter = _load(name)
    pieces = list(iter_pieces(counter, text))
    assert "".join(pieces) == text
    assert sum(map(counter.measure, pieces)) == counter.measure(text)


@pytest.mark.parametrize("name", ALL)
@given(drawn=st.lists(stretched, min_size=1, max_size=4))
def test_a_meter_counts_as_its_counter_does(name, drawn):
    counter = _load(name)
    meter = Meter(counter)
    for text in (*drawn, "".join(drawn * 3), *drawn):
        assert meter.count(text) == counter.measure(text)


@pytest.mark.parametrize("name", ALL)
@given(text=stretched)
def test_places_of_tokens_agree_with_the_count(name, text):
    counter = _load(name)
    starts, ends = counter.iter_starts(text), counter.token_ends(text)
    assert len(starts) == -(-counter.measure(text) // counter.unit)
    assert list(starts) == sorted(set(starts))
    assert all(0 <= start < len(text.encode()) for start in starts)
    assert list(ends) == sorted(set(ends))
    assert list(ends[-1:]) == [len(text)] * bool(text)
    assert all(text[end - 1 : end + 1] != "\r\n" for end in ends)
    byte_ends = {*starts, len(text.encode())}
    assert all(len(text[:end].encode()) in byte_ends for end in ends)


@pytest.mark.parametrize("name", EXACT)
@given(text=stretched, marker=texts, data=st.data())
def test_every_cut_is_counted_exactly(name, text, marker, data):
    counter = _load(name)
    prefix = PrefixMeter(Meter(counter), text)
    for _ in range(3):
        start = data.draw(st.one_of(st.sampled_from([0, *counter.token_ends(text)]), st.integers(0, len(text))))
        stop = data.draw(st.integers(start, len(text)))
        assert prefix.count_cut(start, stop, marker) == counter.measure(text[:start] + marker + text[stop:])


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("side", ["end", "start", "middle"])
@given(text=stretched, marker=st.sampled_from(["", " […]", "…", "\n"]))
def test_every_kept_text_is_counted_exactly(name, side, text, marker):
    counter = _load(name)
    prefix = PrefixMeter(Meter(counter), text)
    for kept in list(iter_cuts(text, list_boundaries(["sentence"]), side=side, token_ends=lambda: counter.token_ends(text)))[::7]:
        start, stop = (kept.stop, len(text)) if side == "end" else (0, kept.start) if side == "start" else (kept.start, kept.stop)
        assert prefix.count_cut(start, stop, marker) == counter.measure(kept.join(text, marker))
