"""Run every part of `python -m benchmarks` at its smallest size, and hold its lines to those of docs/explanation/benchmarks.md."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "explanation" / "benchmarks.md"
_NAMED = ("Crashes:", "A crowd:")
"""What begins the parts that run only when they are named, which the document does not show."""


def main() -> int:
    done = subprocess.run([sys.executable, "-m", "benchmarks", "--small"], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"{done.stdout}{done.stderr}\npython -m benchmarks --small ended with {done.returncode}", file=sys.stderr)
        return 1
    _, text = DOCUMENT.read_text(encoding="utf-8").split("```text\n")
    shown, printed = _list_labels(text.split("```")[0]), _list_labels(done.stdout)
    for label in sorted(shown ^ printed):
        print(
            f"{DOCUMENT.relative_to(ROOT)} {'shows a line that is not printed' if label in shown else 'lacks the line'}: {label}",
            file=sys.stderr,
        )
    print(f"{len(printed)} kinds of lines printed by the benchmarks at their smallest size")
    return int(shown != printed)


def _list_labels(text: str) -> set[str]:
    """What the lines say, without their figures. The head tells what run it is, and which attacks are the slowest is chance."""
    _, *parts = text.split("\n\n")
    lines = [line for part in parts if not part.startswith(_NAMED) for line in part.split("\n")]
    told = [line.strip() for line in lines if line.strip() and not re.search(r"\d steps ", line)]
    return {re.sub(r"\d[\d.,]*", "#", re.split(r"\s{2,}", line)[0]) for line in told}


if __name__ == "__main__":
    sys.exit(main())
