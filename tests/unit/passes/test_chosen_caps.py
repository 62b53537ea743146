"""Caps that a state chooses: what a render does by them, what it tells, and what `check` proves of all of them."""

import pytest

from promptc.diag.findings import FitError, PromptcError
from tests.unit.check.lint import codes, lint, messages
from tests.unit.passes.small_sources import load_small

LADDER = "items: {from: state.l, text: '{{ item }}'}, overflow: [{evict: {}}]"
WORDS = ["one two", "three four", "five six"]


def _render(tmp_path, budget, state, more=LADDER):
    pack = load_small(tmp_path, f"sections: [{{id: a, budget: {budget}, {more}}}]\n")
    return pack.render({"l": WORDS, **state})


# contract 5.6 and 13.12
@pytest.mark.parametrize(("cap", "used"), [(0, 0), (-7, 0), (3, 3), (3.0, 3), (6, 6), (40, 20), (None, 20)], ids=lambda value: repr(value))
def test_a_cap_is_what_the_state_asks_for_up_to_the_most(tmp_path, cap, used):
    for budget, unit in (("{from: state.cap, max: 20}", "tokens"), ("{from: state.cap, max: {chars: 20}}", "characters")):
        prompt = _render(tmp_path, budget, {"cap": cap})
        (section,) = prompt.report["sections"]
        asked = None if cap is None else int(cap)
        assert section["cap"] == {"from": "state.cap", "asked": asked, "used": used, "unit": unit}
        plain = _render(tmp_path, str(used) if unit == "tokens" else f"{{chars: {used}}}", {}) if used else None
        assert prompt.text == (plain.text if plain is not None else "")


# contract 5.6
@pytest.mark.parametrize("cap", ["20", True, 2.5, [3]])
def test_what_is_no_whole_number_is_told(tmp_path, cap):
    with pytest.raises(PromptcError) as raised:
        _render(tmp_path, "{from: state.cap, max: 20}", {"cap": cap})
    (found,) = raised.value.diagnostics
    assert found.code == "PC0507" and found.message.startswith("`budget.from` of `a` must be a whole number or null, not ")
    assert "null for all of its `max`" in found.help


def test_a_cap_that_is_not_met_names_who_chose_it(tmp_path):
    more = "text: 'one two three four', overflow: [{trim: {at: word, floor: 2}}]"
    with pytest.raises(FitError) as raised:
        _render(tmp_path, "{from: state.cap, max: 20}", {"cap": 1}, more)
    assert "section `a` does not fit its budget of 1 token by `state.cap`: after all its steps" in raised.value.diagnostics[0].message
    with pytest.raises(FitError) as raised:
        _render(tmp_path, "{from: state.cap, max: 20}", {"cap": 1}, "pinned: true, text: 'one two three four'")
    assert "and its budget is 1 by `state.cap`" in raised.value.diagnostics[0].message


# contract 5.6
def test_pressure_goes_by_the_cap_that_was_chosen(tmp_path):
    strain = "strain: {count: [a], tiers: [{name: calm, at: 0}, {name: tense, at: 1}]}\n"
    pack = load_small(tmp_path, f"sections: [{{id: a, budget: {{from: state.cap, max: 20}}, {LADDER}}}]\n{strain}")
    for cap, tier in ((20, "calm"), (9, "calm"), (8, "tense"), (3, "tense"), (0, "calm")):
        report = pack.render({"l": WORDS, "cap": cap}).report
        assert (report["pressure"]["before"], report["strain"]) == ([min(8, cap), cap], tier)


def test_a_variation_of_the_most_keeps_who_chooses(tmp_path):
    sections = f"sections: [{{id: a, budget: {{from: state.cap, max: 20}}, {LADDER}}}]\n"
    pack = load_small(
        tmp_path, f"{sections}patches: {{low: {{sections: {{a: {{budget: {{max: 5}}}}}}}}, fixed: {{sections: {{a: {{budget: 3}}}}}}}}\n"
    )
    state = pack.load_state({"l": WORDS, "cap": 9})
    assert pack.render(state, patches=["low"]).report["sections"][0]["cap"]["used"] == 5
    fixed = pack.render(state, patches=["fixed"]).report["sections"][0]
    assert "cap" not in fixed and fixed["grant"] == 3


# contract 5.6
@pytest.mark.parametrize("budget", ["{from: state.cap}", "{from: state.cap, max: '15%'}"])
def test_the_most_is_a_number(tmp_path, budget):
    with pytest.raises(PromptcError) as raised:
        _render(tmp_path, budget, {"cap": 3})
    (found,) = raised.value.diagnostics
    assert found.code == "PC0202" and "nothing says how much a state may ask for" in found.message


def _schema(cap):
    log = {"type": "array", "items": {"type": "string", "maxLength": 4}, "maxItems": 2}
    return {"type": "object", "required": ["cap", "l"], "properties": {"cap": cap, "l": log}}


def _check(tmp_path, cap, more=LADDER, **options):
    body = f"sections: [{{id: a, budget: {{from: state.cap, max: 90}}, {more}}}]\n"
    return lint(tmp_path, body, schema=_schema(cap), **options)


# contract 5.7
@pytest.mark.parametrize(
    ("cap", "overflow", "levels"),
    [
        ({"type": "integer"}, "[{evict: {floor: 1}}]", ["warn"]),
        ({"type": "integer", "minimum": -4}, "[{evict: {floor: 1}}]", ["warn"]),
        ({"type": "integer", "minimum": 3}, "[{evict: {floor: 1}}]", ["note"]),
        ({"type": ["integer", "null"], "minimum": 3}, "[{evict: {floor: 1}}, {fail: {}}]", ["note"]),
        ({"enum": [4, 70]}, "[{evict: {floor: 1}}]", ["note"]),
        ({"type": "integer"}, "[{evict: {floor: 1}}, {drop: {}}]", []),
        ({"type": "integer"}, "[{evict: {}}]", []),
        ({"type": "integer"}, "[{evict: {order: ['item']}}]", ["warn"]),
    ],
)
def test_a_ladder_that_need_not_meet_the_least_cap(tmp_path, cap, overflow, levels):
    found = _check(tmp_path, cap, f"items: {{from: state.l, text: '{{{{ item }}}}'}}, overflow: {overflow}")
    assert [one.level for one in found if one.code == "PC0622"] == levels


# contract 5.7
def test_a_cap_binds_where_the_least_does(tmp_path):
    assert messages(_check(tmp_path, {"type": "integer", "minimum": 60}), "PC0672") == [
        "the budget of `a`, 60 tokens, never takes effect: by the schema it needs at most 22"
    ]
    assert "PC0672" not in codes(_check(tmp_path, {"type": "integer", "minimum": 3}))


# contract 5.7
def test_what_is_pinned_is_held_to_the_least_cap(tmp_path):
    constant = "pinned: true, text: 'one two three four five'"
    assert codes(_check(tmp_path, {"type": "integer", "minimum": 3}, constant)) == ["PC0610"]
    assert codes(_check(tmp_path, {"type": "integer", "minimum": 30}, constant)) == []
    pinned = "pinned: true, items: {from: state.l, text: '{{ item }}'}"
    assert "may exceed its own cap" in messages(_check(tmp_path, {"type": "integer", "minimum": 3}, pinned), "PC0657")[0]
    assert codes(_check(tmp_path, {"type": "integer", "minimum": 60}, pinned)) == []


# contract 5.7
def test_a_tier_that_some_cap_reaches_is_no_finding(tmp_path):
    strain = "strain: {count: [a], tiers: [{name: calm, at: 0}, {name: tense, at: 0.9}]}\n"
    sections = "sections: [{id: a, budget: {from: state.cap, max: 90}, text: 'one two three', overflow: [{drop: {}}]}]\n"
    wide, narrow = {"type": "integer", "minimum": 5}, {"type": "integer", "minimum": 70}
    assert "PC0616" not in codes(lint(tmp_path, sections + strain, schema=_schema(wide)))
    assert "PC0616" in codes(lint(tmp_path, sections + strain, schema=_schema(narrow)))


def test_what_chooses_a_cap_sees_the_state_and_no_tier(tmp_path):
    assert codes(_check(tmp_path, {"type": "string"})) == ["PC0651"]
    body = f"sections: [{{id: a, budget: {{from: strain.index, max: 9}}, {LADDER}}}]\n"
    assert codes(lint(tmp_path, body, schema=_schema({"type": "integer"})))[:1] == ["PC0631"]
