"""Texts by kind: what is right is left alone, what is wrong is told with its place."""

from pathlib import Path

import pytest

from tests.unit.check.types_schema import SCHEMA, ask_text

RIGHT = (Path(__file__).parent / "right_types.txt").read_text(encoding="utf-8")
WRONG = [
    # (a) what no state has
    ("{{ state.nmae }}", "PC0635", "`state.nmae`, which the schema does not allow", "did you mean `name`?"),
    ("{{ state['nmae'] }}", "PC0635", "`state.nmae`", "did you mean `name`?"),
    ("{{ state.owner.nmae }}", "PC0635", "`state.owner.nmae`", "did you mean `name`?"),
    ("{% set o = state.onwer %}{{ o.name }}", "PC0635", "reads `o`, which is `onwer`, and the schema does not allow that", "`owner`?"),
    ("{% for o in [state.onwer] %}{{ o.name }}{{ o.age }}{% endfor %}", "PC0635", "reads `state.onwer`, which", "did you mean `owner`?"),
    ("{% set o = {'a': state.onwer} %}{{ o.a.name }}", "PC0635", "reads `state.onwer`, which", "did you mean `owner`?"),
    ("{{ state.owner.nmae.first }}", "PC0635", "`state.owner.nmae`", "did you mean `name`?"),
    ("{{ state.owner.zzz }}", "PC0635", "`state.owner.zzz`", "choose one of `age`, `friends`, `mood`, `name`, `nick`"),
    ("{% for p in state.people %}{{ p.nmae }}{% endfor %}", "PC0635", "`p.nmae`", "did you mean `name`?"),
    ("{% for p in state.people | sort(attribute='age') %}{{ p.nmae }}{% endfor %}", "PC0635", "`p.nmae`", "`name`?"),
    ("{% for p in state.people | selectattr('nick') | list %}{{ p.nmae }}{% endfor %}", "PC0635", "`p.nmae`", "`name`?"),
    ("{% for p in state.people + [state.owner] %}{{ p.nmae }}{% endfor %}", "PC0635", "`p.nmae`", "`name`?"),
    ("{% for k, v in state.names.items() %}{{ v.nmae }}{% endfor %}", "PC0635", "`v.nmae`", "`name`?"),
    ("{% for v in state.names.values() %}{{ v.nmae }}{% endfor %}", "PC0635", "`v.nmae`", "`name`?"),
    ("{% for k in state.names %}{{ state.names[k].nmae }}{% endfor %}", "PC0635", "`nmae`", "`name`?"),
    ("{% for f in state.owner.friends %}{% for g in f.friends %}{{ g.nmae }}{% endfor %}{% endfor %}", "PC0635", "`g.nmae`", "`name`?"),
    ("{% for a in state.tree.inner %}{% for b in a.inner %}{{ b.nam }}{% endfor %}{% endfor %}", "PC0635", "`b.nam`", "`name`?"),
    ("{{ state.people[0].nmae if state.people }}", "PC0635", "`state.people[0].nmae`", "`name`?"),
    ("{{ (state.full | first).x }}", "PC0635", "what it is read of is a string", "correct the path"),
    ("{{ state.people | map(attribute='nmae') | join }}", "PC0635", "`state.people[].nmae`", "`name`?"),
    ("{{ state.people | sum(attribute='aeg') }}", "PC0635", "`state.people[].aeg`", "`age`?"),
    ("{% for a, g in state.people | groupby('mod') %}{{ a }}{% endfor %}", "PC0635", "`state.people[].mod`", "`mood`?"),
    ("{% for p in state.people | selectattr('nik') %}{{ p.name }}{% endfor %}", "PC0635", "`state.people[].nik`", "`nick`?"),
    ("{{ 'a' | replace('a', state.nmae) }}", "PC0635", "`state.nmae`", "`name`?"),
    ("{{ state.people | map(attribute='nmae') | unique | list | length }}", "PC0635", "`state.people[].nmae`", "`name`?"),
    ("{{ state.people | unique(attribute='nmae') | list | length }}", "PC0635", "`state.people[].nmae`", "`name`?"),
    ("{{ [1, 2] | join(d=state.nmae) }}", "PC0635", "`state.nmae`", "`name`?"),
    ("{{ state.tags | reject('eq', state.nmae) | list }}", "PC0635", "`state.nmae`", "`name`?"),
    ("{% set p = state.owner %}{{ p.nmae }}", "PC0635", "`p.nmae`", "`name`?"),
    ("{% with p = state.owner %}{{ p.nmae }}{% endwith %}", "PC0635", "`p.nmae`", "`name`?"),
    ("{% set n = state.nmae %}{{ n }}", "PC0635", "`n`", "`name`?"),
    ("{% macro m(p) %}{{ p.nmae }}{% endmacro %}{{ m(state.owner) }}", "PC0635", "`p.nmae`", "`name`?"),
    ("{% macro m(p) %}{{ p.nmae }}{% endmacro %}{{ m(p=state.owner) }}", "PC0635", "`p.nmae`", "`name`?"),
    ("{% macro m() %}{{ state.nmae }}{% endmacro %}", "PC0635", "`state.nmae`", "`name`?"),
    ("{% macro m() %}{{ caller(state.owner) }}{% endmacro %}{% call(p) m() %}{{ p.nmae }}{% endcall %}", "PC0635", "`p.nmae`", "`name`?"),
    ("{% filter upper %}{{ state.nmae }}{% endfilter %}", "PC0635", "`state.nmae`", "`name`?"),
    ("{% set x %}{{ state.nmae }}{% endset %}", "PC0635", "`state.nmae`", "`name`?"),
    ("{% if state.nmae %}x{% endif %}", "PC0635", "`state.nmae`", "`name`?"),
    ("{% if state.on and state.nmae %}x{% endif %}", "PC0635", "`state.nmae`", "`name`?"),
    ("{{ 'x' if state.nmae == 'x' }}", "PC0635", "`state.nmae`", "`name`?"),
    ("{{ state.name ~ state.nmae }}", "PC0635", "`state.nmae`", "`name`?"),
    ("{{ [state.nmae] }}", "PC0635", "`state.nmae`", "`name`?"),
    ("{{ state.hp.x }}", "PC0635", "by the schema `state.hp` is a number", "correct the path, or the schema"),
    ("{{ state.tags.first }}", "PC0635", "by the schema `state.tags` is a list", "correct the path"),
    ("{{ state.name.first }}", "PC0635", "by the schema `state.name` is a string", "correct the path"),
    ("{{ state.on.x }}", "PC0635", "by the schema `state.on` is true or false", "correct the path"),
    ("{{ state.pair[2] }}", "PC0635", "the list is never that long", "correct the place"),
    ("{{ state.full[3] }}", "PC0635", "the list is never that long", "correct the place"),
    ("{{ state.owner[0] }}", "PC0635", "`state.owner[0]`", ""),
    ("{{ state.tags['x'] }}", "PC0635", "`state.tags.x`", ""),
    ("{{ state.both.weight | default(1) }}{{ state.shape.width }}", "PC0635", "`state.shape.width`", ""),
    ("{% if state.shape.kind == 'circle' %}{{ state.shape.side }}{% endif %}", "PC0635", "`state.shape.side`", "`kind`"),
    ("{% if state.maybe_person %}{{ state.maybe_person.nmae }}{% endif %}", "PC0635", "`state.maybe_person.nmae`", "`name`?"),
    ("{{ {'a': 1}.b }}", "PC0635", "`b`, which does not exist here", "there is only `a`"),
    ("{{ sttae.name }}", "PC0630", "reads `sttae`", "did you mean `state`?"),
    ("{{ name }}", "PC0630", "reads `name`", "did you mean `state.name`?"),
    ("{{ state.on and zebra }}", "PC0630", "reads `zebra`", "choose one of"),
    ("{% set zebra.a = 1 %}", "PC0630", "reads `zebra`", "choose one of"),
    ("{% set zebra.a %}b{% endset %}", "PC0630", "reads `zebra`", "choose one of"),
    ("{% if item.x %}a{% endif %}", "PC0631", "reads `item`", "use it under `items`"),
    ("{{ section.nmae }}", "PC0632", "`section.nmae`", "choose one of"),
    ("{{ state.nmae | default('x') }}", "PC0635", "`state.nmae`", "did you mean `name`?"),
    ("{% if state.owner.nmae is defined %}x{% endif %}", "PC0635", "`state.owner.nmae`", "did you mean `name`?"),
    # (b) what may be absent
    ("{{ state.resume }}", "PC0650", "`state.resume`, which may be absent and is then none: it is not required (", "is not none"),
    ("{{ state.resume | upper }}", "PC0650", "`state.resume`", "is not none"),
    ("{{ state.resume ~ 'x' }}", "PC0650", "`state.resume`", "is not none"),
    ("{{ state.resume + 'x' }}", "PC0650", "`state.resume`", "is not none"),
    ("{{ state.resume.upper() }}", "PC0650", "`state.resume`", "is not none"),
    ("{{ state.resume[:3] }}", "PC0650", "`state.resume`", "is not none"),
    ("{{ state.resume < 'm' }}", "PC0650", "`state.resume`", "is not none"),
    ("{{ state.resume | length }}", "PC0650", "`state.resume`", "is not none"),
    ("{{ 'x' in state.resume }}", "PC0650", "`state.resume`", "is not none"),
    ("{{ state.guest.name }}", "PC0650", "`state.guest`", "is not none"),
    ("{{ state.owner.nick }}", "PC0650", "`state.owner.nick`", "is not none"),
    ("{% for x in state.log %}{{ x }}{% endfor %}", "PC0650", "`state.log`", "is not none"),
    ("{{ state.log | join }}", "PC0650", "`state.log`", "is not none"),
    ("{{ state.log[0] }}", "PC0650", "`state.log[0]`", ""),
    ("{% for p in state.people %}{{ p.nick }}{% endfor %}", "PC0650", "`p.nick`", "is not none"),
    ("{% for p in state.people %}{% if p.name %}{{ p.nick.upper() }}{% endif %}{% endfor %}", "PC0650", "`p.nick`", "is not none"),
    ("{% if state.on %}{{ state.resume }}{% endif %}", "PC0650", "`state.resume`", "is not none"),
    ("{% if state.resume %}x{% else %}{{ state.guest.name }}{% endif %}", "PC0650", "`state.guest`", "is not none"),
    ("{% if state.resume or state.on %}{{ state.resume }}{% endif %}", "PC0650", "`state.resume`", "is not none"),
    ("{% if state.resume %}x{% endif %}{{ state.resume }}", "PC0650", "`state.resume`", "is not none"),
    ("{% set r = state.resume %}{{ r }}", "PC0650", "`r`", "is not none"),
    ("{% macro m(x) %}{{ x }}{% endmacro %}{{ m(state.resume) }}", "PC0650", "`x`", "is not none"),
    ("{{ state.shape.radius }}", "PC0650", "`state.shape.radius`, which may be absent", "is defined"),
    ("{{ state.shape.radius }}", "PC0650", "not every value allowed there has it", "; or declare `radius` with a `default`"),
    ("{% if state.shape.radius %}x{% endif %}", "PC0650", "`state.shape.radius`", "is defined"),
    ("{% for s in state.shapes %}{{ s.radius }}{% endfor %}", "PC0650", "`s.radius`", "is defined"),
    ("{% if state.shape.kind == 'circle' %}{{ state.shape.label }}{% endif %}",
     "PC0650", "`state.shape.label`, which may be absent: it is not", "is defined"),
    ("{{ state.shapes | map(attribute='radius') | sum }}", "PC0650", "`state.shapes[].radius`", "is defined"),
    ("{{ state.shapes | sum(attribute='radius') }}", "PC0650", "`state.shapes[].radius`", "is defined"),
    ("{{ state.tags[0] }}", "PC0650", "`state.tags[0]`, which is undefined where the list is empty", "if state.tags"),
    ("{{ state.tags[1] if state.tags }}", "PC0650", "`state.tags[1]`, which is undefined where the list is shorter", "is defined"),
    ("{{ state.tags | first }}", "PC0650", "undefined where the list is empty", ""),
    ("{{ state.tags | last | upper }}", "PC0650", "undefined where the list is empty", ""),
    ("{{ state.numbers | max + 1 }}", "PC0650", "undefined where the list is empty", "`([0] + …) | max`"),
    ("{{ state.people[0].name }}", "PC0650", "`state.people[0]`", "if state.people"),
    ("{% if state.tags %}x{% else %}{{ state.people[0].name }}{% endif %}", "PC0650", "`state.people[0]`", ""),
    ("{{ state.names.ana.name }}", "PC0636", "`state.names.ana`, which the schema does not declare", "is defined"),
    ("{{ state.open.modo }}", "PC0636", "`state.open.modo`", "did you mean `mood`?"),
    ("{{ state.open.colour }}", "PC0636", "`state.open.colour`", "is defined"),
    ("{% if 'bert' in state.names %}{{ state.names.ana.name }}{% endif %}", "PC0636", "`state.names.ana`", "is defined"),
    # what may be none, and is printed
    ("{{ state.maybe }}", "PC0669", "prints `state.maybe`, which may be none", "`{{ state.maybe or 'unknown' }}`, or test first"),
    ("{{ state.unset }}", "PC0669", "`state.unset`", "`{{ state.unset or 'unknown' }}`"),
    ("{{ state.gone }}", "PC0669", "`state.gone`, which is always none", "or test first"),
    ("{% if state.on %}{{ state.maybe }}{% endif %}", "PC0669", "`state.maybe`", ""),
    ("{% if state.maybe %}x{% endif %}{{ state.maybe }}", "PC0669", "`state.maybe`", ""),
    ("{% if state.maybe is defined %}{{ state.maybe }}{% endif %}", "PC0669", "`state.maybe`", ""),
    ("{{ state.maybe | default('-') }}", "PC0669", "`state.maybe`", "`state.maybe | default('unknown', true)`"),
    ("{{ state.maybe | trim | upper }}", "PC0669", "`state.maybe`", "`state.maybe | default('unknown', true)`"),
    ("{{ 'a ' ~ state.maybe }}", "PC0669", "`state.maybe`", "`state.maybe | default('unknown', true)`"),
    ("{{ ('a ' ~ state.maybe) | upper }}", "PC0669", "`state.maybe`", ""),
    ("{{ [state.name, state.maybe] | join(', ') }}", "PC0669", "`state.maybe`", "`state.maybe | default('unknown', true)`"),
    ("{{ state.maybe if state.on else 'x' }}", "PC0669", "prints a value, which may be none", "`{{ (...) | default('unknown', true) }}`"),
    ("{{ state.maybe and 'x' }}", "PC0669", "prints a value, which may be none", ""),
    ("{{ state.names.get('ana') }}", "PC0669", "prints a value, which may be none", ""),
    ("{{ '%s' | format(state.maybe) }}", "PC0669", "prints `state.maybe`, which may be none", "`state.maybe | default('unknown', true)`"),
    ("{{ '%d of %s' | format(1, state.maybe) }}", "PC0669", "prints `state.maybe`", ""),
    ("{{ '%(who)s' | format(who=state.maybe) }}", "PC0669", "prints `state.maybe`", ""),
    ("{{ '%s' % state.maybe }}", "PC0669", "prints `state.maybe`", ""),
    ("{{ '%s, %s' % (state.name, state.maybe) }}", "PC0669", "prints `state.maybe`", ""),
    ("{{ state.voids | join(', ') }}",
     "PC0669", "joins the elements of `state.voids`, which may be none", "`map('default', 'unknown', true)`"),
    ("{{ state.voids | map('upper') | join(', ') }}", "PC0669", "joins the elements of `state.voids`", "`reject('none')`"),
    ("{{ state.voids | map('trim') | map('upper') | list | join(', ') }}", "PC0669", "joins the elements of `state.voids`", ""),
    ("{{ state.voids }}", "PC0669", "prints `state.voids`, and none in it prints as `None`", "`{{ state.voids | tojson }}`"),
    ("{{ state.card }}", "PC0669", "prints `state.card`, and none in it prints as `None`", ""),
    ("{{ 'a ' ~ state.card }}", "PC0669", "prints `state.card`, and none in it", "`state.card | tojson`"),
    ("{{ [state.maybe] }}", "PC0669", "prints a value, and none in it", ""),
    ("{% set m = state.maybe %}{{ m }}", "PC0669", "`m`", "`{{ m or 'unknown' }}`"),
    ("{% macro m(x) %}{{ x }}{% endmacro %}{{ m(state.maybe) }}", "PC0669", "`x`", ""),
    # (c) the wrong kind
    ("{% for x in state.name %}{{ x }}{% endfor %}", "PC0651", "`state.name`, which is a string, and a loop takes a list", ".split"),
    ("{% for x in state.hp %}{{ x }}{% endfor %}", "PC0651", "`state.hp`, which is a number, and a loop takes a list", ""),
    ("{% for x in state.on %}{% endfor %}", "PC0651", "`state.on`, which is true or false", ""),
    ("{% for x in state.gone %}{% endfor %}", "PC0651", "`state.gone`", ""),
    ("{% for x in state.maybe_list %}{{ x }}{% endfor %}",
     "PC0651", "`state.maybe_list`, which may be none, and a loop takes a list", "is not none"),
    ("{{ state.maybe.upper() }}", "PC0651", "`state.maybe`, which may be none", "is not none"),
    ("{{ state.maybe_person.name }}", "PC0651", "`state.maybe_person.name`, and `state.maybe_person` may be none", "is not none"),
    ("{{ state.maybe + 'x' }}", "PC0651", "`state.maybe`, which may be none", "is not none"),
    ("{{ state.maybe | length }}", "PC0651", "`state.maybe`, which may be none", "is not none"),
    ("{{ state.unset.upper() }}", "PC0651", "`state.unset`, which may be none", "is not none"),
    ("{{ state.maybe < 'x' }}", "PC0651", "`state.maybe`, which may be none", "is not none"),
    ("{{ state.hp < '5' }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.name > 5 }}", "PC0651", "`state.name`, which is a string", ""),
    ("{{ state.name <= state.hp }}", "PC0651", "`state.name`, which is a string", ""),
    ("{{ state.owner < state.owner }}", "PC0651", "`state.owner`, which is a mapping", ""),
    ("{{ state.name is lt 5 }}", "PC0651", "`state.name`, which is a string", ""),
    ("{{ state.name + 1 }}", "PC0651", "`+` takes a number here, since its other side is one", "with `~` instead"),
    ("{{ state.name < 1 }}", "PC0651", "`<` takes a number here", "`state.name | int`"),
    ("{{ state.hp < '5' }}", "PC0651", "`<` takes a string here", "write a number in place of the string"),
    ("{{ state.hp + 'x' }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.tags + 'x' }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ state.owner + 1 }}", "PC0651", "`state.owner`, which is a mapping", ""),
    ("{{ state.name - 1 }}", "PC0651", "`state.name`, which is a string, and `-` takes a number", ""),
    ("{{ state.tags / 2 }}", "PC0651", "`state.tags`, which is a list, and `/` takes a number", ""),
    ("{{ state.hp // state.name }}", "PC0651", "`state.name`, which is a string", ""),
    ("{{ state.owner * 2 }}", "PC0651", "`state.owner`, which is a mapping", ""),
    ("{{ state.name * 'x' }}", "PC0651", "", ""),
    ("{{ -state.tags }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ state.hp % 'x' }}", "PC0651", "", ""),
    ("{{ state.hp | upper }}", "PC0651", "`state.hp`, which is a number, and `upper` takes a string", "| string"),
    ("{{ state.tags | lower }}", "PC0651", "`state.tags`, which is a list, and `lower` takes a string", ""),
    ("{{ state.owner | title }}", "PC0651", "`state.owner`, which is a mapping", ""),
    ("{{ state.on | capitalize }}", "PC0651", "`state.on`, which is true or false", ""),
    ("{{ state.hp | truncate(5) }}", "PC0651", "`state.hp`, which is a number, and `truncate` takes a string", ""),
    ("{{ state.tags | sentences_about('a') }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ state.tags | truncate_at('word', chars=9) }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ state.hp | wordwrap }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.hp | indent }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.tags | indent }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ state.owner | replace('a', 'b') }}", "PC0651", "`state.owner`, which is a mapping", ""),
    ("{{ state.tags | trim }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ state.hp | length }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.numbers.join(', ') }}", "PC0651", "`state.numbers`, which is a list", "write `state.numbers | join(', ')`"),
    ("{{ state.hp | join }}", "PC0651", "`state.hp`, which is a number, and `join` takes a list", ""),
    ("{{ state.hp | first }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.hp | sort }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.hp | list }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.hp | map('upper') | list }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.name | sum }}", "PC0651", "`state.name`, which is a string", ""),
    ("{{ state.tags | sum }}", "PC0651", "`state.tags[]`, which is a string, and `sum` takes a number", ""),
    ("{{ state.people | sum(attribute='name') }}", "PC0651", "`state.people[].name`, which is a string", ""),
    ("{{ state.people | sort }}", "PC0651", "`state.people[]`, which is a mapping", ""),
    ("{{ state.numbers | map('upper') | list }}", "PC0651", "`state.numbers[]`, which is a number, and `upper` takes a string", ""),
    ("{{ state.tags | map('abs') | list }}", "PC0651", "`state.tags[]`, which is a string", ""),
    ("{{ state.name | round }}", "PC0651", "`state.name`, which is a string, and `round` takes a number", ""),
    ("{{ state.name | abs }}", "PC0651", "`state.name`, which is a string", ""),
    ("{{ state.tags | int }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ state.tags | items | list }}", "PC0651", "`state.tags`, which is a list, and `items` takes a mapping", ""),
    ("{{ state.tags | dictsort }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ state.name | selectattr('x') | list }}", "PC0651", "`state.name`, which is a string", ""),
    ("{{ state.name | groupby('x') }}", "PC0651", "`state.name`, which is a string", ""),
    ("{{ state.hp | minutes_since(state.when) }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.when | minutes_since(state.hp) }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.hp | pick('x') }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.hp.upper() }}", "PC0651", "`state.hp`, which is a number, and `.upper()` takes a string", ""),
    ("{{ state.tags.upper() }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ state.tags.items() | list }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ state.name.get('x') }}", "PC0651", "`state.name`, which is a string", ""),
    ("{{ state.owner.count('x') }}", "PC0651", "`state.owner`, which is a mapping", ""),
    ("{{ state.hp[:2] }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.owner[:2] }}", "PC0651", "`state.owner`, which is a mapping", ""),
    ("{{ state.name is odd }}", "PC0651", "`state.name`, which is a string, and `is odd` takes a number", ""),
    ("{{ state.tags is divisibleby 2 }}", "PC0651", "`state.tags`, which is a list", ""),
    ("{{ 'x' in state.hp }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.hp in state.name }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ state.id + 1 }}", "PC0651", "`state.id`, which may be a string", "is not string"),
    ("{{ state.id.upper() }}", "PC0651", "`state.id`, which may be a number", "is not number"),
    ("{{ state.id < 5 }}", "PC0651", "`state.id`, which may be a string", ""),
    ("{{ state.either.upper() }}", "PC0651", "`state.either`, which may be a list", ""),
    ("{{ state.mixed | sort }}", "PC0651", "", ""),
    ("{{ state.mixed | sum }}", "PC0651", "`state.mixed[]`, which may be a string", ""),
    ("{{ state.tags | map('upper') }}", "PC0651", "a sequence that is not a list yet", "| list"),
    ("{{ state.tags | select }}", "PC0651", "a sequence that is not a list yet", "| list"),
    ("{{ state.owner.items() }}", "PC0651", "a sequence that is not a list yet", "| list"),
    ("{{ state.tags | unique | length }}", "PC0651", "a sequence that is not a list yet", "| list"),
    ("{{ state.people | map(attribute='name') | last }}", "PC0651", "a sequence that is not a list yet", "| list"),
    ("{% macro m(x) %}{{ x.upper() }}{% endmacro %}{{ m(state.hp) }}", "PC0651", "`x`, which is a number", ""),
    ("{% set n = state.hp %}{{ n | upper }}", "PC0651", "`n`, which is a number", ""),
    ("{% for p in state.people %}{{ p.age | upper }}{% endfor %}", "PC0651", "`p.age`, which is a number", ""),
    ("{% for p in state.people %}{{ p.name + p.age }}{% endfor %}", "PC0651", "`p.name`, which is a string", ""),
    ("{% set state.name = 'x' %}", "PC0651", "`state`, which is a mapping, and `{% set state.name %}` takes a namespace", ""),
    ("{% set x = state.hp %}{% set y, x.n = 1, 2 %}", "PC0651", "`x`, which is a number, and `{% set x.n %}` takes a namespace", ""),
    ("{% if state.maybe is none %}{{ state.maybe.upper() }}{% endif %}", "PC0651", "`state.maybe`", ""),
    # what is never so
    ("{{ state.mood == 'clam' }}", "PC0652", "it is one of `calm`, `tense`", "did you mean `calm`?"),
    ("{{ state.mood != 'clam' }}", "PC0652", "`!=` `clam`", "did you mean `calm`?"),
    ("{% if state.mood in ['clam', 'tense'] %}x{% endif %}", "PC0652", "`in` `clam`", "did you mean `calm`?"),
    ("{% for p in state.people if p.mood == 'clam' %}x{% endfor %}", "PC0652", "`p.mood`", "did you mean `calm`?"),
    ("{% if state.mood in ['calm'] %}{{ state.mood == 'tense' }}{% endif %}", "PC0652", "it is one of `calm`", ""),
    ("{{ state.hp == '5' }}", "PC0652", "it is a number", ""),
    ("{{ state.name == 5 }}", "PC0652", "it is a string", ""),
    ("{{ state.on == 'yes' }}", "PC0652", "it is true or false", ""),
    ("{{ state.tags == 'x' }}", "PC0652", "it is a list", ""),
    ("{{ state.shape.kind == 'squere' }}", "PC0652", "it is one of `circle`, `square`", "did you mean `square`?"),
    ("{{ state.resume is defined }}", "PC0653", "uses `is defined` on `state.resume`, which is always defined", "is not none"),
    ("{{ state.resume is undefined }}", "PC0653", "uses `is undefined` on `state.resume`", "is not none"),
    ("{{ state.resume | default('x') }}", "PC0653", "uses `default` without `true` on `state.resume`", "also replaces none"),
    ("{% if state.resume is defined %}{{ state.resume }}{% endif %}", "PC0653", "`state.resume`", "is not none"),
    # times as texts
    ("{{ state.at < '2026-01-01' }}", "PC0699", "orders the time `state.at` with `<` as a string", "write `state.at | timestamp`"),
    ("{{ '2026-01-01' >= state.at }}", "PC0699", "orders the time `state.at` with `>=`", "write `state.at | timestamp`"),
    ("{{ state.at is gt state.when }}", "PC0699", "orders the time `state.at` with `>`", "write `state.at | timestamp`"),
    ("{{ state.events | sort(attribute='at') | length }}", "PC0699", "orders the time `state.events[].at` with `sort`",
     "write `sort(attribute='at', times=true)`"),
    ("{{ state.events | map(attribute='at') | sort | join }}", "PC0699", "with `sort`", "write `sort(times=true)`"),
    ("{{ (state.events | max(attribute='at')) is defined }}", "PC0699", "with `max`", "write `sort(attribute='at', times=true) | last`"),
    ("{{ (state.events | min(attribute='at')) is defined }}", "PC0699", "with `min`", "write `sort(attribute='at', times=true) | first`"),
    ("{{ state.numbers | sort(times=true) }}", "PC0651", "`sort` with `times` takes a string", ""),
    ("{{ state.hp | timestamp }}", "PC0651", "`state.hp`, which is a number", ""),
    ("{{ (state.at | timestamp) < state.at }}", "PC0651", "a number, and `<` takes a string here, since its other side is one", ""),
]  # fmt: skip


@pytest.mark.parametrize("text", RIGHT.strip().splitlines())
def test_what_is_right(tmp_path, text):
    assert [str(one) for one in ask_text(tmp_path, text)] == []


@pytest.mark.parametrize(("text", "code", "says", "help"), WRONG, ids=[row[0] for row in WRONG])
def test_what_is_wrong(tmp_path, text, code, says, help):
    found = ask_text(tmp_path, text)
    assert {one.code for one in found} == {code}, [str(one) for one in found]
    assert says in found[0].message and help in found[0].help
    assert found[0].level == ("warn" if code in ("PC0652", "PC0653", "PC0669", "PC0699") else "error")


@pytest.mark.parametrize("made", ["{% for o in [state.onwer] %}", "{% set o = {'a': state.onwer}.a %}"])
def test_an_element_that_no_state_has_is_told_of_once(made, tmp_path):
    end = "{% endfor %}" if "for" in made else ""
    (found,) = ask_text(tmp_path, f"{made}{{{{ o.name }}}}{{{{ o.age + 1 }}}}{end}")
    assert "`state.onwer`" in found.message


_OR_NULL = {
    "mood": {"enum": ["tense", "calm", None]},
    "hp": {"type": ["integer", "null"]},
    "names": {"type": "array", "items": {"type": ["string", "null"]}},
    "left": {"type": ["string", "null"]},
}
_NULLABLE = {"type": "object", "additionalProperties": False, "required": ["mood", "hp", "names"], "properties": _OR_NULL}


@pytest.mark.parametrize(
    ("text", "whole", "written", "test"),
    [
        ("The mood is {{ state.mood }}.", "{{ state.mood }}", "{{ state.mood or 'calm' }}", "{% if state.mood %}"),
        ("{{ state.hp }} hp", "{{ state.hp }}", "{{ state.hp if state.hp is not none else 'unknown' }}", "{% if state.hp is not none %}"),
        ("{{ state.mood | upper }}", "state.mood", "state.mood | default('calm', true)", "{% if state.mood %}"),
        ("{{ 'a' ~ state.hp }}", "state.hp", "(state.hp if state.hp is not none else 'unknown')", "{% if state.hp is not none %}"),
        ("{% for n in state.names %}{{ n }}{% endfor %}", "{{ n }}", "{{ n or 'unknown' }}", "{% if n %}"),
    ],
)
def test_help_for_what_prints_none_can_be_pasted(tmp_path, text, whole, written, test):
    (found,) = ask_text(tmp_path, text, schema=_NULLABLE)
    assert (found.code, found.help) == ("PC0669", f"write `{written}`, or test first: `{test}`")
    assert ask_text(tmp_path, text.replace(whole, written), schema=_NULLABLE) == []
    shown = text[text.index("{{") : text.index("}}") + 2]
    assert ask_text(tmp_path, text.replace(shown, f"{test}{shown}{{% endif %}}"), schema=_NULLABLE) == []


def test_a_list_with_nulls_is_joined(tmp_path):
    assert [one.code for one in ask_text(tmp_path, "{{ state.names | join(', ') }}", schema=_NULLABLE)] == ["PC0669"]
    for text in ("{{ state.names | select | join }}", "{{ state.names | map('default', '-', true) | join }}", "{{ state.names | tojson }}"):
        assert ask_text(tmp_path, text, schema=_NULLABLE) == [], text


def test_one_finding_for_a_property_that_may_also_be_absent(tmp_path):
    for text in ("{{ state.left }}", "{{ state.left | upper }}"):
        assert [one.code for one in ask_text(tmp_path, text, schema=_NULLABLE)] == ["PC0650"], text


def test_without_a_schema_nothing_of_the_state_is_said(tmp_path):
    for text, code, _, _ in WRONG:
        found = ask_text(tmp_path, text, schema={"type": "object"})
        assert code in ("PC0630", "PC0631", "PC0632") or "PC0650" not in [one.code for one in found], text


def test_the_schema_has_something_of_everything():
    assert len(SCHEMA["properties"]) > 30
