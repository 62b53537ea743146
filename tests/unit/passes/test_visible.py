"""`visible` stands before every stage of every section, whatever its items come from."""

import json

import pytest

import promptc
from promptc.diag.findings import PromptcError
from promptc.model.sources import Segment
from tests.unit.passes.small_sources import SmallSources, compile_small, load_small, render_small

STORES = "stores: {main: {url: 'sqlite:a.db'}}\n"


def _left_out(outcome, name):
    return next(one["left_out"] for one in outcome.report["sections"] if one["id"] == name)


# contract 4.5 and 4.6
def test_rows_of_a_store(tmp_path):
    rows = [Segment(f"s{at}", "npc", None, f"text {at}", {"secret": at % 2 == 1, "tier": at}) for at in range(5)]
    pack = load_small(
        tmp_path,
        f"{STORES}visible: not item.metadata.secret\nsections:\n"
        "  - {id: npc, items: {from: {segments: {scope: npc, where: item.metadata.tier > 0}}, text: '{{ item.content }}'}}\n",
    )
    outcome = compile_small(pack, {}, SmallSources(rows))
    assert outcome.emitted.text == "text 2\ntext 4\n"
    assert _left_out(outcome, "npc") == {"hidden": 2, "source": 1}
    assert outcome.report["sections"][0]["source"]["ids"] == ["s2", "s4"]


# contract 4.5 and 4.6
def test_elements_of_an_index_decide_no_score_and_are_counted(tmp_path):
    body = (
        "visible: not item.secret\nindexes: {notes: {from: state.notes, id: item.id, text: '{{ item.text }}'}}\nsections:\n"
        "  - {id: found, items: {from: {retrieve: {index: notes, query: state.query, floor: 0.01}}, text: '{{ item.text }}'}}\n"
    )
    pack, query = load_small(tmp_path, body), "bell of the tide"
    shown = [{"id": "a", "text": "the bell", "secret": False}, {"id": "b", "text": "the tide", "secret": False}]
    hidden = [{"id": f"x{at}", "text": "bell bell tide", "secret": True} for at in range(9)]
    alone, beside = (compile_small(pack, {"notes": notes, "query": query}, SmallSources()) for notes in (shown, [*hidden, *shown]))
    assert alone.emitted.text == beside.emitted.text == "the tide\nthe bell\n" or alone.emitted.text == "the bell\nthe tide\n"
    assert _left_out(beside, "found") == {"hidden": 9} and _left_out(alone, "found") == {}
    assert beside.report["sections"][0]["source"]["chunks"] == alone.report["sections"][0]["source"]["chunks"]


# contract 4.6
def test_what_one_section_hides_no_other_keeps_anchors_or_counts(tmp_path):
    pack = load_small(
        tmp_path,
        "visible: not item.secret\nsections:\n"
        "  - id: log\n    items:\n      from: state.log\n      text: '{{ item.text }}'\n      window: {last: 2}\n"
        "      anchors: {where: item.hinge, last: 9}\n      keep: [{where: item.hinge, last: 9}]\n"
        "  - {id: told, text: '{{ selected.log }} shown'}\n",
    )
    log = [{"text": f"t{at}", "hinge": at in (0, 1), "secret": at in (1, 4)} for at in range(6)]
    outcome = compile_small(pack, {"log": log}, SmallSources())
    assert outcome.emitted.text == "t0\nt3\nt5\n\n3 shown\n"
    assert _left_out(outcome, "log") == {"hidden": 1, "window": 2}


# contract 4.1 and 4.6
def test_nothing_is_asked_of_a_hidden_element(tmp_path):
    pack = load_small(
        tmp_path,
        "visible: item.open\nsections:\n  - id: log\n"
        "    items: {from: state.log, id: item.id, number: item.n, where: item.ok, text: '{{ item.text }}'}\n",
    )
    state = {"log": [{"open": False}, {"open": True, "id": "a", "n": 1, "ok": True, "text": "one"}, {"open": False, "n": -7}]}
    assert render_small(pack, state, SmallSources()) == "one\n"


# contract 4.8
def test_a_mark_that_is_not_there_is_an_error_and_no_prompt(tmp_path):
    pack = load_small(tmp_path, "visible: not item.secret\nsections: [{id: log, items: {from: state.log, text: '{{ item.text }}'}}]\n")
    with pytest.raises(PromptcError) as caught:
        pack.render({"log": [{"text": "one", "secret": False}, {"text": "two"}]})
    (found,) = caught.value.diagnostics
    assert found.message.endswith("(item 1 of `log`)") and found.span.line == 6


# contract 4.9
def test_the_result_of_a_hidden_use_goes_too(tmp_path):
    pack = load_small(
        tmp_path,
        "visible: not (item.secret is defined and item.secret)\nsections:\n"
        "  - id: chat\n    items:\n      from: state.turns\n"
        "      message: {role: item.role, content: item.content, parts: [text, tool_use, tool_result]}\n"
        "output: {format: messages}\n",
    )
    use = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "the vault"}
    turns = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [use], "secret": True},
        {"role": "user", "content": [result]},
    ]
    prompt = pack.render({"turns": turns})
    assert [one["content"] for one in prompt.messages] == ["look"]
    assert prompt.report["sections"][0]["left_out"] == {"hidden": 1, "unit": 1}


# contract 4.9 and 6.5
def test_a_pack_that_extends_may_say_it_anew_and_not_clear_it(tmp_path):
    (tmp_path / "base").mkdir()
    body = "visible: not item.secret\nsections: [{id: log, items: {from: state.log, text: '{{ item.text }}'}}]\n"
    (tmp_path / "base" / "pack.yaml").write_text(f"promptc: 1\nname: b\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n{body}")
    state = {"log": [{"text": "one", "secret": True}, {"text": "two", "secret": False}]}
    for line, text in (("", "two\n"), ("visible: item.secret\n", "one\n")):
        (tmp_path / "pack.yaml").write_text(f"promptc: 1\nname: c\nversion: 1.0.0\nextends: base\n{line}")
        assert promptc.load(tmp_path).render(state).text == text
    (tmp_path / "pack.yaml").write_text("promptc: 1\nname: c\nversion: 1.0.0\nextends: base\nvisible: null\n")
    with pytest.raises(PromptcError) as caught:
        promptc.load(tmp_path)
    assert [one.code for one in caught.value.diagnostics] == ["PC0245"]


def test_a_tier_that_puts_another_case_in_force_hides_by_that_case(tmp_path):
    rows = [Segment("s0", "npc", None, "the open book", {"secret": False}), Segment("s1", "npc", None, "the VEILED book", {"secret": True})]
    pack = load_small(
        tmp_path,
        f"{STORES}visible: variant.mode == 'dm' or not item.get('metadata', item).secret\n"
        "indexes: {notes: {from: state.notes, text: '{{ item.text }}'}, few: {from: 'state.few if variant.mode == \"dm\" else []', "
        "text: '{{ item.text }}'}}\n"
        "variants: {mode: {select: state.mode, cases: {story: {}, dm: {}}}}\n"
        "strain: {count: [log], tiers: [{name: calm, at: 0}, {name: high, at: 0.1, variants: {mode: story}}]}\nsections:\n"
        "  - {id: log, items: {from: state.notes, text: '{{ item.text }}'}, budget: 100, overflow: [evict: {}]}\n"
        "  - {id: npc, items: {from: {segments: {scope: npc}}, text: '{{ item.content }}'}}\n"
        "  - {id: found, items: {from: {retrieve: {index: notes, query: state.query, floor: 0.01}}, text: '{{ item.text }}'}}\n"
        "  - {id: few, items: {from: {retrieve: {index: few, query: state.query, sparse_below: 0}}, text: '{{ item.text }}'}}\n",
    )
    few = [{"text": "a VEILED bell", "secret": False}]
    notes = [{"text": "the bell of the tide", "secret": False}, {"text": "the VEILED bell of the tide", "secret": True}]
    by_tier, chosen = (
        compile_small(pack, {"mode": mode, "notes": notes, "few": few, "query": "bell"}, SmallSources(rows)) for mode in ("dm", "story")
    )
    assert by_tier.report["strain"] == "high" and by_tier.report["variants"] == {"mode": "story"}
    assert by_tier.emitted.text == chosen.emitted.text == "the bell of the tide\n\nthe open book\n\nthe bell of the tide\n"


def test_the_name_of_a_hidden_row_is_near_nothing(tmp_path):
    secrets = {"vera": False, "veral": True, "vern": False}
    rows = [Segment(f"s{name}", "npc", name, name, {"secret": secret}) for name, secret in secrets.items()]
    pack = load_small(
        tmp_path,
        f"{STORES}visible: not item.metadata.secret\nsections:\n"
        "  - {id: npc, items: {from: {segments: {scope: npc, ref: state.npcs}}, text: '{{ item.content }}'}}\n",
    )
    for ref, told in {"verall": "Similar to `verall`: `vera`", "zoe": "The scope has `vera`, `vern`", "veral": None}.items():
        outcome = compile_small(pack, {"npcs": [ref]}, SmallSources(rows))
        assert [told in one.message for one in outcome.warnings] == ([True] if told is not None else [])
        assert "veral`" not in json.dumps(outcome.report)
