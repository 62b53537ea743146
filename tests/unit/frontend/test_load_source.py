"""`from` as segments or retrieval: defaults, names, and what variations make of it."""

import pytest

import promptc
from promptc.diag.findings import PromptcError
from promptc.model.pack import Choice
from promptc.model.section import Evict, Retrieve, Segments
from promptc.template.compile import Expression

HEAD = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
BOTH = (
    "stores: {main: {url: 'sqlite:a.db'}}\nindexes: {notes: {from: state.notes, text: '{{ item }}'}, more: {from: state.more, text: x}}\n"
)


@pytest.fixture
def load(tmp_path):
    def call(source, declared=BOTH, more=""):
        section = f"  - id: a\n    items: {{from: {source}, text: x}}\n"
        (tmp_path / "pack.yaml").write_text(f"{HEAD}{declared}sections:\n{section}{more}", encoding="utf-8")
        return promptc.load(tmp_path).model

    return call


def _find_items(pack, **choice):
    return pack.load_plan(Choice(**choice)).sections[0].items


def test_the_only_store_need_not_be_named(load):
    source = _find_items(load("{segments: {scope: npc}}")).source
    assert isinstance(source, Segments) and (source.store, source.scope, source.ref) == ("main", "npc", None)


def test_defaults_of_retrieval_are_those_of_the_language(load):
    source = _find_items(load("{retrieve: {index: [notes, more, notes], query: state.q}}")).source
    assert isinstance(source, Retrieve) and source.indexes == ("notes", "more")
    assert (source.window, source.candidates, source.floor, source.top, source.sparse_below) == (50, 12, None, 6, 1)


def test_scores_are_exact_millionths(load):
    source = _find_items(
        load("{retrieve: {index: notes, query: '', floor: 0.1, boost: [{add: 0.0500019, where: true}]}}".replace("''", "state.q"))
    ).source
    assert (source.floor, source.boosts[0].add) == (100_000, 50_001)


def test_rows_are_called_by_their_ids_unless_told(load):
    assert _find_items(load("{segments: {scope: npc}}")).id.text == "item.id"
    assert _find_items(load("{segments: {scope: npc}}, id: item.ref_id")).id.text == "item.ref_id"
    assert _find_items(load("state.log")).id is None


def test_only_retrieval_gives_way_by_score(load):
    def find_step(source):
        (step,) = load(source).load_plan(Choice()).sections[0].overflow
        assert isinstance(step, Evict)
        return step.by

    assert find_step("{retrieve: {index: notes, query: state.q}}").text == "item.score"
    assert find_step("{segments: {scope: npc}}") is None


def test_a_section_reads_what_its_source_reads(load):
    (section,) = load("{retrieve: {index: notes, query: strain.tier, where: item.x == selected.a}}").load_plan(Choice()).sections
    assert {("strain", "tier"), ("selected", "a")} <= section.reads


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("{retrieve: {top: 2}}", Retrieve),
        ("{segments: {scope: npc}}", Segments),
        ("state.log", Expression),
    ],
)
def test_a_variation_changes_a_source_or_names_another(load, change, kind):
    patch = f"patches: {{other: {{sections: {{a: {{items: {{from: {change}}}}}}}}}}}\n"
    source = _find_items(load("{retrieve: {index: notes, query: state.q, floor: 0.5}}", more=patch), patches=("other",)).source
    assert isinstance(source, kind)
    if isinstance(source, Retrieve):
        assert (source.top, source.floor) == (2, 500_000)


@pytest.mark.parametrize(
    ("source", "declared", "codes"),
    [
        ("{segments: {store: other, scope: npc}}", BOTH, ["PC0280"]),
        ("{segments: {store: main, scope: npc}}", "", ["PC0280"]),
        ("{segments: {scope: npc}}", "", ["PC0281"]),
        ("{retrieve: {index: [notes, nots], query: state.q}}", BOTH, ["PC0282"]),
        ("{retrieve: {index: notes, query: state.q}}", "", ["PC0282"]),
        ("{segments: {scope: npc}, retrieve: {index: notes, query: state.q}}", BOTH, ["PC0210"]),
    ],
)
def test_what_is_not_declared_is_said(load, source, declared, codes):
    with pytest.raises(PromptcError) as raised:
        load(source, declared)
    assert [one.code for one in raised.value.diagnostics] == codes
