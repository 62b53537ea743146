"""Run every part of `python -m benchmarks` at its smallest size, and compare the lines that it shows with docs/performance.json."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.record import PATH, Record, read_record

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "small.json")
        command = [sys.executable, "-m", "benchmarks", "--small", "--keep", str(made)]
        done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        if done.returncode:
            print(f"{done.stdout}{done.stderr}\npython -m benchmarks --small ended with {done.returncode}", file=sys.stderr)
            return 1
        print("".join(line for line in done.stdout.splitlines(keepends=True) if " is left out: " in line), end="")
        shown = _list_labels(read_record(made))
    kept = _list_labels(read_record())
    wrong = [(name, label) for name in kept if name in shown for label in sorted(kept[name] ^ shown[name])]
    for name, label in wrong:
        told = "has a line that is not shown any more" if label in kept[name] else "lacks the line"
        print(f"{PATH.relative_to(ROOT)} {told}: {label}; run `python -m benchmarks --write {name}`", file=sys.stderr)
    print(f"{sum(map(len, shown.values()))} kinds of lines shown by the benchmarks at their smallest size")
    return int(bool(wrong))


def _list_labels(record: Record) -> dict[str, set[str]]:
    """Return the labels of the lines of each part, without their figures. The slowest attacks are left out, as they vary."""
    lines = {name: [line for block in part.blocks for line in block.lines] for name, part in record.parts.items()}
    return {name: {re.sub(r"\d[\d.,]*", "#", line.label) for line in lines[name] if " steps, " not in line.note} for name in lines}


if __name__ == "__main__":
    sys.exit(main())
