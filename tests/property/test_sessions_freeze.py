"""Over any session, what a list with `freeze` showed once stays in place: each turn begins as the one before, until a budget cuts."""

import json
from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.economy import iter_carried

WORDS = ("tower", "dragon", "river", "oath", "salt", "lamp")
HEAD = "promptc: 1\nname: lore\nversion: 1.0.0\ntokenizer: cl100k_base\n"
SOURCES = {
    "list": "{from: state.lore, id: item.id, where: item.id in state.on, STAGES, text: '{{ item.id }}: {{ item.text }}'}",
    "index": "{from: {retrieve: {index: lore, query: state.on, floor: 0.01, top: 2, sparse_below: 0}}, STAGES, text: '{{ item.text }}'}",
}
INDEX = "indexes: {lore: {from: state.lore, id: item.id, text: '{{ item.id }} {{ item.text }}'}}\n"
STAGES = (
    "",
    "limit: 2, ",
    "sort: item.id, ",
    "dedupe: {by: item.text}, ",
    "limit_per: {by: item.text, caps: {'a b': 1}}, ",
    "window: {last: 3}, ",
)
TURNS = st.lists(st.lists(st.sampled_from(WORDS), unique=True), min_size=2, max_size=6)
TEXTS = st.lists(st.sampled_from(("a b", "c", "d e f", "1, 2", "g  h")), min_size=len(WORDS), max_size=len(WORDS))


def _run(
    folder, kind: str, stages: str, budget: str, texts: Sequence[str], turns: Sequence[Sequence[str]], orders
) -> Iterator[promptc.Prompt]:
    """The outcomes of a session. The list stands in another order in each turn."""
    items = SOURCES[kind].replace("STAGES", f"{stages}freeze: {{shown: state.shown}}")
    section = f"sections: [{{id: lore, {budget}items: {items}}}, {{id: input, text: Go on.}}]\n"
    (folder / "pack.yaml").write_text(f"{HEAD}budget: 4000\n{INDEX if kind == 'index' else ''}{section}", encoding="utf-8")
    pack = promptc.load(folder)
    shown = "null"
    for on, order in zip(turns, orders, strict=False):
        lore = [{"id": WORDS[place], "text": texts[place]} for place in order]
        outcome = pack.compile({"lore": lore, "on": list(on), "shown": json.loads(shown)})
        assert outcome.emitted is not None
        yield outcome
        shown = dict(iter_carried(outcome, ["/shown"]))["/shown"]


def _list_shown(outcome) -> list[str]:
    return [one.item.id for one in outcome.fitted.sections["lore"].alive] if "lore" in outcome.fitted.sections else []


ORDERS = st.lists(st.permutations(range(len(WORDS))), min_size=6, max_size=6)


# contract 4.47
@given(st.sampled_from(sorted(SOURCES)), st.sampled_from(STAGES), TEXTS, TURNS, ORDERS)
def test_without_a_cut_each_turn_begins_as_the_one_before(tmp_path_factory, kind, stages, texts, turns, orders):
    before, text = [], ""
    for outcome in _run(tmp_path_factory.mktemp("pack"), kind, stages, "", texts, turns, orders):
        shown = _list_shown(outcome)
        assert shown[: len(before)] == before
        whole = "".join(part.text for part in outcome.emitted.parts if part.section == "lore" and part.owner != "separator").rstrip("\n")
        assert whole.startswith(text)
        before, text = shown, whole


# contract 4.47 and 4.50
@given(st.sampled_from(sorted(SOURCES)), TEXTS, TURNS, ORDERS, st.integers(6, 24))
def test_with_a_cap_what_is_left_keeps_its_order_and_what_is_held_goes_first(tmp_path_factory, kind, texts, turns, orders, cap):
    before: list[str] = []
    for outcome in _run(tmp_path_factory.mktemp("pack"), kind, "", f"budget: {cap}, overflow: [{{evict: {{}}}}], ", texts, turns, orders):
        shown = _list_shown(outcome)
        stayed = [id for id in before if id in shown]
        assert shown[: len(stayed)] == stayed
        entries = outcome.fitted.sections["lore"].entries if "lore" in outcome.fitted.sections else ()
        gone = [one.item for one in entries if not one.is_alive]
        assert all(item.held for item in gone) or not any(one.item.held for one in entries if one.is_alive)
        before = shown


# contract 13.21
@given(st.sampled_from(sorted(SOURCES)), st.sampled_from(STAGES), TEXTS, TURNS, ORDERS)
def test_the_report_tells_what_freezing_costs(tmp_path_factory, kind, stages, texts, turns, orders):
    """Beside a render of the same state that has shown nothing yet."""
    folder = tmp_path_factory.mktemp("pack")
    for outcome in list(_run(folder, kind, stages, "", texts, turns, orders)):
        state = dict(outcome.fitted.strained.selection.bound.state.value)
        fresh = promptc.load(folder).compile({**state, "shown": []})
        section = next(one for one in outcome.report["sections"] if one["id"] == "lore")
        held = [one for one in section["items"] if "held" in one]
        assert section["frozen"]["tokens"] == sum(one["tokens"] for one in held)
        assert section["frozen"]["stands"] == len(set(state["shown"] or ()) & set(_list_shown(outcome)))
        if "dedupe" not in stages:
            assert {one["id"] for one in section["items"]} - {one["id"] for one in held} == set(_list_shown(fresh))
