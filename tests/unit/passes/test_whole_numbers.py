"""A number that JSON Schema takes for whole is whole wherever a whole number is asked for."""

import json

import pytest

import promptc
from tests.contract.sources import ROOT
from tests.packs import load_pack


# contract 3.1 and 3.12
@pytest.mark.parametrize("window", ["12.0", "1.2e1"])
def test_a_window_of_a_whole_float(window):
    pack = load_pack("packs/sentinel")
    state = json.loads((ROOT / "fixtures/sentinel/calm/state.json").read_text(encoding="utf-8"))
    texts = [json.dumps({**state, "window": 0}).replace('"window": 0', f'"window": {given}') for given in ("12", window)]
    whole, floating = (pack.render(text.encode()).text for text in texts)
    assert floating == whole


def test_a_window_of_a_part_is_none():
    pack = load_pack("packs/sentinel")
    with pytest.raises(promptc.PromptcError, match=r"12\.5"):
        pack.render(b'{"input": "x", "window": 12.5}')
