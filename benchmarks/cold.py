"""A whole process: `promptc render` against `python -c pass`."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.blocks import make_sentinel_state
from benchmarks.measure import show, time_interleaved

_ROOT = Path(__file__).parents[1]


def bench_cold() -> None:
    """Prints the ratio of a new process that renders sentinel with 100 blocks to one that does nothing."""
    print("Cold: a new process, sentinel with 100 blocks")
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state.json"
        state.write_text(json.dumps(make_sentinel_state(100, 90)))
        render = [sys.executable, "-m", "promptc", "render", str(_ROOT / "packs/sentinel"), str(state)]
        taken = time_interleaved(
            {
                "pass": lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
                "click": lambda: subprocess.run([sys.executable, "-c", "import click"], check=True),
                "render": lambda: subprocess.run(render, check=True, capture_output=True),
            },
            rounds=9,
            clock=time.perf_counter,
        )
    show("python -c pass", f"{taken['pass'] * 1e3:.0f} ms")
    show("promptc render / python -c pass", f"{taken['render'] / taken['pass']:.1f} x")
    show("promptc render / python -c 'import click'", f"{taken['render'] / taken['click']:.1f} x")
