"""Files of a template, where findings are placed, and what a render may not touch."""

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest

from promptc.diag.findings import Span
from promptc.template.compile import Place, load_template
from tests.unit.template.run import FILE, INLINE, find_errors, render


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
        ((11, 10), "A {{ state.nmae }}", (11, 10)),
    ],
)
def test_a_finding_of_an_inline_template_stands_where_its_text_is_written(at, text, found):
    place = Place(Span("pack.yaml", *at), inline=True, source=SOURCE)
    (finding,) = find_errors(text, {"state": {}}, place=place)
    assert finding.span is not None and (finding.span.line, finding.span.column) == found


def test_a_finding_of_an_included_file_has_that_files_line():
    (found,) = find_errors("\n\n{% include 'part.j2' %}", files={"part.j2": "a\n{{ 1 / 0 }}"})
    assert str(found) == "folder/part.j2:2:4: PC0415 a division by zero"


def test_a_finding_of_an_included_file_of_an_inline_template_is_in_the_file():
    (found,) = find_errors("{% include 'part.j2' %}", files={"part.j2": "a\n{{ 1 / 0 }}"}, place=INLINE)
    assert (found.span and found.span.file, found.span and found.span.line) == ("part.j2", 2)


def test_a_finding_in_a_macro_has_the_macros_line():
    (found,) = find_errors("{% macro m(x) %}\n{{ x + 1 }}\n{% endmacro %}\n{{ m('a') }}")
    assert (found.code, found.span and found.span.line) == ("PC0414", 2)


def test_all_findings_of_all_files_are_told_at_once():
    found = find_errors("{{ a | nosuch }}\n{{ b is nosuch }}\n{% include 'x.j2' %}", files={"x.j2": "{{ random() }}"})
    assert [str(finding).split(" ")[0] for finding in found] == ["folder/t.j2:1:8:", "folder/t.j2:2:6:", "folder/x.j2:1:4:"]


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
    assert str(found) == "folder/b.j2:2:4: PC0420 a circle of includes: a.j2 -> b.j2 -> a.j2"


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
