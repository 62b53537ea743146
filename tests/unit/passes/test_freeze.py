"""What was shown once stays in place: of the state, of a store, of an index, in a talk with tools."""

import pytest

from promptc.diag.findings import PromptcError
from promptc.economy import iter_carried
from promptc.explain.items import describe_value, trace_items
from promptc.model.sources import Segment
from tests.unit.passes.small_sources import SmallSources, compile_small, load_small

LORE = [{"id": name, "on": name in "ac", "text": f"text {name}"} for name in "abcde"]
STORES = "stores: {main: {url: 'sqlite:a.db'}}\n"


@pytest.fixture
def load(tmp_path):
    return lambda body, **named: load_small(tmp_path, body, **named)


def _list(more="", rest="", source="state.lore", shown="{shown: state.shown}"):
    items = f"{{from: {source}, id: item.id, where: item.on, freeze: {shown}, {more}text: '{{{{ item.id }}}}'}}"
    return f"sections:\n  - {{id: lore, {rest}items: {items}}}\n  - {{id: input, text: Go.}}\n"


def _show(outcome, section="lore"):
    found = next(one for one in outcome.report["sections"] if one["id"] == section)
    return "".join(one["id"] for one in found["items"])


def _held(outcome, section="lore"):
    found = next(one for one in outcome.report["sections"] if one["id"] == section)
    return {one["id"]: one["held"] for one in found["items"] if "held" in one}


def _compile(pack, shown, lore=LORE, **asked):
    return compile_small(pack, {"lore": lore, "shown": shown}, SmallSources(), **asked)


# contract 4.47 and 13.21
@pytest.mark.parametrize(
    ("shown", "expected", "held", "left_out"),
    [
        (None, "ac", {}, {"where": 3}),
        ([], "ac", {}, {"where": 3}),
        (["c"], "ca", {}, {"where": 3}),
        (["e", "b"], "ebac", {"e": "where", "b": "where"}, {"where": 1}),
        (["c", "d", "c", {"id": "a", "tokens": 3}], "cda", {"d": "where"}, {"where": 2}),
    ],
)
def test_what_was_shown_comes_first_in_its_order(load, shown, expected, held, left_out):
    outcome = _compile(load(_list()), shown)
    assert _show(outcome) == expected and _held(outcome) == held
    section = outcome.report["sections"][0]
    assert section["left_out"] == left_out
    assert section["frozen"] == {
        "stands": len(set(map(str, [one["id"] if isinstance(one, dict) else one for one in shown or ()]))),
        "held": len(held),
        "tokens": sum(one["tokens"] for one in section["items"] if "held" in one),
        "gone": [],
    }
    assert outcome.warnings == ()


# contract 4.49
def test_what_the_source_does_not_have_is_told_once(load):
    outcome = _compile(load(_list()), ["x", "c", "y"])
    assert _show(outcome) == "ca" and outcome.report["sections"][0]["frozen"]["gone"] == ["x", "y"]
    assert [(one.code, one.message) for one in outcome.warnings] == [
        ("PC0537", "`lore` cannot show `x`, `y` again: they are not in its source")
    ]


# contract 4.49
def test_what_is_hidden_now_stays_hidden(load):
    pack = load(f"visible: not item.secret\n{_list()}")
    lore = [{**one, "secret": one["id"] == "d"} for one in LORE]
    outcome = _compile(pack, ["d", "b"], lore)
    assert _show(outcome) == "bac" and outcome.report["sections"][0]["frozen"]["gone"] == ["d"]


# contract 4.47
@pytest.mark.parametrize("shown", ["tower", 3, {"id": "a"}, [["a"]], [None], [{"name": "a"}]])
def test_only_ids_tell_what_was_shown(load, shown):
    with pytest.raises(PromptcError) as refused:
        _compile(load(_list()), shown)
    assert [one.code for one in refused.value.diagnostics] == ["PC0538"]


# contract 4.48
@pytest.mark.parametrize(
    ("more", "shown", "expected", "held"),
    [
        ("limit: 1, ", ["c"], "ca", {"c": "limit"}),
        ("limit: 1, ", ["a"], "a", {}),
        ("limit: 2, sort: {by: item.id, desc: true}, ", ["b"], "bca", {"b": "where"}),
        ("limit_per: {by: item.on, caps: {'true': 1}}, ", ["c", "e"], "cea", {"c": "limit_per", "e": "where"}),
        ("window: {last: 2}, ", ["a"], "ac", {}),
        ("window: {last: 1}, ", ["a", "b"], "abc", {"a": "window", "b": "where"}),
        ("dedupe: {by: item.on}, ", ["c"], "c", {}),
        ("keep: [{where: item.id == 'a'}], limit: 0, ", ["c"], "ca", {"c": "limit"}),
    ],
)
def test_no_stage_takes_it_away_and_only_what_is_selected_anyway_uses_a_place(load, more, shown, expected, held):
    outcome = _compile(load(_list(more)), shown)
    assert (_show(outcome), _held(outcome)) == (expected, held)


# contract 4.50
@pytest.mark.parametrize(
    ("late", "shown", "expected"),
    [
        ("", ["c"], "ca"),
        (", late: true", ["c"], "ca"),
        (", late: false", ["c"], "c"),
        (", late: false", [], "ac"),
        (", late: false", ["x"], "ac"),
        (", late: item.id != 'a'", ["d"], "dc"),
    ],
)
def test_what_comes_late_may_stay_out(load, late, shown, expected):
    outcome = _compile(load(_list(shown=f"{{shown: state.shown{late}}}")), shown)
    assert _show(outcome) == expected
    assert outcome.report["sections"][0]["left_out"].get("freeze", 0) == sum(1 for one in "ac" if one not in expected)


# contract 5.52
@pytest.mark.sampled
@pytest.mark.parametrize(
    ("step", "late", "expected"),
    [
        ("{}", "", ["ebac", "eac", "ac", "a"]),
        ("{floor: 3}", "", ["ebac", "eac"]),
        ("{step: 2}", "", ["ebac", "ac"]),
        ("{step: 2}", ", late: true", ["ebac", "ac"]),
        ("{step: 3}", ", late: true", ["ebac", "c"]),
        ("{by: 0}", "", ["ebac", "eba", "eb", "e"]),
        ("{}", ", late: true", ["ebac", "bac", "ac", "c"]),
        ("{order: [this.held, true]}", ", late: true", ["ebac", "bac", "ac", "c"]),
        ("{order: [not this.held, true]}", ", late: true", ["ebac", "ebc", "eb", "b"]),
    ],
)
def test_a_budget_takes_what_is_held_first_and_of_equals_the_last(load, step, late, expected):
    """As the cap shrinks."""
    lists = []
    for cap in range(60, 0, -1):
        rest = f"budget: {cap}, overflow: [{{evict: {step}}}, {{fail: {{}}}}], separator: '{'.' * 19}', "
        outcome = _compile(load(_list("", rest, shown=f"{{shown: state.shown{late}}}")), ["e", "b"])
        if outcome.emitted is not None and _show(outcome) and _show(outcome) not in lists:
            lists.append(_show(outcome))
    assert lists == expected


# contract 4.11 and 4.48
def test_what_is_held_is_none_of_the_window(load):
    """`window.min` keeps what the window shows, though another item stands."""
    order = "overflow: [{evict: {order: [not this.held, true]}}], separator: '.......................', budget: 4, "
    outcome = _compile(load(_list("window: {last: 1, min: 1}, ", order)), ["a"])
    assert _show(outcome) == "c" and [one["items"] for one in outcome.report["cuts"]] == [["a"]]


# contract 4.51
def test_a_segment_that_nothing_asks_for_any_more_is_read_by_its_id(load):
    rows = [Segment(f"{ref}-{at}", "npc", ref, f"{ref}{at}", {"at": at}) for ref in ("ada", "bo") for at in (0, 1)]
    source = "{segments: {scope: npc, ref: state.ref, where: item.metadata.at == 0}}"
    pack = load(
        f"{STORES}sections:\n  - {{id: npc, items: {{from: {source}, freeze: {{shown: state.shown}}, text: '{{{{ item.content }}}}'}}}}\n"
    )
    for ref, shown, expected in (
        ("bo", ["ada-0", "ada-1"], "ada0\nbo0\n"),
        (None, ["bo-0", "ada-0"], "bo0\nada0\n"),
        ("ada", ["ada-0"], "ada0\n"),
    ):
        outcome = compile_small(pack, {"ref": ref, "shown": shown}, SmallSources(rows))
        assert outcome.emitted.text == expected
        assert _held(outcome, "npc") == {id: "source" for id in shown if not id.startswith(ref or "-") and id.endswith("0")}


# contract 4.51
def test_a_chunk_that_is_not_found_any_more_is_read_by_its_id(load):
    pack = load(
        "indexes: {notes: {from: state.notes, id: item.id, text: '{{ item.text }}'}}\nsections:\n  - id: found\n    items:\n"
        "      from: {retrieve: {index: notes, query: state.query, floor: 0.1, top: 1, where: item.open, sparse_below: 0}}\n"
        "      freeze: {shown: state.shown}\n      text: '{{ item.id }} {{ item.score }}'\n"
    )
    notes = [{"id": name, "text": f"the {name}", "open": name != "shut"} for name in ("bell", "tide", "shut")]

    def ask(query, shown):
        return compile_small(pack, {"notes": notes, "query": query, "shown": shown}, SmallSources())

    first = ask("bell", [])
    assert _show(first, "found") == "bell" and _held(first, "found") == {}
    later = ask("tide", ["bell", "shut"])
    assert [line.split()[0] for line in later.emitted.text.splitlines()] == ["bell", "tide"]
    assert later.emitted.text.startswith("bell 0.0\n") and _held(later, "found") == {"bell": "source"}
    assert later.report["sections"][0]["frozen"]["gone"] == ["shut"]
    gathered = later.fitted.strained.selection.sections[0].gathered
    found, held = (describe_value(gathered, place).split("\n")[1] for place in (0, 1))
    assert found.startswith("score 0.") and held == "read by its id: the query does not find it"
    silent = ask("", ["tide"])
    assert silent.emitted.text == "tide 0.0\n" and _held(silent, "found") == {"tide": "source"}
    assert ask("", []).emitted.text == ""


# contract 4.47 and 8.5
def test_a_result_of_a_tool_stays_where_it_stood(load):
    pack = load(
        "output: {format: messages}\nsections:\n  - id: talk\n    items:\n      from: state.talk\n      id: item.n\n"
        "      where: item.n >= state.from or item.text is defined\n      freeze: {shown: state.shown, late: false}\n"
        "      message: {role: item.role, content: 'item.text | default(item.parts)', parts: [text, tool_use, tool_result]}\n"
    )
    talk = [
        {"n": 0, "role": "user", "text": "Look."},
        {"n": 1, "role": "assistant", "parts": [{"type": "tool_use", "id": "u", "name": "look", "input": {}}]},
        {"n": 2, "role": "user", "parts": [{"type": "tool_result", "tool_use_id": "u", "content": "A door."}]},
        {"n": 3, "role": "assistant", "text": "A door."},
        {"n": 4, "role": "user", "text": "Open it."},
    ]
    fresh, frozen = (compile_small(pack, {"talk": talk, "from": 3, "shown": shown}, SmallSources()) for shown in ([], [0, 1, 2]))
    assert _show(fresh, "talk") == "034" and _show(frozen, "talk") == "01234"
    assert _held(frozen, "talk") == {"1": "where", "2": "where"}


# contract 4.52
@pytest.mark.parametrize(
    "items",
    [
        "{from: state.lore, FREEZE, group: {by: item.on}, text: x}",
        "{from: {segments: {scope: npc, each: state.lore, ref: each.id}}, FREEZE, text: x}",
        "{from: {segments: {scope: npc}}, id: item.ref_id, FREEZE, text: x}",
        "{from: state.lore, FREEZE, text: x}, overflow: [{replace: {template: a.md}}]",
        "{from: state.lore, FREEZE, text: x}}]\ntruncate: [{recap: {section: lore, template: a.md}",
    ],
)
def test_what_does_not_go_with_it_is_refused(load, tmp_path, items):
    (tmp_path / "a.md").write_text("…", encoding="utf-8")
    with pytest.raises(PromptcError) as refused:
        load(f"{STORES}sections: [{{id: lore, items: {items.replace('FREEZE', 'freeze: {shown: state.shown}')}}}]\n")
    assert [one.code for one in refused.value.diagnostics] == ["PC0292"]


# contract 4.52
def test_a_tier_may_not_recap_it_either(load, tmp_path):
    (tmp_path / "a.md").write_text("…", encoding="utf-8")
    tiers = "strain: {count: [lore], tiers: [{name: calm, at: 0}, {name: full, at: 0.1, do: [{recap: {section: lore, template: a.md}}]}]}\n"
    pack = load(_list("", "budget: 30, ") + tiers)
    assert [one.code for one in pack.check() if one.level == "error"] == ["PC0292"]


# contract 14.11
def test_a_turn_hands_on_what_a_list_shows_and_its_tier(load):
    tiers = "strain: {count: [lore], previous: state.tier, tiers: [{name: calm, at: 0}]}\n"
    pack = load(_list("", "when: state.lore, budget: 90, ", shown="{shown: state.shown}") + tiers)
    shown, off = (compile_small(pack, {"lore": lore, "shown": ["e"], "tier": None}, SmallSources()) for lore in (LORE, []))
    assert dict(iter_carried(shown, ["/tier", "/shown"])) == {"/tier": '"calm"', "/shown": '["e", "a", "c"]'}
    assert dict(iter_carried(off, ["/tier", "/shown"])) == {"/tier": '"calm"'}


# contract 5.34
@pytest.mark.parametrize("late", ["", ", late: false"])
@pytest.mark.parametrize("more", ["", "limit: 1, ", "window: {last: 2}, sort: item.id, "])
@pytest.mark.parametrize("shown", [[], ["e", "b", "x"], ["c"], ["d"]])
def test_a_trace_counts_what_the_selection_counted(load, late, more, shown):
    outcome = _compile(load(_list(more, shown=f"{{shown: state.shown{late}}}")), shown)
    selection = outcome.fitted.strained.selection
    selected = selection.sections[0]
    trace = trace_items(selection, selected)
    assert {stage.name: len(stage.left_out) for stage in trace.stages if stage.left_out} == dict(selected.left_out)
    gone = [place for stage in trace.stages for place in stage.left_out]
    assert len(gone) == len(set(gone)) and len(gone) + len(selected.items) == trace.size
    assert all(stage.explain(place) for stage in trace.stages for place in stage.left_out)
