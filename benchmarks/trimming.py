"""Trimming: a whole render that cuts one long text, or fitting that cuts some of many items, compared to encoding and counting alone."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import promptc
from benchmarks.blocks import make_transcript
from benchmarks.fitting import LOOP, CountingMeter, fit_uncollected
from benchmarks.measure import Sample, Scale, begin, show, take_each, time_turns
from promptc.model.stages import RenderOptions
from promptc.passes.bind import bind
from promptc.passes.strain import strain
from tests.cases.recount import load_encoding

_BOUNDARIES = ("sentence", "word", "token")
_SIZES = (10_000, 100_000, 1_000_000)
_ITEMS = (100, 1_000, 3_000)
_WORD = 5.2
"""The average length of a word and what follows it, in characters."""

_HEAD = "promptc: 1\nname: cut\nversion: 1.0.0\ntokenizer: cl100k_base\n"


def bench_trimming(scale: Scale) -> None:
    """Print the ratio of a render that trims a new text to one encode of it by tiktoken, and of a ladder over items to a loop."""
    for size in scale.choose(_SIZES, (1_000, 2_000, 3_000)):
        begin(f"Trimming: a text of {size:,} characters, never seen, to half its tokens: a render against tiktoken")
        for at in _BOUNDARIES:
            for name, steps in (("ladder", ""), ("one notch by `to`", ", to: {tokens: %d}")):
                ratio = _time_text(size, at, steps, scale.choose(21 if size < 100_000 else 5, 1))
                show(f"at {at}, {name} / one encode", ratio, ".1f x", at_most=4, peer="one encode by tiktoken", way="ours / theirs")
    for items in scale.choose(_ITEMS, (5, 6, 7)):
        begin(f"Trimming: {items:,} items, counts cached, the oldest half cut to a token each: fitting against a bare loop")
        for at in _BOUNDARIES:
            ratio = _time_items(items, at, scale.choose(5, 1))
            show(f"at {at}, ladder / loop", ratio, ".0f x", at_most=100, peer=LOOP, way="ours / theirs")


def _time_text(size: int, at: str, to: str, rounds: int) -> Sample:
    encode = load_encoding("cl100k_base").encode_ordinary
    texts = [_make_text(size, seed) for seed in range(rounds + 1)]
    most = min(len(encode(text)) for text in texts) // 2
    step = f"{{at: {at}{to % most if to else ''}}}"
    with tempfile.TemporaryDirectory() as folder:
        cap = most + 1  # the line end after the text takes a token of its own
        pack = _load(
            folder, f"budget: {cap}\nsections: [{{id: one, text: '{{{{ state.text }}}}', overflow: [{{trim: {step}}}]}}]\ntruncate: [one]\n"
        )
    states = [pack.load_state({"text": text}) for text in texts]
    works = {
        "trim": take_each(partial(pack.render, state) for state in states),
        "encode": take_each(partial(encode, text) for text in texts),
    }
    return time_turns(works, rounds).ratio("trim", "encode")


def _time_items(items: int, at: str, rounds: int) -> Sample:
    texts = [block["text"] for block in make_transcript(items, 90)]
    encode = load_encoding("cl100k_base").encode_ordinary
    half = sum(len(encode(f"{text}\n")) for text in texts[items // 2 :]) + items
    with tempfile.TemporaryDirectory() as folder:
        section = f"{{id: log, items: {{from: state.log, limit: 1000000, text: '{{{{ item }}}}'}}, overflow: [{{trim: {{at: {at}}}}}]}}"
        pack = _load(folder, f"budget: {half}\nsections: [{section}]\ntruncate: [log]\n")
    meter = CountingMeter(pack.model.counting.counter)
    strained = strain(bind(pack.model, pack.load_state({"log": texts}), meter, RenderOptions()))
    lines = [item.text + "\n" for selected in strained.selection.sections for item in selected.items]
    works: dict[str, Callable[[], object]] = {"fit": partial(fit_uncollected, strained), "loop": partial(_sum, lines, meter)}
    return time_turns(works, rounds).ratio("fit", "loop")


def _sum(texts: list[str], meter: Any) -> int:
    total = 0
    for text in texts:
        total += meter.count(text)
    return total


def _load(folder: str, manifest: str) -> Any:
    (Path(folder) / "pack.yaml").write_text(_HEAD + manifest)
    return promptc.load(folder)


def _make_text(size: int, seed: int) -> str:
    """Return prose in paragraphs."""
    return "\n\n".join(block["text"] for block in make_transcript(int(size / _WORD / 90) + 1, 90, seed))[:size].strip()
