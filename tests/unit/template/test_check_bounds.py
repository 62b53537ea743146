"""Sources that are too large or nest too deeply are refused before the parser recurses."""

import pytest

from tests.unit.template.run import find_errors, find_expression_errors, render

TOO_MUCH = [
    ("x" * 65_537, "PC0402"),
    ("{{ " + "(" * 33 + "1" + ")" * 33 + " }}", "PC0403"),
    ("{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}", "PC0403"),
    ("{{ " + "[" * 5_000, "PC0403"),
    ("{{ " + "not " * 5_000 + "1 }}", "PC0403"),
    ("{{ " + "-" * 5_000 + "1 }}", "PC0403"),
    ("{{ " + "- " * 101 + "1 }}", "PC0403"),
    ("{{ " + "1~" * 5_000 + "1 }}", "PC0403"),
    ("{{ " + "1+" * 101 + "1 }}", "PC0403"),
    ("{{ a" + ".a" * 101 + " }}", "PC0403"),
    ("{{ a" + "[0]" * 101 + " }}", "PC0403"),
    ("{{ a" + "|upper" * 101 + " }}", "PC0403"),
    ("{{ " + "1 if 1 else " * 101 + "1 }}", "PC0403"),
    ("{{ " + "1 and " * 101 + "1 }}", "PC0403"),
    ("{{ [" + "1," * 2_000 + "] }}", "PC0403"),
    ("{% if 1 %}" * 17 + "{% endif %}" * 17, "PC0403"),
    ("{% for a in b %}" * 200, "PC0403"),
    ("{% set a %}" * 200, "PC0403"),
    ("{% if 0 %}" + "{% elif 0 %}" * 201 + "{% endif %}", "PC0403"),
    ("{{ " + "9" * 301 + " }}", "PC0404"),
    ("{{ 1e999 }}", "PC0404"),
    ("{{a}}" * 4_001, "PC0403"),
    ("{%set x=1%}" * 2_001, "PC0403"),
]


@pytest.mark.parametrize(("text", "code"), TOO_MUCH)
def test_is_refused(text, code):
    (found,) = find_errors("\n" + text)
    assert found.code == code
    assert found.help
    assert found.span is not None and found.span.line in (1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "{{ " + "(" * 32 + "1" + ")" * 32 + " }}",
        "{{ " + "1+" * 100 + "1 }}",
        "{{ a" + "|string" * 100 + " }}",
        "{{ " + "1 and " * 100 + "1 }}",
        "{{ " + "1 if 0 else " * 40 + "1 }}",
        "{{ " + "(1 if 0 else " * 30 + "1" + ")" * 30 + " }}",
        "{{ [" + ", ".join(["a.b.c.d"] * 200) + "] | length }}",
        "{{ " + " or ".join(["a.b.c == 'x' and a.b.d != 'y'"] * 40) + " }}",
        "{% if 1 %}" * 16 + "x" + "{% endif %}" * 16,
        "{% for i in [1] %}" * 16 + "x" + "{% endfor %}" * 16,
        "{% for i in [1] %}{% set x %}" * 8 + "x" + "{% endset %}{% endfor %}" * 8,
        "{% if 0 %}" + "{% elif 0 %}" * 200 + "{% endif %}",
        "{{ " + "1~" * 900 + "1 }}",
        "{# comment #}" * 3_000,
        "{{ a }}" * 4_000,
        "{% macro m() %}{% endmacro %}" * 1_000,
        "\n" * 65_000,
        "{{ " + " " * 60_000 + " }}{% raw %}" + "{" * 100 + "{% endraw %}" if False else "{% raw %}" + "{" * 60_000 + "{% endraw %}",
    ],
)
def test_what_is_just_within_the_bounds_renders(text):
    assert isinstance(render(text, {"a": {"b": {"c": {"d": 1}, "d": 1}}}), str)


def test_expressions_are_bounded_too():
    (found,) = find_expression_errors("(" * 40 + "1" + ")" * 40)
    assert (found.code, found.span and found.span.line) == ("PC0403", 12)
