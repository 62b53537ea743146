"""No case is passed over, and nothing lies in a case's folder that no case asks for."""

import json
from pathlib import Path

import pytest

from promptc.golden.cases.case import GOLDENS, INPUTS
from tests.cases.case import FIXTURES, OWN, ROOT, STARTERS, list_covered, load_cases
from tests.cases.given import is_own

CASES = load_cases()
ROWS = [("sentinel", "B", 15), ("tidepool", "D", 10), ("companion", "E", 10), ("worldarchitect", "C", 9)]


def test_every_case_file_is_collected() -> None:
    found = {str(path.parent) for folder in (FIXTURES, OWN, STARTERS) for path in folder.rglob("case.y*ml")}
    assert found == {case.folder for case in CASES}
    assert len(CASES) >= 500


def test_cases_that_only_the_tests_can_run_stand_apart() -> None:
    """So `promptc test` runs whatever is under `fixtures`, and skips nothing where all extras are installed."""
    assert {case.folder for case in CASES if is_own(case)} == {case.folder for case in CASES if Path(case.folder).is_relative_to(OWN)}


def test_every_golden_belongs_to_a_case() -> None:
    asked = {Path(case.folder, name) for case in CASES for _, _, name in case.list_goldens()}
    noted = asked | {path.parent / INPUTS for path in asked}
    found = sorted(path for folder in (FIXTURES, OWN, STARTERS) for path in folder.rglob("golden.*"))
    orphans = [path.relative_to(ROOT).as_posix() for path in found if path not in noted]
    assert not orphans, f"no case asks for {', '.join(orphans)}"


# contract 14.7
def test_every_kind_of_golden_is_known() -> None:
    schema = json.loads((ROOT / "schemas" / "case.schema.json").read_text(encoding="utf-8"))
    assert set(schema["properties"]["golden"]["items"]["enum"]) == set(GOLDENS)


# contract 14.1
def test_every_kind_of_case_is_among_them() -> None:
    assert {case.kind for case in CASES} == {"render", "session", "apply", "recall", "check", "run"}


# contract 14.3
@pytest.mark.parametrize(("pack", "letter", "count"), ROWS)
def test_the_rows_of_a_pack_are_covered(pack: str, letter: str, count: int) -> None:
    """Every row of systems.md has a case that proves it."""
    assert list_covered(pack) >= {f"{letter}{row}" for row in range(1, count + 1)}
