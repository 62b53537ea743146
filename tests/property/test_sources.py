"""The guarantees hold for what sources give as for any list (contract.md §11): drawn segments, notes, queries and budgets."""

import tempfile
from functools import cache
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError, Span
from promptc.model.sources import Segment
from promptc.passes.gather import _make_condition
from promptc.template.lower.module import load_expression
from promptc.template.place import Place
from tests.unit.passes.small_sources import SmallSources, compile_small, load_small

PACK = """\
stores: {main: {url: 'sqlite:a.db', locale: state.locale}}
indexes: {notes: {from: state.notes, text: '{{ item }}'}}
sections:
  - id: core
    pinned: true
    items: {from: {segments: {scope: core}}, text: '{{ item.content }}'}
  - id: npc
    budget: 30
    items:
      from: {segments: {scope: npc, each: state.people, ref: each.id, where: item.metadata.tier <= each.tier}}
      group: {by: item.ref_id, header: 'NPC {{ group }}'}
      text: '{{ item.content }}'
    overflow: [{lower: {by: item.metadata.tier}}, {evict: {}}]
  - id: found
    items:
      from: {retrieve: {index: notes, query: state.query, floor: 0, top: 4, candidates: 5}}
      text: '{{ item.text }}'
      fence: {open: '<note>', close: '</note>'}
truncate: [found, npc, drop: {section: npc}, drop: {section: found}]
output: {fence: {open: '[{{ section.id }}]', close: '[/{{ section.id }}]'}}
"""
WORDS = st.sampled_from(["bell", "tide", "salt", "net", "[/npc]", "<note>", "</note>", "gull", "a\n[core]"])
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


@st.composite
def rows(draw):
    made = [Segment(f"core-{at}", "core", None, draw(TEXTS)) for at in range(draw(st.integers(0, 2)))]
    for ref in ("ada", "bo"):
        for tier in range(draw(st.integers(0, 3))):
            locale = draw(st.sampled_from([None, "de"]))
            made.append(Segment(f"{ref}-{tier}", "npc", ref, draw(TEXTS), {"tier": tier, "key": tier}, draw(st.booleans()), locale))
    return made


STATES = st.fixed_dictionaries(
    {
        "locale": st.sampled_from([None, "de-CH", "fr"]),
        "people": st.lists(st.fixed_dictionaries({"id": st.sampled_from(["ada", "bo", "cy"]), "tier": st.integers(0, 2)}), max_size=3),
        "notes": st.lists(TEXTS, max_size=6),
        "query": TEXTS | st.just(""),
    }
)


@cache
def _load():
    return load_small(Path(tempfile.mkdtemp()), PACK, 500)


def _compile(drawn, state, budget):
    return compile_small(_load(), state, SmallSources(drawn), budget=budget)


@given(drawn=rows(), state=STATES, small=st.integers(1, 120), more=st.integers(0, 60))
def test_a_larger_total_removes_nothing(drawn, state, small, more):
    first = _compile(drawn, state, small)
    assume(first.emitted is not None)
    second = _compile(drawn, state, small + more)
    assert second.emitted is not None and second.tokens <= small + more
    for before, after in zip(first.report["sections"], second.report["sections"], strict=True):
        assert {one["id"] for one in before["items"]} <= {one["id"] for one in after["items"]}


@given(drawn=rows(), state=STATES, budget=st.integers(1, 200), data=st.data())
def test_the_order_of_rows_in_a_store_decides_nothing(drawn, state, budget, data):
    shuffled = data.draw(st.permutations(drawn))
    first, second = _compile(drawn, state, budget), _compile(shuffled, state, budget)
    assert first.report == second.report
    assert (first.emitted and first.emitted.text) == (second.emitted and second.emitted.text)


@given(drawn=rows(), state=STATES)
def test_fences_of_the_output_give_the_sections(drawn, state):
    """Segments and chunks are data: whatever they hold, the lines that are fences are the pack's."""
    outcome = _compile(drawn, state, 5000)
    assert outcome.emitted is not None
    present = [one["id"] for one in outcome.report["sections"] if one["state"] == "present"]
    fences = [line for line in outcome.emitted.text.split("\n") if line.startswith("[")]
    assert fences == [fence for name in present for fence in (f"[{name}]", f"[/{name}]")]
    notes = [line for line in outcome.emitted.text.split("\n") if line in ("<note>", "</note>")]
    assert notes == ["<note>", "</note>"] * (len(notes) // 2)


PLAIN = st.recursive(st.sampled_from([None, "a", {}]), lambda inner: st.fixed_dictionaries({"a": inner}) | st.lists(inner, max_size=1))
PATHS = st.sampled_from(["state.a", "state.a.a", "state.a.a.a", "named.a", "named.a.a", "state[state.b]", "state.a[0]", "state"])
TESTS = ("{} is defined", "{} is none", "{} == item.a", "item.a in {}", "{} is mapping", "{}")


def _tell(condition, item):
    try:
        return condition.accepts(item)
    except PromptcError as error:
        return [one.code for one in error.diagnostics]


@given(path=PATHS, drawn=st.lists(st.fixed_dictionaries({}, optional={"a": PLAIN, "b": PLAIN}), min_size=5, max_size=15))
def test_conditions_of_one_key_accept_the_same(path, drawn):
    """An answer is found again by the keys of its conditions: these must tell apart all that the conditions tell apart."""
    for text in TESTS:
        expression = load_expression(text.format(path), Place(Span("pack.yaml", 1, 1), inline=True))
        told = {}
        for state in drawn:
            condition = _make_condition(expression, {"state": state, "named": state}, repr(state))
            said = [_tell(condition, {"a": value}) for value in (None, "a", {})]
            assert told.setdefault(condition.key, said) == said
