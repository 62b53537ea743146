"""Which paths of what it is given a template reads."""

import pytest

from promptc.template.lower.module import load_expression, load_template
from tests.unit.template.run import FILE, INLINE

FILES = {
    "reads.j2": "{{ state.inner }}{{ bound }}",
    "gives.j2": "{% set ns.n = c %}",
    "macros.j2": "{% macro m(x) %}{{ x }}{{ state.unseen }}{% endmacro %}",
    "base.j2": "{{ state.base }}{% block a %}{{ state.block }}{% endblock %}",
    "twice.j2": "{% include 'reads.j2' %}{% include 'reads.j2' %}",
}

READS = [
    ("text", ""),
    ("{{ state.player.name }}", "state.player.name"),
    ("{{ state['player']['name'] }}", "state.player.name"),
    ("{{ state.people[0].name }}", "state.people"),
    ("{{ state.people[state.at].name }}", "state.people state.at"),
    ("{{ state.map[x].deep }}", "state.map x"),
    ("{{ state.xs[1:n] }}", "state.xs n"),
    ("{{ state.xs | map(attribute='a') | join(state.sep) }}", "state.xs state.sep"),
    ("{{ state.name.upper() }}{{ state.map.items() }}", "state.name state.map"),
    ("{{ (state.a | sort).b }}", "state.a"),
    ("{{ a if b else c }}{{ not d and e.f }}{{ g is divisibleby h }}", "a b c d e.f g h"),
    ("{% for b in state.blocks %}{{ b.text }}{{ loop.index }}{% endfor %}{{ b.after }}", "state.blocks b.after"),
    ("{% for k, v in m.items() if k != z %}{{ k }}{{ v.x }}{% else %}{{ k }}{% endfor %}", "m z k"),
    ("{% set y = state.y %}{{ y.z }}", "state.y"),
    ("{{ y }}{% set y = 1 %}{{ y }}", "y"),
    ("{% if a %}{% set y = 1 %}{% endif %}{{ y.b }}", "a y.b"),
    ("{% if a %}{% set y = 1 %}{% else %}{% set y = 2 %}{% endif %}{{ y.b }}", "a"),
    ("{% if a %}{% elif b.c %}{{ d }}{% endif %}", "a b.c d"),
    ("{% set y %}{{ z }}{% endset %}{{ y }}", "z"),
    ("{% with a = b.c %}{{ a.d }}{{ e }}{% endwith %}{{ a }}", "b.c e a"),
    ("{% macro m(a, b=c.d) %}{{ a }}{{ b }}{{ e.f }}{{ caller() }}{% endmacro %}{{ m(g) }}", "c.d e.f g"),
    ("{% call(x) m(y) %}{{ x }}{{ z }}{% endcall %}{% macro m(a) %}{% endmacro %}", "y z m"),
    ("{% set ns = namespace(n=a.b) %}{% set ns.n = ns.n + c %}{{ ns.n }}", "a.b c"),
    ("{% set a.b = c %}", "a c"),
    ("{% set a.b, c = d %}{% set e.f %}{{ c }}{% endset %}", "a d e"),
    ("{% include 'gives.j2' %}", "ns c"),
    ("{% set ns = namespace() %}{% include 'gives.j2' %}", "c"),
    ("{{ range(n) }}{{ dict(a=b) }}{{ cycler(c) }}", "n b c"),
    ("{% filter truncate(n) %}{{ x }}{% endfilter %}", "n x"),
    ("{% include 'reads.j2' %}", "state.inner bound"),
    ("{% set bound = 1 %}{% include 'reads.j2' %}", "state.inner"),
    ("{% for bound in xs %}{% include 'twice.j2' %}{% endfor %}", "state.inner xs"),
    ("{% include 'reads.j2' without context %}", ""),
    ("{% import 'macros.j2' as m %}{{ m.m(a.b) }}", "a.b"),
    ("{% from 'macros.j2' import m with context %}{{ m(a.b) }}", "a.b state.unseen"),
    ("{% extends 'base.j2' %}{% block a %}{{ super() }}{{ self.a() }}{{ own.x }}{% endblock %}", "state.base state.block own.x"),
    ("{% block a scoped %}{{ x.y }}{% endblock %}", "x.y"),
    ("{% include 'reads.j2' if a.b else 'twice.j2' %}", "state.inner bound a.b"),
]


@pytest.mark.parametrize(("text", "reads"), READS)
def test_reads(text, reads):
    template = load_template(text, FILE, load_file=FILES.__getitem__)
    assert template.reads == {tuple(path.split(".")) for path in reads.split()}


def test_reads_of_an_expression():
    assert load_expression("item.type == 'CHOICE' and strain.index < state.limits[item.kind]", INLINE).reads == {
        ("item", "type"),
        ("item", "kind"),
        ("strain", "index"),
        ("state", "limits"),
    }


def test_a_file_included_very_often_is_read_once():
    files = {f"f{number}.j2": f"{{% include 'f{number + 1}.j2' %}}" * 2 for number in range(30)} | {"f30.j2": "{{ state.deep }}"}
    assert load_template("{% include 'f0.j2' %}", FILE, load_file=files.__getitem__).reads == {("state", "deep")}
