"""Pressure and tiers."""

import promptc
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn


# contract 7.1
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


def _vary(tmp_path, tiers, *, words: int, more=None):
    """A pack whose two moods vary one section each, under these tiers, of a log of so many words and a cap of 20."""
    cases = {"bright": {"sections": {"mood": {"text": "Be bright.", "header": "Mood"}}}, "dim": {"sections": {"mood": {"text": "Be dim."}}}}
    manifest = {
        "promptc": 1,
        "name": "moody",
        "version": "1.0.0",
        "tokenizer": "cl100k_base",
        "budget": 1000,
        "sections": [
            {"id": "mood", "text": "Be."},
            {"id": "seen", "text": "{{ variant.mood }} {{ strain.tier }}"},
            {"id": "same", "text": "{{ variant.mood }}"},
            {"id": "log", "text": "{{ state.log }}", "budget": 20, "overflow": [{"trim": {"at": "word"}}]},
        ],
        "variants": {"mood": {"select": "'bright'", "cases": cases}},
        "strain": {"count": ["log"], "tiers": [{"name": "calm", "at": 0}, *tiers]},
        **(more or {}),
    }
    return load_drawn(Drawn(manifest, {"log": "the " * words}), tmp_path).compile({"log": "the " * words})


_DIM = {"name": "tense", "at": 0.5, "variants": {"mood": "dim"}}


# contract 7.7
def test_a_tier_puts_a_case_in_the_place_of_the_chosen_one(tmp_path):
    """Nothing of the case that was chosen is left, and whatever reads `variant` sees the one in force."""
    outcome = _vary(tmp_path, [_DIM], words=15)
    assert outcome.emitted.text.startswith("Be dim.\n\ndim tense\n\ndim\n\n")
    assert outcome.report["variants"] == {"mood": "dim"}


def test_under_another_tier_the_chosen_case_stands(tmp_path):
    outcome = _vary(tmp_path, [_DIM], words=3)
    assert outcome.emitted.text.startswith("Mood\nBe bright.\n\nbright calm\n\nbright\n\n")
    assert outcome.report["variants"] == {"mood": "bright"}


# contract 7.7
def test_the_case_of_the_highest_tier_that_names_one(tmp_path):
    tiers = [_DIM, {"name": "dire", "at": 0.8}, {"name": "last", "at": 0.95, "variants": {"mood": "bright"}}]
    moods = [_vary(tmp_path, tiers, words=words).report["variants"]["mood"] for words in (3, 12, 17, 40)]
    assert moods == ["bright", "dim", "dim", "bright"]


# contract 6.2 and 7.7
def test_a_patch_stands_over_a_case_that_a_tier_puts_in_force(tmp_path):
    """It stands where the chosen one's would: under patches and the tier's own changes."""
    tier = {**_DIM, "sections": {"same": {"header": "Tier"}}}
    patches = {"patches": {"loud": {"sections": {"mood": {"header": "Loud"}}}}}
    drawn = _vary(tmp_path, [tier], words=15, more=patches)
    assert drawn.emitted.text.startswith("Be dim.\n\ndim tense\n\nTier\ndim\n")
    pack = promptc.load(tmp_path)
    assert pack.render({"log": "the " * 15}, patches=["loud"]).text.startswith("Loud\nBe dim.\n")
