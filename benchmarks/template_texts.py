"""Templates as authors write them, each for one kind of work, over the state of `benchmarks.templates.make_world`."""

TEMPLATES = {
    "macros, loops and filters": """\
{% macro person(p, mark='-') %}
{{ mark }} {{ p.name }} ({{ p.kind | title }}, {{ p.age }}){% if p.skills %}: {{ p.skills | join(', ') }}{% endif %}

{% endmacro %}
{% macro block(b) %}
[{{ b.type | lower | capitalize }}] {{ b.speaker | title }}: {{ b.text | truncate(120) }}
{% endmacro %}
# {{ state.title | upper }}
{% for p in state.people if p.alive %}
{{ person(p, mark=loop.index ~ '.') -}}
{% endfor %}
{% for b in state.log %}
{{ block(b) -}}
{% endfor %}
{{ state.people | map(attribute='age') | sum }} years, {{ state.log | length }} blocks
""",
    "plain loops": """\
{% for b in state.log %}
{{ b.id }} {{ b.type }} {{ b.speaker }}: {{ b.text }}
{% endfor %}
{% for p in state.people %}
{{ p.name }}, {{ p.age }}, {{ p.at.town }} since day {{ p.at.since }}: {% for s in p.skills %}{{ s }} {% endfor %}

{% endfor %}
{% for name, value in state.flags.items() %}
{{ name }}={{ value }}
{% endfor %}
""",
    "sorting, grouping and choosing": """\
{% for kind, people in state.people | groupby('kind') %}
## {{ kind }} ({{ people | length }})
{% for p in people | sort(attribute='age,name') %}
{{ p.name }} {{ p.age }}
{% endfor %}
{% endfor %}
{% for town in state.people | map(attribute='at.town') | unique | sort %}
{% set here = state.people | selectattr('at.town', 'eq', town) | selectattr('alive') | list %}
{{ town }}: {{ here | length }}, eldest {{ (here | sort(attribute='age', reverse=true) | first).name }},
mood {{ here | sum(attribute='mood') }}
{{ here | rejectattr('skills') | map(attribute='name') | join('; ') }}
{% endfor %}
{% for b in state.log | selectattr('type', 'in', ['INTEL', 'CHOICE']) | list | batch(3) %}
{{ b | map(attribute='id') | join(',') }}
{% endfor %}
{{ state.people | map(attribute='age') | max }} {{ state.people | map(attribute='age') | min }} {{ state.flags | dictsort | length }}
""",
    "includes and inheritance, much text": """\
{% extends 'page.j2' %}
{% import 'words.j2' as words %}
{% block head %}{{ super() }}Day {{ state.day }} at {{ state.title }}.

{% endblock %}
{% block body %}
{% for b in state.log %}
{% include 'entry.j2' %}
{% endfor %}
{% filter indent(2) %}
{{ words.greet(state.title) }}
{% for p in state.people %}
{% include 'line.j2' %}
{% endfor %}
{% endfilter %}
{% endblock %}
""",
    "conditions and attributes": """\
{% set ns = namespace(alive=0, angry=0, far=0) %}
{% for p in state.people %}
{% if p.alive and p.mood > 2 %}
{{ p.name }} is glad{% elif p.alive and p.mood < -2 %}{% set ns.angry = ns.angry + 1 %}
{{ p.name }} is angry{% elif not p.alive %}
{{ p.name }} is gone{% else %}
{{ p.name }} waits{% endif %}
{{ ' in the harbour' if p.at.town == 'Harbour' else ' inland' if p.at.town in ('Ost', 'West') else '' }}{{ ', idle' if not p.skills }}
{% if p.alive %}{% set ns.alive = ns.alive + 1 %}{% endif %}
{% if p.at.since > 200 and (p.age < 30 or p.kind == 'thief') %}{% set ns.far = ns.far + p.at.since // 10 %}{% endif %}
{% if p.age >= 18 and p.age <= 65 and p.kind is not none and p.nick is not defined %} working{% endif %}
{% endfor %}
{% for name in state.flags %}
{% if state.flags[name] %}{{ loop.index }} {{ name }}{% if not loop.last %}, {% endif %}{% endif %}
{% endfor %}
{{ ns.alive }} alive, {{ ns.angry }} angry, {{ ns.far }} far
""",
}

FILES = {
    "page.j2": """\
You keep the inn. Stay in the fiction. Never speak for the player, never reveal what nobody could know, and end on something that calls
for an answer.
{% block head %}{{ state.title }}
{% endblock %}
{% block body %}{% endblock %}
{% include 'rules.j2' %}
""",
    "rules.j2": "Rules of this table:\n"
    + "".join(f"{number}. What was said stays said, and what was agreed stays agreed.\n" for number in range(1, 21)),
    "words.j2": "{% macro greet(name) %}Welcome to {{ name }}.{% endmacro %}{% set known = true %}",
    "entry.j2": "[{{ b.type }}] {{ b.speaker }}: {{ b.text }}\n",
    "line.j2": "{{ p.name }} ({{ p.kind }}) of {{ p.at.town }}{{ '' if p.alive else ', dead' }}\n",
}
