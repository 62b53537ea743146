"""The clauses of docs/contract.md: their numbers, and the tests that hold them.

A test cites a clause as `contract 4.12`, in a docstring or a comment of the module, the test, or the fixture that holds it.
"""

import re
from collections import Counter

from tests.contract.sources import ROOT

CLAUSES = re.findall(r"(?m)^\*\*(\d+)\.(\d+)\*\* ", (ROOT / "docs" / "contract.md").read_text(encoding="utf-8"))
UNHELD = frozenset(
    {
        "10.18",  # it says what nobody can read back: a promise of nothing
    }
)
"""Clauses that no test can hold, each with the reason."""

_CITED = re.compile(r"contract ((?:\d+\.\d+(?:, | and )?)+)")


def test_the_clauses_of_a_section_are_counted_from_one():
    counted = Counter[str]()
    for section, clause in CLAUSES:
        counted[section] += 1
        assert int(clause) == counted[section], f"{section}.{clause} stands at place {counted[section]}"


def test_every_citation_names_a_clause():
    there = {".".join(one) for one in CLAUSES}
    wrong = {where: cited - there for where, cited in _list_citations().items() if cited - there}
    assert not wrong, f"cite the number that the clause has in docs/contract.md: {wrong}"


def test_every_clause_is_cited():
    """A clause that no test holds is a hope. Add a test, and cite the clause there."""
    cited = set().union(*_list_citations().values())
    bare = {".".join(one) for one in CLAUSES} - cited
    assert not bare - UNHELD, f"write a test for each, with the comment `# contract NUMBER` above it: {sorted(bare - UNHELD)}"
    assert not UNHELD - bare, f"take these out of `UNHELD`, because a test cites them: {sorted(UNHELD - bare)}"


def _list_citations() -> dict[str, set[str]]:
    """For each file of tests, the clauses that it cites. A case of a pack cites in a comment of its `case.yaml`."""
    files = [*sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "fixtures").rglob("case.yaml"))]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files if path.name != "test_clauses.py"}
    found = {name: _CITED.findall(text) for name, text in texts.items()}
    return {name: set(re.findall(r"\d+\.\d+", " ".join(cited))) for name, cited in found.items() if cited}
