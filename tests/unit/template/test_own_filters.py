"""The filters beyond Jinja's."""

import pytest

from promptc.template.runtime.run import read_flag
from tests.unit.template.run import evaluate, find_expression_errors, render

TIMES = ["2026-11-22T20:00:00+02:00", "2026-11-22T18:30:00Z", "2026-11-22T18:30:00.25Z", "2026-11-22T18:30:00.500Z"]
NAMES = {
    "state": {
        "now": "2026-11-22T18:30:00Z",
        "then": "2026-11-22T17:59:01Z",
        "text": "The old lamp-lighter, Mara, waits.",
        "times": TIMES[::-1],
        "rows": [{"at": at, "day": "2026-11-22"} for at in TIMES[::-1]],
        "xs": ["a", "b", "c", "d", "e"],
        "map": {"b": [1, 2.5, None], "a": "ü"},
    }
}

VALUES = [
    ("state.then | minutes_since(state.now)", 30),
    ("state.then | hours_since(state.now)", 0),
    ("state.now | minutes_since(state.then)", -31),
    ("'2026-11-20' | days_since(state.now)", 2),
    ("'1970-01-01T00:00:00Z' | timestamp", 0),
    ("'1970-01-01' | timestamp", 0),
    ("'1970-01-01T01:00:00.000001+01:00' | timestamp", 1),
    ("'1970-01-01T00:00:00.0000019Z' | timestamp", 1),
    ("'1969-12-31T23:59:59.999Z' | timestamp", -1000),
    ("'9999-12-31T23:59:59.999999Z' | timestamp", 253402300799999999),
    ("'2026-11-22T18:30:00Z' | timestamp < '2026-11-22T18:30:00.500Z' | timestamp < '2026-11-22t17:30:01-01:00' | timestamp", True),
    ("state.times | sort(times=true)", TIMES),
    ("state.times | sort(true, times=true)", TIMES[::-1]),
    ("state.rows | sort(attribute='at', times=true) | map(attribute='at') | list", TIMES),
    ("state.rows | sort(attribute='day,at', times=true) | map(attribute='at') | list", TIMES),
    ("state.times | sort == state.times | sort(times=true)", False),
    ("'a \\n\\t b  ' | one_line", "a b"),
    ("5 | one_line", "5"),
    ("[0.1, 0.2, 0.3] | sum", 0.6000000000000001),  # a later Python's own sum gives 0.6
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


# contract 3.11 and 3.27
@pytest.mark.parametrize(("text", "value"), VALUES)
def test_gives(text, value):
    assert evaluate(text, NAMES) == value


WRONG = [
    ("'yesterday' | days_since(state.now)", "PC0422"),
    ("5 | days_since(state.now)", "PC0422"),
    ("state.now | days_since(none)", "PC0422"),
    ("'yesterday' | timestamp", "PC0422"),
    ("'' | timestamp", "PC0422"),
    ("none | timestamp", "PC0422"),
    ("1 | timestamp", "PC0422"),
    ("'2026-02-31' | timestamp", "PC0422"),
    ("'9999-12-31T23:59:61Z' | timestamp", "PC0422"),
    ("zz | timestamp", "PC0410"),
    ("['2026-11-22', 'x'] | sort(times=true)", "PC0422"),
    ("['x'] | sort(times=true)", "PC0422"),
    ("[{}] | sort(attribute='at', times=true)", "PC0411"),
    ("['2026-11-22'] | sort(times='yes')", "PC0424"),
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


@pytest.mark.parametrize("value", ["x", "", 0.0, None, [], {}, 1 << 31])
def test_a_flag_is_no_value_that_a_later_python_alone_takes(value):
    with pytest.raises((TypeError, OverflowError)):
        read_flag(value)
    assert [read_flag(one) for one in (True, False, 0, 1, -2)] == [True, False, False, True, True]
