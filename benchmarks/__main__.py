"""`python -m benchmarks [--small] [--write] [NAME ...]` prints ratios; with names, only those parts."""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.again import bench_again
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
from benchmarks.measure import LeftOut, Scale, take_shown
from benchmarks.memory import bench_memory
from benchmarks.page import write_page
from benchmarks.record import PATH as RECORD
from benchmarks.record import Part, Record, describe_here, read_record, write_record
from benchmarks.retrieval import bench_retrieval
from benchmarks.segments import bench_segments
from benchmarks.service import bench_service
from benchmarks.serving import bench_serving
from benchmarks.sessions import bench_sessions
from benchmarks.state import bench_state
from benchmarks.templates import bench_templates
from benchmarks.trimming import bench_trimming
from benchmarks.turns import bench_turns

PARTS = {
    "cold": bench_cold,
    "again": bench_again,
    "asking": bench_asking,
    "counting": bench_counting,
    "growth": bench_growth,
    "others": bench_others,
    "fitting": bench_fitting,
    "trimming": bench_trimming,
    "memory": bench_memory,
    "large": bench_large,
    "turns": bench_turns,
    "templates": bench_templates,
    "attacks": bench_attacks,
    "state": bench_state,
    "segments": bench_segments,
    "sessions": bench_sessions,
    "batch": bench_batch,
    "service": bench_service,
    "serving": bench_serving,
    "cases": bench_cases,
    "crashes": bench_crashes,
    "differences": bench_differences,
    "retrieval": bench_retrieval,
}

LONG = ("cases", "crashes", "retrieval")
"""Parts that take minutes, and run only if they are named. All others together take eight minutes."""


def main() -> None:
    """Run the named parts, or all but the long ones; with `--small`, all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure promptc beside others, and print ratios.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"a part: {' '.join(PARTS)} (without names all but: {' '.join(LONG)})")
    parser.add_argument("--small", action="store_true", help="as little as goes through every line; the figures mean nothing")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write what was shown to FILE, as JSON")
    parser.add_argument("--write", action="store_true", help="put what was shown into docs/performance.json, and write docs/performance.md")
    parser.add_argument("--draw", action="store_true", help="measure nothing, write docs/performance.md from docs/performance.json")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in PARTS]:
        parser.error(f"no such benchmark: {', '.join(unknown)}; known: {', '.join(PARTS)}")
    if given.small and given.write:
        parser.error("--small measures nothing that could be written to docs/performance.md")
    if not given.draw:
        names = given.names or [name for name in PARTS if given.small or name not in LONG]
        for measured in _iter_measured(names, Scale(given.small)):
            if given.keep:
                write_record(measured, given.keep)
            if given.write:
                write_record(_merge(measured))
    if given.draw or given.write:
        write_page(read_record())


def _iter_measured(names: Sequence[str], scale: Scale) -> Iterator[Record]:
    """Yield after each part all that was measured so far: a run that is stopped keeps its finished parts."""
    print("Medians of interleaved runs, in processor time (cold, segments, serving, cases, retrieval: by the clock).")
    print("± is half of what lies between the quartiles of so many turns, in per cent of the median.")
    print(scale.choose("Ratios hold from machine to machine; milliseconds do not.", "Smallest sizes: the figures mean nothing."))
    measured = describe_here()
    print(", ".join(f"{name} {told}" for name, told in [*measured.machine.items(), *measured.versions.items()]))
    for name in names:
        print()
        load, begun, day = f"{os.getloadavg()[0]:.1f}", time.perf_counter(), datetime.now(UTC).date().isoformat()
        try:
            PARTS[name](scale)
        except LeftOut as reason:
            print(f"{name.capitalize()} is left out: {reason}")
            continue
        part = Part(day, round(time.perf_counter() - begun), load, take_shown())
        print(f"  {day}, {part.seconds} s; {load} processes wanted a processor before it")
        measured = measured.add({name: part})
        yield measured


def _merge(measured: Record) -> Record:
    """Merge a run into the record. A record of another machine or of other versions is not comparable, and is replaced."""
    kept = read_record() if RECORD.exists() else measured
    if (kept.machine, kept.versions) != (measured.machine, measured.versions):
        print("\nThe record is of another machine or of other versions: it is replaced, and holds only what was measured now.")
        kept = measured
    merged = kept.add(measured.parts)
    return Record(merged.machine, merged.versions, {name: merged.parts[name] for name in PARTS if name in merged.parts})


if __name__ == "__main__":
    main()
