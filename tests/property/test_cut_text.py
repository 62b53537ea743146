"""The cut that fits is found without looking at every longer one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.passes.items.render import Most, find_cut, iter_cuts
from promptc.text.counters.counter import Meter
from promptc.text.counters.exact import load_counter
from promptc.text.guard import Guard
from tests.property.text_drawing import stretched, texts

FENCES = ["=== A ===", "<rule ", "/"]
long_texts = st.tuples(st.lists(texts, min_size=1, max_size=3), st.integers(1, 150)).map(lambda drawn: "".join(drawn[0]) * drawn[1])


# contract 5.14
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "chars/4"])
@given(
    text=st.one_of(stretched, long_texts),
    most=st.builds(Most, st.sampled_from(["tokens", "chars"]), st.integers(0, 300)),
    at=st.sampled_from(["paragraph", "sentence", "line", "word", "token"]),
    side=st.sampled_from(["end", "start", "middle"]),
    marker=st.sampled_from(["", " […]", "=== A", "\n"]),
    fences=st.sampled_from([(), FENCES]),
)
def test_it_is_the_first_of_all_that_fits(name, text, most, at, side, marker, fences):
    cutting = {"at": at, "side": side, "marker": marker, "guard": Guard(fences), "meter": Meter(load_counter(name, folder=Path()))}
    cuts = list(iter_cuts(text, **cutting))
    fitting = [cut for cut in cuts if cut.measure_size(most.unit) <= most.size]
    expected = (fitting or cuts[-1:] or [None])[0]
    found = find_cut(text, most, **cutting)
    if expected is None:
        assert found is None
        return
    assert (found.text, found.start, found.stop) == (expected.text, expected.start, expected.stop)
    assert found.measure_size("tokens") == expected.measure_size("tokens")
    if found.measure is not None:
        assert found.measure("\n") == expected.measure("\n")
