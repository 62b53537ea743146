"""The filters beyond Jinja's."""

import pytest

from tests.unit.template.run import evaluate, find_expression_errors, render

NAMES = {
    "state": {
        "now": "2026-11-22T18:30:00Z",
        "then": "2026-11-22T17:59:01Z",
        "text": "The old lamp-lighter, Mara, waits.",
        "xs": ["a", "b", "c", "d", "e"],
        "map": {"b": [1, 2.5, None], "a": "ü"},
    }
}

VALUES = [
    ("state.then | minutes_since(state.now)", 30),
    ("state.then | hours_since(state.now)", 0),
    ("state.now | minutes_since(state.then)", -31),
    ("'2026-11-20' | days_since(state.now)", 2),
    ("'a \\n\\t b  ' | one_line", "a b"),
    ("5 | one_line", "5"),
    ("state.map | json", '{"a":"ü","b":[1,2.5,null]}'),
    ("state.xs | map('upper') | json", '["A","B","C","D","E"]'),
    ("(1, 2) | json", "[1,2]"),
    ("'text' | json", '"text"'),
    ("state.text | mentions('LAMP')", True),
    ("state.text | mentions('lamp lighter mara')", True),
    ("state.text | mentions('lam')", False),
    ("state.text | mentions(['door', 'Mara'])", True),
    ("state.text | mentions([])", False),
    ("state.text | mentions('')", False),
    ("state.text | mentions(['', '!'])", False),
    ("'Take 5 coins' | mentions(5)", True),
    ("['x'] | pick(1)", "x"),
    ("state.xs | pick('seed') == state.xs | pick('seed')", True),
    ("state.xs | map('upper') | pick('seed') == state.xs | pick('seed') | upper", True),
    ("'Ünïted  FOO' | normalize == 'ünïted foo' | normalize", True),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_gives(text, value):
    assert evaluate(text, NAMES) == value


WRONG = [
    ("'yesterday' | days_since(state.now)", "PC0422"),
    ("5 | days_since(state.now)", "PC0422"),
    ("state.now | days_since(none)", "PC0422"),
    ("[] | pick('a')", "PC0424"),
    ("5 | pick('a')", "PC0414"),
    ("zz | json", "PC0410"),
    ("[range] | json", "PC0413"),
    ("state.text | mentions", "PC0424"),
]


@pytest.mark.parametrize(("text", "code"), WRONG)
def test_refuses(text, code):
    assert [found.code for found in find_expression_errors(text, NAMES)] == [code]


def test_pick_takes_every_element_for_some_seed():
    drawn = render("{% for seed in range(200) %}{{ state.xs | pick(seed) }}{% endfor %}", NAMES)
    assert {letter: drawn.count(letter) for letter in "abcde"} == {"a": 39, "b": 47, "c": 48, "d": 32, "e": 34}


def test_filters_may_be_named_to_map():
    assert evaluate("['2026-11-20', '2026-11-22'] | map('days_since', state.now)", NAMES) == [2, 0]
    assert evaluate("['A  B', 'c'] | map('one_line') | join('|')", NAMES) == "A B|c"
