"""Expressions: values, not text."""

import copy

import pytest

from promptc.template.compile import constant_expression, constant_template, load_expression
from tests.unit.template.run import INLINE, evaluate, find_expression_errors

NAMES = {
    "state": {"xs": [1, 2, 3], "name": "Mara", "map": {"a": {"b": 1}}, "none": None, "blocks": [{"t": "A", "n": 1}, {"t": "B", "n": 2}]},
    "item": {"type": "CHOICE"},
}

VALUES = [
    ("1", 1),
    ("1.5", 1.5),
    ("-1", -1),
    ("'text'", "text"),
    ("true", True),
    ("none", None),
    ("item.type == 'CHOICE'", True),
    ("state.none", None),
    ("state.xs", [1, 2, 3]),
    ("state.map", {"a": {"b": 1}}),
    ("state.xs | map('string')", ["1", "2", "3"]),
    ("state.xs | select('gt', 1)", [2, 3]),
    ("state.blocks | selectattr('t', 'eq', 'A')", [{"t": "A", "n": 1}]),
    ("state.blocks | map(attribute='n') | sort(reverse=true)", [2, 1]),
    ("state.xs | reverse", [3, 2, 1]),
    ("state.xs + [4]", [1, 2, 3, 4]),
    ("state.xs + state.xs", [1, 2, 3, 1, 2, 3]),
    ("[state.name, (1, 2), state.xs | map('string')]", ["Mara", [1, 2], ["1", "2", "3"]]),
    ("{'a': state.xs | batch(2)}", {"a": [[1, 2], [3]]}),
    ("{1: 'a', true: 'b', none: 'c', 2.5: 'd'}", {"1": "b", "null": "c", "2.5": "d"}),
    ("range(3)", [0, 1, 2]),
    ("dict(a=1)", {"a": 1}),
    ("state.map.items()", [["a", {"b": 1}]]),
    ("state.map.keys()", ["a"]),
    ("state.blocks | groupby('t') | first", ["A", [{"t": "A", "n": 1}]]),
    ("state.xs[1:]", [2, 3]),
    ("state.zz | default([])", []),
    ("state.zz is defined", False),
    ("(state.zz or 1) if false else 'else'", "else"),
    ("'a' ~ 1 ~ none", "a1None"),
    ("\n  state.name\n    ~ 'x'\n", "Marax"),
    ("state.xs | length > 2 and 'A' in state.blocks | map(attribute='t')", True),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_gives_plain_data(text, value):
    names = copy.deepcopy(NAMES)
    found = evaluate(text, names)
    assert found == value
    assert type(found) is type(value)
    assert names == NAMES


def test_a_list_of_the_state_is_not_copied():
    """A state of a hundred thousand blocks is passed on, not walked."""
    assert evaluate("state.xs", NAMES) is NAMES["state"]["xs"]
    assert evaluate("state.xs if state.name else []", NAMES) is NAMES["state"]["xs"]


WRONG = [
    ("zz", "PC0410", "`zz` is not known"),
    ("itm.type", "PC0410", "`itm` is not known"),
    ("item.tpye", "PC0411", "`item` has no `tpye`"),
    ("item['tpye']", "PC0411", "`item` has no `tpye`"),
    ("state.map.a.c", "PC0411", "`state.map.a` has no `c`"),
    ("state.xs[7]", "PC0411", "`state.xs` has no element 7"),
    ("[item.tpye]", "PC0411", "`item` has no `tpye`"),
    ("state.blocks | map(attribute='zz')", "PC0411", "a mapping has no `zz`"),
    ("[] | first", "PC0411", "what is empty has no first element"),
    ("1 if item.type == 'OTHER'", "PC0421", "an `if` without `else` gave nothing"),
    ("namespace(a=1)", "PC0413", "a namespace cannot be printed"),
    ("range", "PC0413", "a function cannot be printed"),
    ("state.name + 1", "PC0414", "`+` does not suit a text and a number"),
    ("1 / 0", "PC0415", "a division by zero"),
    ("", "PC0401", ""),
    ("a b", "PC0401", ""),
    ("a }} {{ b", "PC0401", ""),
    ("{{ a }}", "PC0401", ""),
    ("a %} {% b", "PC0401", ""),
    ("x | nosuch", "PC0406", "there is no filter `nosuch`"),
]


@pytest.mark.parametrize(("text", "code", "message"), WRONG)
def test_a_finding_stands_at_the_scalar(text, code, message):
    found = find_expression_errors(text, NAMES)
    assert [finding.code for finding in found] == [code]
    assert message in found[0].message
    assert found[0].span == INLINE.span
    assert found[0].help


def test_suggests_what_is_there():
    assert [found.help for found in find_expression_errors("itm.type", NAMES)] == ["did you mean `item`?"]
    assert [found.help for found in find_expression_errors("item.tpye", NAMES)] == ["did you mean `type`?"]


def test_a_remark_inside_an_expression_is_told_from_a_strange_sign():
    (remark,), (sign,) = find_expression_errors("a and  # a remark\nb", NAMES), find_expression_errors("a ? b", NAMES)
    assert (remark.message, sign.message) == ("unexpected char '#'", "unexpected char '?'")
    assert "no remarks" in remark.help and "no remarks" not in sign.help


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (False, "false"), (None, "none"), (3, "3"), (2.5, "2.5")])
def test_a_constant_stands_for_itself(value, text):
    constant = constant_expression(value, INLINE)
    assert constant.evaluate({}) is value
    assert (constant.text, constant.span, constant.reads) == (text, INLINE.span, frozenset())


def test_a_constant_template_stands_as_it_is():
    constant = constant_template("{{ not run }}", "rules.md")
    assert (constant.render({}), constant.reads, constant.place.span.file) == ("{{ not run }}", frozenset(), "rules.md")


def test_keeps_its_text_and_place():
    expression = load_expression("item.type", INLINE)
    assert (expression.text, expression.span) == ("item.type", INLINE.span)
    assert "0x" not in repr(expression)
