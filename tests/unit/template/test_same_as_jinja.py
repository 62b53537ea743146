"""Inside the subset the output is Jinja's, to the byte."""

import copy

import pytest
from jinja2 import DictLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from promptc.diag.findings import Span
from promptc.template.lower.module import load_template
from promptc.template.place import Place

NAMES = {
    "state": {
        "name": "Mara",
        "text": "A long evening.\nThe lamp is out, and  nobody\tspeaks.\n\n  Then a knock.  ",
        "stress": 7,
        "ratio": 2.5,
        "on": True,
        "off": False,
        "none": None,
        "empty": [],
        "tags": ["hinge:door", "calm", "Calm", "b", "a"],
        "numbers": [3, 1, 2, 2, 10],
        "people": [
            {"name": "Ana", "age": 30, "at": {"town": "Ost"}, "items": [1, 2]},
            {"name": "bert", "age": 25, "at": {"town": "West"}, "items": []},
            {"name": "Cleo", "age": 30, "at": {"town": "ost"}, "items": [3]},
        ],
        "map": {"b": 2, "a": 1, "c": {"d": [1, {"e": None}]}},
        "title": "the key title",
        "html": "<b>&\"quoted\" 'single'</b>",
    },
    "x": 5,
}

FILES = {
    "part.j2": "part {{ state.name }} {{ local | default('no local') }}\n",
    "macros.j2": "{% macro hi(who, mark='!') %}Hi {{ who }}{{ mark }}{% endmacro %}{% set answer = 42 %}{% set _hidden = 1 %}",
    "counting.j2": "{% set ns = namespace(n=0) %}{% macro next() %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{% endmacro %}",
    "context.j2": "{% macro who() %}{{ state.name }}{% endmacro %}",
    "base.j2": "top\n{% block head %}base head{% endblock %}\n{% block body scoped %}base body {{ x }}{% endblock %}\nend\n",
    "middle.j2": "{% extends 'base.j2' %}{% block head %}middle({{ super() }}){% endblock %}",
}

TEMPLATES = [
    "plain text\n",
    "",
    "{{ state.name }} {{ state['name'] }} {{ state.people[0].name }} {{ state.people.0.name }} {{ state.people[-1]['at'].town }}",
    "{{ 1 + 2 * 3 - 4 }} {{ 7 / 2 }} {{ 7 // 2 }} {{ 7 % 3 }} {{ 2 ** 10 }} {{ -x }} {{ +x }} {{ 1.0 }} {{ 1e3 }} {{ 1_000 }}",
    "{{ 'a' ~ 1 ~ none ~ [1, 'b'] ~ {'a': 1} ~ true }} {{ 'a' + 'b' }} {{ 'ab' * 3 }} {{ [1] + [2] }} {{ [0] * 3 }}",
    "{{ 1 < 2 }} {{ 1 < 2 < 3 }} {{ 1 < 3 > 2 == 2 }} {{ 1 == 1.0 }} {{ 'a' != 'b' }} {{ 3 >= 3 }} {{ 2 <= 1 }} {{ x < x + 1 < 10 }}",
    "{{ 'a' in 'abc' }} {{ 1 in [1, 2] }} {{ 'b' not in state.tags }} {{ 'a' in state.map }} {{ [1] in [[1], 2] }} {{ x in (5, 6) }}",
    "{{ state.on and 'yes' or 'no' }} {{ not state.off }} {{ state.off or state.none or 'last' }} {{ state.on and state.empty }}",
    "{{ 'yes' if state.on else 'no' }} [{{ 'hidden' if state.off }}] {{ ('a' if state.off) ~ 'b' }}",
    "{{ (1, 2) }} {{ (1,) }} {{ () }} {{ [1, [2, 'a']] }} {{ {'a': [1, none], 'b': {'c': true}} }} {{ {} }} {{ {state.name: 1} }}",
    "{{ state.numbers[1:3] }} {{ state.numbers[::-1] }} {{ state.name[:2] }} {{ state.name[-1] }} {{ state.numbers[:x] }}",
    "{{ none }} {{ None }} {{ True }} {{ false }} {{ 'it\\'s' }} {{ \"q\" 'r' }} {{ ['it\\'s \"x\"'] }}",
    "{{ state.title }} {{ state.map.c.d[1].e }} {{ state.map['c']['d'] }}",
    "{% if state.on %}on{% elif state.off %}off{% else %}none{% endif %}\n{% if state.empty %}x{% else %}y{% endif %}\n",
    "{% if state.stress > 5 %}\nhigh\n{% endif %}\nafter\n",
    "  {% if true %}\n    indented\n  {% endif %}\nrest\n",
    "a\n  {%- if true -%}\n   b\n  {%- endif %}\nc\n",
    "{%+ if true %}x{% endif +%}\ny\n",
    "{# a comment #}\nafter {# b #} comment\n",
    "{% raw %}{{ not run }} {% if %}{% endraw %}|{{ '{{' }}|{{ '}}' }}",
    "{% for p in state.people %}{{ loop.index }}/{{ loop.length }} {{ p.name }}{{ ', ' if not loop.last }}{% endfor %}",
    "{% for p in state.people %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.depth }};{% endfor %}",
    "{% for p in state.people %}{{ loop.previtem.name if not loop.first else '-' }}>{{ loop.nextitem.name if not loop.last else '-' }} "
    "{% endfor %}",
    "{% for p in state.people %}{{ loop.cycle('odd', 'even') }}{{ loop.changed(p.age) }} {% endfor %}",
    "{% for p in state.people if p.age == 30 %}{{ loop.index }}{{ p.name }}{% endfor %}",
    "{% for p in state.empty %}x{% else %}nobody{% endfor %} {% for p in state.people if p.age > 99 %}x{% else %}none old{% endfor %}",
    "{% for k, v in state.map.items() %}{{ k }}={{ v }};{% endfor %}{% for k in state.map %}{{ k }}"
    "{% endfor %}{{ state.map.keys() | list }}",
    "{% for k, v in state.map | dictsort %}{{ k }}{% endfor %} {{ state.map | items | list }} {{ state.map.values() | list | length }}",
    "{% for a in range(3) %}{% for b in range(a) %}{{ a }}{{ b }}{{ loop.index }} {% endfor %}{{ loop.index }}|{% endfor %}",
    "{% for p in state.people | selectattr('age', 'gt', 25) %}{{ loop.length }}{{ loop.last }}{{ p.name }}{% endfor %}",
    "{% set y = 1 %}{{ y }}{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set t %}cap {{ y }}{% endset %}[{{ t }}]"
    "{% set u | upper %}up{% endset %}{{ u }}",
    "{% set y = 1 %}{% for i in [1, 2] %}{% set y = y + i %}{{ y }}{% endfor %}{{ y }}",
    "{% set ns = namespace(n=0, seen=[]) %}{% for i in [1, 2, 3] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}"
    " {{ ns['n'] }} {{ ns.seen }}",
    "{% if 0 %}{% set x = 1 %}{% endif %}{{ x }} {% set x = 2 %}{{ x }}",
    "{% with a = 1, b = x %}{{ a + b }}{% endwith %} {% with %}{% set z = 3 %}{{ z }}{% endwith %}",
    "{% macro m(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, 3) }} {{ m(a=1, c='y') }} {{ m(1, c=m(2)) }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, z=3) }}",
    "{% set x = 1 %}{% macro m() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ m() }}",
    "{% macro tree(n) %}{{ n }}{% if n > 0 %}({{ tree(n - 1) }}){% endif %}{% endmacro %}{{ tree(5) }}",
    "{% macro box(t) %}<{{ t }}>{{ caller() }}</{{ t }}>{% endmacro %}{% call box('a') %}in {{ x }}{% endcall %}",
    "{% macro each(xs) %}{% for i in xs %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(i) each([1, 2]) %}[{{ i * 2 }}]{% endcall %}",
    "{% filter upper %}loud {{ state.name }}{% endfilter %}{% filter indent(2) | trim %} a\nb {% endfilter %}",
    "{% include 'part.j2' %}{% set local = 1 %}{% include 'part.j2' %}{% for local in [7, 8] %}{% include 'part.j2' %}{% endfor %}",
    "{% include 'part.j2' if state.on else 'macros.j2' %}",
    "{% import 'macros.j2' as m %}{{ m.hi('a') }}{{ m.answer }} "
    "{% from 'macros.j2' import hi as hello, answer %}{{ hello('b', mark='?') }}{{ answer }}",
    "{% import 'context.j2' as m with context %}{{ m.who() }} {% from 'context.j2' import who with context %}{{ who() }}",
    "{% import 'counting.j2' as a %}{% import 'counting.j2' as b %}{{ a.next() }}{{ b.next() }}{{ a.next() }}",
    "{% extends 'base.j2' %}{% block head %}child {{ super() }}{% endblock %}ignored{% set q = 1 %}",
    "{% extends 'middle.j2' %}{% block head %}{{ super.super() }}{% endblock %}",
    "{% extends 'middle.j2' %}{% block head %}leaf({{ super() }}){% endblock %}{% block body %}{{ self.head() }}{% endblock %}",
    "{% block a %}x{{ x }}{% endblock %} {{ self.a() }}",
    "{% for i in [1, 2] %}{% block item scoped %}{{ i }}{{ loop.index }}{% endblock %}{% endfor %}",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.next() }}{% set j = joiner('; ') %}{{ j() }}x{{ j() }}y",
    "{{ dict(a=1, b=2) }} {{ dict({'a': 1}, b=2) }} {{ dict([['k', 'v']]) }} {{ range(5) | list }}"
    " {{ range(2, 10, 3) | list }} {{ range(3) }}",
    "{{ -3 | abs }} {{ 'abc def' | capitalize }} [{{ 'ab' | center(6) }}] {{ state.none | default('d', true) }}"
    " {{ zz | default('d') }} {{ zz | d(1) }}",
    "{{ state.map | dictsort(false, 'key', true) }} {{ {'x': 'b', 'y': 'A'} | dictsort(by='value') }}"
    " {{ state.html | e }} {{ state.html | escape }}",
    "{{ 123456 | filesizeformat }} {{ 123456 | filesizeformat(true) }} {{ state.numbers | first }}"
    " {{ state.numbers | last }} {{ '3.7' | float }}",
    "{{ 'x' | float(1.5) }} {{ '%s-%05.2f-%d' | format('a', 2.5, 3) }} {{ '%(a)s' | format(a=1) }}"
    " {{ '%s and %%' % 'x' }} {{ '%s %s' % (1, 2) }}",
    "{% for g in state.people | groupby('age') %}{{ g.grouper }}:{{ g.list | length }} "
    "{% endfor %}{{ state.people | groupby('at.town') | length }}",
    "{% for age, people in state.people | groupby('age', default=1) %}{{ age }}{{ people | map(attribute='name') | join }}{% endfor %}",
    "{{ state.text | indent }}|{{ state.text | indent(2, true) }}|{{ state.text | indent('> ', blank=true) }}",
    "{{ '12' | int }} {{ 'x' | int(7) }} {{ '0x1f' | int(base=16) }} {{ 3.9 | int }} {{ state.none | int }}"
    " {{ state.tags | join }} {{ [1, none] | join('-') }}",
    "{{ state.people | join(', ', attribute='name') }} {{ 'abc' | join('.') }} {{ state.tags | length }}"
    " {{ state.map | count }} {{ 'abc' | list }}",
    "{{ 'ABC' | lower }} {{ 5 | upper }} {{ state.people | map(attribute='name') | list }} {{ state.tags | map('upper') | join(' ') }}",
    "{{ state.people | map(attribute='zz', default='-') | list }}"
    " {{ state.tags | map('replace', 'a', 'X') | list }} {{ [1, 2] | map('string') | list }}",
    "{{ state.numbers | max }} {{ state.numbers | min }} {{ state.tags | max }} {{ state.people | min(attribute='age') | items | list }}",
    "{{ state.numbers | reject('odd') | list }} {{ state.people | rejectattr('age', 'equalto', 30) | map(attribute='name') | list }}",
    "{{ 'aXbXc' | replace('X', '-') }} {{ 'aXbXc' | replace('X', '-', 1) }} {{ 12 | replace(1, 3) }}"
    " {{ state.numbers | reverse | list }} {{ 'abc' | reverse }}",
    "{{ 2.5 | round }} {{ 2.567 | round(2) }} {{ 2.5 | round(0, 'ceil') }} {{ 2.5 | round(method='floor') }} {{ 42 | round }}",
    "{{ state.numbers | select('gt', 2) | list }} {{ state.numbers | select | list }}"
    " {{ state.people | selectattr('at.town', 'eq', 'Ost') | list | length }}",
    "{% for column in [1, 2, 3, 4, 5] | slice(2) %}{{ column }}{% endfor %} "
    "{% for row in [1, 2, 3] | batch(2, '-') %}{{ row }}{% endfor %}",
    "{{ state.numbers | sort }} {{ state.tags | sort }} {{ state.tags | sort(case_sensitive=true) }}"
    " {{ state.people | sort(attribute='age,name') | map(attribute='name') | list }}",
    "{{ state.people | sort(reverse=true, attribute='name') | map(attribute='name') | list }} {{ 5 | string }}"
    " {{ '<p>a <b>b</b></p>' | striptags }}",
    "{{ state.numbers | sum }} {{ state.people | sum(attribute='age') }} {{ [1.5, 2] | sum(start=1) }}"
    " {{ [[1], [2]] | sum(start=[]) }} {{ 'hello big-world' | title }}",
    "{{ state.map | tojson }} {{ [1, '<'] | tojson(indent=2) }} {{ '  x ' | trim }} {{ 'xxaxx' | trim('x') }}"
    " {{ state.text | truncate(20) }}",
    "{{ 'foo bar baz qux' | truncate(9, true, '…') }} {{ 'foo bar baz qux' | truncate(11, false, '...', 0) }}"
    " {{ state.tags | unique | list }}",
    "{{ state.people | unique(attribute='age') | map(attribute='name') | list }}"
    " {{ state.tags | unique(true) | list }} {{ 'x' | upper }} {{ 'a b&c=ü' | urlencode }}",
    "{{ {'a': 'b c'} | urlencode }} {{ state.text | wordcount }} {{ state.text | wordwrap(12) }} {{ 'abcdefgh' | wordwrap(3, false) }}",
    "{{ x is odd }} {{ x is even }} {{ x is divisibleby 5 }} {{ zz is defined }} {{ zz is undefined }}"
    " {{ x is number }} {{ x is integer }} {{ 1.5 is float }}",
    "{{ state.on is boolean }} {{ state.on is true }} {{ state.off is false }} {{ none is none }}"
    " {{ 'a' is string }} {{ [] is sequence }} {{ {} is mapping }} {{ [] is iterable }}",
    "{{ 'a' is lower }} {{ 'A' is upper }} {{ 1 is eq 1 }} {{ 1 is ne 1 }} {{ 1 is lt 2 }} {{ 2 is ge 2 }}"
    " {{ 1 is in [1] }} {{ 1 is not none }} {{ 3 is gt(2) }}",
    "{{ state.name.upper() }} {{ 'a,b'.split(',') }} {{ ' x '.strip() }} {{ 'abc'.startswith('ab') }}"
    " {{ '-'.join(['a', 'b']) }} {{ 'aa'.replace('a', 'b', 1) }}",
    "{{ 'ab'.center(6, '*') }}{{ 'ab'.ljust(4) }}{{ 'ab'.rjust(4) }}{{ '7'.zfill(3) }}{{ 'a\tb'.expandtabs(4) }}"
    " {{ 'a b'.title() }} {{ 'abc'.find('c') }} {{ 'a-b'.partition('-') }}",
    "{{ state.map.get('a') }} {{ state.map.get('zz', 'd') }} {{ state.numbers.index(2) }}"
    " {{ state.numbers.count(2) }} {{ 'ß'.casefold() }} {{ 'prefix-x'.removeprefix('prefix-') }}",
    "{{ [[3], [1], [2]] | sort }} {{ [[1, 2], [1, 2]] | unique | list if false else 'x' }}"
    " {{ [{'a': 1}] == [{'a': 1}] }} {{ [1, 2] < [1, 3] }}",
    "{% set loop_names = [] %}{% for x in [1] %}{{ x }}{% endfor %}{{ x }}",
    "a\r\nb{{ '\r\n' }}c",
    "{{ 'ü' }} {{ '\\u00e4' }} {{ '\\n' }}|{{ 'a\\tb' }} \u2028 \x0b",
    "{{ 10000000000000000000000 }} {{ 0.1 + 0.2 }} {{ 1e100 }} {{ 3.0 }} {{ -0.0 }} {{ 1 / 3 }}",
    "{{ state.people[0]['items'] }} {{ state.people[0]['items'] | length }}",
    "{{ loop is defined }}{% for i in [1] %}{{ loop is defined }}{% endfor %}",
    "{{ caller is defined }} {% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}",
    "{% macro outer() %}{% macro inner(a) %}[{{ a }}]{% endmacro %}{{ inner(1) }}{% endmacro %}{{ outer() }}",
    "{% set x = x + 1 %}{{ x }}{% set x = x * 2 %}{{ x }}",
    "{{ (state.numbers | sort)[0] }} {{ (state.numbers | map('string') | list)[1:] }}"
    " {{ state.people | map(attribute='age') | unique | list }}",
    "{{ 'a' if x > 3 else 'b' if x > 1 else 'c' }} {{ (x == 5) | string }} {{ x == 5 and x != 4 and not x == 3 }}",
]


# contract 3.7
@pytest.mark.parametrize("text", TEMPLATES)
def test_prints_what_jinja_prints(text: str) -> None:
    names = copy.deepcopy(NAMES)
    template = load_template(text, Place(Span("t.j2", 1, 1), inline=False), load_file=FILES.__getitem__)
    expected = _oracle().from_string(text).render(NAMES)
    assert template.render(names) == expected
    assert template.render(names) == expected
    assert names == NAMES


def _oracle() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, loader=DictLoader(FILES)
    )
