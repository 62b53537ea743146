"""Write the goldens of cases from the compiler's present output: `python tools/accept_goldens.py [PATTERN]`.

`promptc test` and `promptc accept` do the same, except for cases whose circumstances only the tests can make, and without the recount.
PATTERN is a shell pattern for case names, such as `sentinel/strain_*`; the default is all cases. Read the difference before you commit it.
A case that breaks its own `expect` is not accepted. The tool refuses to run if `CI` is set: CI compares goldens and never writes them. It
exits with 0 if all matching cases were accepted, with 1 if one was not, and with 2 if nothing matches or in CI.
"""

import argparse
import os
import sys
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "compiler"), str(ROOT)]

from promptc.cli.terminal import render_diagnostics  # noqa: E402
from promptc.golden.cases.case import Case  # noqa: E402
from promptc.golden.running.environment import list_lacking, render_install  # noqa: E402
from promptc.golden.verdicts.expect import check_expect  # noqa: E402
from promptc.golden.verdicts.verdict import compare_goldens, render_goldens  # noqa: E402
from tests.cases.case import load_cases  # noqa: E402
from tests.cases.check_receipt import check_receipt  # noqa: E402
from tests.cases.run_case import run_case  # noqa: E402


def accept_case(case: Case) -> list[str]:
    """Write the case's goldens that differ. Return what is wrong with the case; if anything is, nothing is written."""
    lacking = list_lacking(case.requires)
    if lacking:
        return [f"it requires what is not installed: {render_install(lacking)}"]
    ran = run_case(case)
    claims = [render_diagnostics([one]).rstrip("\n") for one in check_expect(case, ran)]
    broken = claims + [line for turn in ran.turns for line in check_receipt(turn)]
    made = render_goldens(case, ran, render_diagnostics) if not broken else {}
    for found in compare_goldens(case, made) if not broken else ():
        (ROOT / found.path).write_bytes(found.new)
        sys.stdout.write(f"{found.path}\n")
    return broken


def main() -> int:
    """Run the tool and return the exit code."""
    parser = argparse.ArgumentParser(description="Write the goldens of cases from what the compiler gives now.")
    parser.add_argument("pattern", nargs="?", default="*", help="which cases, such as 'sentinel/strain_*'; all when left out")
    pattern = parser.parse_args().pattern
    if os.environ.get("CI"):
        sys.stderr.write("goldens are not written in CI: run this where you can read the difference\n")
        return 2
    cases = [case for case in load_cases() if fnmatchcase(case.name, pattern)]
    if not cases:
        sys.stderr.write(f"no case matches {pattern}\n")
        return 2
    refused = 0
    for case in cases:
        broken = accept_case(case)
        refused += bool(broken)
        sys.stderr.writelines(f"{case.name}: {line}\n" for line in broken)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
