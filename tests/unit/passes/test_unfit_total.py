import json
import re

import pytest

import promptc
from promptc.diag.findings import FitError
from promptc.text.counters.exact import load_counter
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


_HELD = """\
promptc: 1
name: held
version: 1.0.0
tokenizer: TOKENIZER
budget: 20
sections: [{id: rules, pinned: true, text: "Never lie, and never, ever, for whatever reason, say who told you so."}]
"""
_ENTRY = {"first": "2026-11-01", "last": "2026-11-02", "model": "gpt-4o", "pairs": 200, "provider": "openai"}


@pytest.mark.parametrize("margin", [0, 1, 20, 99])
def test_the_budget_to_raise_to_is_enough_with_a_margin(tmp_path, margin):
    _find_enough(tmp_path, f"{{use: 'hf:missing.json', fallback: o200k_base, margin: {margin}}}")


@pytest.mark.parametrize("ratio", [900_000, 1_000_000, 1_100_001, 7_000_000])
def test_the_budget_to_raise_to_is_enough_with_a_calibration(tmp_path, ratio):
    counter = {"name": "o200k_base", "digest": load_counter("o200k_base", folder="").digest}
    calibration = {"calibration": 1, "counter": counter, "entries": [{**_ENTRY, "ratio": ratio}], "quantile": 990_000}
    (tmp_path / "c.json").write_text(json.dumps(calibration), encoding="utf-8")
    _find_enough(tmp_path, "{use: o200k_base, calibration: c.json}")


def _find_enough(folder, tokenizer):
    """What is held back of the budget is counted: that budget is enough, and one token less is not."""
    (folder / "pack.yaml").write_text(_HELD.replace("TOKENIZER", tokenizer), encoding="utf-8")
    pack = promptc.load(folder)
    with pytest.raises(FitError) as refused:
        pack.render({}, budget=7)
    enough = int(re.search(r"raise the budget to (\d+)", refused.value.diagnostics[0].help)[1])
    assert pack.render({}, budget=enough).tokens == int(re.search(r"needs (\d+)", refused.value.diagnostics[0].message)[1])
    with pytest.raises(FitError):
        pack.render({}, budget=enough - 1)


_REQUIRED = """\
promptc: 1
name: required
version: 1.0.0
tokenizer: TOKENIZER
budget: 7
sections:
  - {id: rules, pinned: true, text: No.}
  - {id: news, required: true, text: It rains in the north all day long.}
truncate: [{drop: {section: news}}]
"""


# contract 11.3
@pytest.mark.parametrize("margin", [0, 20, 99])
def test_what_a_required_section_lacks_is_of_the_budget_as_written(tmp_path, margin):
    tokenizer = f"{{use: 'hf:missing.json', fallback: o200k_base, margin: {margin}}}"
    (tmp_path / "pack.yaml").write_text(_REQUIRED.replace("TOKENIZER", tokenizer), encoding="utf-8")
    pack = promptc.load(tmp_path)
    budget = 7 * 100 // (100 - margin)
    with pytest.raises(FitError) as refused:
        pack.render({}, budget=budget)
    more = int(re.search(r"; it takes at least (\d+) tokens? more to keep some of it", refused.value.diagnostics[0].message)[1])
    assert "rains" in pack.render({}, budget=budget + more).text
    with pytest.raises(FitError):
        pack.render({}, budget=budget + more - 1)


_SHARED = """\
promptc: 1
name: shared
version: 1.0.0
tokenizer: chars/4
budget: 100
sections:
  - {id: rules, pinned: true, text: "{{ 'rule' * 60 }}"}
  - {id: talk, items: {from: state.turns, text: "{{ item }}"}, budget: {grow: 1, min: "50%"}}
"""


def test_shares_take_of_the_budget_to_raise_to(tmp_path):
    (tmp_path / "pack.yaml").write_text(_SHARED, encoding="utf-8")
    pack = promptc.load(tmp_path)
    with pytest.raises(FitError) as refused:
        pack.render({"turns": ["talk" * 8] * 20})
    assert re.search(r"raise the budget to at least \d+", refused.value.diagnostics[0].help)


_EMPTIED = """\
promptc: 1
name: emptied
version: 1.0.0
tokenizer: chars/4
budget: 5
sections:
  - {id: rules, pinned: true, text: Be brief and kind to all who ask.}
  - {id: talk, required: true, items: {from: state.turns, text: "{{ item }}"}}
"""


@pytest.mark.parametrize(
    ("ladder", "told"),
    [
        ("truncate: [talk]", "raise the budget to at least 9"),
        ("pools: {all: {sections: [rules, talk], max: 5, overflow: [talk]}}", "raise `max` to at least 9"),
    ],
)
def test_what_is_enough_without_a_required_section_is_too_little(tmp_path, ladder, told):
    (tmp_path / "pack.yaml").write_text(_EMPTIED + ladder, encoding="utf-8")
    with pytest.raises(FitError) as refused:
        promptc.load(tmp_path).render({"turns": ["talk" * 8]})
    assert refused.value.diagnostics[0].help.startswith(told)
