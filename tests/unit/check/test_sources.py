"""Lints of sources: the kinds of segments and chunks, `each`, indexes over the state, and what only opened sources tell."""

import json

import pytest

import promptc
from tests.unit.check.lint import lint

STORES = "stores: {main: {url: 'sqlite:gone.db', locale: state.locale}}\n"
INDEXES = (
    "indexes: {notes: {from: state.notes, id: item.id, text: '{{ item.text }}'}, "
    "rules: {corpus: 'rules/{part}/*.md', path: 'built/{part}', defaults: {my_own: 2}}}\n"
)
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["locale", "query", "people", "notes"],
    "properties": {
        "locale": {"type": "string"},
        "query": {"type": "string"},
        "people": {"type": "array", "items": {"$ref": "#/$defs/one"}},
        "notes": {"type": "array", "items": {"$ref": "#/$defs/one"}},
    },
    "$defs": {
        "one": {
            "type": "object",
            "additionalProperties": False,
            "required": ["id", "text"],
            "properties": {"id": {"type": "string"}, "text": {"type": "string"}},
        }
    },
}


def _find(tmp_path, source, form, more="", head=STORES + INDEXES):
    body = f"{head}sections:\n  - id: a\n    items:\n      from: {{{source}}}\n      text: '{form}'\n{more}"
    return [(one.code, one.message) for one in lint(tmp_path, body, schema=SCHEMA)]


@pytest.mark.parametrize(
    ("source", "form"),
    [
        ("segments: {scope: npc}", "{{ item.id }}{{ item.content | upper }}{{ item.metadata.anything.at.all }}"),
        ("segments: {scope: npc, ref: state.query}", "{{ item.ref_id | upper }}"),
        ("segments: {scope: npc, each: state.people, ref: each.id, where: item.metadata.x == each.text}", "{{ each.text | upper }}"),
        ("retrieve: {index: notes, query: state.query, where: item.mode == state.locale}", "{{ item.score + 1 }}{{ item.heading | join }}"),
        (
            "retrieve: {index: rules, query: state.query, boost: [{add: 1, where: item.my_own > 1}]}",
            "{{ item.index | upper }}{{ item.my_own }}{{ item.part }}{{ item.other | default(0) }}",
        ),
    ],
)
def test_what_is_there_is_left_alone(tmp_path, source, form):
    assert _find(tmp_path, source, form) == []


# contract 4.32
@pytest.mark.parametrize(
    ("source", "form", "name"),
    [
        ("segments: {scope: npc}", "{{ item.text }}", "item.text"),
        ("segments: {scope: npc, where: item.contents}", "x", "item.contents"),
        ("segments: {scope: npc}", "{{ each.id }}", "each"),
        ("segments: {scope: npc, each: state.people, ref: each.name}", "x", "each.name"),
        ("segments: {scope: npc, each: state.people}", "{{ each.name }}", "each.name"),
        ("retrieve: {index: notes, query: state.query, where: item.score > 0}", "x", "item.score"),
        ("retrieve: {index: notes, query: state.query, boost: [{add: 1, where: item.index}]}", "x", "item.index"),
        ("retrieve: {index: notes, query: state.query}", "{{ item.heading.upper() }}", "item.heading"),
        ("retrieve: {index: notes, query: state.query}", "{{ item.my_own }}", "item.my_own"),
        ("retrieve: {index: rules, query: state.query}", "{{ item.heaidng | join }}", "item.heaidng"),
        ("retrieve: {index: rules, query: state.query, where: item.dmoain > 1}", "x", "item.dmoain"),
        ("retrieve: {index: [notes, rules], query: state.query}", "{{ item.my_own }}", "item.my_own"),
    ],
)
def test_what_is_not_there_is_said(tmp_path, source, form, name):
    found = _find(tmp_path, source, form)
    assert len(found) == 1 and f"`{name}`" in found[0][1]


def test_an_index_over_the_state_knows_its_items(tmp_path):
    head = STORES + "indexes: {notes: {from: state.notes, id: item.name, text: '{{ item.txt }}'}}\n"
    found = _find(tmp_path, "retrieve: {index: notes, query: state.query}", "x", head=head)
    assert [message.split(" reads ")[0] for _, message in found] == ["`id` of the index `notes`", "the text of the index `notes`"]


def test_what_a_source_reads_is_read(tmp_path):
    """`check_unread` counts `each`, `ref`, `query` and lists that are indexed."""
    (tmp_path / "state.schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    body = (
        f"promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\nstate: {{schema: state.schema.json}}\n{STORES}{INDEXES}"
        "sections:\n  - {id: a, items: {from: {segments: {scope: npc, each: state.people, ref: each.id}}, text: '{{ each.text }}'}}\n"
        "  - {id: b, items: {from: {retrieve: {index: notes, query: state.query}}, text: x}}\n"
    )
    (tmp_path / "pack.yaml").write_text(body, encoding="utf-8")
    assert [one.code for one in promptc.load(tmp_path).check()] == []


def test_a_store_is_only_opened_when_that_is_asked_for(tmp_path):
    (tmp_path / "pack.yaml").write_text(
        "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\nstores: {main: {url: 'sqlite:gone.db'}}\n"
        "sections: [{id: a, items: {from: {segments: {scope: npc}}, text: x}}]\n",
        encoding="utf-8",
    )
    pack = promptc.load(tmp_path)
    assert "PC0160" not in [one.code for one in pack.check()]
    assert "PC0160" in [one.code for one in pack.check({})]
    with pytest.raises(promptc.PromptcError):
        pack.check({"other": "sqlite:a.db"})
