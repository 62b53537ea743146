"""Values in messages are shown as YAML and JSON write them."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.diag.findings import LONGEST, show_value
from promptc.frontend.yaml import resolve_scalar

SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (1.5, "1.5"),
        ("ten", "`ten`"),
        ("", "an empty string"),
        ("10", '`"10"`'),
        ("null", '`"null"`'),
        ("True", '`"True"`'),
        ("~", '`"~"`'),
        ("1e3", '`"1e3"`'),
        ("{}", '`"{}"`'),
        ("[x]", '`"[x]"`'),
        ("'x'", "`\"'x'\"`"),
        ("None", "`None`"),
        (" x", '`" x"`'),
        ("a\nb", '`"a\\nb"`'),
        ([], "an empty list"),
        ({}, "an empty mapping"),
        ((None, True), "`[null, true]`"),
        ({"a": {"b": [None, 1.5, "x"]}}, '`{"a": {"b": [null, 1.5, "x"]}}`'),
        ("x" * 61, f"`{'x' * 60}…`"),
        (["x" * 90], f'`["{"x" * 58}…`'),
        (object(), "something that is not data"),
        (len, "something that is not data"),
        (range(3), "a range"),
    ],
)
def test_a_value_is_shown_as_its_author_writes_it(value, shown):
    assert show_value(value) == shown


@given(VALUES)
def test_what_is_shown_whole_reads_back(value):
    shown = show_value(value)
    assert len(shown) <= LONGEST + 3
    if "…" in shown or shown.startswith("an empty"):
        return
    text = shown[1:-1] if shown[0] == "`" else shown
    if isinstance(value, str):
        assert (json.loads(text) if text[0] == '"' else text) == value
        assert text[0] == '"' or resolve_scalar(text) == value
    else:
        assert json.loads(text) == value


def test_a_deep_and_a_long_value_cost_nothing():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert show_value(deep) == f"`{'[' * LONGEST}…`"
    assert show_value([0] * 10**6).startswith("`[0, 0, ")
    deep.clear()


def test_numbers_that_json_does_not_have_are_shown():
    assert [show_value(one) for one in (math.inf, -math.inf)] == ["inf", "-inf"]
