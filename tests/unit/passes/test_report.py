"""The sums of a report where counts are rounded, or not those of the target."""

import gc
from collections import Counter

import pytest

import promptc
from promptc.model.state import Pointers, State
from promptc.pipeline import Outcome
from tests.contract.sources import ROOT
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn


def _report(tmp_path, state, sections, **more):
    manifest = {"promptc": 1, "name": "sums", "version": "1.0.0", "tokenizer": "chars/4", "budget": 100, "sections": sections, **more}
    return load_drawn(Drawn(manifest, state), tmp_path).compile(state).report


def _assert_sums(section, cuts):
    falls = sum(cut["count"][0] - cut["count"][1] for cut in cuts if cut["section"] == section["id"])
    assert section["demand"] + section["added"] - falls == section["charge"]


# contract 13.5
def test_a_tiers_steps_are_counted_in_the_sections_own_charge(tmp_path):
    """Each charge is rounded up to tokens, so a fall of their sum is not that of one of them."""
    sections = [{"id": "one", "text": " }}"}, {"id": "two", "items": {"from": "state.list", "text": "}}}"}, "budget": 1}]
    do = [{"recap": {"section": "two", "template": "empty.md.j2"}}]
    strain = {"tiers": [{"name": "calm", "at": 0}, {"name": "tense", "at": 0.2, "do": do}]}
    report = _report(tmp_path, {"list": [{}]}, sections, strain=strain)
    _assert_sums(report["sections"][1], report["cuts"])
    assert report["cuts"][0]["needs"] == 0


# contract 13.4
def test_a_cap_in_characters_is_told_in_tokens_and_needs_characters(tmp_path):
    sections = [{"id": "one", "items": {"from": "state.list", "text": "some words"}, "budget": {"chars": 25}}]
    report = _report(tmp_path, {"list": [{}, {}, {}, {}]}, sections)
    _assert_sums(report["sections"][0], report["cuts"])
    assert [cut["needs"] for cut in report["cuts"]] == [43 - 25, 32 - 25]


# contract 5.11
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


# contract 13.3
def test_a_cut_tells_its_ladder_its_characters_and_levels(tmp_path):
    text = {"id": "text", "text": "one two three four", "budget": 3, "overflow": [{"trim": {"at": "word"}}]}
    items = {"from": "state.list", "text": "words {{ item.n }}", "group": {"by": "item.of"}}
    rows = {"id": "rows", "items": items, "budget": 5, "overflow": [{"lower": {"by": "item.n"}}]}
    state = {"list": [{"of": "a", "n": 2}, {"of": "a", "n": 0}, {"of": "b", "n": 1}]}
    sections = [text, rows, {"id": "end", "text": "the end of it all"}]
    do = [{"trim": {"section": "text", "to": {"chars": 15}, "at": "word"}}]
    strain = {"count": ["text"], "tiers": [{"name": "calm", "at": 0}, {"name": "tense", "at": 0.1, "do": do}]}
    report = _report(tmp_path, state, sections, budget=10, strain=strain, truncate=[{"drop": {"section": "end"}}])
    first, second, lowered, dropped = report["cuts"]
    assert [cut["ladder"] for cut in report["cuts"]] == ["do", "text", "rows", "truncate"]
    assert [first["chars"], second["chars"], dropped["chars"]] == [[18, 13], [13, 7], [17, 0]]
    assert (lowered["level"], lowered["groups"]) == ([2, 1], [{"group": "a", "level": [2, 0]}])
    assert report["ladders"]["rows"] == {"notches": 1, "applied": 1, "void": 0}


# contract 13.3
def test_very_many_notches_of_a_text_are_one_cut(tmp_path, monkeypatch):
    words = " ".join(["some words"] * 12)
    sections = [{"id": "one", "items": {"from": "state.list", "text": "{{ item }}"}, "overflow": [{"trim": {"at": "word"}}], "budget": 20}]
    single = _report(tmp_path, {"list": [words] * 3}, sections)
    monkeypatch.setattr("promptc.passes.fit.result.MOST_TOLD", 40)
    several = _report(tmp_path, {"list": [words] * 3}, sections)
    assert len(single["cuts"]) > 40 > len(several["cuts"]) == len({cut["items"][0] for cut in single["cuts"]})
    assert several["ladders"] == single["ladders"]
    for cut in several["cuts"]:
        notches = [one for one in single["cuts"] if one["items"] == cut["items"]]
        assert cut["notches"] == len(notches)
        assert "notches" not in notches[0]
        for key, of in (("count", notches), ("tokens", notches), ("chars", notches)):
            assert cut[key] == [of[0][key][0], of[-1][key][1]]
        assert (cut["why"], cut["needs"]) == (notches[-1]["why"], notches[0]["needs"])
    _assert_sums(several["sections"][0], several["cuts"])


# contract 13.6
def test_tokens_of_items_are_those_where_they_stand(tmp_path):
    """Four texts of five characters are two tokens each by themselves, and six together."""
    section = {"id": "one", "items": {"from": "state.list", "text": "12345"}, "overflow": [{"evict": {"order": ["this.tokens == 2"]}}]}
    (whole,) = _report(tmp_path, {"list": [1, 2, 3, 4]}, [section])["sections"]
    assert sum(item["tokens"] for item in whole["items"]) == 6
    (cut,) = _report(tmp_path, {"list": [1, 2, 3, 4]}, [section | {"budget": 2}])["sections"]
    assert [item["id"] for item in cut["items"]] == ["3"], "each was two tokens, so each could go"


@pytest.mark.parametrize("name", ["helpdesk", "reviewer", "sentinel", "tidepool"])
def test_no_state_outlives_its_render(name: str) -> None:
    """A service may do without passes of Python's collector: no turn leaves anything for one, not even where its report was asked for."""
    pack, raw = promptc.load(ROOT / "packs" / name), min((ROOT / "fixtures" / name / "base").glob("*.json")).read_bytes()
    session = pack.session()

    def turn() -> None:
        outcome = pack.compile(raw)
        _ = outcome.report, outcome.slack, session.render(raw).report

    for _ in range(3):  # a session holds what the last two renders made
        turn()
    gc.collect()
    gc.disable()
    try:
        before = _count_held()
        turn()
        assert _count_held() == before
    finally:
        gc.enable()


def _count_held() -> Counter[str]:
    names = (State, Pointers, Outcome)
    return Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, names))
