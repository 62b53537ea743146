"""Places in texts that a manifest folds: inside them where that is certain, else where they begin."""

import pytest

from promptc.diag.findings import Span
from promptc.frontend.yaml import load_yaml
from promptc.template.place import Place, cut_source


def _find(source, at):
    """What stands in `source` at the place of the character `at` of its `text`."""
    node = load_yaml(source.encode(), "pack.yaml", "").value["text"]
    span = Place(node.span, inline=True, source=cut_source(source.split("\n"), node.span, str(node.value))).make_span(
        "", str(node.value), at
    )
    return source.split("\n")[span.line - 1][span.column - 1 :], str(node.value)[at - 1 :]


@pytest.mark.parametrize("head", [">-", ">", ">+"])
def test_every_character_of_a_plain_fold_is_found(head):
    source = f"text: {head}\n  one {{{{ a }}}} two \n  three\n  {{{{ b }}}} four\nmore: 1\n"
    value = "one {{ a }} two  three {{ b }} four"
    for at, character in enumerate(value, 1):
        there, rest = _find(source, at)
        assert rest.startswith(value[at - 1 :])
        assert there.startswith(character) or (character == " " and there == "")


@pytest.mark.parametrize(
    ("source", "at", "there"),
    [
        ("text: >-\n  one\n\n  two\n", 5, ">-"),
        ("text: >-\n  one\n    two\n  three\n", 9, ">-"),
        ("text: >-\n  one\n    two\n", 2, "ne"),
        ("text: >2-\n    one\n  two\n", 3, ">2-"),
        ("text: one\n  two\n", 6, "one"),
    ],
)
def test_what_is_not_certain_is_where_the_text_begins(source, at, there):
    assert _find(source, at)[0] == there


WRITTEN = r'"a\tb \"{{ x }}\" \\ \x41\u00e9\U0001F600 \n\/\e\N\_\L\P é東{{ y }}."'


def test_every_character_between_double_quotes_is_found_whatever_stands_escaped_before_it():
    source = f"one: 1\nlist: [{{text: {WRITTEN}}}]\n"
    node = load_yaml(source.encode(), "pack.yaml", "").value["list"].value[0].value["text"]
    text, columns = str(node.value), []
    for at in range(1, len(text) + 1):
        span = Place(node.span, inline=True, source=cut_source(source.split("\n"), node.span, text)).make_span("", text, at)
        there = source.split("\n")[span.line - 1][span.column - 1 :].removesuffix("}]")
        assert load_yaml(f'"{there}'.encode(), "pack.yaml", "").value == text[at - 1 :]
        columns.append(span.column)
    assert columns == sorted(set(columns)) and columns[0] == 16


@pytest.mark.parametrize(
    ("source", "at", "there"),
    [
        ("text: 'it''s {{ a }} ''b'''\n", 6, "{{ a"),
        ("text: 'it''s {{ a }} ''b'''\n", 14, "''b"),
        ('text: "a {{ b }}\\\n  c {{ d }}"\n', 3, "{{ b"),
        ('text: "a {{ b }}\\\n  c {{ d }}"\n', 13, '"a'),
        ('text: "a {{ b }}\n  c {{ d }}"\n', 14, '"a'),
        ('text: "a\\n{{ d }}"\n', 3, "{{ d"),
    ],
)
def test_between_quotes(source, at, there):
    assert _find(source, at)[0].startswith(there)


def test_nothing_behind_the_head_is_no_place():
    assert Place(Span("pack.yaml", 1, 7), inline=True, source="text: >-").make_span("", "x", 1) == Span("pack.yaml", 1, 7)
