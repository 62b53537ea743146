"""A trace tells of every piece of a text its place in the template, its expression, and the keys it was made of."""

import pytest

from promptc.diag.findings import PromptcError, Span
from promptc.model.state import Pointers
from promptc.template.compile import constant_template
from promptc.template.lower.module import load_expression, load_template
from promptc.template.place import Place, TraceContext
from promptc.template.tracing import trace_expression, trace_template

STATE = {
    "b": 1,
    "name": "Mara",
    "l": ["q", "r"],
    "d": {"k": "v", "w": {"z": 5}},
    "rows": [{"n": "one", "t": "T1"}, {"n": "two", "t": "T2"}],
}
FILES = {
    "part.j2": "P{{ state.b }}{{ q }}",
    "macros.j2": "{% macro row(x) %}R{{ x }}{% endmacro %}",
    "base.j2": "H{% block a %}A{{ state.l[0] }}{% endblock %}T",
    "plain.md": "as it {{ stands }}",
}


def _trace(text, named=None, **names):
    template = load_template(text, Place(Span("f.j2", 1, 1), inline=False), load_file=FILES.__getitem__)
    given = {"state": STATE, **names}
    made = trace_template(template, given, TraceContext(Pointers(STATE).find, named or {}, {}))
    assert "".join(one.text for one in made) == template.render(given)
    return made


def _keys(text, **names):
    """What each piece that an expression made came of."""
    return [(one.text, *one.pointers) for one in _trace(text, **names) if one.code]


def test_every_piece_has_its_place_and_its_expression():
    made = _trace("a{{ state.b }}c\n  {%- for i in state.l %}\n  [{{ i | upper }}]\n{% endfor %}\n")
    assert [(one.text, str(one.span), one.code) for one in made[:5]] == [
        ("a", "f.j2:1:1", ""),
        ("1", "f.j2:1:2", "{{ state.b }}"),
        ("c", "f.j2:1:15", ""),
        ("  [", "f.j2:3:1", ""),
        ("Q", "f.j2:3:4", "{{ i | upper }}"),
    ]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("{{ state.d.w.z }}{{ state['d'].k }}{{ state.l[-1] }}", [("5", "/d/w/z"), ("v", "/d/k"), ("r", "/l/1")]),
        ("{{ state.get('b') }}{{ state.d['no'] | default('-') }}", [("1", "/b"), ("-", "/d")]),
        ("{{ state.name ~ state.b if state.l }}", [("Mara1", "/l", "/name", "/b")]),
        ("{{ state.l | join(',') }}{{ state.rows | map(attribute='n') | join }}", [("q,r", "/l"), ("onetwo", "/rows")]),
        ("{{ state.l | first }}{{ 'x' }}", [("q", "/l"), ("x",)]),
        ("{{ state.d }}", [("{'k': 'v', 'w': {'z': 5}}", "/d")]),
        ("{{ no.thing is defined }}{{ state.b + 1 }}", [("False",), ("2", "/b")]),
    ],
)
def test_an_expression_has_the_keys_it_read(text, keys):
    assert _keys(text, no={}) == keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("{% for i in state.l %}{{ i }}{% endfor %}", [("q", "/l/0"), ("r", "/l/1")]),
        ("{% for i in state.l %}{{ loop.index }}{{ i }}{% endfor %}", [("1",), ("q", "/l/0"), ("2",), ("r", "/l/1")]),
        ("{% for i in state.l %}{{ loop.last }}{{ i }}{% endfor %}", [("False",), ("q", "/l/0"), ("True",), ("r", "/l/1")]),
        ("{% for i in state.l %}{{ loop.cycle('x', 'y') }}{{ i }}{% endfor %}", [("x",), ("q", "/l/0"), ("y",), ("r", "/l/1")]),
        ("{% for i in state.l | reverse %}{{ i }}{% endfor %}", [("r", "/l"), ("q", "/l")]),
        ("{% for i in state.l if i != 'q' %}{{ i }}{% endfor %}", [("r", "/l/1")]),
        ("{% for i in state.l if i != 'q' %}{{ loop.index }}{{ loop.last }}{{ i }}{% endfor %}", [("1",), ("True",), ("r", "/l")]),
        (
            "{% for r in state.rows | reverse if r.n %}{{ loop.index }}{{ r.n }}{% endfor %}",
            [("1",), ("two", "/rows/1/n"), ("2",), ("one", "/rows/0/n")],
        ),
        ("{% for r in state.rows if r.n %}{{ loop.length }}{% endfor %}", [("2", "/rows/1/n"), ("2",)]),
        ("{% for k, v in state.d.items() %}{{ k }}{% endfor %}", [("k", "/d/k"), ("w", "/d/w")]),
        ("{% for k in state.d %}{{ state.d[k] is string }}{% endfor %}", [("True", "/d/k"), ("False", "/d/w")]),
        ("{% for k, v in state.d.items() if v != 'v' %}{{ loop.index }}{{ k }}{% endfor %}", [("1",), ("w", "/d")]),
        ("{% for i in [] %}{% else %}{{ state.b }}{% endfor %}", [("1", "/b")]),
        ("{% for g in state.rows | groupby('n') %}{{ g.list[0].t }}{% endfor %}", [("T1", "/rows/0/t"), ("T2", "/rows/1/t")]),
    ],
)
def test_what_a_loop_goes_over_is_known_by_its_place(text, keys):
    assert _keys(text) == keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("{% set x = state.d.w.z %}{% set y = x %}{{ y }}", [("5", "/d/w/z")]),
        ("{% set a, b = state.l %}{{ a }}", [("q", "/l")]),
        ("{% set a, b = state.b, state.name %}{% set a, b = b, a %}{{ a }}{{ b }}", [("Mara", "/name"), ("1", "/b")]),
        ("{% set s = namespace() %}{% set a, s.x = state.b, 2 %}{{ a }}{{ s.x }}", [("1", "/b"), ("2", "/b")]),
        ("{% set x = state.name ~ '!' %}{% if x %}{% set x = state.b %}{% endif %}{{ x }}", [("1", "/b")]),
        ("{% set x %}q{{ state.b }}{% endset %}{{ x }}", [("q1", "/b")]),
        ("{% set s = namespace(x=0) %}{% for r in state.rows %}{% set s.x = r.n %}{% endfor %}{{ s.x }}", [("two", "/rows/1/n")]),
        ("{% with a = state.l[1] %}{{ a }}{% endwith %}", [("r", "/l/1")]),
        ("{% filter upper %}{{ state.l[1] }}b{% endfilter %}", [("RB", "/l/1")]),
    ],
)
def test_what_is_set_keeps_its_keys(text, keys):
    assert _keys(text) == keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (
            "{% macro m(a, b='-') %}{{ a }}{{ b }}{% endmacro %}{{ m(state.b, b=state.d.k) }}{{ m(state.l[0]) }}",
            [("1", "/b"), ("v", "/d/k"), ("q", "/l/0"), ("-",)],
        ),
        (
            "{% macro m(n) %}{{ n }}{% if n > 0 %}{{ m(n - 1) }}{% endif %}{{ n }}{% endmacro %}{{ m(state.b) }}",
            [("1", "/b"), ("0", "/b"), ("0", "/b"), ("1", "/b")],
        ),
        (
            "{% macro m() %}{{ varargs[0] }}{{ kwargs.x }}{% endmacro %}{{ m(state.b, x=state.name) }}",
            [("1", "/b", "/name"), ("Mara", "/b", "/name")],
        ),
        ("{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(*state.l) }}", [("q", "/l"), ("r", "/l")]),
        (
            "{% macro m() %}({{ caller(state.b) }}){% endmacro %}{% call(q) m() %}{{ q }}{{ state.d.k }}{% endcall %}",
            [("1", "/b"), ("v", "/d/k")],
        ),
        (
            "{% from 'macros.j2' import row %}{{ row(state.b) }}{% import 'macros.j2' as m %}{{ m.row(x=state.name) }}",
            [("1", "/b"), ("Mara", "/name")],
        ),
        ("{% set q = state.name %}{% include 'part.j2' %}", [("1", "/b"), ("Mara", "/name")]),
        ("{% extends 'base.j2' %}{% block a %}{{ super() }}{{ state.b }}{% endblock %}", [("q", "/l/0"), ("1", "/b")]),
    ],
)
def test_macros_blocks_and_other_files_are_gone_into(text, keys):
    assert _keys(text) == keys


def test_a_macros_text_is_gone_into_only_where_it_is_what_is_printed():
    """A text of one character is the same object wherever it stands."""
    macro = "{% macro m() %}{{ state.l[0] }}{% endmacro %}"
    assert [one.code for one in _trace(macro + "{{ other if m() else '' }}{{ m() }}", other="q")] == [
        "{{ other if m() else '' }}",
        "{{ state.l[0] }}",
    ]
    assert _keys(macro + "{% set s = namespace(m=m) %}{{ s.m() }}{{ m() ~ '' }}") == [("q", "/l/0"), ("q", "/l/0")]
    two = "{% macro m(a) %}{{ a }}{% endmacro %}{% set s = namespace(m=m) %}"
    assert _keys(two + "{{ m(state.b) }}{{ s.m(state.name) }}") == [("1", "/b"), ("Mara", "/name")]


def test_what_another_file_prints_has_its_place_there():
    made = _trace("{% include 'part.j2' %}{% include 'plain.md' %}", q="x")
    assert [(one.text, str(one.span)) for one in made] == [
        ("P", "part.j2:1:1"),
        ("1", "part.j2:1:2"),
        ("x", "part.j2:1:15"),
        ("as it {{ stands }}", "plain.md:1:1"),
    ]
    assert [(one.text, str(one.span)) for one in _trace("{% extends 'base.j2' %}{% block a %}X{% endblock %}")] == [
        ("H", "base.j2:1:1"),
        ("X", "f.j2:1:37"),
        ("T", "base.j2:1:46"),
    ]


def test_what_is_called_knows_where_it_was_called():
    made = _trace("{% from 'macros.j2' import row %}{% macro m() %}{{ row(1) }}{% endmacro %}x{{ m() }}{% include 'plain.md' %}")
    assert [(one.text, [str(caller) for caller in one.callers]) for one in made] == [
        ("x", []),
        ("R", ["f.j2:1:76", "f.j2:1:49"]),
        ("1", ["f.j2:1:76", "f.j2:1:49"]),
        ("as it {{ stands }}", ["f.j2:1:85"]),
    ]


def test_the_same_value_of_another_name_is_not_taken_for_it():
    assert _keys("{% macro m() %}{{ state.name }}{% endmacro %}{{ m() }}{{ state.name }}{% set x = 'Mara' %}{{ x }}") == [
        ("Mara", "/name"),
        ("Mara", "/name"),
        ("Mara",),
    ]


def test_a_given_name_has_the_keys_it_is_said_to_have():
    assert [
        one.pointers for one in _trace("{{ item }}{{ tone }}{{ item }}", {"item": ("/l/0",), "tone": ("/d/k",)}, item="q", tone="v")
    ] == [
        ("/l/0",),
        ("/d/k",),
        ("/l/0",),
    ]


def test_a_part_of_a_constant_text_has_its_own_place():
    made = _trace("one\ntwo\nthree")[0]
    assert (made.part(4, 7).text, str(made.part(4, 7).span)) == ("two", "f.j2:2:1")
    assert str(_trace("x{{ state.name }}")[1].part(1, 3).span) == "f.j2:1:2"


def test_constants_and_what_reads_nothing():
    known = TraceContext(Pointers(STATE).find, {}, {})
    assert [(one.text, one.code) for one in trace_template(constant_template("as it {{ is }}", "a.md"), {}, known)] == [
        ("as it {{ is }}", "")
    ]
    assert trace_template(constant_template(""), {}, known) == ()
    assert _trace("") == ()


@pytest.mark.parametrize(
    ("text", "pointers"),
    [("state.d.w.z + state.b", ("/d/w/z", "/b")), ("3", ()), ("state.rows", ("/rows",)), ("[state.d.k, state.name]", ("/d/k", "/name"))],
)
def test_an_expression_tells_what_it_reads(text, pointers):
    expression = load_expression(text, Place(Span("pack.yaml", 1, 1), inline=True))
    assert trace_expression(expression, {"state": STATE}, TraceContext(Pointers(STATE).find, {}, {})) == pointers


def test_an_error_is_that_of_the_render():
    with pytest.raises(PromptcError, match="PC0411"):
        _trace("{{ state.nothing }}")
