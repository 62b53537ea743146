"""What is said of a text that is no Jinja: whatever the text, a finding inside it, soon; and texts in quotes are left alone."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError, Span
from promptc.template.lower.module import load_expression, load_template
from promptc.template.place import Place

_PARTS = st.sampled_from(
    [
        *"{}%#[]()?:!=&|~`$'\" \n>^/\\",
        "{{",
        "}}",
        "{%",
        "%}",
        " if ",
        " else ",
        " for ",
        " in ",
        "endif",
        "endfor",
        "state.on",
        "x",
        "&&",
        "||",
    ]
)


def find_error(load, text):
    source = f"when: {text}"
    with pytest.raises(PromptcError) as caught:
        load(text, Place(Span("pack.yaml", 1, 7, source), inline=True, source=source))
    return caught.value.diagnostics[0]


@given(st.lists(_PARTS, max_size=20).map("".join), st.sampled_from([load_template, load_expression]))
def test_any_text_is_taken_or_is_a_finding_inside_it(text, load):
    file = Place(Span("part.md.j2", 1, 1, text.split("\n")[0]), inline=False)
    try:
        load(text, file)
    except PromptcError as error:
        lines = text.split("\n")
        for found in error.diagnostics:
            assert 1 <= found.span.line <= len(lines) and 1 <= found.span.column <= len(lines[found.span.line - 1]) + 1
            assert found.message and "\n" not in found.message + found.help


@pytest.mark.parametrize(
    "text",
    ["{{" * 20_000, "{{ [" + " " * 50_000, "{{ x ? " + " ?" * 20_000, "{{#if " + " " * 50_000, "{% if " * 9_000, "{{" + "'" * 60_001],
)
def test_a_long_text_is_told_of_soon(text):
    begin = time.process_time()
    for load in (load_template, load_expression):
        with pytest.raises(PromptcError) as caught:
            load(text, Place(Span("part.md.j2", 1, 1), inline=False))
        assert all(len(found.message) < 400 and len(found.help) < 400 for found in caught.value.diagnostics)
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("state.a && 'x && !y'", "write `state.a and 'x && !y'`"),
        ('state.a ? "b ? c : d" : 2', 'write `"b ? c : d" if state.a else 2`'),
        ("a && b ? 1 : 2", "write `1 if a and b else 2`"),
        ("state.a != 1 || ! state.b", "write `state.a != 1 or not state.b`"),
        ("[f.a.b for f in x if not f.c]", "write `x | rejectattr('c') | map(attribute='a.b') | list`"),
        ("f'{state.a}{state.b}: on'", "write `state.a ~ state.b ~ ': on'`"),
        ('f"It\'s {state.a}"', "join values with `~`: `'Hello ' ~ state.name`"),
        ("f'{1 if state.a else 2}!'", "join values with `~`: `'Hello ' ~ state.name`"),
        ("f'{state.a:>9}'", "join values with `~`: `'Hello ' ~ state.name`"),
        ("{{ state.on }}", "write `when: state.on`"),
        ("npc-{{ state.id }}-{{ state.n }}", "write `when: 'npc-' ~ state.id ~ '-' ~ state.n`"),
    ],
)
def test_an_expression_is_rewritten_and_texts_in_it_are_not(text, help):
    found = find_error(load_expression, text)
    assert (found.code, found.help) == ("PC0401", help)
    load_expression(
        help.removeprefix("join values with `~`: ").removeprefix("write ").strip("`").removeprefix("when: "),
        Place(Span("", 1, 1), inline=False),
    )


@pytest.mark.parametrize(
    ("text", "place", "message", "help"),
    [
        ("a\n{# b", (2, 1), "`{#` is never closed: `#}` is missing", "write `#}` where the remark ends"),
        ("{% raw %}{{ x }}", (1, 1), "`{% raw %}` is never closed: its `{% endraw %}` is missing", "write `{% endraw %}`"),
        ("{% do x.append(1) %}", (1, 1), "`{% do %}` is a tag of Jinja that promptc does not have", "with `{% set name"),
        ("{% for x in xs %}{% break %}{% endfor %}", (1, 18), "`{% break %}` is a tag of Jinja", "state.facts[:3]"),
        ("{% wibble %}", (1, 1), "`{% wibble %}` is not a Jinja tag", "the tags are `if`, `for`, `set`"),
    ],
)
def test_a_tag_is_told_of_where_it_begins(text, place, message, help):
    with pytest.raises(PromptcError) as caught:
        load_template(text, Place(Span("a.j2", 1, 1, text.split("\n")[0]), inline=False))
    (found,) = caught.value.diagnostics
    assert (found.span.line, found.span.column) == place and found.message.startswith(message) and help in found.help


@pytest.mark.parametrize("text", ['{"a": {"b": 1}}.a', "[x, y]", "{'?': ':'}['?']", "a if b else c", "'{{ x }}'"])
def test_what_is_an_expression_stays_one(text):
    load_expression(text, Place(Span("", 1, 1), inline=False))
