"""Attacks on the template engine: what a stranger's pack may hold. Each ends in a finding, or in plain output where nothing is spent.

`STOPS` are refused while they run, at a counted step; `REFUSED` when they are loaded; `PRINTS` are honest in the end. Each is tried as a
template; those of `EXPRESSIONS` stand where a pack has an expression (`where`, `let`).
"""

# ruff: noqa: E501  an attack stands in one line

from collections.abc import Callable
from typing import Any

NAMES: dict[str, Any] = {
    "state": {
        "long": "word and another, " * 20_000,
        "wide": "東京 ﬁ ΐ ß 👩 " * 20_000,
        "lines": "one\ntwo\n" * 20_000,
        "list": [{"name": f"n{number % 97}", "age": number % 31, "tags": ["a", "b"]} for number in range(5_000)],
        "numbers": list(range(5_000)),
        "texts": [f"text {number % 71}" * 3 for number in range(5_000)],
        "deep": {"a": [[[[[[[[1]]]]]]]]},
        "name": "Mara",
    }
}

FILES = {
    **{f"bomb{number}.j2": f"{{% include 'bomb{number + 1}.j2' %}}" * 2 for number in range(24)},
    "bomb24.j2": "x",
    **{
        f"child{number}.j2": f"{{% extends 'child{number + 1}.j2' %}}{{% block a %}}{{{{ super() }}}}{{{{ super() }}}}{{% endblock %}}"
        for number in range(24)
    },
    "child24.j2": "{% block a %}x{% endblock %}",
    "twice.j2": "{% macro twice(n) %}{% if n %}{{ twice(n - 1) }}{{ twice(n - 1) }}{% endif %}x{% endmacro %}",
    "huge.j2": "{% set huge = 'x' * 4000000 %}{% macro get() %}{{ huge }}{% endmacro %}",
}

_DOUBLED = (
    "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(45) %}{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}"
)
_MAPPED = "{% set ns = namespace(x={'k': 1}) %}{% for i in range(45) %}{% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}"
_TUPLED = "{% set ns = namespace(x=(1,)) %}{% for i in range(45) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}"
_MANY = "{% for i in range(99999) %}"
_END = "{% endfor %}"


def _again(expression: str, setting: str = "") -> str:
    """The same many times: what is not paid for adds up to hours."""
    return f"{setting}{_MANY}{{% set t = {expression} %}}{_END}"


STOPS = {
    # strings: searching, stripping, splitting, padding
    "strip-many-chars": "{{ ('a' * 1900000).strip('b' * 900000 ~ 'a') | length }}",
    "lstrip-argument-grows": _again("('ab' * 4000).lstrip('ba' * i)"),
    "trim-many-chars": "{{ ('a' * 1900000) | trim('b' * 900000 ~ 'a') | length }}",
    "rfind-quadratic": "{{ ('a' * 1900000).rfind('b' ~ 'a' * 900000) }}",
    "rsplit-quadratic": "{{ ('a' * 1500000).rsplit('b' ~ 'a' * 700000) | length }}",
    "rpartition-quadratic": "{{ ('a' * 1500000).rpartition('b' ~ 'a' * 700000) | length }}",
    "find-two-way-worst": _again("a.find(b)", "{% set a = 'ab' * 40000 %}{% set b = 'ab' * 300 ~ 'aa' %}"),
    "count-in-loop": _again("state.long.count('rd a')"),
    "in-text-loop": _again("'zz' in state.long"),
    "in-text-long-needle": _again("b in a", "{% set a = 'a' * 60000 %}{% set b = 'a' * 30000 ~ 'b' %}"),
    "replace-nothing": _again("state.long.replace('zz', '')"),
    "replace-empty": "{{ ('a' * 4000000).replace('', 'bbbb') | length }}",
    "replace-chain": "{% set ns = namespace(t='a') %}{% for i in range(30) %}{% set ns.t = ns.t | replace('a', 'aaaa') %}{% endfor %}",
    "startswith-itself": _again("a.startswith(a)", "{% set a = 'a' * 1000000 %}"),
    "removeprefix-itself": _again("a.removeprefix('b')", "{% set a = 'a' * 1000000 %}"),
    "split-wide": "{% set a = ('東 ' * 1400000).split() %}{{ a | length }}{% set b = ('東 ' * 1400000).split() %}{{ b | length }}",
    "splitlines-wide": "{% set a = ('東\\n' * 1300000).splitlines() %}{% set b = ('東\\n' * 1300000).splitlines() %}{{ a | length }}",
    "indent-wide-lines": "{{ ('東\\n' * 1800000) | indent(1) | length }}",
    "indent-by-text": "{{ ('\\n' * 10000) | indent('x' * 10000, true, true) | length }}",
    "indent-again": _again("state.lines | indent(8)"),
    "expandtabs": "{{ ('\\t' * 100000).expandtabs(2000) | length }}",
    "expandtabs-again": _again("state.long.expandtabs(8)"),
    "zfill-loop": "{% set ns = namespace(t='') %}" + _MANY + "{% set ns.t = ns.t ~ '1'.zfill(2000) %}" + _END,
    "join-of-text": "{{ ('東' * 1500000) | join('👩👩👩👩') | length }}",
    "join-method-of-text": "{{ ('x' * 2000).join('東' * 900000) | length }}",
    "join-nested": "{% set ns = namespace(t=['aaaaaaaaaa']) %}{% for i in range(40) %}{% set ns.t = [ns.t | join(ns.t | join), ns.t | join] %}{% endfor %}",
    "list-of-wide-text": "{% set a = ('東' * 700000) | list %}{% set b = ('東' * 700000) | list %}{{ a | length }}",
    "slices-of-text": _again("state.long[::2][::2][::-1]"),
    "reverse-again": _again("state.wide | reverse"),
    # case and Unicode
    "upper-expands": "{% set ns = namespace(t='ΐ' * 1000000) %}{% for i in range(9) %}{% set ns.t = ns.t.upper() ~ ns.t.upper() %}{% endfor %}",
    "casefold-again": _again("state.wide.casefold()"),
    "upper-again": _again("state.wide | upper"),
    "title-wide": "{% set a = ('東 ' * 1400000) | title %}{% set b = ('東 ' * 1400000) | title %}{{ a | length }}",
    "capitalize-again": _again("state.wide | capitalize"),
    "swapcase-again": _again("state.wide.swapcase()"),
    "istitle-again": _again("state.wide.istitle()"),
    "normalize-expands": _again("('ﷺ' * 100000) | normalize"),
    "normalize-again": _again("state.wide | normalize"),
    "one-line-again": _again("state.long | one_line"),
    "mentions-many-words": _again("state.long | mentions(state.texts)"),
    "wordcount-again": _again("state.wide | wordcount"),
    "is-lower-again": _again("state.long is lower"),
    # wrapping, cutting, markup
    "wordwrap-one": "{{ ('a' * 100000) | wordwrap(1) | length }}",
    "wordwrap-hyphens": "{{ ('a-' * 60000) | wordwrap(3) | length }}",
    "wordwrap-joins": "{{ ('a ' * 2000) | wordwrap(1, wrapstring='x' * 100000) | length }}",
    "truncate-again": _again("state.long | truncate(300000)"),
    "truncate-at-again": _again("state.long | truncate_at('sentence', chars=100)"),
    "striptags-comments": _again("('<!-- a -->' * 5000) | striptags"),
    "striptags-open": _again("('<' * 50000) | striptags"),
    "striptags-comment-opens": _again("('<!--' * 20000) | striptags"),
    "escape-again": _again("('<&>' * 30000) | e"),
    "escape-grows": "{{ ('&' * 3200001) | e | length }}{{ ('&' * 3200001) | e | length }}",
    # formatting
    "percent-many-specs": "{{ '%(a)s' * 100000 % {'a': state.numbers} }}",
    "percent-wide-list": "{{ ('%s' * 60000) % (state.numbers,) }}",
    "percent-many-values": _again("'%s' % state.numbers"),
    "percent-widths": "{{ ('%2000d' * 100000) % (1,) }}",
    "percent-precision": "{% for i in range(99999) %}{{ ('%.2000f' * 8) % (1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5) }}{% endfor %}",
    "format-values-again": _again("'%r %r' | format(state.list, state.list)"),
    "print-list-again": _again("state.list ~ ''"),
    "big-numbers-printed": _again("n ~ n ~ n ~ n ~ n ~ n", "{% set n = 2 ** 1000 %}"),
    "big-numbers-joined": _again("([n] * 400) | join", "{% set n = 2 ** 1000 %}"),
    # comparing, hashing, sorting
    "compare-doubled": _DOUBLED + "{{ ns.x == ns.y }}",
    "compare-mapped": _MAPPED + "{{ ns.x == {'a': ns.x.a, 'b': ns.x.a} }}",
    "less-doubled": _DOUBLED + "{{ ns.x < ns.y }}",
    "in-doubled": _DOUBLED + "{{ ns.x in [ns.y, ns.y] }}",
    "index-doubled": _DOUBLED + "{{ [ns.x, 1].index(ns.y) }}",
    "count-doubled": _DOUBLED + "{{ [ns.x].count(ns.y) }}",
    "changed-doubled": _DOUBLED + "{% for z in [ns.x, ns.y] %}{{ loop.changed(z) }}{% endfor %}",
    "sort-doubled": _DOUBLED + "{{ [ns.x, ns.y] | sort | length }}",
    "sort-attribute-doubled": _DOUBLED + "{{ [{'k': ns.x}, {'k': ns.y}] | sort(attribute='k') | length }}",
    "min-doubled": _DOUBLED + "{{ [ns.x, ns.y] | min | length }}",
    "groupby-doubled": _DOUBLED + "{{ [{'k': ns.x}, {'k': ns.y}] | groupby('k') | length }}",
    "dictsort-doubled": _DOUBLED + "{{ {'a': ns.x, 'b': ns.y} | dictsort(by='value') | length }}",
    "unique-tupled": _TUPLED + "{{ [ns.x] | unique | list | length }}",
    "unique-attribute-tupled": _TUPLED + "{{ [{'k': ns.x}] | unique(attribute='k') | list | length }}",
    "select-eq-doubled": _DOUBLED + "{{ [ns.x] | select('eq', ns.y) | list | length }}",
    "selectattr-in-doubled": _DOUBLED + "{{ [{'k': ns.x}] | selectattr('k', 'in', [ns.y]) | list | length }}",
    "test-eq-doubled": _DOUBLED + "{{ ns.x is eq ns.y }}",
    "test-in-doubled": _DOUBLED + "{{ ns.x is in [ns.y] }}",
    "print-mapped": _MAPPED + "{{ ns.x }}",
    "json-mapped": _MAPPED + "{{ ns.x | json }}",
    "tojson-doubled": _DOUBLED + "{{ ns.x | tojson(indent=2) }}",
    "pick-seed-doubled": _DOUBLED + "{{ [1] | pick(ns.x) }}",
    "sum-doubled": _DOUBLED + "{{ [ns.x] | sum(start=[]) | string }}",
    "macro-default-doubled": _DOUBLED + "{% macro m(a=ns.x) %}{{ a }}{% endmacro %}{{ m() }}",
    "sort-long-texts": "{% set a = 'A ' * 200000 %}{{ ([a] * 50000) | sort | length }}",
    "sort-same-prefix": "{% set a = 'a' * 3000 %}" + _again("[a ~ 2, a ~ 1, a ~ 3] | sort"),
    "max-long-texts": "{% set a = 'A ' * 200000 %}{{ ([a] * 50000) | max | length }}",
    "unique-long-texts": "{% set a = 'A ' * 200000 %}{{ ([a] * 50000) | unique | list | length }}",
    "groupby-long-texts": "{% set a = 'A ' * 200000 %}{{ ([{'k': a}] * 50000) | groupby('k') | length }}",
    "sort-again": _again("state.list | sort(attribute='name,age')"),
    "groupby-again": _again("state.list | groupby('name')"),
    "unique-again": _again("state.texts | unique | list | length"),
    "changed-long-texts": "{% set a = 'a' * 1000000 %}{% set b = 'a' * 1000000 %}{% for i in range(99999) %}{{ loop.changed(a if loop.first else b) }}{% endfor %}",
    "equal-long-texts": _again("a == b", "{% set a = 'a' * 4000000 %}{% set b = 'a' * 4000000 %}"),
    "key-long-text": _again("state.get(state.long ~ i)"),
    "hash-same-place": "{% set ns = namespace(d={}) %}{% for i in range(5000) %}{% set ns.d = dict(ns.d, **{'k' ~ i: i}) %}{% endfor %}{{ ns.d | length }}",
    "in-list-of-long-texts": _again("a in b", "{% set a = 'a' * 2000 ~ 'b' %}{% set b = ['a' * 2000 ~ 'c'] * 400 %}"),
    "numbers-in-list": _again("-1 in state.numbers"),
    "list-equal-again": _again("state.numbers == state.numbers + []"),
    "list-less-again": _again("state.texts < state.texts"),
    # loops, lazies, growing values
    "loops-in-loops": "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}x{% endfor %}{% endfor %}{% endfor %}",
    "empty-loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "filtered-loops": "{% for a in range(99999) %}{% for b in range(99999) if false %}{% endfor %}{% endfor %}",
    "range-sum": "{% for i in range(9999) %}{{ range(99999) | sum }}{% endfor %}",
    "range-in": _again("0.5 in range(99999)"),
    "map-of-map": _again("state.numbers | map('string') | map('int') | select('odd') | list"),
    "lazy-never-read": _again("state.numbers | map('string')", "")
    + "{% for i in range(99999) %}{% for j in range(99999) | map('string') %}{% endfor %}{% endfor %}",
    "batch-fill": "{% for b in range(90000) | batch(1000000, 'x') %}{{ b | length }}{% endfor %}{{ [1] | batch(15000000, 'x') | list | length }}",
    "slice-many": "{{ [1] | slice(1000000000) | list | length }}",
    "slice-fill-many": "{{ [] | slice(3000000, 'x') | list | length }}",
    "list-of-sixteen-million": "{% set a = [0] * 15000000 %}{% set b = [0] * 8000000 %}{{ a | length }}",
    "list-doubles": "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "namespace-grows": "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = ns.x + [i] %}{% endfor %}",
    "namespace-text-grows": "{% set ns = namespace(x='') %}{% for i in range(99999) %}{% set ns.x = ns.x ~ 'and some more text' %}{% endfor %}",
    "namespace-list-copies": _again("[namespace(a=state.list).a + state.list] | length"),
    "dict-of-many-pairs": _again("dict(state.texts | map('list') | map('first') | map('string') | batch(2))"),
    "sum-of-lists": "{{ ([[0] * 1000] * 3000) | sum(start=[]) | length }}",
    "tuple-power": "{% set ns = namespace(x=(0,) * 1000) %}{% for i in range(20) %}{% set ns.x = ns.x * 8 %}{% endfor %}",
    "output-grows": "{% for i in range(99999) %}{{ state.long }}{% endfor %}",
    "capture-grows": "{% set t %}{% for i in range(99999) %}{{ state.long }}{% endfor %}{% endset %}{{ t | length }}",
    "call-grows": "{% macro m() %}{{ caller() }}{{ caller() }}{{ caller() }}{{ caller() }}{% endmacro %}{% call m() %}{% call m() %}{% call m() %}{% call m() %}{% call m() %}"
    "{% call m() %}{% call m() %}{% call m() %}{{ state.long }}{% endcall %}{% endcall %}{% endcall %}{% endcall %}{% endcall %}{% endcall %}{% endcall %}{% endcall %}",
    "filter-block-grows": "{% for i in range(9999) %}{% filter upper %}{{ state.wide }}{% endfilter %}{% endfor %}",
    "cycler-many": "{% set c = cycler(*range(99999)) %}" + _again("c.next()") + _again("cycler(*range(99999)).next()"),
    "cycle-many-arguments": "{% for i in range(99999) %}{{ loop.cycle(*state.numbers) }}{% endfor %}",
    "varargs-many": "{% macro m() %}{{ varargs | length }}{% endmacro %}" + _again("m(*state.numbers)"),
    "kwargs-many": "{% macro m() %}{{ kwargs | length }}{% endmacro %}" + _again("m(**dict(range(100000) | map('string') | batch(2)))"),
    # macros, includes, inheritance
    "macro-twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(38) }}",
    "macro-endless": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "macros-in-turn": "{% macro a(f, g) %}{{ f(g, f) }}{% endmacro %}{{ a(a, a) }}",
    "caller-endless": "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{% call m() %}x{% endcall %}",
    "block-endless": "{% block a %}{{ self.a() }}{% endblock %}",
    "blocks-in-turn": "{% block a %}{{ self.b() }}{% endblock %}{% block b %}{{ self.a() }}{% endblock %}",
    "include-bomb": "{% include 'bomb0.j2' %}",
    "super-bomb": "{% extends 'child0.j2' %}{% block a %}{{ super() }}{{ super() }}{% endblock %}",
    "imported-bomb": "{% from 'twice.j2' import twice %}{{ twice(38) }}",
    "import-in-loop": "{% for i in range(99999) %}{% import 'huge.j2' as h with context %}{{ h.get() | length }}{% endfor %}",
    "include-in-loop": "{% for i in range(99999) %}{% include 'bomb16.j2' %}{% endfor %}",
    "macro-in-filter-argument": "{% macro m(n) %}{{ 'x' | replace('x', m(n) ~ m(n)) }}{% endmacro %}{{ m(1) }}",
}

SPENDS = {
    "startswith-tuple": _again("state.long.startswith(('x', 'y', 'z'))"),
    "dict-copies": _again("dict(state, a=1)"),
    "center-again": _again("'a'.center(2000, '東')"),
    "ljust-of-long": _again("state.long.ljust(5)"),
    "wordwrap-dashes": "{{ ('-' * 28000) | wordwrap(3) | length }}",
    "urlencode-grows": "{{ ('👩' * 400000) | urlencode | length }}",
    "tojson-escapes": "{{ ['\\x01' * 1500000, '👩' * 700000] | tojson | length }}",
    "powers-again": _again("(3 ** 600) % 1000007 * 7 // 3"),
}
"""What is much, but paid for: stopped or printed."""

NESTS = {
    "nested-lists-printed": "{% set ns = namespace(x=[1]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
    "nested-lists-compared": "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
    "nested-maps-json": "{% set ns = namespace(x={}) %}{% for i in range(50000) %}{% set ns.x = {'a': ns.x} %}{% endfor %}{{ ns.x | json }}",
    "nested-maps-tojson": "{% set ns = namespace(x={}) %}{% for i in range(50000) %}{% set ns.x = {'a': ns.x} %}{% endfor %}{{ ns.x | tojson }}",
    "nested-tuples-keys": "{% set ns = namespace(x=(1,)) %}{% for i in range(50000) %}{% set ns.x = (ns.x,) %}{% endfor %}{{ [ns.x] | unique | list | length }}",
    "nested-lazies": "{% set ns = namespace(x=state.numbers) %}{% for i in range(9000) %}{% set ns.x = ns.x | map('string') %}{% endfor %}{{ ns.x | list | length }}",
    "nested-selects": "{% set ns = namespace(x=state.numbers) %}{% for i in range(9000) %}{% set ns.x = ns.x | select %}{% endfor %}{{ ns.x | first }}",
    "nested-freed": "{% set ns = namespace(x=[1]) %}{% for i in range(90000) %}{% set ns.x = [ns.x] %}{% endfor %}{% set ns.x = 1 %}ok",
}
"""Values that nest deeper than C code can follow: stopped, or printed where nobody follows them."""

GROWS = {
    "number-squares": "{% set ns = namespace(x=3) %}{% for i in range(40) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "number-power": "{{ 2 ** 100000000 }}",
    "number-tower": "{{ 9 ** 9 ** 9 ** 9 }}",
    "number-of-bool": "{{ (true + true) ** 99999999 }}",
    "number-factorial": "{% set ns = namespace(x=1) %}{% for i in range(1, 9999) %}{% set ns.x = ns.x * i %}{% endfor %}",
    "number-from-hex": "{{ ('f' * 4000) | int(base=16) }}",
    "number-from-digits": "{{ ('9' * 4000) | int }}",
    "number-sum": "{% set n = 2 ** 1020 %}{{ ([n] * 100) | sum }}",
    "number-float": "{{ 1e300 * 1e300 }}",
    "number-round": "{{ (10 ** 300) | round(-2, 'ceil') * 10 ** 300 }}",
    "number-range": "{{ range(10 ** 30) }}",
}
"""Numbers that grow beyond their bits, or beyond what is finite."""

REFUSED = {
    "parens": "{{ " + "(" * 9_000 + "1" + ")" * 9_000 + " }}",
    "brackets": "{{ " + "[" * 30_000,
    "nots": "{{ " + "not " * 15_000 + "1 }}",
    "minuses": "{{ " + "-" * 60_000 + "1 }}",
    "concats": "{{ " + "1~" * 30_000 + "1 }}",
    "sums": "{{ " + "1+" * 30_000 + "1 }}",
    "powers": "{{ " + "1**" * 20_000 + "1 }}",
    "compares": "{{ " + "1<" * 30_000 + "1 }}",
    "dots": "{{ a" + ".a" * 30_000 + " }}",
    "calls": "{{ a" + "()" * 30_000 + " }}",
    "filters": "{{ a" + "|e" * 30_000 + " }}",
    "tests": "{{ a" + " is odd" * 9_000 + " }}",
    "conditions": "{{ " + "1 if 1 else " * 5_000 + "1 }}",
    "ifs": "{% if 1 %}" * 6_000,
    "fors": "{% for a in b %}" * 4_000,
    "elifs": "{% if 0 %}" + "{% elif 0 %}" * 5_000 + "{% endif %}",
    "macros-nested": "{% macro m() %}" * 4_000,
    "blocks-nested": "".join(f"{{% block b{number} %}}" for number in range(3_000)),
    "withs": "{% with a = 1 %}" * 4_000,
    "arguments": "{{ f(" + "1," * 30_000 + ") }}",
    "keywords": "{{ dict(" + ",".join(f"a{number}=1" for number in range(8_000)) + ") }}",
    "targets": "{% set " + ",".join(f"a{number}" for number in range(8_000)) + " = 1 %}",
    "nested-targets": "{% for " + "(" * 9_000 + "a" + ")" * 9_000 + " in b %}{% endfor %}",
    "pairs": "{{ {" + "1:1," * 16_000 + "} }}",
    "digits": "{{ " + "9" * 60_000 + " }}",
    "hex-digits": "{{ 0x" + "f" * 60_000 + " }}",
    "float-digits": "{{ 1." + "9" * 60_000 + " }}",
    "exponent": "{{ 1e99999999 }}",
    "too-long": "x" * 70_000,
    "wide-and-too-long": "👩" * 17_000,
    "lines-before-error": " \n" * 30_000 + "{% if 1 %}",
    "surrogate": "{{ '\\ud800' }}",
    "open-string": "{{ '" + "a" * 60_000,
    "open-comment": "{#" + "{" * 60_000,
    "open-raw": "{% raw %}" + "{% " * 20_000,
    "circle": "{% include 'self.j2' %}",
    "environment-name": "{{ env.HOME }}{{ os.environ }}",
    "clock": "{{ now() }}",
    "random-text": "{{ lipsum(100000, max=100000) | length }}",
    "random-pick": "{{ state.list | random }}",
    "dump": "{{ debug() }}",
    "format-by-attr": "{{ ('{0.__class__}' | attr('format'))('') }}",
    "format-stored": "{% set f = '{0.__class__.__mro__}'.format %}{{ f('') }}",
    "method-printed": "{{ state.items }}",
    "misspelt": "Hello {{ usre.name }}",
    "format-attribute": "{{ '{0.__class__}'.format('') }}",
    "class-walk": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "class-walk-by-key": "{{ state['__class__']['__mro__'] }}{{ ''['__class__'] }}",
    "globals-walk": "{{ cycler.__init__.__globals__ }}",
    "mutate": "{{ state.list.append(1) }}",
    "mutate-later": "{% set f = state.list.append %}{{ f(1) }}",
    "caller-globals": "{% macro m() %}{{ caller.__globals__ }}{% endmacro %}{% call m() %}{% endcall %}",
    "environment": "{{ self._TemplateReference__context.environment }}",
    "counter-name": "{{ __run__ }}",
    "debug": "{% debug %}",
    "extension": "{% do state.list.append(1) %}",
    "dense-parts": "{{x.y}}" * 9_300,
    "dense-lists": "{{[x,x,x,x,x,x,x,x]}}" * 2_900,
    "dense-prints": "{{x}}" * 13_100,
    "dense-sets": "{%set x=1%}" * 5_950,
    "computed-include": "{% set f = '../../../etc/passwd' %}{% include f %}",
    "outside-include": "{% include '../../../../etc/passwd' %}",
}

PRINTS = {
    "never-run": "{% if false %}{{ 'a' * 100000000 }}{{ 'a' | center(50000000) }}{% endif %}ok",
    "constants-unfolded": "{{ 'ok' if true else 'a' * 1000000000 }}",
    "unused-macro": "{% macro m() %}{{ 'a' * 1000000000 }}{% endmacro %}ok",
    "unused-default": "{% macro m(a=1) %}{% endmacro %}{% set t = nope | default('ok') %}{{ t }}",
    "overridden-block": "{% extends 'child24.j2' %}{{ 'a' * 1000000000 }}{% block a %}ok{% endblock %}",
    "line-separators": "a\u2028{{ 1 }}\u2029\x0b\x0c\x85ok",
    "comments": "{# a #}" * 9_000 + "ok",
    "raws": "{% raw %}" + "{{ " * 20_000 + "{% endraw %}ok",
    "braces": "{ " * 30_000 + "ok",
    "percents": "% " * 30_000 + "ok",
    "prints": "{{ 1 }}" * 3_900 + "ok",
    "sets": "{% set a = 1 %}" * 1_900 + "ok",
    "macros": "".join(f"{{% macro m{number}() %}}{{% endmacro %}}" for number in range(1_200)) + "ok",
    "blocks": "".join(f"{{% block b{number} %}}{{% endblock %}}" for number in range(1_200)) + "ok",
    "names": "".join(f"{{% set n{number} = {number} %}}" for number in range(1_900)) + "ok",
    "null-and-controls": "{{ '\\x00\\x01\\x7f' | length }}\x01ok",
    "case-folding": "{{ ['ß', 'ss', 'ẞ', 'ﬀ', 'ı', 'I', 'İ'] | sort | unique | list | length }}ok",
    "template-in-data": "{{ '{{ 1 }}{% include \"x\" %}' }}ok",
}

EXPRESSIONS = {
    "sum-in-where": "range(99999) | map('string') | map('center', 99) | map('upper') | map('reverse') | map('list') | map('sort') | map('join') | list | length",
    "nested-in-where": "(range(99999) | map('string') | join ~ range(99999) | join) * 30 == ''",
    "padding-in-let": "'a' | center(1000000000)",
    "repeat-in-let": "'a' * 1000000000",
    "list-in-let": "[0] * 100000000",
    "strip-in-let": "('a' * 1900000).strip('b' * 900000 ~ 'a')",
    "join-in-let": "range(100000) | join('x' * 100000)",
    "power-in-let": "2 ** 100000000",
    "wrap-in-let": "('a' * 100000) | wordwrap(1)",
    "sort-in-let": "([('A ' * 200000)] * 50000) | sort | length",
    "batch-in-let": "[1] | batch(1000000000, 'x') | list",
    "lazy-in-let": "range(99999) | map('center', 2000) | list",
    "parens-in-let": "(" * 5_000 + "1" + ")" * 5_000,
    "nots-in-where": "not " * 5_000 + "1",
    "digits-in-let": "9" * 5_000,
    "dunder-in-let": "state.__class__",
    "method-in-let": "state.list.append(1)",
    "unknown-in-where": "state.lits | length",
}

_LETTERS = [
    f"{first}{second}"
    for first in "abcdefghij"
    for second in "abcdefghijklmnopqrstuvwxyz"
    if f"{first}{second}" not in ("as", "if", "in", "is")
]


def _chain(count: int, write: Callable[[int], str]) -> dict[str, str]:
    return {"d0": "state.name", **{f"d{number}": write(number) for number in range(1, count)}}


def _all_between(number: int, start: int, stop: int) -> str:
    return " ~ ".join([f"d{other}" for other in range(max(0, start), min(500, stop)) if other != number] or ["'x'"])


DEFINITIONS: dict[str, tuple[str, dict[str, str], str]] = {
    # each uses others: twice, deeply, all before it, all behind it, in circles
    "define-doubling": ("PC0403", _chain(500, lambda number: f"d{number - 1} ~ d{number - 1}"), "{{ d499 }}"),
    "define-deep": ("PC0403", _chain(500, lambda number: f"d{number - 1} ~ 'x'"), "{{ d499 }}"),
    "define-all-before": ("PC0403", {f"d{number}": _all_between(number, number - 90, number) for number in range(500)}, "{{ d499 }}"),
    "define-all-behind": ("PC0266", {f"d{number}": _all_between(number, number + 1, number + 90) for number in range(500)}, "{{ d0 }}"),
    "define-all-around": ("PC0266", {f"d{number}": _all_between(number, number - 40, number + 40) for number in range(500)}, "{{ d0 }}"),
    "define-long-circle": ("PC0266", {f"d{number}": f"d{(number + 1) % 500}" for number in range(500)}, "{{ d0 }}"),
    "define-too-many": ("PC0209", {f"d{number}": "1" for number in range(5000)}, "{{ d0 }}"),
    # calls in calls, hundreds of arguments
    "define-call-doubling": ("PC0403", {"f(x)": "x ~ x"}, "{{ " + "f(" * 12 + "state.long" + ")" * 12 + " }}"),
    "define-call-wide": ("PC0403", {"f(x)": " ~ ".join(["x"] * 200), "g(x)": " ~ ".join(["f(x)"] * 9)}, "{{ g(g(1)) }}"),
    "define-call-deep": ("PC0403", {"f(x)": "x"}, "{{ " + "f(" * 3000 + "1" + ")" * 3000 + " }}"),
    "define-arguments": ("", {f"f({','.join(_LETTERS)})": "aa"}, f"{{{{ f({', '.join(['state.name'] * len(_LETTERS))}) }}}}{{{{ 'ok' }}}}"),
    "define-arguments-all-used": (
        "PC0430",
        {f"f({','.join(_LETTERS)})": " ~ ".join(_LETTERS[:150])},
        f"{{{{ f({', '.join(['state.long'] * len(_LETTERS))}) }}}}" * 2,
    ),
    "define-arguments-of-arguments": (
        "PC0403",
        {f"f({','.join(_LETTERS)})": " ~ ".join(_LETTERS[:150]), "g(b)": f"f({', '.join(['b'] * len(_LETTERS))})"},
        "{{ g(g(1)) }}",
    ),
    "define-arguments-alike": ("PC0267", {"f(a,a)": "a"}, "{{ f(1, 2) }}"),
    # names that mean something else
    "define-filter": ("PC0267", {"upper": "state.name"}, "{{ state.name | upper }}"),
    "define-test": ("PC0267", {"defined": "state.name"}, "{{ state.name is defined }}"),
    "define-state": ("PC0267", {"state": "1"}, "{{ state.name }}"),
    "define-item": ("PC0267", {"item": "1"}, "x"),
    "define-run": ("PC0205", {"__run__": "1"}, "x"),
    "define-argument-run": ("PC0205", {"f(__run__)": "__run__"}, "{{ f(1) }}"),
    "define-argument-range": ("PC0409", {"f(range)": "range(3)"}, "{{ f(1) }}"),
    "define-argument-state": ("", {"f(state)": "state.name"}, "{{ f({'name': 'ok'}) }}"),
    # no expression, no call
    "define-statement": ("PC0401", {"f": "1 }}{% for x in y %}{{ 2"}, "{{ f }}"),
    "define-call-block": ("PC0426", {"f(x)": "x"}, "{% call f(1) %}x{% endcall %}"),
    "define-keywords": ("PC0426", {"f(x)": "x"}, "{{ f(**{'x': 1}) }}"),
    # what is written out is paid where it runs
    "define-again": ("PC0430", {"f(x)": "x | upper | length"}, _MANY + "{{ f(state.long) }}" + _END),
    "define-again-nested": ("PC0430", {"f(x)": "x.replace('o', '0')", "g(x)": "f(f(f(x)))"}, _MANY + "{% set t = g(state.long) %}" + _END),
}
"""Definitions of a pack, and a text that names them; with the code of the finding that a render ends in (empty: it prints)."""
