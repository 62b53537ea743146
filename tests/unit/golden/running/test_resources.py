"""With a memory of earlier renders the outcome is the same, to the byte and in every number, whatever was rendered before."""

import gc
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.frontend.json import load_json
from promptc.frontend.state import set_values
from promptc.golden.running import resources
from promptc.golden.running.resources import SuiteResources
from promptc.passes.fit.ladder import Expander
from promptc.passes.fit.result import Fitted
from promptc.passes.layout.ledger import Piece, TokenLedger
from promptc.passes.layout.section import Entry, SectionLayout
from promptc.passes.memory import MOST_NOTED, Memory
from tests.packs import load_pack

ROOT = Path(__file__).resolve().parents[4]
PACK = "packs/sentinel"
BASES = {name: ROOT / f"fixtures/sentinel/base/{name}.json" for name in ("table", "loaded")}
CHANGES = {
    "/strain": ["normal", "strain_1", "strain_2", "strain_3"],
    "/window": [4, 7, 12, 20],
    "/retrieval_preset": ["standard", "minimal", "deep"],
    "/retrieval/requested": [True, False],
    "/input": ["I wait.", "I knock.", ""],
    "/npcs": [[], None],
    "/digest/npc_memory_anchors": [[]],
    "/digest/hinge_index": [[]],
    "/transcript": [[], [{"id": 1, "type": "NARRATIVE", "text": "Rain."}, {"id": 2, "type": "CHOICE", "text": "I wait."}]],
    "/cleared_without_checkpoint": [True, False],
    "/player/name": ["Nobody"],
}
ONE = st.sampled_from([(pointer, json.dumps(value)) for pointer, values in CHANGES.items() for value in values if value is not None])
FORMS = st.sampled_from(["text", "text", "messages", "anthropic", "openai"])
STEP = st.tuples(st.sampled_from(sorted(BASES)), st.lists(ONE, max_size=3), st.sampled_from([None, 5000, 9000]), FORMS)


@pytest.mark.dear
@given(st.lists(STEP, min_size=2, max_size=6))
def test_a_memory_changes_nothing(steps):
    with SuiteResources() as resources:
        memory = Memory()
        for base, changes, budget, form in steps:
            document = set_values(resources.load_state(str(BASES[base]), base, None), changes)
            with_memory = load_pack(PACK).compile(
                resources.fill_state(load_pack(PACK), document), budget=budget, format=form, memory=memory
            )
            plain = load_pack(PACK).compile(load_pack(PACK).load_document(document), budget=budget, format=form)
            assert with_memory.report == plain.report
            assert (with_memory.emitted is None) == (plain.emitted is None)
            if plain.emitted is not None and with_memory.emitted is not None:
                assert with_memory.emitted.text == plain.emitted.text
                assert list(with_memory.emitted.messages) == list(plain.emitted.messages)
            assert with_memory.warnings == plain.warnings


def test_a_filled_state_is_what_loading_gives():
    with SuiteResources() as resources:
        for changes in ([], [("/input", '"x"')], [("/transcript/0", "{}")], []):
            document = set_values(resources.load_state(str(BASES["table"]), "table", None), changes)
            try:
                plain = load_pack(PACK).load_document(document)
            except promptc.PromptcError as error:
                with pytest.raises(promptc.PromptcError, match=str(error.diagnostics[0].code)):
                    resources.fill_state(load_pack(PACK), document)
                continue
            shared = resources.fill_state(load_pack(PACK), document)
            assert json.dumps(shared.value) == json.dumps(plain.value) and shared.digest == plain.digest


def test_what_is_kept_for_later_cases_is_bounded(tmp_path, monkeypatch):
    """However many states, packs and memories a suite asks for."""
    for name in ("_MOST_SHARED", "_MOST_STATES", "_MOST_MEMORIES"):
        monkeypatch.setattr(resources, name, 3)
    with SuiteResources() as suite:
        for at in range(5):
            path = tmp_path / f"{at}.json"
            path.write_bytes(BASES["table"].read_bytes())
            suite.fill_state(load_pack(PACK), suite.load_state(str(path), path.name, None))
            suite.load_memory(str(tmp_path), str(at))
            assert all(0 < len(kept) <= 3 for kept in (suite._shared, suite._states, suite._memories))


def test_sections_that_nothing_touched_are_not_selected_again():
    with SuiteResources() as resources:
        memory = Memory()
        base = load_json(BASES["table"].read_bytes(), "table")
        _, _, first, second = (
            load_pack(PACK).compile(resources.fill_state(load_pack(PACK), set_values(base, [("/input", json.dumps(text))])), memory=memory)
            for text in ("a", "b", "c", "d")
        )
        items = [{one.section.id: one.items for one in outcome.fitted.strained.selection.sections} for outcome in (first, second)]
        same = {name for name in items[0] if items[0][name] is items[1][name] and items[0][name]}
        assert {"identity", "rules", "snapshot", "digest", "recent"} <= same and "input" not in same


@pytest.mark.parametrize("text", ["{{ state.x }}", "{{ state.x | default('none') }}", "{{ state.x is defined }}", "{{ x }}"])
def test_values_that_print_unlike_are_told_apart(text, tmp_path):
    let = "let: {x: 'state.x | default(7)'}\n" if text == "{{ x }}" else ""
    head = "promptc: 1\nname: p\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 100\n"
    (tmp_path / "pack.yaml").write_text(f'{head}{let}sections:\n  - {{id: a, text: "{text}"}}\n')
    pack, memory = promptc.load(tmp_path), Memory()
    for state in [{"x": value} for value in (0.0, -0.0, 0, False, 1, True, 1.0, "1", "0.0", None, [], [0.0], [-0.0])] + [{}]:
        for _ in range(3):
            assert _come_to(pack, state, memory) == _come_to(pack, state)
    for value in (None, 0.0, -0.0, 0, True, 1):
        assert _come_to(pack, {"x": value}, memory) == _come_to(pack, {"x": value})


def test_what_is_hidden_in_one_state_is_not_remembered_for_another(tmp_path):
    (tmp_path / "pack.yaml").write_text(
        "promptc: 1\nname: p\nversion: 1.0.0\ntokenizer: cl100k_base\nbudget: 100\nvisible: state.all or not item.secret\n"
        "sections:\n  - {id: a, pinned: true, items: {from: state.list, text: '{{ item.text }}'}}\n"
    )
    pack, memory = promptc.load(tmp_path), Memory()
    base = load_json(b'{"list": [{"text": "open", "secret": false}, {"text": "VEILED", "secret": true}]}', "state")
    with SuiteResources() as resources:
        for _ in range(3):
            for whole, text in (("true", "open\nVEILED\n"), ("false", "open\n")):
                state = resources.fill_state(pack, set_values(base, [("/all", whole)]))
                assert pack.compile(state, memory=memory).emitted.text == text


def _come_to(pack, state, memory=None):
    try:
        return pack.compile(state, memory=memory).emitted.text
    except promptc.PromptcError as error:
        return error.diagnostics


def test_states_of_different_files_share_what_is_the_same(tmp_path):
    for name, text in {"a": '{"n": [1], "m": {"b": 1, "a": 2}, "t": "x"}', "b": '{"m": {"b": 1, "a": 2}, "n": [1.5], "t": "x"}'}.items():
        (tmp_path / name).write_text(text)
    with SuiteResources() as resources:
        first, second = (resources.load_state(str(tmp_path / name), name, None) for name in "ab")
    assert first.value["m"] is second.value["m"]
    assert first.value["n"] is not second.value["n"] and type(second.value["n"][0]) is float
    assert second.canonical == b'{"m":{"a":2,"b":1},"n":[1.5],"t":"x"}'
    assert str(second.span("/m/a")) == "b:1:21"


def test_it_does_not_grow():
    memory = Memory()
    for number in range(20 * MOST_NOTED):
        memory.note(number, (), number)
        memory.note(number, (), number)
    assert memory.find(0) is None and memory.find(20 * MOST_NOTED - 1) == 20 * MOST_NOTED - 1
    assert len(memory._entries) + len(memory._older) <= 2 * MOST_NOTED
    assert len(memory._met) <= 16 * MOST_NOTED


def test_what_is_met_once_is_not_kept():
    memory = Memory()
    memory.note("once", (), 1)
    assert memory.find("once") is None
    memory.note("once", (), 1)
    assert memory.find("once") == 1


def test_what_is_asked_for_stays():
    memory = Memory()
    for number in ("often", "often", *range(5 * MOST_NOTED)):
        memory.note(number, (), number)
        memory.note(number, (), number)
        assert memory.find("often") == "often"


@pytest.mark.parametrize("format", ["text", "messages"])
def test_a_render_gives_its_memory_back_at_its_end(format):
    """Nothing of a render that is over waits for the collector, which would have to look at everything to find it."""
    gc.collect()
    gc.disable()
    try:
        before = _count_objects()
        assert _count_cuts(format)
        assert _count_objects() == before
    finally:
        gc.enable()


def _count_objects():
    return sum(type(one) in (Piece, Entry, Expander, Fitted, SectionLayout, TokenLedger) for one in gc.get_objects())


def _count_cuts(format):
    outcome = load_pack(PACK).compile((ROOT / "fixtures/sentinel/base/loaded.json").read_bytes(), budget=6000, format=format)
    return len(outcome.report["cuts"])
