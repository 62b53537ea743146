"""Where in a state a mapping or list stands."""

import json

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError, Span
from promptc.frontend.state import load_state, load_state_schema
from promptc.model import state as module
from promptc.model.state import Pointers

STATE = {"a": {"x/y~z": [{"n": 1}, []]}, "": {}, "n": 3}


def test_every_mapping_and_list_has_its_pointer():
    pointers = Pointers(STATE)
    assert pointers.find(STATE) == ""
    assert pointers.find(STATE["a"]["x/y~z"]) == "/a/x~1y~0z"
    assert pointers.find(STATE["a"]["x/y~z"][0]) == "/a/x~1y~0z/0"
    assert pointers.find(STATE["a"]["x/y~z"][1]) == "/a/x~1y~0z/1"
    assert pointers.find(STATE[""]) == "/"


def test_what_is_equal_but_another_has_none():
    assert Pointers(STATE).find({"n": 1}) is None and Pointers(STATE).find([]) is None
    assert Pointers(STATE).find(3) is None and Pointers(STATE).find("n") is None


def test_what_the_state_holds_twice_has_none_nor_has_what_it_holds():
    shared = {"inner": {}}
    pointers = Pointers({"a": shared, "b": shared})
    assert pointers.find(shared) is None and pointers.find(shared["inner"]) is None


def test_a_path_is_enough_for_what_stands_there():
    pointers = Pointers(STATE)
    assert pointers.find_at(STATE["a"]["x/y~z"], {("state", "a", "x/y~z"), ("item",)}) == "/a/x~1y~0z"
    assert pointers.find_at(STATE["a"], {("state", "a", "x/y~z"), ("state", "n", "m")}) is None
    assert pointers.find_at(STATE, {("state",)}) == ""


@pytest.fixture
def met(monkeypatch):
    """The parts of a state that were walked over."""
    seen = []
    go_on = Pointers._go_on

    def spy(self, walk):
        seen.append(walk)
        return go_on(self, walk)

    def refuse(value):
        raise AssertionError("the whole state is walked")

    monkeypatch.setattr(Pointers, "_go_on", spy)
    monkeypatch.setattr(module, "_iter_steps", refuse)
    return seen


def test_the_newest_are_found_in_a_few_steps_however_long_the_lists_are(met):
    state = {"log": [{"parts": [{"n": n}]} for n in range(10_000)], "old": [{} for _ in range(10_000)], "one": {}}
    pointers = Pointers(state, ())
    paths = [("state", "log"), ("state", "old"), ("state", "one")]
    found = [pointers.find(one, paths) for one in (state["one"], state["log"][-2]["parts"][0], state["old"][-3], state["log"][-1])]
    assert found == ["/one", "/log/9998/parts/0", "/old/9997", "/log/9999"]
    assert len(met) < 30


def test_a_path_that_ends_early_is_looked_for_where_it_ends():
    state = {"log": [{"a": {}}], "n": 3}
    pointers = Pointers(state, ())
    assert pointers.find(state["log"][0]["a"], [("state", "log", "0", "a"), ("state", "n", "m"), ("state", "x")]) == "/log/0/a"
    assert pointers.find(state["log"], [("state",)]) == "/log"
    assert pointers.find({}, [("state", "log")]) is None


_KEYS = st.sampled_from(["a", "b", "c"])
_DEFAULTS = st.recursive(
    st.just([]) | st.just({}), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=2), max_leaves=4
)
_PARTS = st.recursive(
    st.fixed_dictionaries({}, optional={"default": _DEFAULTS, "$ref": st.sampled_from(["#/$defs/x", "#/$defs/y"])}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "default": _DEFAULTS,
            "properties": st.dictionaries(_KEYS, inner, max_size=3),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
        },
    ),
    max_leaves=8,
)
_MEMBERS = st.dictionaries(_KEYS, _PARTS, max_size=3)
_PERSON = {"properties": {"a": {"default": []}}, "default": {}}


@given(
    st.builds(lambda properties, x, y: {"properties": properties, "$defs": {"x": x, "y": y}}, _MEMBERS, _PARTS, _PARTS),
    st.dictionaries(_KEYS, _DEFAULTS, max_size=3),
)
@example({"properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}}, "$defs": {"x": _PERSON}}, {})
@example({"properties": {"a": {"items": _PERSON}}}, {"a": [{}, {}]})
@example({"properties": {"a": _PERSON}}, {})
def test_what_stands_at_several_places_is_known_without_a_walk(schema, given_state):
    """Defaults are the same object wherever they are filled in; all else stands at one place."""
    try:
        loaded = load_state_schema(json.dumps(schema).encode(), "schema.json", Span("pack.yaml", 1, 1))
    except PromptcError:
        assume(False)
    state = load_state(given_state, loaded, "state.json")
    pointers, walked = Pointers(state.value, state.shared), Pointers(state.value)
    for value, _, _ in list(module._iter_steps(state.value)):
        assert pointers.find(value, [("state",)]) == walked.find(value)
