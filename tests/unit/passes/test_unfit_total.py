import json
import re

import pytest

from promptc.diag.findings import FitError
from tests.contract.sources import ROOT
from tests.packs import load_pack

_STATES = {"sentinel": "sentinel/calm/state.json", "tidepool": "tidepool/base/engaged.json"}
_NUMBERS = re.compile(r"fit the budget of (\d+) tokens?: .* needs (?:at least )?(\d+)\. That is (?:at least )?(\d+) tokens? too many")


@pytest.mark.parametrize("format", ["text", "messages", "anthropic"])
@pytest.mark.parametrize("name", _STATES)
def test_what_is_needed_is_the_budget_and_what_it_is_short_by(name, format):
    pack = load_pack(f"packs/{name}")
    state = json.loads((ROOT / "fixtures" / _STATES[name]).read_text(encoding="utf-8"))
    refused = 0
    for budget in range(100, 3200, 310):
        try:
            pack.render(state, budget=budget, format=format)
        except FitError as error:
            found = next(one for one in error.diagnostics if one.code == "PC0532")
            numbers = _NUMBERS.search(found.message)
            assert numbers is not None, found.message
            total, needs, short = map(int, numbers.groups())
            assert total == budget and needs == total + short
            refused += 1
    assert refused > 1
