"""The second run of a command in a new process compared to its first: `promptc check` and `promptc diff` with a filled cache."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.blocks import make_sentinel_state
from benchmarks.measure import Scale, begin, show, time_turns

_ROOT = Path(__file__).parents[1]
_PACKS = ("packs/sentinel", "packs/companion", "packs/worldarchitect")
_WORDS = 90


def bench_again(scale: Scale) -> None:
    """Print ratios of the processor time of new processes."""
    rounds = scale.choose(7, 1)
    with tempfile.TemporaryDirectory() as folder:
        begin("Again: `promptc check` in a new process, what was found before in its cache")
        for pack in _PACKS:
            checks = {"first": partial(_run, None, "check", pack), "again": partial(_run, folder, "check", pack)}
            show(f"{pack}: again / first", time_turns(checks, rounds, clock=_read_children).ratio("again", "first"), ".2f x", at_most=0.2)
        begin("Again: `promptc diff` of two states in a new process, sentinel, both seen before")
        states = [Path(folder) / f"{number}.json" for number in range(2)]
        for number, path in enumerate(states):
            path.write_text(json.dumps(make_sentinel_state(100 + number, _WORDS)), encoding="utf-8")
        works: dict[str, Callable[[], None]] = {
            "diff": partial(_run, folder, "diff", *states, "--pack", _PACKS[0]),
            "renders": partial(_render_each, folder, states),
        }
        taken = time_turns(works, rounds, clock=_read_children)
        show("the diff", taken["diff"], ".0f ms")
        show("the diff / two renders with their reports", taken.ratio("diff", "renders"), ".2f x", at_most=1)


def _render_each(cache: str, states: Sequence[Path]) -> None:
    for state in states:
        _run(cache, "render", _PACKS[0], state, "--report", os.devnull)


def _run(cache: str | None, *words: str | Path) -> None:
    environment = {**os.environ, "PROMPTC_CACHE": f"{cache}/cache" if cache else "", "XDG_STATE_HOME": f"{cache}/state"}
    done = subprocess.run([sys.executable, "-m", "promptc", *words], cwd=_ROOT, env=environment, check=False, capture_output=True)
    assert done.returncode in (0, 1), done.stderr


def _read_children() -> float:
    """Return the processor time of all processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
