"""Cuts that are surely too large are passed over, and no others: held against every cut, each counted whole."""

from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.passes.items.render import Cut, Most, Original, find_cut
from promptc.text import cutting
from promptc.text.counters import counter as counters
from promptc.text.counters.counter import Meter
from promptc.text.counters.exact import load_counter
from promptc.text.counters.huggingface import load_hf_counter
from promptc.text.cutting import BOUNDARIES, CutReach, PrefixMeter, iter_near
from promptc.text.guard import Guard
from tests.cuts import iter_cuts
from tests.property.drawing.tokenizer import NAME, render_tokenizer
from tests.property.text_drawing import stretched, texts

COUNTERS = ["cl100k_base", "o200k_base", "chars/4", NAME]
SIDES = ["end", "start", "middle"]
FENCES = ["=== A ===", "<rule ", "/"]
long_texts = st.tuples(st.lists(texts, min_size=1, max_size=3), st.integers(1, 150)).map(lambda drawn: "".join(drawn[0]) * drawn[1])
drawn_texts = st.one_of(stretched, long_texts)
orders = st.permutations(BOUNDARIES).flatmap(lambda drawn: st.integers(1, 5).map(lambda most: tuple(drawn[:most])))
chunks = st.sampled_from([(1,), (3, 9), (20, 80, 320), (1_000, 8_000)])


@cache
def _load(name):
    return load_hf_counter(name, render_tokenizer().encode()) if name == NAME else load_counter(name, folder=Path())


def _list_kept(text, at, side, counter):
    return list(iter_cuts(text, at, side=side, token_ends=lambda: counter.token_ends(text)))


# contract 5.14
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", COUNTERS)
@given(text=drawn_texts, at=orders, chunk=chunks)
def test_with_no_reach_there_are_all(name, side, text, at, chunk):
    counter = _load(name)
    meter, nothing = PrefixMeter(Meter(counter), text), CutReach(len(text) + 1, -1, lambda *_: False)
    with patch.object(cutting, "_CHUNK", chunk):
        near = list(iter_near(text, at, side=side, meter=meter, reach=nothing))
    assert near == _list_kept(text, at, side, counter)


# contract 5.14
@pytest.mark.dear
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", COUNTERS)
@given(text=drawn_texts, at=orders, units=st.integers(0, 400), slack=st.sampled_from([0, 3, 400]), chunk=chunks)
def test_what_is_passed_over_is_larger_whatever_is_put_in_its_place(name, side, text, at, units, slack, chunk):
    counter = _load(name)
    meter = PrefixMeter(Meter(counter), text)
    with patch.object(cutting, "_CHUNK", chunk), patch.object(counters, "_STRETCH", 64), patch.object(counters, "_APART", 8):
        near = list(iter_near(text, at, side=side, meter=meter, reach=meter.make_reach(units, slack)))
    kept = _list_kept(text, at, side, counter)
    assert near == kept[len(kept) - len(near) :]
    assert bool(near) == bool(kept)
    for one in kept[: len(kept) - len(near)]:
        start, stop = (one.stop, len(text)) if side == "end" else (0, one.start) if side == "start" else (one.start, one.stop)
        for marker in ("", " […]", "\n", "x"):
            assert counter.measure(text[: max(start - slack, 0)] + marker + text[stop + slack :] + "\n") > units


# contract 5.14
@pytest.mark.sampled(9)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", COUNTERS)
@given(
    text=drawn_texts,
    most=st.builds(Most, st.sampled_from(["tokens", "chars"]), st.integers(0, 300)),
    at=orders,
    marker=st.sampled_from(["", " […]", "=== A", "\n"]),
    fences=st.sampled_from([(), FENCES]),
)
def test_the_cut_is_the_first_that_fits_when_each_is_counted_whole(name, side, text, most, at, marker, fences):
    counter, guard = _load(name), Guard(fences)
    found = find_cut(text, most, boundaries=at, side=side, marker=marker, guard=guard, meter=Meter(counter))
    original = Original(text, marker, guard, Meter(counter), lambda steps: None)
    cuts = [Cut(original, one) for one in _list_kept(text, at, side, counter)]
    sizes = [len(cut.text) if most.unit == "chars" else -(-counter.measure(cut.text) // counter.unit) for cut in cuts]
    first = next((place for place, size in enumerate(sizes) if size <= most.size), len(cuts) - 1)
    assert (found is None) == (not cuts)
    if found is not None:
        assert (found.text, found.start, found.stop, found.boundary) == (
            cuts[first].text,
            cuts[first].start,
            cuts[first].stop,
            cuts[first].boundary,
        )
        assert found.measure_size(most.unit) == sizes[first]
        assert found.measure("\n") == counter.measure(f"{found.text}\n")
