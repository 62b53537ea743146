"""No case is passed over, and nothing lies in a case's folder that no case asks for."""

import json

import jsonschema
import pytest
import yaml

from promptc.golden.case import INPUTS
from tests.cases.case import FIXTURES, GOLDENS, ROOT, Case, load_cases

CASES = load_cases()


def test_every_case_file_is_collected() -> None:
    found = {path.parent.relative_to(FIXTURES).as_posix() for path in FIXTURES.rglob("case.y*ml")}
    assert found == {case.name for case in CASES}
    assert len(CASES) >= 25


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_valid(case: Case) -> None:
    schema = json.loads((ROOT / "schemas" / "case.schema.json").read_text(encoding="utf-8"))
    read = yaml.safe_load((case.folder / "case.yaml").read_text(encoding="utf-8"))
    wrong = [f"{error.json_path}: {error.message}" for error in jsonschema.Draft202012Validator(schema).iter_errors(read)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_has_its_goldens(case: Case) -> None:
    missing = [kind for kind in case.golden if not case.golden_path(kind).is_file()]
    assert not missing, f"no golden for {', '.join(missing)}: python tools/accept_goldens.py {case.name}"


def test_every_golden_belongs_to_a_case() -> None:
    asked = {case.golden_path(kind) for case in CASES for kind in case.golden}
    noted = asked | {path.parent / INPUTS for path in asked}
    orphans = [path.relative_to(ROOT).as_posix() for path in sorted(FIXTURES.rglob("golden.*")) if path not in noted]
    assert not orphans, f"no case asks for {', '.join(orphans)}"


def test_every_kind_of_golden_is_known() -> None:
    schema = json.loads((ROOT / "schemas" / "case.schema.json").read_text(encoding="utf-8"))
    assert set(schema["properties"]["golden"]["items"]["enum"]) == set(GOLDENS)


def test_the_rows_of_sentinel_are_covered() -> None:
    wanted = {f"B{row}" for row in range(1, 16)}
    covered = {row for case in CASES if case.name.startswith("sentinel/") for row in case.covers}
    assert not wanted - covered


def test_the_rows_of_tidepool_are_covered() -> None:
    """Every row: D1-D10."""
    wanted = {f"D{row}" for row in range(1, 11)}
    covered = {row for case in CASES if case.name.startswith("tidepool/") for row in case.covers}
    assert not wanted - covered


def test_the_rows_of_companion_are_covered() -> None:
    """Every row of this version: E1-E9."""
    wanted = {f"E{row}" for row in range(1, 10)}
    covered = {row for case in CASES if case.name.startswith("companion/") for row in case.covers}
    assert not wanted - covered
