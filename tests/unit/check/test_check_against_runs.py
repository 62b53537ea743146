"""`check` against the run, text by text: it is red where a template fails in every valid state, and not where one passes.

Each template is run in a state that is as plain as the schema allows; what fails there, fails in all of them.
"""

import json

import pytest

import promptc
from promptc import PromptcError
from promptc.check.registry import check_pack

HEAD = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 4000000\nstate: {schema: state.schema.json}\nsections:\n"
TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
STATE = {
    "n": 3, "s": "hello", "l": ["a"], "m1": {"abc": "x"}, "nums": [1], "ones": [["a"]], "one": [1], "objs": [{"abc": "x"}],
    "pairs": [["a", "b"]], "d": {},
}  # fmt: skip


def _listed(items, most=None, least=1):
    return {"type": "array", "items": items, "minItems": least, **({"maxItems": most} if most else {})}


def _mapped(names, required):
    return {"type": "object", "additionalProperties": False, "properties": names, "required": required}


_ABC = _mapped({"abc": TEXT}, ["abc"])
SCHEMA = _mapped(
    {
        "n": WHOLE,
        "s": TEXT,
        "l": _listed(TEXT),
        "m1": _ABC,
        "nums": _listed(WHOLE),
        "ones": _listed(_listed(TEXT, 1)),
        "one": _listed(WHOLE, 1),
        "objs": _listed(_ABC),
        "pairs": _listed(_listed(TEXT, 2, 2)),
        "d": _mapped({"x": TEXT}, []),
    },
    list(STATE),
)
FAILING = r"""
{{ state.l | select("even") | list }}
{{ state.objs | rejectattr("abc", "divisibleby", 2) | list }}
{{ 1e308 + 1e308 }}
{{ 'a' * (1e308 + 1e308) }}
{% for i in range(1e308 + 1e308) %}x{% endfor %}
{% macro m(b) %}{% if b > 1 %}{{ 1 / (b - b) }}{{ 1/0 }}{% endif %}{% endmacro %}{{ m(2) }}
{% set total = 0 %}{{ 100 / total if total >= 0 else 0 }}
{{ 1/0 if 2 is even else 2 }}
{{ 'x' + 1 if 'a' in 'abc' else 0 }}
{{ 1/0 }}
{{ 1//0 }}
{{ 1%0 }}
{{ state.n / 0 }}
{{ state.n // 0 }}
{{ state.n % 0 }}
{{ '%d' | format('x') }}
{{ '%d' % 'x' }}
{{ '%d' | format(state.s) }}
{{ '%d %s' | format(state.n) }}
{{ '%s' | format(1, 2) }}
{{ '%(a)s' | format(b=1) }}
{{ '%d' % state.s }}
{{ '%q' % 1 }}
{{ [1] | select('in', 3) | list }}
{{ state.l | select('in', 3) | list }}
{{ state.s[1:2:0] }}
{{ [1,2][::0] }}
{{ state.s['a':] }}
{{ state.l['a':] }}
{{ state.l[:1.5] }}
{{ dict([1]) }}
{{ range(0, 10**9) | list }}
{{ range(10**9) }}
{{ caller() }}
{{ super() }}
{{ self.x() }}
{{ foo() }}
{{ state.n() }}
{{ state.s() }}
{{ loop.index }}
{% for x in state.l %}{{ loop.foo }}{% endfor %}
{% for a, b in state.m1 %}{{ a }}{% endfor %}
{% for a, b in [1, 2] %}{{ a }}{% endfor %}
{% for a, b in [[1], [2]] %}{{ a }}{% endfor %}
{% for a, b in state.nums %}{{ a }}{% endfor %}
{% for a, b in state.ones %}{{ a }}{% endfor %}
{% for a, b in state.objs %}{{ a }}{% endfor %}
{% for a, b, c in state.m1.items() %}{{ a }}{% endfor %}
{% set a, b = [1] %}{{ a }}
{% set a, b = 1 %}{{ a }}
{% set a, b = state.n %}{{ a }}
{% set a, b = state.one %}{{ a }}
{{ 'a' * 10**9 }}
{{ 2 ** 5000 }}
{{ 'a' + 1 }}
{{ [] | first | upper }}
{{ [] | max }}
{{ [1, 'a'] | sort }}
{{ [1, 'a'] | max }}
{{ 'x' | int / 0 }}
{{ 'abc'.index('z') }}
{{ [1].index(2) }}
{{ 'x' < 1 }}
{{ state.s < 1 }}
{{ 3 in 4 }}
{{ 3 in state.n }}
{{ 'a' | dictsort }}
{{ 'a' | groupby('x') | list }}
{{ [1] | map('nosuch') | list }}
{{ [{'a': 1}] | map(attribute='b') | join }}
{{ [1] | sum('x') }}
{{ ['a'] | sum }}
{{ 'x' | days_since('2026-01-01T00:00:00Z') }}
{{ 'x' | timestamp }}
{{ '2026-01-01T00:00:00Z' | days_since('y') }}
{{ -'a' }}
{{ 1.foo }}
{{ 'a'.foo }}
{{ none.x }}
{{ none + 1 }}
{{ {'a': 1}.b.c }}
{{ [1][5] + 1 }}
{% set ns = namespace(a=1) %}{{ ns.b }}
{% set ns = namespace(a=1) %}{{ ns }}
{% set zero = 0 %}{{ 1 / zero }}
{% for x in [0] %}{{ 1 / x }}{% endfor %}
{% macro m(a=1/0) %}{{ a }}{% endmacro %}{{ m() }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}
{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}
{% if 1/0 %}x{% endif %}
{% if state.n / 0 %}x{% endif %}
{{ cycler() }}
{{ cycler('a').foo }}
{% for x in 5 %}{% endfor %}
{% for x in state.n %}{% endfor %}
{{ 'x' is divisibleby 0 }}
{{ 'x' is divisibleby 2 }}
{{ state.s is divisibleby 2 }}
{{ 10 is in 3 }}
{{ 10 is in state.n }}
{{ state.l is in state.n }}
{{ state.l | reject('in', state.n) | list }}
{% macro m(a) %}{{ a.x }}{% endmacro %}{{ m(1) }}
{% set c = cycler(1) %}{{ c.foo() }}
{{ loop.cycle() }}
{% for x in [1] %}{{ loop.foo() }}{% endfor %}
{% for x in [1] %}{{ loop }}{% endfor %}
{{ range }}
{{ dict }}
{{ 5 | default }}{{ 'a' | default(1,2,3) }}
{{ state.l[1:2,3] }}
{{ state.m1[1:] }}
{{ state.n[1:] }}
{% set x = 5 %}{{ x.y.z }}
{% set x %}abc{% endset %}{{ x / 0 }}
{{ state.s - 1 }}
{{ state.s ~ 1/0 }}
{{ [1, 2, 3] | first | last }}
{{ (state.n, 1) | join('x', 5, 6) }}
{{ state.nums | sum / 0 }}
{{ state.nums | length % 0 }}
{{ '%s %s' | format(state.s) }}
{{ '%(x)s' | format(state.s) }}
{{ '%*d' | format(1, 2) }}
{{ '%c' | format(1) }}
{{ '%5000d' | format(state.n) }}
{{ state.l[state.s:] }}
{{ state.l[state.m1:] }}
{{ 'a' is even }}
{{ state.s is odd }}
{{ 'a' | batch('x') | list }}
{{ 'abc' | center('x') }}
{{ 1 ~ namespace() }}
{{ [1,2] | join(attribute='x') }}
{{ state.l | join(attribute='x') }}
{{ (1, 2) + [3] }}
{{ {} + {} }}
{{ {} < {} }}
{{ state.m1 < state.m1 }}
{{ state.m1 + 1 }}
{{ {[1]: 2} }}
{{ {1: 2, 'a': 3} | tojson }}
{{ 'a' | xmlattr }}
{{ range('a') }}
{{ range(1, 2, 0) }}
{{ 'abc' | replace('a') }}
{% filter upper | nosuch %}a{% endfilter %}
{% filter truncate(1) %}a{% endfilter %}
{% filter length %}a{% endfilter %}
{% filter sort %}b{% endfilter %}
{% call 5() %}x{% endcall %}
{% call state.n() %}x{% endcall %}
{{ 1e400 }}
{{ 1e308 * 10 }}
{{ (1e308 * 10) | int }}
{{ 'a' | float / 0 }}
{{ state.d.nope }}
{{ [[1]] | map('first') | map('upper') | map('length') | sum / 0 }}
{{ [3] | select('divisibleby', 0) | list }}
{{ state.nums | select('divisibleby', 0) | list }}
{{ state.nums | map('round', 1, 'up') | list }}
{{ state.nums | map('upper') | sum }}
{{ state.l | sum }}
{{ state.l | map('abs') | list }}
{{ state.n | round(200) }}
{{ state.s.zfill('a') }}
{{ state.s * state.s }}
{{ state.s * 1.5 }}
{{ state.l * 1.5 }}
{{ 'a' * 1.5 }}
{{ 0 ** -1 }}
{{ state.n ** 'a' }}
{{ (-1) ** 0.5 }}
{{ state.s | abs }}
{{ 'abc' | truncate_at('sentence', chars=-1) }}
{{ 'x' | format(*5) }}
{{ dict(**5) }}
{{ dict(**{1: 2}) }}
{{ range(*[1,2,3,4]) }}
{{ 'x'.join(5) }}
{{ 'x'.join([1]) }}
{{ state.s.split('') }}
{{ [1] | slice(0) | list }}
{{ not (1/0) }}
{{ true and 1/0 }}
{{ state.n and 1/0 }}
{{ (1/0) is defined }}
{{ (1/0) | default(2) }}
"""
PASSING = r"""
{{ state.nums | select("even") | list }}
{{ state.l | select("string") | list }}
{% macro rate(a, b) %}{% if b == 0 %}-{% else %}{{ (100 * a / b) | round(1) }}{% endif %}{% endmacro %}{{ rate(1, 2) }}{{ rate(0, 0) }}
{% macro pct(a, b=0) %}{{ (a / b) | round if b > 0 else '-' }}{% endmacro %}{{ pct(1) }} {{ pct(1, 4) }}
{% set total = 0 %}{{ 100 / total if total > 0 else 0 }}
{% macro a(x, d) %}{% if 0 < d <= 5 %}{{ x // d }}{% endif %}{% endmacro %}{{ a(5, 0) }}
{% macro f(fmt, v) %}{{ (fmt | format(v)) if '%' in fmt else fmt }}{% endmacro %}{{ f('a', 3) }}{{ f('%d', 2) }}
{% macro clip(t, n=0) %}{{ t | truncate(n) if n > 3 else t }}{% endmacro %}{{ clip('abc') }}
{% macro c(all, n=0) %}{% if n >= 1 %}{% for r in all | slice(n) %}{{ r }}{% endfor %}{% endif %}{% endmacro %}{{ c(state.l) }}
{% macro a(x, k) %}{% if k in ['n', 'i'] %}{{ x + 1 }}{% else %}{{ x.upper() }}{% endif %}{% endmacro %}{{ a('a', 't') }}{{ a(1, 'n') }}
{% macro a(x, n) %}{% if n > 1 %}{{ x[1] }}{% else %}{{ x[0] }}{% endif %}{% endmacro %}{{ a([1], 1) }}
{% macro m(n) %}{% if n != [] %}{{ n | first | upper }}{{ m([]) }}{% endif %}{% endmacro %}{{ m(['a']) }}
{% macro a(x) %}{{ x }}{% endmacro %}{{ a(*[1]) }}
{% macro a(x) %}{{ x }}{% endmacro %}{{ a(**{'x': 1}) }}
{{ dict(a=1, **{'b': 2}).b }}
{{ dict(**state.m1).abc }}
{% if 1 == 2 %}{{ 1/0 }}{% endif %}
{% if 1 < 2 %}a{% else %}{{ 1/0 }}{% endif %}
{% set debug = 0 %}{% if debug > 1 %}{{ 10 / debug }}{% endif %}x
{% set ok = 1 > 2 %}{% if ok and state.n %}{{ 1/0 }}{% endif %}
{{ 1/0 if 3 is even else 2 }}
{{ 1/0 if not (2 is even) else 2 }}
{{ joiner('a')(1) }}
{{ '%s' | format(a=state.s) }}
{{ 5 | urlize }}
{{ [1] | batch(0) | list }}
{{ state.l | batch(0) | list }}
{{ {}.a | default(1) }}
{{ {}.a is defined }}
{% set x = {}.a %}ok
{{ 'x' if false }}
{{ ('x' if false) ~ '' }}
{% if false %}{{ 1/0 }}{% endif %}
{{ 1/0 if false else 2 }}
{{ false and 1/0 }}
{{ true or 1/0 }}
{% for a, b in state.m1.items() %}{{ a }}{% endfor %}
{% for a, b in state.pairs %}{{ a }}{% endfor %}
{% for a, b in [['x', 1]] %}{{ a }}{% endfor %}
{% set a, b = [1, 2] %}{{ a }}
{% set a, b = 'xy' %}{{ a }}
{% set a, b = 1, 2 %}{{ a }}
{{ '%d %s' | format(state.n, state.s) }}
{{ '%s' % state.s }}
{{ '%5.1f' | format(state.n) }}
{{ '%(a)s' | format(a=state.s) }}
{{ '%s' | format(none) }}
{{ '%s' | format(state.l) }}
{{ '%%' | format(1) if false }}
{{ state.s[::2] }}
{{ state.s[none:2] }}
{{ state.s[state.n:] }}
{{ state.s[:true] }}
{% set c = cycler('a', 'b') %}{{ c.next() }}
{% set j = joiner(', ') %}{{ j() }}
{% set ns = namespace(a=1) %}{{ ns.a }}
{% macro m() %}{{ caller() if caller is defined }}{% endmacro %}{{ m() }}
{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}x{% endcall %}
{% block b %}x{% endblock %}{{ self.b() }}
{{ range(3) | list }}
{{ range(3) | sum }}
{{ dict([['a', 1]]) }}
{{ dict(a=1).a }}
{{ 'abc'.find('z') }}
{{ [1, 2] | select('odd') | list }}
{{ [1,2] | map('string') | join }}
{% for x in state.l %}{{ loop.index }}{{ loop.cycle('a','b') }}{{ loop.length }}{% endfor %}
{{ 'abc' | truncate_at('word', chars=2) }}
{{ 'abc' | tokens }}
{% for x in [0] if x %}{{ 1 / x }}{% endfor %}
{% set x = [1] | select('in', [3]) %}{{ x | list }}
"""


def _judge(tmp_path, text):
    """The codes of the errors of `check`, and that of the run (empty where it passes)."""
    (tmp_path / "state.schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    (tmp_path / "pack.yaml").write_text(f"{HEAD}  - id: a\n    text: |\n      {text}\n", encoding="utf-8")
    try:
        pack = promptc.load(tmp_path)
    except PromptcError as refused:
        codes = [one.code for one in refused.diagnostics]
        return codes, codes[0]
    found = [one.code for one in check_pack(pack.model) if one.level == "error"]
    try:
        pack.render(STATE)
    except PromptcError as failed:
        return found, failed.diagnostics[0].code
    return found, ""


@pytest.mark.parametrize("text", FAILING.strip().splitlines())
def test_check_is_red_where_every_render_fails(tmp_path, text):
    found, run = _judge(tmp_path, text)

    assert run and found


@pytest.mark.parametrize("text", PASSING.strip().splitlines())
def test_check_is_green_where_a_render_passes(tmp_path, text):
    assert _judge(tmp_path, text) == ([], "")
