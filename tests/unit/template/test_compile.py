"""Templates and expressions, loaded: where findings are placed, and what a render may not touch."""

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest

from promptc.diag.findings import Span
from promptc.template.compile import constant_expression, constant_template
from promptc.template.lower.module import load_expression, load_template
from promptc.template.place import Place, cut_source
from tests.unit.template.run import FILE, INLINE, evaluate, find_errors, find_expression_errors, render


def test_a_finding_of_a_file_has_its_line_and_column():
    (found,) = find_errors("one\ntwo {{ state.nmae }}\nthree", {"state": {"name": "Mara"}})
    assert str(found) == "folder/t.j2:2:14: PC0411 `state` has no `nmae`"
    assert found.help == "did you mean `name`?"
    assert found.span is not None and found.span.excerpt == "two {{ state.nmae }}"


def test_a_finding_of_an_inline_template_has_the_scalars_place():
    (found,) = find_errors("one\n{{ nmae }}", {"name": 1}, place=INLINE)
    assert found.span == INLINE.span


SOURCE = """name: x
text: "{{ state.nmae }}"
plain: a {{ state.nmae }} b
block: |
  one
    two {{ state.nmae }}

  three
folded: >
  {{ state.nmae }}
escaped: "\\u0041 {{ state.nmae }}"
"""


@pytest.mark.parametrize(
    ("at", "text", "found"),
    [
        ((2, 7), "{{ state.nmae }}", (2, 17)),
        ((3, 8), "a {{ state.nmae }} b", (3, 19)),
        ((4, 8), "one\n  two {{ state.nmae }}\n\nthree\n", (6, 18)),
        ((9, 9), "{{ state.nmae }}\n", (10, 12)),
        ((11, 10), "A {{ state.nmae }}", (11, 27)),
    ],
)
def test_a_finding_of_an_inline_template_stands_where_its_text_is_written(at, text, found):
    span = Span("pack.yaml", *at)
    place = Place(span, inline=True, source=cut_source(SOURCE.split("\n"), span, text))
    (finding,) = find_errors(text, {"state": {}}, place=place)
    assert finding.span is not None and (finding.span.line, finding.span.column) == found


def test_a_finding_of_an_included_file_has_that_files_line():
    (found,) = find_errors("\n\n{% include 'part.j2' %}", files={"part.j2": "a\n{{ 1 / 0 }}"})
    assert str(found) == "folder/part.j2:2:4: PC0415 this expression divides by zero"


def test_a_finding_of_an_included_file_of_an_inline_template_is_in_the_file():
    (found,) = find_errors("{% include 'part.j2' %}", files={"part.j2": "a\n{{ 1 / 0 }}"}, place=INLINE)
    assert (found.span and found.span.file, found.span and found.span.line) == ("part.j2", 2)


def test_a_finding_in_a_macro_has_the_macros_line():
    (found,) = find_errors("{% macro m(x) %}\n{{ x + 1 }}\n{% endmacro %}\n{{ m('a') }}")
    assert (found.code, found.span and found.span.line) == ("PC0414", 2)


def test_all_findings_of_all_files_are_told_at_once():
    found = find_errors("{{ a | nosuch }}\n{{ b is nosuch }}\n{% include 'x.j2' %}", files={"x.j2": "{{ random() }}"})
    assert [str(finding).split(" ")[0] for finding in found] == ["folder/t.j2:1:8:", "folder/t.j2:2:6:", "folder/x.j2:1:4:"]


# contract 3.4
def test_a_file_that_is_no_template_is_included_as_it_stands():
    assert render("<{% include 'raw.md' %}>", files={"raw.md": "{{ not run }} {% if %}\n"}) == "<{{ not run }} {% if %}\n>"


def test_a_missing_file_is_a_finding_at_the_include():
    (found,) = find_errors("a\n{% include 'none.j2' %}")
    assert str(found) == "folder/t.j2:2:4: PC0419 `none.j2` cannot be included: there is no file `none.j2`"


def test_without_files_there_is_nothing_to_include():
    with pytest.raises(Exception, match="PC0419"):
        load_template("{% include 'a.j2' %}", FILE)


@pytest.mark.parametrize("statement", ["{% include 'b.j2' %}", "{% import 'b.j2' as b %}", "{% extends 'b.j2' %}"])
def test_a_circle_of_files_is_refused_with_its_chain(statement):
    (found,) = find_errors("{% include 'a.j2' %}", files={"a.j2": statement, "b.j2": "\n{% include 'a.j2' %}"})
    assert str(found) == "folder/b.j2:2:4: PC0420 files include each other in a circle: a.j2 -> b.j2 -> a.j2"


def test_a_file_may_be_included_twice_without_being_a_circle():
    assert render("{% include 'a.j2' %}{% include 'b.j2' %}", files={"a.j2": "{% include 'b.j2' %}", "b.j2": "b"}) == "bb"


def test_too_many_files_are_refused():
    files = {f"f{number}.j2": f"{{% include 'f{number + 1}.j2' %}}" for number in range(200)}
    (found,) = find_errors("{% include 'f0.j2' %}", files=files)
    assert found.code == "PC0419" and "at most" in found.message


def test_nothing_is_carried_from_one_render_to_the_next():
    files = {"count.j2": "{% set ns = namespace(n=0) %}{% macro up() %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{% endmacro %}"}
    template = load_template("{% import 'count.j2' as c %}{{ c.up() }}{{ c.up() }}", FILE, load_file=files.__getitem__)
    assert [template.render({}) for _ in range(3)] == ["12"] * 3


def test_a_render_changes_nothing_it_is_given():
    names = {"state": {"xs": [3, 1, 2], "map": {"a": [1]}}}
    before = copy.deepcopy(names)
    text = "{% set xs = state.xs %}{% set xs = xs + [4] %}{{ xs | sort }}{% set m = dict(state.map, b=2) %}{{ m }}"
    assert render(text, names) == "[1, 2, 3, 4]{'a': [1], 'b': 2}"
    assert names == before


def test_an_include_without_context_inside_a_macro_prints_its_text():
    assert render("{% macro m() %}{% include 'a.j2' without context %}{% endmacro %}{{ m() }}", files={"a.j2": "text"}) == "text"


def test_many_threads_may_render_one_template():
    template = load_template("{% for i in range(n) %}{{ i }}{% endfor %}", FILE)
    with ThreadPoolExecutor(8) as pool:
        shown = list(pool.map(lambda n: template.render({"n": n}), range(200)))
    assert shown == ["".join(map(str, range(n))) for n in range(200)]


def test_names_of_the_state_hide_functions():
    assert render("{{ range }} {{ namespace.a }}", {"range": "mine", "namespace": {"a": 1}}) == "mine 1"


def test_white_space_follows_the_tags():
    assert render("  {% if true %}\n  a\n  {% endif %}\nb\n") == "  a\nb\n"
    assert render("a\n") == "a\n"
    assert render("") == ""


# --- Expressions: values, not text ---
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
    ("zz", "PC0410", "`zz` is not defined"),
    ("itm.type", "PC0410", "`itm` is not defined"),
    ("item.tpye", "PC0411", "`item` has no `tpye`"),
    ("item['tpye']", "PC0411", "`item` has no `tpye`"),
    ("state.map.a.c", "PC0411", "`state.map.a` has no `c`"),
    ("state.xs[7]", "PC0411", "`state.xs` has no element 7"),
    ("[item.tpye]", "PC0411", "`item` has no `tpye`"),
    ("state.blocks | map(attribute='zz')", "PC0411", "a mapping has no `zz`"),
    ("[] | first", "PC0411", "what is empty has no first element"),
    ("1 if item.type == 'OTHER'", "PC0421", "this `if` has no `else`, and its condition does not hold"),
    ("namespace(a=1)", "PC0413", "a namespace cannot be printed"),
    ("range", "PC0413", "a function cannot be printed"),
    ("state.name + 1", "PC0414", "`+` does not work with a string and a number"),
    ("1 / 0", "PC0415", "this expression divides by zero"),
    ("", "PC0401", ""),
    ("a b", "PC0401", ""),
    ("a }} {{ b", "PC0401", ""),
    ("{{ a }}", "PC0401", ""),
    ("a %} {% b", "PC0401", ""),
    ("x | nosuch", "PC0406", "there is no filter `nosuch`"),
    ("x | lines", "PC0406", "a pack cannot use the filter `lines`"),
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


# contract 3.1
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
