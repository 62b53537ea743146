"""Ladders whose steps meet on one item."""

import pytest

from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn


def _compile(tmp_path, state, total, truncate, section):
    manifest = {
        "promptc": 1,
        "name": "met",
        "version": "1.0.0",
        "tokenizer": "cl100k_base",
        "budget": 1000,
        "sections": [{"id": "one", **section}],
        "truncate": truncate,
    }
    return load_drawn(Drawn(manifest, state), tmp_path).compile(state, budget=total)


@pytest.mark.parametrize("total", range(1, 30))
def test_a_trim_goes_on_although_its_item_went(tmp_path, total):
    """The section's own ladder stops inside an item, `truncate` removes that item and goes on with the ladder."""
    state = {"list": [{"text": "One. Two. Three. Four. Five.", "level": 1}, {"text": "Six. Seven. Eight.", "level": 0}]}
    items = {"from": "state.list", "text": "{{ item.text }}"}
    truncate = [{"lower": {"section": "one", "by": "item.level"}}, "one"]
    section = {"items": items, "budget": 14, "overflow": [{"trim": {}}]}
    outcome = _compile(tmp_path, state, total, truncate, section)
    assert (outcome.tokens or 0) <= total


def test_groups_are_evicted_by_steps_beside_a_recap(tmp_path):
    state = {"list": [{"ref": "x"}, {"ref": "y"}, {"ref": "y"}]}
    items = {"from": "state.list", "text": "some words", "group": {"by": "item.ref", "header": "{{ group }}"}}
    overflow = [{"recap": {"template": "cue.md", "older": 0.5}}, {"evict": {"step": 2, "whole": "group"}}]
    outcome = _compile(tmp_path, state, 3, ["one"], {"items": items, "overflow": overflow})
    assert outcome.emitted.text in ("", "x\n…\n")


def test_a_group_goes_whole_after_its_first_item_went(tmp_path):
    state = {"list": [{"ref": "x", "level": 2}, {"ref": "x", "level": 0}, {"ref": "x", "level": 0}]}
    items = {"from": "state.list", "text": "some words", "group": {"by": "item.ref"}}
    overflow = [{"lower": {"by": "item.level"}}, {"evict": {"whole": "group"}}]
    outcome = _compile(tmp_path, state, 1, ["one"], {"items": items, "overflow": overflow})
    assert outcome.emitted.text == ""


def test_a_floor_counts_items_also_where_messages_go_in_pairs(tmp_path):
    use = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    told = {"type": "tool_result", "tool_use_id": "a", "content": "seen"}
    turns = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [told]}, {"role": "user", "content": "well"}]
    message = {"role": "item.role", "content": "item.content", "parts": ["text", "tool_use", "tool_result"]}
    section = {"items": {"from": "state.turns", "message": message}, "overflow": [{"evict": {"floor": 2}}]}
    outcome = _compile(tmp_path, {"turns": turns}, 1, ["one"], section)
    assert [entry.item.id for entry in outcome.fitted.sections["one"].alive] == ["0", "1"]


def test_a_trim_to_all_of_the_budget_is_told_of_the_line_end(tmp_path):
    section = {"text": "{{ state.text }}", "budget": 7, "overflow": [{"trim": {"at": "word", "to": 7}}]}
    (found,) = _compile(tmp_path, {"text": "word " * 40}, 100, [], section).errors
    assert found.message.endswith("it still has 8 tokens, 1 too many; the text alone has 7, and the line end after it counts, too")
    assert found.help == "raise the budget, or trim to 6"
    whole, shared = {"text": section["text"]}, [{"trim": {"section": "one", "at": "word", "to": 7}}]
    (found,) = _compile(tmp_path, {"text": "word " * 40}, 7, shared, whole).errors
    assert found.message.endswith("`one` 8; the text alone has 7, and the line end after it counts, too")
    assert found.help == "raise the budget to 8, or trim to 6"
    section["overflow"][0]["trim"]["to"] = 6
    assert _compile(tmp_path, {"text": "word " * 40}, 100, [], section).tokens == 7


# contract 1.4, 5.29 and 5.40
def test_a_bare_id_goes_on_where_the_ladder_stopped(tmp_path):
    """What the section's own ladder did is not done again: the pool evicts, and so does `truncate`. Recaps would do, too."""
    section = {"id": "log", "items": {"from": "state.list", "text": "{{ item }}"}, "budget": 8}
    section["overflow"] = [{"recap": {"template": "cue.md", "older": 0.5}}, {"evict": {}}]
    manifest = {"promptc": 1, "name": "on", "version": "1.0.0", "tokenizer": "chars/4", "budget": 1000, "sections": [section]}
    manifest |= {"pools": {"room": {"sections": ["log"], "max": 5, "overflow": ["log"]}}, "truncate": ["log"]}
    outcome = load_drawn(Drawn(manifest, {}), tmp_path).compile({"list": [f"item {place}." for place in range(6)]}, budget=3)
    told = [(cut["ladder"], cut["rule"], cut["items"]) for cut in outcome.report["cuts"]]
    assert told == [("log", "recap", ["0", "1", "2"]), ("pools.room", "evict", ["3"]), ("truncate", "evict", ["4"])]
    assert outcome.emitted.text == "…\nitem 5.\n"


@pytest.mark.parametrize("total", [12, 17])
def test_what_a_step_undoes_is_as_it_was_also_in_the_report(tmp_path, total):
    """The longer form replaces nothing, so the report says nothing of it, and no later step finds it in place."""
    forms = [{"text": "{{ item }}"}, {"text": "{{ item }} and this form is longer than the other one"}]
    section = {"items": {"from": "state.list", "forms": forms}, "overflow": [{"shorten": {}}, {"evict": {}}]}
    state = {"list": ["The rope is wet.", "The mast is down.", "The sail is torn.", "The lamp is out."]}
    report = _compile(tmp_path, state, total, ["one"], section).report
    kept = {one["id"]: one["chars"] for one in report["sections"][0]["items"] if "form" not in one}
    gone = {cut["items"][0]: cut["chars"] for cut in report["cuts"]}
    lengths = {str(place): len(text) for place, text in enumerate(state["list"])}
    assert gone and report["warnings"] and {**kept, **{id: chars for id, (chars, _) in gone.items()}} == lengths
