"""Fitting alone: with cached counts, before the report is built."""

import gc
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import promptc
from benchmarks.blocks import make_reach_state
from benchmarks.measure import Scale, begin, show, time_turns
from promptc.model.stages import RenderOptions, Strained
from promptc.passes.bind import bind
from promptc.passes.fit.fit import fit
from promptc.passes.fit.result import Fitted
from promptc.passes.strain import strain
from promptc.text.counters.counter import Meter

_ITEMS = (10_000, 500)
LOOP = "a bare loop over the counts"


def bench_fitting(scale: Scale) -> None:
    """Print the ratio of fitting 10 000 selected items to a bare loop that sums the same counts, and the number of operations."""
    items = scale.choose(*_ITEMS)
    begin(f"Fitting: {items:,} selected items, counts cached, before the report")
    manifest = (Path(__file__).parent / "reach" / "pack.yaml").read_text()
    with tempfile.TemporaryDirectory() as folder:
        whole = manifest.replace("items: {from:", "items: {limit: 1000000, from:")
        (Path(folder) / "pack.yaml").write_text(whole)
        pack = promptc.load(folder)
    state = pack.load_state(make_reach_state(items, 30))
    meter = CountingMeter(pack.model.counting.counter)
    strained = strain(bind(pack.model, state, meter, RenderOptions()))
    fitted = _fit(strained)
    texts = [item.text + "\n" for selected in strained.selection.sections for item in selected.items]
    works: dict[str, Callable[[], object]] = {
        "loop": partial(_sum, texts, meter),
        "fit": partial(fit_uncollected, strained),
        "collected": partial(_fit, strained),
        "collect": gc.collect,
    }
    taken = time_turns(works, rounds=scale.choose(9, 1))
    show("a bare loop that sums the counts", taken["loop"], ".1f ms")
    show("fit", taken["fit"], ".1f ms")
    show("fit / loop", taken.ratio("fit", "loop"), ".0f x", peer=LOOP, way="ours / theirs")
    show("fit / loop with Python's collector on", taken.ratio("collected", "loop"), ".0f x", peer=LOOP, way="ours / theirs")
    show("one pass of it over all the process holds", taken["collect"], ".1f ms")
    notches = fitted.truncated.tried if fitted.truncated is not None else 0
    meter.asked = meter.encoded = 0
    _fit(strained)
    show("notches looked at", notches, ",")
    show("look-ups of counts per item", meter.asked / items, ".1f")
    show("texts encoded", meter.encoded, ",")


class CountingMeter(Meter):
    """A meter that counts its lookups and its encodings."""

    asked = 0
    encoded = 0

    def count(self, text: str) -> int:
        """Count as `Meter.count` does."""
        self.asked += 1
        return super().count(text)

    def _count_new(self, text: str, count: Callable[[str], int] | None = None) -> int:
        self.encoded += 1
        return super()._count_new(text, count)


def fit_uncollected(strained: Strained) -> None:
    """Fit without Python's garbage collector: its passes depend on the size of the process, not on the fitting."""
    gc.disable()
    try:
        _fit(strained)
    finally:
        gc.enable()


def _fit(strained: Strained) -> Fitted:
    """Fit with a new work limit: this many notches exceed the limit of a render."""
    strained.selection.bound.run.renew()
    return fit(strained)


def _sum(texts: list[str], meter: Any) -> int:
    total = 0
    for text in texts:
        total += meter.count(text)
    return total
