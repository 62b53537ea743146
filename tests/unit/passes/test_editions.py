"""One memory for several editions of a pack: each edition renders what it would render alone."""

import json
from pathlib import Path

import pytest

from promptc.api import Pack
from promptc.passes.memory import TurnMemory
from promptc.passes.select import SectionSelector

_PACK = """\
promptc: 1
name: log
version: 1.0.0
tokenizer: o200k_base
budget: 90
state: {schema: state.schema.json}
define: {far(n): n > 3}
visible: "item is not mapping"
output: {format: text, separator: "", messages: [{role: system, sections: [rules]}, {role: user, sections: [notes, trees]}]}
sections:
  - {id: rules, text: "{{ 'Far' if far(state.miles) else 'Near' }}."}
  - id: notes
    budget: 60
    items: {from: state.notes, text: "- {{ item }}{{ '!' if far(state.miles) }}"}
    overflow: [{evict: {}}]
  - id: trees
    items: {from: state.trees, text: "{{ item.name if item is mapping else item }}"}
"""
_STATE = {
    "miles": 5,
    "notes": [f"note {at} of the harbour" for at in range(90)],
    "trees": ["oak", {"name": "elm"}, "ash"],
}
_STRAIN = "{tiers: [{name: calm, at: 0}, {name: full, at: 0.9}]}"
_SCHEMA = {"type": "object", "properties": {"miles": {}, "notes": {}, "trees": {}}}


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    (tmp_path / "pack.yaml").write_text(_PACK, encoding="utf-8")
    (tmp_path / "state.schema.json").write_text(json.dumps(_SCHEMA), encoding="utf-8")
    return Pack.load(tmp_path)


@pytest.fixture
def selected(monkeypatch):
    """The ids of the sections that were selected, in order."""
    names = []
    select = SectionSelector.select
    monkeypatch.setattr(SectionSelector, "select", lambda self, section, *rest: names.append(section.id) or select(self, section, *rest))
    return names


@pytest.mark.parametrize(
    ("path", "value", "again"),
    [
        ("sections.notes.budget", "30", []),
        ("sections.notes.budget", "400", ["notes"]),
        ("sections.notes.overflow", "[{evict: {}}, {drop: {}}]", []),
        ("sections.notes.overflow", "[{evict: {floor: 40}}]", ["notes"]),
        ("sections.notes.overflow", "[{evict: {step: 4}}]", ["notes"]),
        ("sections.notes.overflow", "[{trim: {to: 20}}]", ["notes"]),
        ("sections.notes.items.text", "'* {{ item }}'", ["notes"]),
        ("sections.notes.separator", "'; '", ["rules", "notes", "trees"]),
        ("sections.notes.title", "Log", ["notes"]),
        ("sections.notes.fence", "{open: <log>, close: </log>}", ["rules", "notes", "trees"]),
        ("budget", "300", ["notes", "trees"]),
        ("define", "{far(n): n > 30}", ["rules", "notes", "trees"]),
        ("visible", "true", ["rules", "notes", "trees"]),
        ("output.separator", "==\n", []),
        ("output.format", "messages", ["rules", "notes", "trees"]),
        ("tokenizer", "chars/4", ["rules", "notes", "trees"]),
    ],
)
def test_an_edition_renders_what_it_would_render_alone(pack, selected, path, value, again):
    state, memory = pack.load_state(_STATE), TurnMemory()
    pack.compile(state, memory=memory)
    selected.clear()
    for one in (pack.tried([(path, value)]), pack):
        memory.begin_turn()
        found = one.compile(state, memory=memory)
        if one is not pack:
            assert selected == again
        wanted = one.compile(one.load_state(_STATE))
        assert (found.emitted and found.emitted.text, found.errors, found.report) == (
            wanted.emitted and wanted.emitted.text,
            wanted.errors,
            wanted.report,
        )


def test_the_same_items_in_another_request_are_counted_anew(pack, selected):
    pack, memory = pack.tried([("budget", "900"), ("sections.notes.budget", "200"), ("strain", _STRAIN)]), TurnMemory()
    state, seen = pack.load_state(_STATE), set()
    for provider in ("openai", "anthropic", "gemini"):
        memory.begin_turn()
        found, wanted = pack.compile(state, memory=memory, format=provider), pack.compile(state, format=provider)
        assert (found.tokens, found.report) == (wanted.tokens, wanted.report)
        seen.add(found.tokens)
    assert len(seen) > 1 and selected.count("notes") == 1 + 3
