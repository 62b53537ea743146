"""Whatever a template does wrong when it runs is told in an author's words."""

import re

import pytest

from tests.unit.template.run import find_errors

NAMES = {"x": 5, "user": {"name": "Mara", "values": [1]}, "xs": [1, 2, 3], "none": None, "state": {"hero": "Ada"}}

WRONG = [
    ("{{ usre.name }}", "PC0410 `usre` is not defined", "did you mean `user`?"),
    ("{{ user.nmae.first }}", "PC0411 `user` has no `nmae`", "did you mean `name`?"),
    ("{{ user.name.first }}", "PC0411 `user.name` has no `first`", "it is a string"),
    ("{{ nmae }}", "PC0410 `nmae` is not defined", ""),
    ("{{ hero }}", "PC0410 `hero` is not defined", "did you mean `state.hero`?"),
    ("{{ item.name }}", "PC0410 `item` is not defined", "use it under `items` and in steps"),
    ("{{ yes }}", "PC0410 `yes` is not defined", "write `true`"),
    ("{{ assistant }}", "PC0410 `assistant` is not defined", "a constant is in quotes inside the expression: `\"'assistant'\"`"),
    ("{{ xs[3] }}", "PC0411 `xs` has no element 3", "it has 3 elements, counted from 0"),
    ("{{ [zz] }}", "PC0410 `zz` is not defined", ""),
    ("{{ [1 if false] }}", "PC0411 a list or mapping that is printed holds an undefined value", ""),
    ("{{ xs | map('string') }}", "PC0413 a sequence that is not a list yet cannot be printed", "add `| list`"),
    ("{{ xs | map('string') | upper }}", "PC0413 a sequence that is not a list yet cannot be printed", "add `| list`"),
    ("{{ xs | map('string') ~ '' }}", "PC0413 a sequence that is not a list yet cannot be printed", "add `| list`"),
    ("{{ [xs | reverse] }}", "PC0413 a sequence that is not a list yet cannot be printed", "add `| list`"),
    ("{{ user.keys() }}", "PC0413 a sequence that is not a list yet cannot be printed", "add `| list`"),
    ("{{ '%s' % xs | map('string') }}", "PC0413 a sequence that is not a list yet cannot be printed", ""),
    ("{{ range }}", "PC0413 a function cannot be printed", ""),
    ("{% macro m() %}{% endmacro %}{{ m }}", "PC0413 a macro cannot be printed", ""),
    ("{% for i in xs %}{{ loop }}{% endfor %}", "PC0413 the loop cannot be printed", ""),
    ("{{ namespace() }}", "PC0413 a namespace cannot be printed", ""),
    ("{{ cycler(1) }}", "PC0413 a cycler cannot be printed", ""),
    ("{{ self }}", "PC0413 the template itself cannot be printed", ""),
    ("{{ user.name.upper }}", "PC0409 `.upper` is a method and not a value", "call it: `.upper(...)`"),
    ("{{ xs.length }}", "PC0411 `xs` has no `length`", "write `xs | length`"),
    ("{{ user.name.length }}", "PC0411 `user.name` has no `length`", "write `user.name | length`"),
    ("{{ xs.join(', ') }}", "PC0409 `.join` is not a method a template may call on a list", "write `state.names | join(', ')`"),
    ("{{ xs[0]() }}", "PC0409 a number cannot be called", ""),
    ("{% set f = 'a' %}{{ f.format() }}", "PC0409 `.format` is not a method a template may call", ""),
    ("{{ user['values'] }}{% set user = user %}{{ user.values }}", "PC0409 `.values` is a method and not a value", "['values']"),
    ("{{ 'a' + 1 }}", "PC0414 `+` does not work with a string and a number", "join strings with `~`"),
    ("{{ 1 + none }}", "PC0414 `+` does not work with a number and none", "default"),
    ("{{ +user.name }}", "PC0414 `+` does not work with a string", ""),
    ("{{ -none }}", "PC0414 `-` does not work with none", ""),
    ("{{ user.name / 2 }}", "PC0414 `/` does not work with a string and a number", ""),
    ("{{ 2 / xs }}", "PC0414 `/` does not work with a number and a list", ""),
    ("{{ [1, 'a'] | sort }}", "PC0414 `<` does not work with a string and a number", ""),
    ("{{ none | length }}", "PC0414 none has no length", "ask for none first"),
    ("{{ xs | map('string') | length }}", "PC0414 a sequence that is not a list yet has no length", "add `| list`"),
    ("{% for i in 5 %}{% endfor %}", "PC0414 a number is not a list", ""),
    ("{% for a, b in [1] %}{% endfor %}", "PC0414 a number is not a pair", ".items()"),
    ("{{ {xs | first: 1, (1, 2): 2} }}", "PC0414 a list cannot be a key of a mapping", ""),
    ("{{ {[1]: 2} }}", "PC0414 a list cannot be a key", ""),
    ("{{ xs.index(9) }}", "PC0414 the list does not contain what `index` looks for", "ask first whether it is `in` the list"),
    ("{{ (1, 2).index(9) }}", "PC0414 the list does not contain what `index` looks for", "ask first whether it is `in` the list"),
    ("{{ 'a'.rindex('b') }}", "PC0414 the string does not contain what is looked for", "use `find` or `rfind`, which give -1"),
    ("{{ 5 | items }}", "PC0414 `items` takes a mapping, not a number", ""),
    ("{% set x.y = 1 %}", "PC0414 only a namespace can be given an attribute, not a number", ""),
    ("{% block a required %}{% endblock %}", "PC0414 the required block `a` is not there", ""),
    ("{{ x // 0 }}", "PC0415 this expression divides by zero", "if b else 0"),
    ("{{ 'x' | upper(1) }}", "PC0424 `upper` takes no argument, and was given 1", "write `upper()`"),
    ("{{ 'x' | days_since }}", "PC0424 `days_since` needs `now`", "write `days_since(now)`"),
    ("{{ 'x' | truncate_at('verse', chars=1) }}", "PC0424 `boundary` of `truncate_at` cannot be `verse`", "`paragraph`, `sentence`"),
    ("{{ 'x'.replace() }}", "PC0424 `.replace()` needs `old` and `new`", "write `replace(old, new, count=-1)`"),
    ("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "PC0424 `m` takes at most 1 argument, and was given 2", "write `m(a=none)`"),
    ("{% macro m(a) %}{% endmacro %}{{ m(b=1) }}", "PC0424 `m` has no parameter `b`", "write `m(a=none)`"),
    ("{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}", "PC0411 the argument `a` was not given", ""),
    ("{% from 'm.j2' import nosuch %}{{ nosuch() }}", "PC0411 the template `m.j2` does not export `nosuch`", ""),
    ("{% import 'm.j2' as m %}{{ m.nosuch }}", "PC0411 `m` has no `nosuch`", "it is an imported template"),
    ("{% import 'm.j2' as m %}{{ m._exports }}", "PC0411 `m` has no `_exports`", ""),
    ("{{ caller() }}", "PC0410 `caller` is not defined", ""),
    ("{% block a %}{{ super() }}{% endblock %}", "PC0411 there is no block `a` above this one", ""),
    ("{{ self.nosuch() }}", "PC0411 there is no block `nosuch`", ""),
    ("{{ [{}] | map(attribute='a') | list }}", "PC0411 a mapping has no `a`", ""),
    ("{{ [{}] | groupby('a') }}", "PC0411 a mapping has no `a`", ""),
    ("{{ ['a'] | map(attribute='upper') | list }}", "PC0411 a string has no `upper`", ""),
    ("{{ ['a'] | map(attribute='__class__') | list }}", "PC0411 a string has no `__class__`", ""),
    ("{{ user['__class__'] }}", "PC0411 `user` has no `__class__`", ""),
    ("{% for i in xs %}{{ loop['_iterator'] }}{% endfor %}", "PC0411 `loop` has no `_iterator`", ""),
]


@pytest.mark.parametrize(("text", "message", "help"), WRONG)
def test_a_run_that_fails_is_explained(text, message, help):
    (found,) = find_errors("\n" + text, NAMES, {"m.j2": "{% macro a() %}{% endmacro %}"})
    assert f"{found.code} {found.message}".startswith(message)
    assert help in found.help
    assert found.help
    assert found.span is not None and found.span.line == 2


@pytest.mark.parametrize(("text", "message", "help"), WRONG)
def test_no_finding_shows_the_inside(text, message, help):
    (found,) = find_errors(text, NAMES, {"m.j2": "{% macro a() %}{% endmacro %}"})
    assert not re.search(r"0x[0-9a-f]{4}|<\w+ |Undefined|NoneType|'str'|jinja|l_\d_|locals", f"{found.message} {found.help}")
