"""`fixtures/skills`: a listing of skills gets shorter evenly, and keeps every name as long as the names fit."""

import json

import pytest

from promptc.diag.findings import PromptcError
from tests.contract.sources import ROOT
from tests.packs import load_pack

FOLDER = ROOT / "fixtures" / "skills" / "base"
PACK = "fixtures/skills/base"
STATE = json.loads((FOLDER / "state.json").read_text(encoding="utf-8"))
NAMES = [one["name"] for one in STATE["skills"]]


# contract 11.2, 5.31
def test_no_skill_loses_more_than_one_form_before_another_loses_its_first():
    before: dict[str, int] = {}
    seen: set[tuple[int, ...]] = set()
    for budget in range(1500, 30_000, 250):
        prompt = load_pack(PACK).render(STATE, budget=budget)
        (told,) = [one for one in prompt.report["sections"] if one["id"] == "skills"]
        forms = {one["id"]: one.get("form", 0) for one in told["items"]}
        assert told["charge"] <= budget * 3 // 100
        assert all(forms.get(name, 9) <= form for name, form in before.items())
        if len(forms) == len(NAMES):
            levels = {form for name, form in forms.items() if name != "make-a-label"}  # its first sentence is all of it
            assert max(levels) - min(levels) <= 1, (budget, forms)
            assert all(f"- {name}" in prompt.text for name in NAMES)
        else:
            assert f"- and {len(NAMES) - len(forms)} more" in prompt.text and set(forms.values()) == {2}
            levels = {2}
        seen.add((len(forms), *sorted(levels)))
        before = forms
    assert {(18, 0), (18, 0, 1), (18, 1, 2), (18, 2)} <= seen
    assert len(before) == 18


@pytest.mark.parametrize(
    "wrong", [{"name": "PDF"}, {"name": "a b"}, {"name": "-a"}, {"name": "x" * 65}, {"description": ""}, {"description": "x" * 2001}]
)
def test_what_is_no_skill_is_refused(wrong):
    with pytest.raises(PromptcError):
        load_pack(PACK).load_state({**STATE, "skills": [{**STATE["skills"][0], **wrong}]})
