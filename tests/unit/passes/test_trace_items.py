"""A trace says of every stage what the selection itself counted."""

from pathlib import Path

import pytest

import promptc
from promptc.explain.items import trace_items

ROOT = Path(__file__).resolve().parents[3]
KEEP = ROOT / "tests" / "cli" / "keep"
STATES = [
    (KEEP, KEEP / "state.json"),
    *((ROOT / "packs" / "sentinel", path) for path in sorted((ROOT / "fixtures" / "sentinel" / "base").glob("*.json"))),
]


def _traces(pack, state, **flags):
    outcome = promptc.load(pack).compile(state.read_bytes(), **flags)
    selection = outcome.fitted.strained.selection
    return [(one, trace_items(selection, one)) for one in selection.sections if one.section.items is not None and one.state != "off"]


# contract 5.34
@pytest.mark.sampled
@pytest.mark.parametrize(("pack", "state"), STATES, ids=lambda path: path.name)
def test_the_counts_are_those_of_the_selection(pack, state):
    for selected, trace in _traces(pack, state):
        assert {stage.name: len(stage.left_out) for stage in trace.stages if stage.left_out} == dict(selected.left_out)
        assert trace.stages[-1].passed == len(selected.items)
        assert all(
            after.passed == before.passed - len(after.left_out) for before, after in zip(trace.stages, trace.stages[1:], strict=False)
        )


@pytest.mark.sampled
@pytest.mark.parametrize(("pack", "state"), STATES, ids=lambda path: path.name)
def test_every_element_is_found_by_its_id_and_left_out_once(pack, state):
    for selected, trace in _traces(pack, state):
        gone = [place for stage in trace.stages for place in stage.left_out]
        assert len(gone) == len(set(gone)) and len(gone) + len(selected.items) == trace.size
        assert {item.id for item in selected.items} <= set(trace.ids.values())
        assert all(place in trace.list_places(trace.name_item(place)) for place in range(trace.size))
        assert all(stage.explain(place) for stage in trace.stages for place in stage.left_out)


def _make_log(tmp_path, sections, count=300):
    head = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
    (tmp_path / "pack.yaml").write_text(head + f"sections: [{sections}]\n", encoding="utf-8")
    turns = [{"n": number, "text": f"turn number {number}"} for number in range(count)]
    return promptc.load(tmp_path).compile({"log": turns}).fitted.strained.selection


def test_what_lies_beyond_reach_is_left_out_by_it(tmp_path):
    selection = _make_log(tmp_path, "{id: log, items: {from: state.log, id: item.n, text: '{{ item.text }}', where: item.n != 298}}")
    trace = trace_items(selection, selection.sections[0])
    assert selection.sections[0].is_partial
    assert [stage.name for stage in trace.stages] == ["from", "where", "reach", "render"]
    assert {stage.name: len(stage.left_out) for stage in trace.stages if stage.left_out} == dict(selection.sections[0].left_out)
    assert trace.list_places("3") == [3] and trace.list_places("298") == [298]
    assert "the budget can hold" in trace.stages[2].explain(3)


def test_a_window_and_reach_are_told_apart(tmp_path):
    selection = _make_log(tmp_path, "{id: log, items: {from: state.log, text: '{{ item.text }}', window: {last: 200}}}")
    trace = trace_items(selection, selection.sections[0])
    assert {stage.name: len(stage.left_out) for stage in trace.stages if stage.left_out} == dict(selection.sections[0].left_out)
    assert [stage.name for stage in trace.stages] == ["from", "window", "reach", "render"]


def test_an_unread_element_may_be_one_its_id_fails_for(tmp_path):
    head = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
    section = "{id: log, items: {from: state.log, id: item.n, text: '{{ item.n }}', window: {last: 1}}}"
    (tmp_path / "pack.yaml").write_text(head + f"sections: [{section}]\n", encoding="utf-8")
    selection = promptc.load(tmp_path).compile({"log": [{}, {"n": "a"}, {"n": "b"}]}).fitted.strained.selection
    trace = trace_items(selection, selection.sections[0])
    assert [trace.name_item(place) for place in range(3)] == ["0", "a", "b"]


def test_an_item_is_rendered_with_its_group(tmp_path):
    head = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
    items = "from: state.log, group: {by: item.who}, text: \"{{ item.text if group == 'ann' }}\", trim_each: {to: {chars: 4}}"
    (tmp_path / "pack.yaml").write_text(head + f"sections: [{{id: log, items: {{{items}}}}}]\n", encoding="utf-8")
    log = [{"who": who, "text": f"{who} speaks"} for who in ("ann", "bob", "ann")]
    selection = promptc.load(tmp_path).compile({"log": log}).fitted.strained.selection
    trace = trace_items(selection, selection.sections[0])
    assert [(stage.name, stage.passed, list(stage.left_out)) for stage in trace.stages] == [
        ("from", 3, []),
        ("group", 3, []),
        ("render", 2, [1]),
        ("trim_each", 2, []),
    ]
    assert trace.stages[-1].note == "shortened: 0, 2"


def test_a_cap_is_told_by_the_name_it_has_in_the_manifest(tmp_path):
    section = "{id: log, items: {from: state.log, text: '{{ item.text }}', limit_per: {by: item.n > 0, caps: {'true': 2}}}}"
    selection = _make_log(tmp_path, section, count=4)
    trace = trace_items(selection, selection.sections[0])
    stage = next(one for one in trace.stages if one.name == "limit_per")
    assert list(stage.left_out) == [3]
    assert stage.explain(3) == "`caps` lets 2 of `true` pass, and others came first"
