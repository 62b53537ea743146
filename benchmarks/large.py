"""Large states: a report beside its render, and a state of 100 MB in a process of its own beside `json.loads` (Linux: it reads `/proc`)."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import promptc
from benchmarks.blocks import make_reach_state, make_sentinel_state
from benchmarks.measure import Scale, judge, show, time_interleaved

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
    """Prints ratios: a report to its render at each size, and a process with a large state to one that only parses it."""
    _bench_reports(scale)
    for title, count, words in scale.choose(_BLOCKS, (("blocks of 90 words", 8, 90), ("blocks of 6 words", 9, 6))):
        _bench_file(title, count, words, scale.choose(3, 1))


def _bench_reports(scale: Scale) -> None:
    print("Large: a report beside its render, sentinel, N blocks in a loaded state")
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
        taken = time_interleaved(works, scale.choose(15, 1))
        ratio = (taken["both"] - taken["render"]) / taken["render"]
        show(f"N = {size:,}: the report / the render", f"{ratio:.2f} x", judge(ratio, 1.5, at_most=True))
        share = (digested - loaded) / (loaded - begun)
        show("the digest of a dict, once / load_state", f"{share:.2f} x")


def _bench_file(title: str, count: int, words: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        path.write_bytes(json.dumps(make_reach_state(count, words)).encode())
        size = path.stat().st_size
        print(f"Large: a state of {size / 1e6:.0f} MB, {count:,} {title}, in a new process")
        scripts = {"json": _THEIRS, "ours": _OURS, "render": _RENDER, "report": _REPORT}
        found = {name: list[tuple[float, int]]() for name in scripts}
        for _ in range(rounds):
            for name, script in scripts.items():
                found[name].append(_run(script, path))
    seconds = {name: median(taken for taken, _ in runs) for name, runs in found.items()}
    peaks = {name: max(peak for _, peak in runs) / size for name, runs in found.items()}
    show("json.loads alone", f"{seconds['json'] * 1e3:.0f} ms", f"peak memory {peaks['json']:.1f} x the file")
    for name, label in (("ours", "load_state"), ("render", "load_state and render"), ("report", "the same and the report")):
        ratio = seconds[name] / seconds["json"]
        show(f"{label} / json.loads", f"{ratio:.2f} x", judge(ratio, 2, at_most=True) if name != "report" else "")
        show("  peak memory / the file", f"{peaks[name]:.2f} x", judge(peaks[name], 4, at_most=True))


def _run(script: str, path: Path) -> tuple[float, int]:
    """The seconds of processor time of a new process, and its peak memory in bytes."""
    run = subprocess.run([sys.executable, "-c", script, path], check=True, capture_output=True, text=True, cwd=_ROOT)
    taken, peak = run.stdout.split()
    return float(taken), int(peak)
