"""Definitions: what they stand for, where their faults are told, and how much they may become."""

import pytest
from jinja2.nodes import Getattr

from promptc.diag.findings import PromptcError, Span
from promptc.template.allow import LIMITS
from promptc.template.define import load_definitions, read_tree
from promptc.template.lower.module import load_expression, load_template
from promptc.template.place import Definition, Place, trace_outside

NAMES = {"state": {"npc": "ada", "n": 3}, "item": {"tags": ["hinge", "old"], "ref": "ada"}}


def define(**texts):
    """Definitions of a manifest with one of them a line; `f__x_y` is `f(x, y)`."""
    written = []
    for line, (signature, text) in enumerate(texts.items(), 1):
        name, _, rest = signature.partition("__")
        place = Place(Span("pack.yaml", line, 3), inline=True, source=f"  {text}")
        written.append(Definition(name, tuple(rest.split("_")) if rest else (), text, place))
    return load_definitions(written)


def make_place(**texts):
    definitions, findings = define(**texts)
    assert not findings
    return Place(Span("pack.yaml", 90, 1), inline=False, definitions=definitions)


def evaluate(expression, **texts):
    return load_expression(expression, make_place(**texts)).evaluate(NAMES)


def find_faults(expression, **texts):
    with pytest.raises(PromptcError) as raised:
        load_template("{{ " + expression + " }}", make_place(**texts)).render(NAMES)
    return [(str(one.span), one.code, one.message) for one in raised.value.diagnostics]


# contract 3.20
@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("hinge", True),
        ("not hinge", False),
        ("hinge and about(state.npc)", True),
        ("about('bo') or about('ada')", True),
        ("both(hinge, not hinge)", False),
        ("twice(state.n + 1)", 8),
        ("twice(state.n) * 2", 12),
        ("state.n * sum", 21),
        ("-sum", -7),
        ("sum ** 2", 49),
        ("twice(twice(sum))", 28),
        ("tags[1:] | first", "old"),
        ("tags.0", "hinge"),
        ("[1, sum] | max", 7),
        ("{'sum': sum}.sum", 7),
        ("item.tags | select('equalto', wanted) | list", ["hinge"]),
        ("state.n if hinge else sum", 3),
    ],
)
def test_a_name_is_what_it_stands_for_in_brackets(expression, value):
    assert (
        evaluate(
            expression,
            hinge="'hinge' in item.tags",
            about__npc="item.ref == npc",
            both__a_b="a and b",
            sum="state.n + 4",
            twice__x="x + x",
            tags="item.tags",
            wanted="'hinge'",
        )
        == value
    )


def test_an_argument_is_not_looked_up_in_the_definition():
    """`x` of the caller is not the `x` of the definition it is handed to."""
    assert evaluate("outer(1, 2)", inner__x_y="x * 10 + y", outer__x_y="inner(y, x)") == 21


def test_reads_are_those_of_what_it_stands_for():
    place = make_place(hinge="'hinge' in item.tags", about__npc="item.ref == npc")
    assert load_expression("hinge and about(state.npc)", place).reads == {("item", "tags"), ("item", "ref"), ("state", "npc")}


# contract 3.24
def test_a_fault_in_a_definition_is_told_where_it_is_named_and_names_it():
    found = find_faults("1 if outer", inner__x="x.tag", outer="inner(item)")
    assert found == [("pack.yaml:1:9", "PC0411", "`x` has no `tag`, in `outer` → `inner` (pack.yaml:1:5)")]


def test_a_fault_in_an_argument_is_the_callers():
    assert find_faults("twice(item.none)", twice__x="x ~ x") == [("pack.yaml:1:15", "PC0411", "`item` has no `none`")]


def test_a_misspelt_name_is_found():
    with pytest.raises(PromptcError) as raised:
        load_template("{{ hing }}", make_place(hinge="1")).render(NAMES)
    assert raised.value.diagnostics[0].help == "did you mean `hinge`?"
    with pytest.raises(PromptcError) as raised:
        load_template("{{ abot(1) }}", make_place(about__npc="npc"))
    assert raised.value.diagnostics[0].help == "did you mean `about`?"


@pytest.mark.parametrize(
    ("text", "code", "what", "use"),
    [
        ("{{ state.n | hinge }}", "PC0406", "`hinge` is a definition of the pack and no filter", "write `hinge`"),
        ("{{ state.n | about('x') }}", "PC0406", "`about` is a definition of the pack and no filter", "write `about(npc)`"),
        ("{{ state.n is hinge }}", "PC0407", "`hinge` is a definition of the pack and no test", "write `hinge`"),
        ("{{ item.tags | map('hinge') | list }}", "PC0406", "`hinge` is a definition of the pack and no filter", "write `hinge`"),
        ("{{ item.tags | select('about') | list }}", "PC0407", "`about` is a definition of the pack and no test", "write `about(npc)`"),
    ],
)
def test_one_that_is_used_as_a_filter_or_a_test_is_told_from_an_unknown_name(text, code, what, use):
    with pytest.raises(PromptcError) as raised:
        load_template(text, make_place(hinge="1", about__npc="npc"))
    told = [(one.code, one.message, one.help) for one in raised.value.diagnostics]
    assert told == [(code, what, f"it stands for its expression: {use}")]
    assert [one.message for one in define(hinge="1", about__npc="npc", last=text[3:-3])[1]] == [what]


# contract 3.23
@pytest.mark.parametrize(
    "text",
    [
        "{% for hinge in state.npc %}{% endfor %}",
        "{% for a, hinge in state.npc %}{% endfor %}",
        "{% set hinge = 1 %}",
        "{% set hinge %}x{% endset %}",
        "{% with hinge = 1 %}{% endwith %}",
        "{% macro hinge() %}{% endmacro %}",
        "{% macro a(hinge) %}{% endmacro %}",
        "{% macro a(about) %}{{ about }}{% endmacro %}",
        "{% import 'a.j2' as hinge %}",
        "{% from 'a.j2' import x as hinge %}",
        "{% from 'a.j2' import hinge %}",
    ],
)
def test_a_template_cannot_set_its_name(text):
    with pytest.raises(PromptcError) as raised:
        load_template(text, make_place(hinge="1", about__npc="npc"), load_file=lambda name: "")
    assert {one.code for one in raised.value.diagnostics} == {"PC0427"}


# contract 3.23
@pytest.mark.parametrize(
    "text",
    [
        "{% for item in state.npc if outer %}{% endfor %}",
        "{% set item = state %}{{ outer }}",
        "{% macro a(item) %}{{ outer }}{% endmacro %}{{ a(1) }}",
        "{% for item in state.npc %}{% include 'a.j2' %}{% endfor %}",
    ],
)
def test_no_template_catches_what_it_reads(text):
    place = make_place(hinge="item.tags", outer="not hinge")
    with pytest.raises(PromptcError) as raised:
        load_template(text, place, load_file=lambda name: "{{ outer }}")
    (found,) = raised.value.diagnostics
    assert (found.code, found.message) == ("PC0428", "`outer` reads `item`, and this template sets `item` itself, so the name is ambiguous")
    given = text.replace("outer", "outer_of(item)")
    load_template(given, make_place(outer_of__one="not one.tags"), load_file=lambda name: "{{ outer_of(item) }}")


def test_keys_and_parts_of_its_name_are_left_alone():
    place = make_place(hinge="1")
    text = "{% set ns = namespace(hinge=2) %}{% set ns.hinge = 3 %}{{ ns.hinge }}{{ {'hinge': 4}.hinge }}{{ state.hinge is defined }}"
    assert load_template(text, place).render(NAMES) == "34False"


def test_a_circle_is_shown_once_and_a_later_one_named():
    _, findings = define(a="b", b="c or 1", c="a", d="later", later="2", own="own")
    assert [one.message for one in findings] == [
        "definitions use each other in a circle: a → b → c → a",
        "`d` uses `later`, which comes after it",
        "definitions use each other in a circle: own → own",
    ]


def test_what_is_wrong_is_told_once_and_not_again_where_it_is_named():
    definitions, findings = define(a="state.x | nofilter", b="a and a")
    assert [one.code for one in findings] == ["PC0406"]
    place = Place(Span("pack.yaml", 9, 1), inline=True, definitions=definitions)
    assert load_expression("a or b", place).evaluate(NAMES) is None


def test_one_that_stands_for_none_is_not_wrong():
    assert evaluate("is_it(state.n)", nothing="none", is_it__x="x if nothing is none else 0") == 3


def test_places_are_in_the_definition_and_back_in_the_text():
    place = make_place(inner="item.tags", outer="1 or inner")
    text = "state.n and outer"
    tree = read_tree(text, "", place, LIMITS, expression=True)
    found = [trace_outside(tree.sites, node.lineno) for node in tree.find_all(Getattr)]
    assert [(at, [(one.name, there) for one, there in inner]) for at, inner in found] == [(7, []), (13, [("outer", 6), ("inner", 6)])]


# contract 3.22
def test_doubling_definitions_end_in_a_finding_at_the_one_that_is_too_large():
    chain = {"d0": "state.n", **{f"d{number}": f"d{number - 1} + d{number - 1}" for number in range(1, 40)}}
    _, findings = define(**chain)
    assert [one.code for one in findings] == ["PC0403"]
    assert findings[0].message == "`d9` stands for more than 2000 parts, with its definitions written out"
    assert str(findings[0].span) == "pack.yaml:10:3"


def test_doubling_calls_end_in_a_finding():
    text = "f(" * 30 + "state.n" + ")" * 30
    found = find_faults(text, f__x="x + x")
    assert [(code, message.split(",")[0]) for _, code, message in found] == [("PC0403", "more than 12000 parts")]


def test_deep_definitions_end_in_a_finding():
    chain = {"d0": "state.n", **{f"d{number}": f"d{number - 1} + 1" for number in range(1, 150)}}
    _, findings = define(**chain)
    assert [one.code for one in findings] == ["PC0403"]
    assert "operators deep" in findings[0].message


def test_many_large_definitions_end_in_a_finding():
    large = " + ".join(["state.n"] * 40)
    many = {f"a{number}": f"[{', '.join([large] * 7)}] | length" for number in range(60)}
    _, findings = define(**many)
    assert findings and {one.code for one in findings} == {"PC0403"}
    assert "the definitions of the pack expand to more than 30000 parts" in findings[0].message


def test_many_definitions_that_name_all_behind_them_are_judged_in_time():
    """Each finding tells of one; a circle of hundreds is told in a line."""
    behind = {number: [f"d{other}" for other in range(number + 1, min(200, number + 90))] for number in range(200)}
    behind = {f"d{number}": " + ".join(names or ["1"]) for number, names in behind.items()}
    _, findings = define(**behind)
    assert len(findings) == 199 and findings[0].message == "`d0` uses `d1`, which comes after it"
    around = {f"d{number}": f"d{(number + 1) % 200}" for number in range(200)}
    _, (circle,) = define(**around)
    assert circle.message == "definitions use each other in a circle: d0 → d1 → d2 → d3 → d4 → d5 → … → d0"


def test_two_circles_that_do_not_meet_are_two_findings():
    _, findings = define(a="b", b="a", c="d + a", d="c")
    assert [one.message.partition(": ")[2] for one in findings] == ["a → b → a", "c → d → c"]
