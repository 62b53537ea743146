"""Ids of items: no two alike, whatever the author calls them."""

from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.explain.items import trace_items
from promptc.passes.items.arrange import name_items
from promptc.passes.items.read import Read

NAMES = st.lists(st.sampled_from(["a", "b", "a#2", "a#3", "a#2#2", "b#2", ""]), max_size=9)


def _name(names):
    return name_items((Read(place, place, None), name) for place, name in enumerate(names))


# contract 4.3
def test_one_met_again_gets_a_number():
    assert _name(["a", "b", "a", "a"]) == ({0: "a", 1: "b", 2: "a#2", 3: "a#3"}, {"a": "a#2"})


# contract 4.3
def test_a_number_that_another_item_has_of_itself_is_passed_over():
    assert _name(["a", "a#2", "a"]) == ({0: "a", 1: "a#2", 2: "a#3"}, {"a": "a#3"})
    assert _name(["a", "a", "a#2"]) == ({0: "a", 1: "a#3", 2: "a#2"}, {"a": "a#3"})


@given(NAMES)
def test_no_two_are_alike_and_the_first_of_a_name_keeps_it(names):
    ids, again = _name(names)
    assert list(ids) == list(range(len(names))) and len(set(ids.values())) == len(names)
    assert all(ids[names.index(name)] == name for name in names)
    assert set(again) == {name for name in names if names.count(name) > 1}


def test_a_selection_and_its_trace_give_the_same_ids(tmp_path):
    """Also where an item that renders to nothing has the id of another."""
    head = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
    section = "{id: log, items: {from: state.log, id: item.id, text: '{{ item.text }}'}}"
    (tmp_path / "pack.yaml").write_text(head + f"sections: [{section}]\n", encoding="utf-8")
    log = [{"id": "a", "text": " "}, {"id": "a", "text": "one"}, {"id": "a#2", "text": "two"}]
    selection = promptc.load(tmp_path).compile({"log": log}).fitted.strained.selection
    assert [item.id for item in selection.sections[0].items] == ["a#3", "a#2"]
    assert trace_items(selection, selection.sections[0]).ids == {0: "a", 1: "a#3", 2: "a#2"}
