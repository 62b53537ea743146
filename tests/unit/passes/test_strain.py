"""Pressure and tiers."""

from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn


def test_pressure_is_the_charge_that_is_reported(tmp_path):
    """Of a section that is not the first one, with the separator it declares."""
    manifest = {
        "promptc": 1,
        "name": "strained",
        "version": "1.0.0",
        "tokenizer": "cl100k_base",
        "budget": 1000,
        "sections": [
            {"id": "one", "text": "First."},
            {"id": "two", "items": {"from": "state.list", "text": "{{ item }}"}, "separator": " ", "budget": 100},
        ],
        "strain": {"count": ["two"], "tiers": [{"name": "calm", "at": 0}, {"name": "tense", "at": 1}]},
    }
    state = {"list": ["the"] * 10}
    report = load_drawn(Drawn(manifest, state), tmp_path).compile(state).report
    assert report["pressure"]["before"] == report["pressure"]["after"] == [report["sections"][1]["demand"], 100]
