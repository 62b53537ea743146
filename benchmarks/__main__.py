"""`python -m benchmarks [--small] [NAME ...]`: prints ratios; with names, only those parts; `--small`, as little as runs every line."""

import sys

from benchmarks.asking import bench_asking
from benchmarks.attacks import bench_attacks
from benchmarks.batch import bench_batch
from benchmarks.cases import bench_cases
from benchmarks.cold import bench_cold
from benchmarks.counting import bench_counting
from benchmarks.crashes import bench_crashes
from benchmarks.differences import bench_differences
from benchmarks.fitting import bench_fitting
from benchmarks.hot import bench_growth, bench_others
from benchmarks.large import bench_large
from benchmarks.measure import Scale
from benchmarks.memory import bench_memory
from benchmarks.retrieval import bench_retrieval
from benchmarks.segments import bench_segments
from benchmarks.sessions import bench_sessions
from benchmarks.state import bench_state
from benchmarks.templates import bench_templates
from benchmarks.trimming import bench_trimming

PARTS = {
    "cold": bench_cold,
    "asking": bench_asking,
    "counting": bench_counting,
    "growth": bench_growth,
    "others": bench_others,
    "fitting": bench_fitting,
    "trimming": bench_trimming,
    "memory": bench_memory,
    "large": bench_large,
    "templates": bench_templates,
    "attacks": bench_attacks,
    "state": bench_state,
    "segments": bench_segments,
    "sessions": bench_sessions,
    "batch": bench_batch,
    "cases": bench_cases,
    "crashes": bench_crashes,
    "differences": bench_differences,
    "retrieval": bench_retrieval,
}

LONG = ("crashes",)
"""What takes minutes, and runs when it is named."""


def main() -> None:
    """Runs the parts asked for, or all but the long ones; all of them if they are to be small."""
    scale = Scale("--small" in sys.argv[1:])
    names = [name for name in sys.argv[1:] if name != "--small"] or [name for name in PARTS if scale.is_small or name not in LONG]
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; known: {', '.join(PARTS)}")
    print("Medians of interleaved runs, in processor time (cold, segments, cases, retrieval: by the clock).")
    print(scale.choose("Ratios hold from machine to machine; milliseconds do not.", "Smallest sizes: the figures mean nothing."))
    print()
    for name in names:
        PARTS[name](scale)
        print()


main()
