"""What is refused when a template is loaded, by its code, with the way out."""

import pytest

from tests.unit.template.run import find_errors, render

REFUSED = [
    ("{% for x in y recursive %}{% endfor %}", "PC0405", "macro"),
    ("{% autoescape true %}x{% endautoescape %}", "PC0405", ""),
    ("{% include 'a.j2' ignore missing %}", "PC0405", "include a file that is in the pack"),
    ("{{ x | random }}", "PC0406", "pick(state.id)"),
    ("{{ x | attr('y') }}", "PC0406", "x.name"),
    ("{{ x | uper }}", "PC0406", "`upper`"),
    ("{{ x | map('uper') | list }}", "PC0406", "`upper`"),
    ("{{ x | map('attr', 'y') | list }}", "PC0406", ""),
    ("{% filter nosuch %}x{% endfilter %}", "PC0406", ""),
    ("{% set x | nosuch %}x{% endset %}", "PC0406", ""),
    ("{% if false %}{{ x | nosuch }}{% endif %}", "PC0406", ""),
    ("{{ x is sameas 1 }}", "PC0407", "=="),
    ("{{ x is null }}", "PC0407", "write `is none`"),
    ("{{ x is purple }}", "PC0407", "`promptc rule PC0407` lists every test"),
    ("{{ x | camelcase }}", "PC0406", "`promptc rule PC0406` lists every filter"),
    ("{{ max(x, 3) }}", "PC0408", "write `[state.a, state.b] | max`"),
    ("{% autoescape true %}x{% endautoescape %}", "PC0405", "leave the tag out"),
    ("{{ x is defind }}", "PC0407", "`defined`"),
    ("{{ x | select('defind') | list }}", "PC0407", "`defined`"),
    ("{{ x | rejectattr('a', 'defind') | list }}", "PC0407", "`defined`"),
    ("{{ now() }}", "PC0408", "state.now"),
    ("{{ lipsum(3) }}", "PC0408", "chance"),
    ("{{ debug() }}", "PC0408", "promptc explain"),
    ("{{ rnage(3) }}", "PC0408", "`range`"),
    ("{% call nosuch() %}x{% endcall %}", "PC0408", ""),
    ("{% for i in [1] %}{{ loop([2]) }}{% endfor %}", "PC0408", ""),
    ("{{ state.items }}", "PC0409", "['items']"),
    ("{{ state.a.values | length }}", "PC0409", "['values']"),
    ("{{ state.text.slice(0, 3) }}", "PC0409", "write `state.text[0:80]`"),
    ("{{ state.facts.map(1) }}", "PC0409", "write `state.facts | map(attribute='name') | list`"),
    ("{{ state.facts.concat([]) }}", "PC0409", "join two lists with `+`"),
    ("{{ count_tokens(state.text) }}", "PC0408", "write `state.text | tokens`"),
    ("{{ state.clear() }}", "PC0409", ""),
    ("{{ state.list.append(1) }}", "PC0409", ""),
    ("{{ 'a'.format(1) }}", "PC0409", "format"),
    ("{{ ('a' ~ 'b').format_map({}) }}", "PC0409", ""),
    ("{{ 'a'.items() }}", "PC0409", ""),
    ("{{ 'a'.encode() }}", "PC0409", ""),
    ("{{ (1)() }}", "PC0409", "()"),
    ("{{ state.__class__ }}", "PC0409", "data"),
    ("{{ ''.__class__.__mro__ }}", "PC0409", ""),
    ("{% set __x = 1 %}", "PC0409", ""),
    ("{{ __run__ }}", "PC0409", ""),
    ("{% include state.name %}", "PC0425", "choose between files with `if`"),
    ("{% include ['a', 'b'] %}", "PC0425", ""),
    ("{% extends name %}", "PC0425", ""),
    ("{% import name as x %}", "PC0425", ""),
    ("{% include 'a.j2' if x else name %}", "PC0425", ""),
    ("{{ '\\ud800' }}", "PC0401", "character"),
    ("{{ x", "PC0401", ""),
    ("{{ x y }}", "PC0401", ""),
    ("{% if x %}", "PC0401", "endif"),
    ("{% nosuch %}", "PC0401", ""),
    ("{% do x %}", "PC0401", ""),
    ("{% break %}", "PC0401", ""),
    ("{{ 'x }}", "PC0401", ""),
    ("{{ '\\x' }}", "PC0401", ""),
    ("{% set none = 1 %}", "PC0401", ""),
    ("{% for loop in x %}{% endfor %}", "PC0401", ""),
    ("{% macro m(a, a) %}{% endmacro %}", "PC0401", ""),
    ("{{ dict(a=1, a=2) }}", "PC0401", ""),
    ("{% block a %}{% endblock %}{% block a %}{% endblock %}", "PC0401", ""),
    ("{% if x %}{% extends 'a.j2' %}{% extends 'a.j2' %}{% endif %}{% macro m() %}{% extends 'a.j2' %}{% endmacro %}", "PC0401", ""),
]


# contract 1.3 and 3.5
@pytest.mark.parametrize(("text", "code", "help"), REFUSED)
def test_is_refused_when_loaded(text, code, help):
    found = find_errors("first line\n" + text, files={"a.j2": "a"})
    assert code in {finding.code for finding in found}
    assert all(finding.span is not None and finding.span.line in (1, 2) and finding.help for finding in found)
    assert any(help in finding.help for finding in found if finding.code == code)


@pytest.mark.parametrize(
    "text",
    [
        "{% set ns = namespace(items=[1]) %}{{ ns.items }}",
        "{% import 'm.j2' as m %}{{ m.copy() }}",
        "{% from 'm.j2' import copy as c %}{{ c() }}",
        "{% include 'uses.j2' %}{% macro later() %}{% endmacro %}",
        "{% for f in [1] %}{{ loop.cycle(1, 2) }}{% endfor %}",
    ],
)
def test_names_the_template_binds_may_be_called_and_read(text):
    assert (
        render(text, files={"m.j2": "{% macro copy() %}copied{% endmacro %}", "uses.j2": "{% if false %}{{ later() }}{% endif %}"})
        is not None
    )
