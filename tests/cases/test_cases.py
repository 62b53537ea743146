"""Every case holds what it expects, equals its goldens byte for byte, and adds up."""

import difflib
import json

import jsonschema
import pytest

from promptc.cli.findings import render_diagnostics
from promptc.golden.case import Case
from promptc.golden.judge import check_expect
from promptc.golden.verdict import GoldenDifference, compare_goldens, render_goldens
from tests.cases.case import ROOT, load_cases
from tests.cases.check_receipt import check_receipt
from tests.cases.run_case import find_report, run_once

CASES = load_cases()
REPORT = jsonschema.Draft202012Validator(json.loads((ROOT / "schemas" / "report.schema.json").read_text(encoding="utf-8")))
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@each_case
def test_what_is_expected_holds(case: Case) -> None:
    ran = run_once(case.name)
    broken = check_expect(case, ran)
    assert not broken, render_diagnostics([*broken, *(found for turn in ran.turns for found in turn.found)])


@each_case
def test_goldens_are_equal(case: Case) -> None:
    ran = run_once(case.name)
    differences = compare_goldens(case, ran, render_goldens(case, ran, render_diagnostics))
    if differences:
        pytest.fail("\n".join(map(_render_diff, differences)), pytrace=False)


@each_case
def test_the_account_adds_up(case: Case) -> None:
    broken = [line for turn in run_once(case.name).turns for line in check_receipt(turn)]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("case", [case for case in CASES if "report" in case.golden], ids=lambda case: case.name)
def test_the_report_is_of_its_schema(case: Case) -> None:
    """As `render --report` writes it: a golden has no digests and no places."""
    reports = [find_report(turn) for turn in run_once(case.name).turns]
    wrong = [f"{error.json_path}: {error.message}" for report in reports for error in REPORT.iter_errors(report)]
    assert not wrong, "\n".join(wrong[:20])


def _render_diff(found: GoldenDifference) -> str:
    if found.old is None:
        return f"{found.path} is missing: read what the case gives, then accept it (CONTRIBUTING.md)"
    lines = (text.decode("utf-8", "replace").splitlines() for text in (found.old, found.new))
    return "\n".join(difflib.unified_diff(*lines, found.path, f"{found.path} now", lineterm="", n=2))
