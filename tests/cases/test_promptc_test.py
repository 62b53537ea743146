"""`promptc test` comes to the same verdict on every case as the harness of these tests, whose way of running and comparing is its own."""

import contextlib
from collections.abc import Iterator

import pytest

from promptc.cli.case_shell import CaseShell
from promptc.golden.case import Case as Read
from promptc.golden.find_cases import Place, find_cases
from promptc.golden.given import There
from promptc.golden.judge_case import judge_case
from promptc.golden.shelf import Shelf
from promptc.golden.verdict import Verdict
from tests.cases.case import FIXTURES, ROOT, Case, load_cases
from tests.cases.check_expect import check_expect
from tests.cases.given import given
from tests.cases.run_case import run_once

CASES = {str(case.folder): case for case in load_cases()}
PLACES = [place for place in find_cases([str(FIXTURES)]) if place.is_case]
KNOWN = {"stores", "built", "large", "link", "database", "environment"}


class OwnShell(CaseShell):
    """Makes the circumstances that only these tests can make, too."""

    @contextlib.contextmanager
    def surround(self, case: Read, shelf: Shelf) -> Iterator[There]:
        if case.given.keys() <= KNOWN:
            with super().surround(case, shelf) as there:
                yield there
            return
        with given(CASES[case.folder], ROOT) as found, Shelf() as own:
            yield There(str(found.root), own, found.stores)


def judge(place: Place) -> Verdict:
    with Shelf() as shelf:
        return judge_case(place, shelf, OwnShell(), "compare")


def test_every_case_is_found() -> None:
    assert sorted(CASES) == sorted(place.folder for place in PLACES)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: CASES[place.folder].name)
def test_the_verdict_is_that_of_the_harness(place: Place) -> None:
    case = CASES[place.folder]
    verdict = judge(place)
    if "call" in case.given:  # how the library is called, which no command line can
        assert verdict.status == "passed" or _is_called_otherwise(case)
        return
    told = "\n".join(map(str, (*verdict.findings, *verdict.found)))
    assert verdict.status == _judge(case), told
    assert verdict.name == case.name


def _is_called_otherwise(case: Case) -> bool:
    return set(case.given) == {"call"} and case.exit != 0


def _judge(case: Case) -> str:
    """What the harness says."""
    outcome = run_once(case.name)
    goldens = {kind: case.golden_path(kind) for kind in case.golden}
    differs = [kind for kind, path in goldens.items() if path.is_file() and path.read_bytes() != outcome.render_golden(kind)]
    if differs or check_expect(case, outcome):
        return "failed"
    return "passed" if all(path.is_file() for path in goldens.values()) else "new"
