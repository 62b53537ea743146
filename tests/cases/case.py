"""The cases of this repository, read once."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from promptc.golden.cases.case import Case
from promptc.golden.cases.discover import iter_cases, load_case
from promptc.golden.running.environment import CaseEnvironment
from promptc.golden.running.resources import SuiteResources
from promptc.golden.running.run import read_state

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
OWN = ROOT / "tests" / "fixtures"
"""Cases that `promptc test` cannot run: their circumstances are made by the tests alone (given.py)."""


STARTERS = ROOT / "starters"
"""The templates of `promptc init`, with their cases."""


@cache
def load_cases() -> tuple[Case, ...]:
    """Every case under these folders, by folder."""
    return tuple(load_case(place.folder) for place in iter_cases([str(FIXTURES), str(OWN), str(STARTERS)]) if place.is_case)


def list_covered(pack: str) -> set[str]:
    """The rows of systems.md that the cases in the pack's folder say they prove."""
    return {str(row) for case in load_cases() if case.name.startswith(f"{pack}/") for row in case.node.plain().get("covers", ())}


def list_axes(case: Case) -> Mapping[str, str]:
    """The choices its flags make, by axis."""
    return {**case.flags.get("variant", {}), **({"mood": case.flags["mood"]} if "mood" in case.flags else {})}


def read_raw(case: Case) -> bytes:
    """The bytes of a case's only state: of its file, whatever is in it, or of what its changes make of it."""
    state = case.states[0]
    if not state.changes and "set" not in case.flags:
        return Path(case.folder, state.base or "").read_bytes()
    with SuiteResources() as resources:
        canonical: bytes = read_state(case, 0, CaseEnvironment(case.root, case.fence, resources)).canonical
    return canonical
