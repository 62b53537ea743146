"""Templates that would never end, or fill the memory, are stopped by counting: the same on every machine."""

import pytest

from tests.unit.template.run import find_errors, render

DOUBLED = (
    "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(45) %}{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}"
)
TUPLES = "{% set ns = namespace(x=(1,)) %}{% for i in range(45) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}"
LONG = "{% set a = 'A ' * 2000000 %}"
LIST = "{% set a = range(100000) | list %}"

BOMBS = [
    "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}x{% endfor %}{% endfor %}{% endfor %}",
    "{% for i in range(9999) %}{{ range(99999) | sum }}{% endfor %}",
    "{% for i in range(9999) %}{{ range(99999) | sort | length }}{% endfor %}",
    "{% for a in range(99999) | map('string') %}{% for b in range(99999) | map('string') %}x{% endfor %}{% endfor %}",
    "{{ 'a' * 1000000000 }}",
    "{{ 1000000000 * 'a' }}",
    "{{ [0] * 1000000000 }}",
    "{{ 'a' | center(1000000000) }}",
    "{{ 'a'.center(1000000000) }}{{ 'a'.ljust(9) }}",
    "{{ 'a'.zfill(1000000000) }}",
    "{{ '\t'.expandtabs(1000000000) }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ '%*d' % (1000000000, 1) }}",
    "{{ '%.1000000000f' | format(1.5) }}",
    "{% set ns = namespace(x='aaaaaaaaaa') %}{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns = namespace(x='aaaaaaaaaa') %}{% for i in range(40) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{{ ('a' * 10000) | replace('a', 'b' * 100000) }}",
    "{{ ('a' * 10000).replace('a', 'b' * 100000) }}",
    "{{ range(100000) | join('x' * 100000) }}",
    "{{ ('x' * 100000).join(range(100000) | map('string')) }}",
    "{{ [1] | batch(1000000000, 'x') | list }}",
    "{{ [1] | slice(1000000000) | list }}",
    "{{ {'a': [1]} | tojson(indent=500000000) }}",
    "{{ 'a\\nb' | indent(1000000000) }}",
    "{{ 'a\\nb' | indent('x' * 15000000) }}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(38) }}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{% block a %}{{ self.a() }}{% endblock %}",
    DOUBLED + "{{ ns.x }}",
    DOUBLED + "{{ ns.x | string }}",
    DOUBLED + "{{ ns.x | tojson }}",
    DOUBLED + "{{ ns.x | json }}",
    DOUBLED + "{{ ns.x == ns.y }}",
    DOUBLED + "{{ ns.x < ns.y }}",
    DOUBLED + "{{ ns.x in [ns.y] }}",
    DOUBLED + "{{ [ns.x].index(ns.y) }}",
    DOUBLED + "{{ [ns.x, ns.y] | sort | length }}",
    DOUBLED + "{{ [ns.x] | select('eq', ns.y) | list | length }}",
    DOUBLED + "{{ ns.x is eq ns.y }}",
    DOUBLED + "{% for z in [ns.x, ns.y] %}{{ loop.changed(z) }}{% endfor %}",
    TUPLES + "{{ [ns.x] | unique | list | length }}",
    TUPLES + "{{ [{'a': ns.x}] | groupby('a') | length }}",
    TUPLES + "{{ '%s' % ns.x }}",
    TUPLES + "{{ {'a': ns.x} | urlencode }}",
    "{% set a = 'a' * 1900000 %}{{ a.strip('b' * 900000 ~ 'a') }}",
    "{% set a = 'a' * 1900000 %}{{ a | trim('b' * 900000 ~ 'a') }}",
    "{% set a = 'a' * 1900000 %}{{ a.rfind('b' ~ 'a' * 900000) }}",
    LONG + "{{ ([a] * 100000) | sort | length }}",
    LONG + "{{ ([{'k': a}] * 100000) | groupby('k') | length }}",
    LONG + "{{ ([a] * 100000) | join | length }}",
    LONG + "{{ '%(a)s' * 100000 % {'a': a} }}",
    LONG + "{{ [a] * 100000 }}",
    LONG + "{{ a | wordwrap(10) }}",
    LONG + "{% for i in range(99999) %}{{ a.upper() | length }}{% endfor %}",
    LONG + "{% for i in range(99999) %}{{ a | upper | length }}{% endfor %}",
    LONG + "{% for i in range(99999) %}{{ a.split() | length }}{% endfor %}",
    LONG + "{% for i in range(99999) %}{{ a[1:] | length }}{% endfor %}",
    LONG + "{% for i in range(99999) %}{{ a | normalize | length }}{% endfor %}",
    LONG + "{% for i in range(99999) %}{{ a | truncate_at('word', chars=10) }}{% endfor %}",
    LONG + "{% for i in range(99999) %}{{ a }}{% endfor %}",
    LIST + "{% for i in a %}{{ 'x' in a }}{% endfor %}",
    LIST + "{% for i in a %}{{ a[:] | length }}{% endfor %}",
    LIST + "{% for i in a %}{{ a.count(i) }}{% endfor %}",
    LIST + "{% for i in a %}{{ a }}{% endfor %}",
    "{{ range(100001) }}",
]


@pytest.mark.sampled
@pytest.mark.parametrize("text", BOMBS)
def test_a_bomb_is_stopped(text):
    (found,) = find_errors("\n" + text)
    assert found.code == "PC0430"
    assert found.help
    assert found.span is not None and found.span.line == 2


@pytest.mark.parametrize(
    "text",
    [
        "{{ 2 ** 100000000 }}",
        "{% set ns = namespace(x=3) %}{% for i in range(40) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
        "{{ 10.0 ** 400 }}",
        "{{ 1e300 * 1e300 }}",
        "{{ ('9' * 1000) | int }}",
        "{{ '1e999' | float }}",
        "{{ range(10 ** 30) }}",
    ],
)
def test_a_number_that_grows_is_stopped(text):
    assert [found.code for found in find_errors(text)] == ["PC0416"]


def test_files_that_include_each_other_twice_are_stopped():
    files = {f"f{number}.j2": f"{{% include 'f{number + 1}.j2' %}}" * 2 for number in range(25)} | {"f25.j2": "x"}
    assert [found.code for found in find_errors("{% include 'f0.j2' %}", files=files)] == ["PC0430"]


def test_what_is_never_run_costs_nothing():
    assert render("{% if false %}{{ 'a' * 100000000 }}{{ 'a' | center(50000000) }}{% endif %}ok") == "ok"


def test_values_that_nest_deeply_are_stopped():
    text = "{% set ns = namespace(x=[1]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}"
    assert [found.code for found in find_errors(text)] == ["PC0417"]


def test_a_large_honest_template_renders():
    blocks = [{"type": "A", "text": "x" * 100, "n": number} for number in range(20_000)]
    text = "{% for b in blocks if b.n is odd %}[{{ b.type }}] {{ b.text }}{{ ', ' if not loop.last }}\n{% endfor %}"
    assert render(text, {"blocks": blocks}).count("[A]") == 10_000
