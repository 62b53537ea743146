"""Every case holds what it expects, equals its goldens byte for byte, and adds up."""

import difflib

import pytest

from tests.cases.case import Case, load_cases
from tests.cases.check_expect import check_expect
from tests.cases.check_receipt import check_receipt
from tests.cases.run_case import run_once

CASES = load_cases()
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@each_case
def test_what_is_expected_holds(case: Case) -> None:
    broken = check_expect(case, run_once(case.name))
    assert not broken, "\n".join(broken)


@each_case
def test_goldens_are_equal(case: Case) -> None:
    outcome = run_once(case.name)
    for kind in case.golden:
        path = case.golden_path(kind)
        assert path.is_file(), f"{path} is missing: read what the case gives, then python tools/accept_goldens.py {case.name}"
        old, new = path.read_bytes(), outcome.render_golden(kind)
        if old != new:
            pytest.fail(_render_diff(old, new, path.name), pytrace=False)


@each_case
def test_the_account_adds_up(case: Case) -> None:
    broken = check_receipt(run_once(case.name))
    assert not broken, "\n".join(broken)


def _render_diff(old: bytes, new: bytes, name: str) -> str:
    lines = (text.decode("utf-8", "replace").splitlines() for text in (old, new))
    return "\n".join(difflib.unified_diff(*lines, name, f"{name} now", lineterm="", n=2))
