"""The cost of the attacks of `tests/attacks` until they are stopped or have printed, each in a separate process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import Scale, begin, show

_ROOT = Path(__file__).parents[1]
_SHOWN = 8
_FEW = ("prints", "macros")
_SECONDS = 1
_MIB = 128
_DIED = {"seconds": 999.0, "steps": 0, "peak": 0, "before": 0}
"""The values for an attack that gave no answer."""


def bench_attacks(scale: Scale) -> None:
    """Print the slowest and the largest attack, on the template alone and in `check` of a pack that contains it (Linux)."""
    for way, title in (("engine", "loaded and run"), ("check", "in `promptc check`")):
        found = _run(way, scale.choose((), _FEW))
        begin(f"Attacks: {len(found)} templates and expressions, {title}: seconds of the processor, steps paid, memory")
        for one in sorted(found, key=lambda one: -one["seconds"])[:_SHOWN]:
            show(one["name"], one["seconds"], ".2f s", note=f"{one['steps']:,} steps, {_weigh(one):.0f} MiB, {one['code'] or 'printed'}")
        slowest, largest = max(one["seconds"] for one in found), max(map(_weigh, found))
        show("the slowest", slowest, ".2f s", at_most=_SECONDS)
        show("the largest, over the interpreter", largest, ".0f MiB", at_most=_MIB)


def _run(way: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.attacks.run_attacks", way, *names]
    run = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True, encoding="utf-8")
    return [{**_DIED, **json.loads(line)} for line in run.stdout.splitlines()]


def _weigh(one: dict[str, Any]) -> float:
    added: int = one["peak"] - one["before"]
    return max(0.0, added / 1024)
