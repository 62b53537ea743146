"""What a single case of sentinel cannot show: all budgets, logs pasted together, fences read back, the states' own maker."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.cases.case import FIXTURES, ROOT, load_cases
from tests.cases.run_case import find_report, run_case
from tests.cases.walk_budgets import check_growth
from tests.packs import load_pack

PACK = "packs/sentinel"
SHARED = FIXTURES / "sentinel" / "base"


def _is_rendered(case: Any) -> bool:
    is_whole = "text" in case.golden and "only" not in case.flags
    return case.name.startswith("sentinel/") and case.exit == 0 and is_whole and case.kind == "render"


CASES = [case for case in load_cases() if _is_rendered(case)]
FENCE = re.compile(r"<(/?)([a-z_]+)>")


def _read(name: str) -> Any:
    return json.loads((SHARED / name).read_text(encoding="utf-8"))


def test_the_shared_states_are_what_their_maker_makes() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "make_sentinel_states.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["table.json", "loaded.json"])
def test_a_larger_budget_keeps_what_a_smaller_one_kept(name: str) -> None:
    check_growth(load_pack(PACK), load_pack(PACK).load_state(_read(name)), (*range(1700, 4000, 47), *range(4000, 13001, 750)))


@pytest.mark.parametrize(("length", "warned"), [(30, []), (9, ["PC0517"])])
def test_pasted_logs_show_the_newest_blocks(length: int, warned: list[str]) -> None:
    """Ids fall where one log ends and the next begins; one that is shown twice is told apart, with one warning."""
    one = _read("table.json")
    log = one["transcript"][:length] * (150 // length)
    prompt = load_pack(PACK).render(dict(one, transcript=log))
    recent = next(section for section in prompt.report["sections"] if section["id"] == "recent")
    ids = [item["id"] for item in recent["items"]]
    assert [found.code for found in prompt.warnings] == warned
    assert len(set(ids)) == len(ids)
    assert [id.split("#")[0] for id in ids[-12:]] == [str(block["id"]) for block in log[-12:]]


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_reading_the_fences_back_gives_the_sections(case: Any) -> None:
    (outcome,) = run_case(case).turns
    report = find_report(outcome)
    assert outcome.text is not None and report is not None
    marks = [match.groups() for line in outcome.text.splitlines() if (match := FENCE.fullmatch(line))]
    present = [section["id"] for section in report["sections"] if section["state"] == "present"]
    assert marks == [(slash, name) for name in present for slash in ("", "/")]


def test_the_state_of_a_real_table_has_the_keys_of_ours() -> None:
    """The keys that a table's log gives; what it leaves out has a default."""
    named = "campaign digest factions history input mission now npcs player retrieval strain threads transcript"
    given = set(named.split())
    state = _read("table.json")
    assert state.keys() == given
    assert state["transcript"][0].keys() == {"at", "id", "speaker", "tags", "text", "type"}
    schema = json.loads((ROOT / "packs" / "sentinel" / "state.schema.json").read_text(encoding="utf-8"))
    assert all("default" in schema["properties"][name] for name in schema["properties"].keys() - given)
