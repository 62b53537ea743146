"""Names of the pack by kind: `let`, `item`, `group`, steps, files, and what conditions of the manifest prove."""

import json

import pytest

import promptc
from promptc.check.configurations import list_configurations
from promptc.check.rules.reads import check_unread
from tests.unit.check.types_schema import ask, ask_text

FILES = {
    "macros.j2": "{% macro tag(p) %}[{{ p.name }}]{% endmacro %}{% macro bad(p) %}{{ p.nmae }}{% endmacro %}",
    "whole.j2": "{% set who = state.owner %}",
    "part.j2": "{{ p.name }}{{ state.hp + 1 }}",
    "part_bad.j2": "one\n{{ p.nmae }}",
    "base.j2": "{{ state.name }}{% block body %}{{ state.nmae }}{% endblock %}",
    "good_base.j2": "{% block body %}{{ state.name }}{% endblock %}",
}


def _section(items: str, more: str = "") -> str:
    return f"sections:\n  - id: log\n    items:\n{_indent(items, 6)}{_indent(more, 4)}"


def _indent(text: str, width: int) -> str:
    return "".join(f"{' ' * width}{line}\n" for line in text.splitlines())


RIGHT = {
    "none_is_not_printed": "sections: [{id: a, when: state.maybe, text: '{{ state.maybe }}'}]\n",
    "none_is_asserted_away": "asserts: [{that: state.maybe, else: no one, level: error}]\nsections: [{id: a, text: '{{ state.maybe }}'}]\n",
    "none_is_a_value": _section("from: '[state.maybe]'\ndedupe: {by: item ~ '!'}\ntext: '{{ item or 1 }}'"),
    "asked_for_what_others_have": _section("from: state.people\ntext: '{{ item.quest if item.quest is defined else item.name }}'"),
    "item": _section("from: state.people\ntext: '{{ item.name }} {{ item.age + 1 }} {{ this.number + 1 }} {{ this.id | upper }}'"),
    "where": _section("from: state.people\nwhere: item.nick\ntext: '{{ item.nick.upper() }}'\nid: item.nick\nsort: [item.nick]"),
    "where_and": _section("from: state.shapes\nwhere: item.kind == 'circle' and state.on\ntext: '{{ item.radius + 1 }}'"),
    "union": _section("from: '[state.owner] + state.shapes'\ntext: '{{ item.name if item.name is defined else item.kind }}'"),
    "where_or": _section(
        "from: '[state.owner] + state.shapes'\nwhere: item.kind is undefined or item.kind in ['circle', 'square']\n"
        "text: '{% if item.name is defined %}{{ item.name }}{% else %}{{ item.kind }}{% endif %}'"
    ),
    "none": _section("from: state.maybe_list\ntext: '{{ item | upper }}'"),
    "maybe": _section("from: state.log\ntext: '{{ item | upper }}'"),
    "lazy": _section("from: state.people | selectattr('nick') | map(attribute='nick')\ntext: '{{ item.upper() }}'"),
    "group": _section(
        "from: state.people\ngroup: {by: item.mood, header: '{{ group | upper }}'}\ntext: '{{ group | upper }}{{ item.name }}'"
    ),
    "when": "sections: [{id: a, when: state.guest, header: '{{ state.guest.name }}', text: '{{ state.guest.age + 1 }}'}]\n",
    "when_and": "sections: [{id: a, when: state.guest is not none and state.guest.nick, text: '{{ state.guest.nick.upper() }}'}]\n",
    "let": "let: {g: state.guest, known: g is not none}\nsections: [{id: a, when: known, text: '{{ g.name }}{{ state.guest.name }}'}]\n",
    "let_of_let": "let: {old: \"state.people | selectattr('age', 'gt', 60) | list\", count: old | length}\n"
    "sections: [{id: a, text: '{{ count + 1 }}{% for p in old %}{{ p.name }}{% endfor %}'}]\n",
    "band": "let: {word: {band: state.hp, of: {few: 0, many: 9}}}\nsections: [{id: a, when: word == 'many', text: '{{ word | upper }}'}]\n",
    "asserts": "asserts: [{that: state.guest is not none, else: 'no guest', level: error}]\n"
    "sections: [{id: a, text: '{{ state.guest.name }}'}]\n",
    "assert_else": "asserts: [{that: not state.guest, else: '{{ state.guest.name }} is there'}]\nsections: [{id: a, text: x}]\n",
    "steps": _section(
        "from: state.people\ntext: '{{ item.name }}'",
        "budget: 20\noverflow: [{evict: {order: [item.age > 9 and this.tokens > 3], marker: '{{ removed + 1 }} gone'}}]",
    ),
    "variant": "sections: [{id: a, text: '{{ variant.mood | upper }}'}]\n"
    "variants: {mood: {select: state.mood, cases: {calm: {}, tense: {}}}}\n",
    "strain": "sections: [{id: a, when: strain.index > 0, text: '{{ strain.tier | upper }}{{ strain.percent + 1 }}'}]\n"
    "strain: {tiers: [{name: low, at: 0}]}\n",
    "section": "sections: [{id: a, text: x}, {id: b, text: '{{ section.id | upper }}{{ selected.a + 1 }}'}]\n",
}
WRONG = {
    "none_in_a_header": ("sections: [{id: a, header: '{{ state.maybe }}', text: x}]\n", "PC0669", "`header` of `a` prints `state.maybe`"),
    "none_of_let": ("let: {m: state.maybe}\nsections: [{id: a, text: '{{ m }}'}]\n", "PC0669", "prints `m`"),
    "none_of_item": (_section("from: '[state.maybe]'\ntext: '{{ item }}'"), "PC0669", "prints `item`"),
    "item": (_section("from: state.people\ntext: '{{ item.nmae }}'"), "PC0635", "`item.nmae`"),
    "item_of_lazy": (_section("from: state.people | selectattr('nick')\ntext: '{{ item.nmae }}'"), "PC0635", "`item.nmae`"),
    "item_of_sum": (_section("from: '[state.owner] + state.people'\ntext: '{{ item.nmae }}'"), "PC0635", "`item.nmae`"),
    "item_of_let": ("let: {them: state.people}\n" + _section("from: them\ntext: '{{ item.nmae }}'"), "PC0635", "`item.nmae`"),
    "item_asked_by_a_slip": (
        _section("from: '[state.owner] + state.people'\ntext: '{{ item.age if item.nmae is defined else item.name }}'"),
        "PC0635",
        "`item.nmae`",
    ),
    "where_asked_by_a_slip": (
        _section("from: state.people\nwhere: item.nickk is defined\ntext: '{{ item.name }}'"),
        "PC0635",
        "`item.nickk`",
    ),
    "item_may_lack": (_section("from: state.people\ntext: '{{ item.nick }}'"), "PC0650", "`item.nick`"),
    "where": (_section("from: state.people\nwhere: item.nmae == 'x'\ntext: '{{ item.name }}'"), "PC0635", "`item.nmae`"),
    "by": (_section("from: state.people\ntext: '{{ item.name }}'\nsort: [item.agee]"), "PC0635", "`item.agee`"),
    "id": (_section("from: state.people\ntext: '{{ item.name }}'\nid: item.idd"), "PC0635", "`item.idd`"),
    "group": (_section("from: state.people\ngroup: {by: item.age}\ntext: '{{ group | upper }}'"), "PC0651", "`group`, which is a number"),
    "kind": (_section("from: state.people\ntext: '{{ item.age | upper }}'"), "PC0651", "`item.age`, which is a number"),
    "enum": (_section("from: state.people\nwhere: item.mood == 'clam'\ntext: '{{ item.name }}'"), "PC0652", "`item.mood`"),
    "let": ("let: {h: state.hpp}\nsections: [{id: a, text: x}]\n", "PC0635", "`state.hpp`"),
    "let_kind": ("let: {h: state.hp}\nsections: [{id: a, text: '{{ h | upper }}'}]\n", "PC0651", "`h`, which is a number"),
    "band": ("let: {w: {band: state.hp, of: {few: 0}}}\nsections: [{id: a, when: w == 'many', text: x}]\n", "PC0652", "`w`"),
    "when": ("sections: [{id: a, when: state.onn, text: x}]\n", "PC0635", "`state.onn`"),
    "when_of_another": (
        "sections: [{id: a, when: state.guest, text: x}, {id: b, text: '{{ state.guest.name }}'}]\n",
        "PC0650",
        "`state.guest`",
    ),
    "step": (
        _section("from: state.people\ntext: '{{ item.name }}'", "budget: 9\noverflow: [{evict: {by: item.agee}}]"),
        "PC0635",
        "`item.agee`",
    ),
    "variant": (
        "sections: [{id: a, when: variant.mood == 'clam', text: x}]\nvariants: {mood: {select: state.mood, cases: {calm: {}}}}\n",
        "PC0652",
        "`variant.mood`",
    ),
    "tier": (
        "sections: [{id: a, when: strain.tier == 'hihg', text: x}]\nstrain: {tiers: [{name: low, at: 0}, {name: high, at: 0.5}]}\n",
        "PC0652",
        "`strain.tier`",
    ),
    "warning_asserts_prove_nothing": (
        "asserts: [{that: state.guest is not none, else: 'no guest', level: warn}]\nsections: [{id: a, text: '{{ state.guest.name }}'}]\n",
        "PC0650",
        "`state.guest`",
    ),
}
FROM_FILES = [
    ("{% import 'macros.j2' as m %}{{ m.tag(state.owner) }}", ""),
    ("{% from 'macros.j2' import tag %}{{ tag(state.owner) }}", ""),
    ("{% set p = state.owner %}{% include 'part.j2' %}", ""),
    ("{% for p in state.people %}{% include 'part.j2' %}{% endfor %}", ""),
    ("{% extends 'good_base.j2' %}{% block body %}{{ super() }}{{ state.hp + 1 }}{% endblock %}", ""),
    ("{% extends 'base.j2' %}{% block body %}{{ state.name }}{% endblock %}", ""),
    ("{% from 'macros.j2' import bad %}{{ bad(state.owner) }}", "macros.j2:1:70: PC0635"),
    ("{% import 'whole.j2' as m with context %}{{ m.who.nmae }}", "lore.md.j2:1:51: PC0635"),
    ("{% set p = state.owner %}{% include 'part_bad.j2' %}", "part_bad.j2:2:6: PC0635"),
    ("{% extends 'base.j2' %}{% block body %}{{ super() }}{% endblock %}", "base.j2:1:42: PC0635"),
    ("{% extends 'good_base.j2' %}{% block body %}{{ state.nmae }}{% endblock %}", "lore.md.j2:1:54: PC0635"),
    ("one\ntwo {{ state.name }}\n{% if state.on %}\n  {{ state.owner.nmae }}", "lore.md.j2:4:18: PC0635"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right(tmp_path, name):
    assert [str(one) for one in ask(tmp_path, RIGHT[name])] == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(tmp_path, name):
    manifest, code, says = WRONG[name]
    found = ask(tmp_path, manifest)
    assert [one.code for one in found] == [code], [str(one) for one in found]
    assert says in found[0].message


@pytest.mark.parametrize(("text", "place"), FROM_FILES)
def test_files(tmp_path, text, place):
    if text.startswith("one"):
        text += "{% endif %}"
    found = [str(one) for one in ask_text(tmp_path, text, FILES)]
    assert len(found) == bool(place) and all(f"/{place}" in one for one in found), found


def test_a_finding_names_the_line_of_the_schema(tmp_path):
    (found,) = ask_text(tmp_path, "{{ state.resume }}")
    schema = (tmp_path / "s.json").read_text(encoding="utf-8").splitlines()
    line = int(found.message.split("s.json:")[1].split(")")[0])
    assert '"resume"' in schema[line - 1]


def test_a_place_in_a_folded_text_is_that_of_the_text(tmp_path):
    (found,) = ask(tmp_path, "sections:\n  - id: a\n    text: >-\n      one\n      {{ state.nmae }}\n")
    assert found.code == "PC0635" and found.span.line in (9, 11)


def test_many_macros_in_macros_end(tmp_path):
    macros = "".join(f"{{% macro m{n}(x) %}}{{{{ m{n + 1}(x) }}}}{{{{ m{n + 1}(x) }}}}{{% endmacro %}}" for n in range(30))
    assert ask_text(tmp_path, macros + "{% macro m30(x) %}{{ x }}{% endmacro %}{{ m0(state.name) }}") == []


@pytest.mark.dear
def test_a_long_chain_of_conditions_ends(tmp_path):
    chain = " and ".join(["state.on"] * 45 + ["state.name"])
    mixed = " or ".join([f"({chain[:60]}state.on)" if chain[:60].endswith("and ") else "(state.on and state.name)"] * 40)
    assert ask_text(tmp_path, f"{{% if {chain} %}}{{{{ state.name }}}}{{% endif %}}{{% if {mixed} %}}x{{% endif %}}") == []


def _unread(folder, text: str, schema: dict) -> list[str]:
    ask_text(folder, text, schema=schema)
    model = promptc.load(folder).model
    return [one.message for one in check_unread(model, list_configurations(model))]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{ state.a }}{{ state.b.c }}{% for x in state.d %}{{ x.e }}{{ x.f }}{% endfor %}", ""),
        ("{{ state.a }}{{ state.b }}{{ state.d | json }}", ""),
        ("{{ state }}", ""),
        ("{{ state[state.a] }}", ""),
        ("{{ state.a }}{{ state.b.c }}{% for x in state.d %}{{ x.e }}{% endfor %}", "`d[].f`"),
        ("{{ state.a }}{{ state.b.c }}{{ state.d | map(attribute='e') | join }}", "`d[].f`"),
        ("{{ state.a }}{{ state.b.get('c') }}{{ state.d | selectattr('f') | map(attribute='e') | join }}", ""),
        ("{{ state.a }}{% if state.b %}x{% endif %}", "`b.c`, `d`"),
        ("x", "`a`, `b`, `d`"),
        ("{% macro m(x) %}{{ x.c }}{% endmacro %}{{ m(state.b) }}{% set y = state.d %}{{ y }}{{ state.a }}", ""),
    ],
)
def test_what_nothing_reads(tmp_path, text, names):
    inner = {"type": "object", "properties": {"e": {}, "f": {"type": "string", "default": ""}}, "required": ["e"]}
    schema = {
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "object", "properties": {"c": {}}, "required": ["c"]},
            "d": {"type": "array", "items": inner},
        },
        "required": ["a", "b", "d"],
    }
    found = _unread(tmp_path, text, json.loads(json.dumps(schema)))
    assert len(found) == bool(names) and all(names in one for one in found), found
