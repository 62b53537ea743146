"""`promptc test` over a generated suite of cases, compared to pytest collecting and running as many empty tests."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import Scale, Turns, begin, show

_ROOT = Path(__file__).parents[1]
_COUNT = (10_000, 5)
_JOBS = "2"
_ROUNDS = (3, 1)
_LIMIT = 1.2
_PRESETS = ("standard", "minimal", "deep")
_TIERS = ("normal", "strain_1", "strain_2", "strain_3")
_PROMPTC = "import sys; from promptc.cli.main import main; sys.exit(main())"
_EMPTY = "import pytest\n\n@pytest.mark.parametrize('number', range({count}))\ndef test_empty(number):\n    pass\n"


def bench_cases(scale: Scale) -> None:
    """Print the time of a suite that was never run, and of one without changes, as shares of pytest's time for empty tests."""
    count = scale.choose(*_COUNT)
    with tempfile.TemporaryDirectory() as made:
        changed, whole = Path(made, "changed"), Path(made, "whole")
        make_suite(changed, count)
        make_suite(whole, count, whole=True)
        (changed / "test_empty.py").write_text(_EMPTY.format(count=count))
        begin(f"Cases: {count:,} of the sentinel kind, each with a golden, on {_JOBS} processors, by the clock")
        works: dict[str, Callable[[], None]] = {
            "pytest": partial(_run, changed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_empty.py"),
            "promptc test, nothing in its cache": partial(_test, changed, "cold"),
            "the same, a state file for each case": partial(_test, whole, "cold"),
            "promptc test, nothing changed": partial(_test, changed, "warm"),
        }
        taken: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(scale.choose(*_ROUNDS)):
            for name, work in works.items():
                for folder in (changed, whole):
                    shutil.rmtree(folder / ".cold", ignore_errors=True)
                begun = time.perf_counter()
                work()
                taken[name].append(time.perf_counter() - begun)
    turns = Turns(taken)
    show("pytest, as many empty tests", turns["pytest"], ".1f s")
    for name in [*works][1:]:
        peer = "pytest with empty tests"
        show(name, turns.ratio(name, "pytest"), ".2f x", at_most=_LIMIT, peer=peer, way="ours / theirs")


def make_suite(folder: Path, count: int, *, whole: bool = False) -> None:
    """Make a repository in `folder`: sentinel and `count` different cases with their goldens.

    The states of the cases are changes to a shared state or, with `whole`, a file for each case.
    """
    shutil.copytree(_ROOT / "packs/sentinel", folder / "packs/sentinel")
    (folder / "fixtures/sentinel/base").mkdir(parents=True)
    base = _ROOT / "fixtures/sentinel/calm/state.json"
    shutil.copy(base, folder / "fixtures/sentinel/base/state.json")
    state = json.loads(base.read_text(encoding="utf-8"))
    for number in range(count):
        case = folder / f"fixtures/sentinel/turn_{number:05}"
        case.mkdir()
        changes = _make_changes(number)
        if whole:
            (case / "state.json").write_text(json.dumps(state | changes, indent=1), encoding="utf-8")
        (case / "case.yaml").write_text(_make_case(number, changes, whole=whole), encoding="utf-8")
    _run(folder, "-c", _PROMPTC, "test", "-j", _JOBS, cache="warm", code=0)
    _run(folder, "-c", _PROMPTC, "accept", "--all", "--quiet")


def _make_changes(number: int) -> dict[str, Any]:
    """Return the changes by key of the state."""
    return {
        "input": f"I knock {number} times and wait for the watch.",
        "retrieval_preset": _PRESETS[number % 3],
        "strain": _TIERS[number % 4],
        "window": 4 + number % 17,
    }


def _make_case(number: int, changes: dict[str, Any], *, whole: bool) -> str:
    preset = changes["retrieval_preset"]
    given = ", ".join(f"/{key}: {json.dumps(value)}" for key, value in changes.items())
    state = "state.json" if whole else f"{{base: ../base/state.json, set: {{{given}}}}}"
    return (
        f"title: turn {number}, with {preset} retrieval and a window of {changes['window']}\n"
        f"state: {state}\n"
        f"with: {{budget: {9000 + number % 5000}}}\n"
        f"expect: {{exit: 0, variants: {{retrieval: {preset}}}, contains: [I knock {number} times]}}\n"
        "golden: [text]\n"
    )


def _test(folder: Path, cache: str) -> None:
    _run(folder, "-c", _PROMPTC, "test", "-j", _JOBS, cache=cache)


def _run(folder: Path, *arguments: str, cache: str = "cold", code: int = 0) -> None:
    env = {**os.environ, "PYTHONPATH": str(_ROOT / "compiler"), "PROMPTC_CACHE": str(folder / f".{cache}"), "CI": ""}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=env, capture_output=True, check=False)
    if done.returncode != code:
        sys.exit(f"{' '.join(arguments)} ended with {done.returncode}: {(done.stdout + done.stderr).decode()[-2000:]}")
