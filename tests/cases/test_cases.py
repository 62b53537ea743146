"""Every case holds what it expects, equals its goldens byte for byte, adds up, and comes to the same in other circumstances."""

import difflib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from promptc.cli.terminal import render_diagnostics
from promptc.golden.cases.case import Case, CaseRun
from promptc.golden.verdicts.expect import check_expect
from promptc.golden.verdicts.verdict import GoldenDifference, compare_goldens, render_goldens
from tests.cases.case import ROOT, load_cases
from tests.cases.check_receipt import check_receipt
from tests.cases.elsewhere import copy_with_crlf, digest_all, find_cause, read, start
from tests.cases.run_case import find_report, run_once
from tests.size import read_size

CASES = load_cases()
SEEDS = (1,) if read_size() == "commit" else (1, 4242)
REPORT = jsonschema.Draft202012Validator(json.loads((ROOT / "schemas" / "report.schema.json").read_text(encoding="utf-8")))
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packs and the cases with CRLF."""
    root = tmp_path_factory.mktemp("crlf")
    copy_with_crlf(root)
    return root


@pytest.fixture(scope="module", autouse=True)
def running(request: pytest.FixtureRequest, copy: Path) -> list[subprocess.Popen[bytes]]:
    """Processes with hash seeds of their own that run the cases that are asked for, while the cases run here."""
    wanted = [item for item in request.session.items if getattr(item, "function", None) is test_elsewhere]
    return [start([item.callspec.params["case"].name for item in wanted], copy, seed=seed) for seed in SEEDS]


@pytest.fixture(scope="module")
def elsewhere(running: list[subprocess.Popen[bytes]]) -> list[dict[str, list[str]]]:
    """What the cases came to there."""
    return [read(process) for process in running]


# contract 11.10
@pytest.mark.sampled
@each_case
def test_a_case(case: Case) -> None:
    """All that is wrong with it is told at once."""
    ran = run_once(case.name)
    wrong = [text for judge in (_check_expect, _check_goldens, _check_account, _check_report) for text in judge(case, ran)]
    if wrong:
        pytest.fail("\n\n".join(wrong), pytrace=False)


def _check_expect(case: Case, ran: CaseRun) -> Iterator[str]:
    broken = check_expect(case, ran)
    if broken:
        yield render_diagnostics([*broken, *(found for turn in ran.turns for found in turn.found)])


def _check_goldens(case: Case, ran: CaseRun) -> Iterator[str]:
    yield from map(_render_diff, compare_goldens(case, render_goldens(case, ran, render_diagnostics)))


def _check_account(_: Case, ran: CaseRun) -> Iterator[str]:
    """Every figure of the report adds up."""
    yield from (line for turn in ran.turns for line in check_receipt(turn))


def _check_report(case: Case, ran: CaseRun) -> Iterator[str]:
    """As `render --report` writes it, it is of its schema: a golden has no digests and no places."""
    reports = [find_report(turn) for turn in ran.turns] if "report" in case.golden else []
    wrong = [f"{error.json_path}: {error.message}" for report in reports for error in REPORT.iter_errors(report)]
    yield from wrong[:20]


def _render_diff(found: GoldenDifference) -> str:
    if found.old is None:
        return f"{found.path} is missing: read what the case gives, then accept it (CONTRIBUTING.md)"
    lines = (text.decode("utf-8", "replace").splitlines() for text in (found.old, found.new))
    return "\n".join(difflib.unified_diff(*lines, found.path, f"{found.path} now", lineterm="", n=2))


# contract 1.6 and 11.8
@pytest.mark.sampled(9)
@each_case
def test_elsewhere(case: Case, elsewhere: list[dict[str, list[str]]], copy: Path) -> None:
    """Nothing depends on the hash seed, the folder, what ran before; no render on line ends, the path of the pack, the order of keys."""
    here = digest_all(run_once(case.name))
    if any(digests[case.name] != here for digests in elsewhere):
        pytest.fail(f"something else comes of it elsewhere, because of: {find_cause(case.name, copy)}", pytrace=False)
