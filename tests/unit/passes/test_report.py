"""The sums of a report where counts are rounded, or not those of the target."""

from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn


def _report(tmp_path, state, sections, **more):
    manifest = {"promptc": 1, "name": "sums", "version": "1.0.0", "tokenizer": "chars/4", "budget": 100, "sections": sections, **more}
    return load_drawn(Drawn(manifest, state), tmp_path).compile(state).report


def _assert_sums(section, cuts):
    falls = sum(cut["count"][0] - cut["count"][1] for cut in cuts if cut["section"] == section["id"])
    assert section["demand"] + section["added"] - falls == section["charge"]


def test_a_tiers_steps_are_counted_in_the_sections_own_charge(tmp_path):
    """Each charge is rounded up to tokens, so a fall of their sum is not that of one of them."""
    sections = [{"id": "one", "text": " }}"}, {"id": "two", "items": {"from": "state.list", "text": "}}}"}, "budget": 1}]
    do = [{"recap": {"section": "two", "template": "empty.md.j2"}}]
    strain = {"tiers": [{"name": "calm", "at": 0}, {"name": "tense", "at": 0.2, "do": do}]}
    report = _report(tmp_path, {"list": [{}]}, sections, strain=strain)
    _assert_sums(report["sections"][1], report["cuts"])
    assert report["cuts"][0]["needs"] == 0


def test_a_cap_in_characters_is_told_in_tokens_and_needs_characters(tmp_path):
    sections = [{"id": "one", "items": {"from": "state.list", "text": "some words"}, "budget": {"chars": 25}}]
    report = _report(tmp_path, {"list": [{}, {}, {}, {}]}, sections)
    _assert_sums(report["sections"][0], report["cuts"])
    assert [cut["needs"] for cut in report["cuts"]] == [43 - 25, 32 - 25]


def test_cuts_and_warnings_tell_where_in_the_pack_they_come_from(tmp_path):
    sections = [
        {"id": "one", "text": "few"},
        {"id": "two", "items": {"from": "state.list", "text": "words"}, "budget": 3, "overflow": [{"evict": {"warn": True}}]},
    ]
    report = _report(tmp_path, {"list": [1, 2, 3]}, sections)
    step = (tmp_path / "pack.yaml").read_text(encoding="utf-8").index('"evict')
    place = f"pack.yaml:1:{step + 1}"
    assert report["cuts"] and {cut["at"] for cut in report["cuts"]} == {place}
    assert [(one["code"], one["at"]) for one in report["warnings"]] == [("PC0540", place)]
