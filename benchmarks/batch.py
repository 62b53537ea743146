"""`promptc batch` compared to a loop of json, jsonschema, Jinja2 and tiktoken that makes the same prompts, and two processes to one."""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.blocks import make_transcript
from benchmarks.measure import Sample, Scale, begin, show, take_each, time_turns
from benchmarks.plain_script import Plain, fill, make_environment, read_yaml, render
from promptc.api import Pack
from promptc.batch import Batch, RowRenderer, StateLine, run_batch
from promptc.text.json import render_json_line
from tests.cases.recount import load_encoding

_ROOT = Path(__file__).parents[1]
_SENTINEL = _ROOT / "packs/sentinel"
_KEPT = _ROOT / "benchmarks/kept/pack.yaml"
_STATES, _BLOCKS, _WORDS = (40, 4), 100, 45
_ROUNDS = (3, 1)
_VALIDATING, _BARE, _SCALING = 2, 1, 0.8


def bench_batch(scale: Scale) -> None:
    """Print how many times faster than the loop rows are made, and how much a batch gains from two processors compared to a spin loop."""
    count, rounds = scale.choose(*_STATES), scale.choose(*_ROUNDS)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        loop, renderer = PlainLoop(folder), RowRenderer(Pack.load(str(_KEPT), keeps_counts=False), {})
        files = [_write_states(folder, count, turn) for turn in range(rounds + 1)]
        _check_prompts(files[0], renderer, loop)
        begin(f"Batch: {count:,} states of sentinel that were never seen, {_BLOCKS} blocks kept of each")
        works: dict[str, Callable[[Path], object]] = {
            "batch": partial(_render_rows, renderer, folder),
            "validating": partial(loop.run, is_checked=True),
            "bare": partial(loop.run, is_checked=False),
        }
        # another file each time: counts of texts seen before are cached
        taken = time_turns({name: take_each([partial(work, file) for file in files]) for name, work in works.items()}, rounds)
        show("promptc batch, a state", Sample(tuple(seconds / count for seconds in taken["batch"].values)), ".2f ms")
        for name, limit in (("validating", _VALIDATING), ("bare", _BARE)):
            peer = "json, jsonschema, Jinja2, tiktoken" if name == "validating" else "json, Jinja2, tiktoken"
            show(f"{peer} / batch", taken.ratio(name, "batch"), ".2f x", at_least=limit, peer=peer)
        together = folder / "states.jsonl"
        together.write_bytes(b"".join(file.read_bytes() for file in files))
        _bench_scaling(folder, together, rounds)


def _render_rows(renderer: RowRenderer, folder: Path, states: Path) -> None:
    with states.open("rb") as lines, (folder / "rows.jsonl").open("w", encoding="utf-8") as rows:
        for number, line in enumerate(lines, 1):
            rows.write(render_json_line(renderer.render(StateLine(number, line)).row) + "\n")


def _bench_scaling(folder: Path, states: Path, rounds: int) -> None:
    """Compare two processes with one.

    By the clock, a spin loop measured in the same turns shows what the second processor is worth at that moment. Processor time does not
    depend on that.
    """
    works = {
        "one": partial(_run_batch, folder, states, 1),
        "spin one": partial(_spin, 1),
        "two": partial(_run_batch, folder, states, 2),
        "spin two": partial(_spin, 2),
    }
    taken = time_turns(works, rounds, clock=time.perf_counter)
    worked = time_turns({name: works[name] for name in ("one", "two")}, rounds, clock=_read_processors)
    gains = taken.ratio("one", "two")
    spins = Sample(tuple(2 * ratio for ratio in taken.ratio("spin one", "spin two").values))
    show("two processes, by the clock / one", gains, ".2f x")
    show("  what a spin loop gains", spins, ".2f x")
    shares = Sample(tuple(one / other for one, other in zip(gains.values, spins.values, strict=True)))
    show("  of what a spin loop gains", shares, ".2f x", at_least=_SCALING)
    show("processor time of one process / of two", worked.ratio("one", "two"), ".2f x", at_least=_SCALING)


def _read_processors() -> float:
    """Return the processor time of this process and of the children it has waited for, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class PlainLoop:
    """A program as one writes it without a compiler: json, perhaps jsonschema, templates compiled once, and a count of every piece."""

    def __init__(self, folder: Path) -> None:
        import jsonschema

        self._rows = folder / "plain.jsonl"
        self._pack = read_yaml(str(_SENTINEL / "pack.yaml"))
        for name, change in read_yaml(str(_KEPT))["sections"].items():
            section = next(one for one in self._pack["sections"] if one["id"] == name)
            section["budget"] = change["budget"]
            section["items"]["window"] = change["items"]["window"]
        self._schema: Plain = json.loads((_SENTINEL / self._pack["state"]["schema"]).read_text(encoding="utf-8"))
        self._validator = jsonschema.Draft202012Validator(self._schema)
        self._environment = make_environment(_SENTINEL)
        compiled: Any = lru_cache(self._environment.from_string)
        self._environment.from_string = compiled  # type: ignore[method-assign]
        encode = load_encoding("cl100k_base").encode_ordinary
        self._count: Callable[[str], int] = lambda text: len(encode(text))

    def run(self, states: Path, *, is_checked: bool) -> None:
        """Write a row for each state: its prompt and its tokens."""
        with states.open(encoding="utf-8") as lines, self._rows.open("w", encoding="utf-8") as rows:
            for line in lines:
                value = json.loads(line)
                if is_checked:
                    self._validator.validate(value)
                prompt = self.render(value)
                rows.write(json.dumps({"prompt": prompt, "tokens": self._count(prompt)}, ensure_ascii=False) + "\n")

    def render(self, value: Mapping[str, Any]) -> str:
        """Return the prompt of a state."""
        fill(value, self._schema, self._schema)
        return render(self._pack, dict(value), self._environment, self._count)


def _write_states(folder: Path, count: int, turn: int) -> Path:
    """Write campaigns in play, each with a transcript of its own, and return the path of their file."""
    table = json.loads((_ROOT / "fixtures/sentinel/base/table.json").read_text(encoding="utf-8"))
    path = folder / f"states-{turn}.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        for number in range(count):
            seed = 9000 + turn * count + number
            lines.write(json.dumps({**table, "transcript": make_transcript(_BLOCKS, _WORDS, seed=seed)}) + "\n")
    return path


def _run_batch(folder: Path, states: Path, jobs: int) -> None:
    with states.open("rb") as opened:
        run_batch(Batch(str(_KEPT), str(folder / "rows.jsonl"), existing="replace", jobs=jobs), opened, "states.jsonl")


def _check_prompts(states: Path, renderer: RowRenderer, loop: PlainLoop) -> None:
    """Check that both make the same prompts."""
    for number, line in enumerate(states.read_bytes().splitlines()[:8], 1):
        if renderer.render(StateLine(number, line)).row["prompt"] != loop.render(json.loads(line)):
            sys.exit("batch: the plain loop makes another prompt")


def _spin(jobs: int) -> None:
    """Run the same amount of work in each of `jobs` processes."""
    processes = [get_context("fork").Process(target=_turn) for _ in range(jobs)]
    for one in processes:
        one.start()
    for one in processes:
        one.join()


def _turn() -> None:
    total = 0
    for number in range(5_000_000):
        total += number
