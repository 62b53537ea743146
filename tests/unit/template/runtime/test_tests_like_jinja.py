"""Every test of Jinja that templates may use says what Jinja's says."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jinja2.tests import TESTS

from promptc.template.allow import FILTERS as FILTER_NAMES
from promptc.template.allow import TESTS as TEST_NAMES
from promptc.template.runtime.filters.table import load_test
from tests.size import count_examples
from tests.unit.template.runtime.deviations import Call, explain
from tests.unit.template.runtime.drawing import ANY, LISTS, MAPPINGS, NUMBERS, TEXTS, UNDEFINED, mostly
from tests.unit.template.runtime.jinja_side import ask_jinja, ask_ours

COMPARING = "eq == equalto ne != lt < lessthan le <= gt > greaterthan ge >=".split()
_PAIRS = st.one_of(st.tuples(NUMBERS, NUMBERS), st.tuples(TEXTS, TEXTS), st.tuples(LISTS, LISTS), st.tuples(MAPPINGS, MAPPINGS))


@pytest.mark.parametrize("name", sorted(TEST_NAMES))
@settings(max_examples=count_examples(50), derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_says_what_jinja_says(name, data):
    call = data.draw(_calls(name))
    given_args = ", ".join(f"a{place}" for place in range(len(call.values) - 1))
    names = {"v": call.values[0], **{f"a{place}": arg for place, arg in enumerate(call.values[1:])}}
    expression = f"[v] | select('{name}', {given_args}) | list | length == 1" if name not in _PLAIN else f"v is {name}"
    jinja, ours = ask_jinja(expression, names), ask_ours(load_test(name), call.values)
    assert explain(call, jinja, ours), f"{expression} {call}\njinja: {jinja}\nours:  {ours}"


_PLAIN = frozenset({"defined", "undefined"})


@st.composite
def _calls(draw, name):
    any_pair = st.tuples(ANY, ANY)
    if name in COMPARING:
        return Call(name, draw(mostly(_PAIRS, any_pair)), {})
    if name == "in":
        return Call(name, draw(mostly(st.tuples(NUMBERS, LISTS) | st.tuples(TEXTS, st.one_of(TEXTS, LISTS, MAPPINGS)), any_pair)), {})
    if name == "divisibleby":
        return Call(name, draw(mostly(st.tuples(NUMBERS, NUMBERS), any_pair)), {})
    if name in ("odd", "even"):
        return Call(name, (draw(mostly(NUMBERS, ANY)),), {})
    if name in ("filter", "test"):
        ours = FILTER_NAMES if name == "filter" else TEST_NAMES
        names = sorted(ours & set(TESTS)) if name == "test" else ["upper", "e", "list", "nothing", ""]
        return Call(name, (draw(mostly(st.sampled_from(names), st.one_of(TEXTS, UNDEFINED))),), {})
    return Call(name, (draw(ANY),), {})


def test_every_test_is_ours_or_refused():
    assert set(TESTS) - TEST_NAMES == {"escaped", "sameas"}
    assert set(TESTS) >= TEST_NAMES
