"""Large states: a report compared to its render, and a process with 100 MB of state compared to `json.loads` (Linux: it reads `/proc`)."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import promptc
from benchmarks.blocks import make_reach_state, make_sentinel_state
from benchmarks.measure import Sample, Scale, Turns, begin, show, time_turns

_ROOT = Path(__file__).parents[1]
_WORDS = 90
_SIZES = (100, 10_000, 100_000)
_BLOCKS = (("blocks of 90 words", 175_000, 90), ("blocks of 6 words", 700_000, 6))
_TELL = """
import time
lines = open("/proc/self/status").read().splitlines()
print(time.process_time(), next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")))
"""
_THEIRS = f"import json, sys; value = json.loads(open(sys.argv[1], 'rb').read()){_TELL}"
_OURS = f"import promptc, sys; pack = promptc.load('benchmarks/reach'); state = pack.load_state(open(sys.argv[1], 'rb').read()){_TELL}"
_RENDER = _OURS.replace("state = ", "prompt = pack.render(").replace("read())", "read()))", 1)
_REPORT = _RENDER.replace("\nimport time", "; prompt.report\nimport time", 1)


def bench_large(scale: Scale) -> None:
    """Print the ratios of a report to its render at each size, and of a process with a large state to one that only parses it."""
    _bench_reports(scale)
    for title, count, words in scale.choose(_BLOCKS, (("blocks of 90 words", 8, 90), ("blocks of 6 words", 9, 6))):
        _bench_file(title, count, words, scale.choose(3, 1))


def _bench_reports(scale: Scale) -> None:
    begin("Large: a report beside its render, sentinel, N blocks in a loaded state")
    pack = promptc.load(_ROOT / "packs/sentinel")
    for size in scale.choose(_SIZES, (5, 6, 7)):
        raw = make_sentinel_state(size, _WORDS)
        begun = time.process_time()
        state = pack.load_state(raw)
        loaded = time.process_time()
        assert state.digest
        digested = time.process_time()
        works: dict[str, Callable[[], object]] = {
            "render": lambda state=state: pack.render(state),  # type: ignore[misc]
            "both": lambda state=state: pack.render(state).report,  # type: ignore[misc]
        }
        ratio = time_turns(works, scale.choose(15, 1)).ratio("both", "render")
        show(f"N = {size:,}: the report / the render", Sample(tuple(one - 1 for one in ratio.values)), ".2f x", at_most=1.5)
        show("the digest of a dict, once / load_state", (digested - loaded) / (loaded - begun), ".2f x")


def _bench_file(title: str, count: int, words: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        path.write_bytes(json.dumps(make_reach_state(count, words)).encode())
        size = path.stat().st_size
        begin(f"Large: a state of {size / 1e6:.0f} MB, {count:,} {title}, in a new process")
        scripts = {"json": _THEIRS, "ours": _OURS, "render": _RENDER, "report": _REPORT}
        found = {name: list[tuple[float, int]]() for name in scripts}
        for _ in range(rounds):
            for name, script in scripts.items():
                found[name].append(_run(script, path))
    seconds = Turns({name: [taken for taken, _ in runs] for name, runs in found.items()})
    peaks = {name: max(peak for _, peak in runs) / size for name, runs in found.items()}
    show("json.loads alone", seconds["json"], ".0f ms")
    show("  peak memory / the file", peaks["json"], ".1f x")
    for name, label in (("ours", "load_state"), ("render", "load_state and render"), ("report", "the same and the report")):
        limit = 2 if name != "report" else None
        ratio = seconds.ratio(name, "json")
        show(f"{label} / json.loads", ratio, ".2f x", at_most=limit, peer="json.loads alone", way="ours / theirs")
        show("  peak memory / the file", peaks[name], ".2f x", at_most=4)


def _run(script: str, path: Path) -> tuple[float, int]:
    """Return the processor time of a new process in seconds, and its peak memory in bytes."""
    run = subprocess.run([sys.executable, "-c", script, path], check=True, capture_output=True, text=True, cwd=_ROOT)
    taken, peak = run.stdout.split()
    return float(taken), int(peak)
