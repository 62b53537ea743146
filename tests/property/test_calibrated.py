"""Calibrations: the same lines in any order give the same file, the quantile is the naive one, and no prompt takes what is held back."""

import json
import tempfile
from fractions import Fraction
from functools import cache
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.model.calibration import Pair, measure, render_calibration
from promptc.model.pack import MILLION
from promptc.text.counters.counter import CharacterCounter

COUNTER = CharacterCounter()
PACK = """promptc: 1
name: drawn
version: 1.0.0
tokenizer: {use: chars/4, calibration: usage.calibration.json}
budget: 60
sections:
  - {id: rules, text: Be brief.}
  - {id: log, items: {from: state.log, text: "{{ item }}"}, budget: 70%}
truncate: [log, {drop: {section: rules}}]
"""
RATIOS = (1, 900_000, MILLION, MILLION + 1, 1_034_211, 1_333_334, 2_500_000, 100 * MILLION)
pairs = st.lists(
    st.builds(
        Pair,
        st.sampled_from(["openai", "anthropic"]),
        st.sampled_from(["small", "large"]),
        st.integers(1, 5000),
        st.integers(1, 5000),
        st.sampled_from(["2026-10-31", "2026-11-02", "2026-11-24"]),
    ),
    min_size=1,
    max_size=40,
)
quantiles = st.one_of(st.integers(1, MILLION - 1), st.sampled_from([500_000, 900_000, 990_000]))


# contract 8.35
@given(pairs=pairs, quantile=quantiles, order=st.randoms())
def test_the_order_of_lines_does_not_matter(pairs, quantile, order):
    other = list(pairs)
    order.shuffle(other)
    assert render_calibration(measure(pairs, quantile), quantile, COUNTER) == render_calibration(
        measure(other, quantile), quantile, COUNTER
    )


# contract 8.35
@given(pairs=pairs, quantile=quantiles)
def test_the_quantile_is_the_least_ratio_that_so_many_do_not_exceed(pairs, quantile):
    found = {(one.provider, one.model): one for one in measure(pairs, quantile)}
    assert found.keys() == {(one.provider, one.model) for one in pairs}
    for key, entry in found.items():
        own = [one for one in pairs if (one.provider, one.model) == key]
        exact = [Fraction(one.reported, one.estimate) for one in own]
        enough = [one for one in exact if sum(other <= one for other in exact) >= Fraction(quantile, MILLION) * len(own)]
        assert 0 <= Fraction(entry.ratio, MILLION) - min(enough) < Fraction(1, MILLION)
        assert (entry.pairs, entry.first, entry.last) == (len(own), min(one.day for one in own), max(one.day for one in own))


@cache
def _load(ratio: int) -> promptc.Pack:
    entry = {"provider": "openai", "model": "m", "pairs": 100, "ratio": ratio, "first": "2026-11-01", "last": "2026-11-30"}
    value = {"calibration": 1, "counter": {"name": COUNTER.name, "digest": COUNTER.digest}, "entries": [entry], "quantile": 990_000}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pack.yaml").write_text(PACK, encoding="utf-8")
        Path(folder, "usage.calibration.json").write_text(json.dumps(value), encoding="utf-8")
        return promptc.load(folder)


# contract 8.33
@given(
    ratio=st.sampled_from(RATIOS),
    budget=st.integers(1, 300),
    log=st.lists(st.sampled_from(["salt", "the tide is out", "a bell at sea, twice"]), max_size=12),
)
def test_what_is_held_back_stays_free(ratio, budget, log):
    try:
        report = _load(ratio).render({"log": log}, budget=budget).report
    except promptc.FitError as error:
        report = error.report
    used = report["counter"]["calibration"]
    assert used["whole"] == budget and used["whole"] - used["held"] == report["budget"]
    assert report["budget"] * max(ratio, MILLION) <= budget * MILLION < (report["budget"] + 1) * max(ratio, MILLION)
    if report["tokens"] is not None:
        assert report["tokens"] <= report["budget"] and report["tokens"] * ratio <= budget * MILLION
