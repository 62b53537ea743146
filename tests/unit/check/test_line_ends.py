"""Line ends that a block tag takes with it."""

import pytest

from promptc.check.rules.texts import list_eaten
from promptc.diag.findings import Span
from promptc.template.lower.module import load_template
from promptc.template.place import Place
from tests.unit.check.lint import codes, lint

_GLUED = [
    ("Hi{% if a %}, you{% endif %}\nNext\n", 1),
    ("{% if a %}one{% else %}two{% endif %}\nNext", 1),
    ("x\n{{ a }}{% if a %}\nb{% endif %}", 2),
    ("{% for f in [1, 2] %}\n- {{ f }}{% if f > 1 %} (2){% endif %}\n{% endfor %}\n", 2),
    ("a {# a remark #}\nb", 1),
    ("{% if a %}\nx{% if a %}y{% endif %}\n{% else %}\nz\n{% endif %}\nmore", 2),
    ("{% set x %}\nfoo{% if a %}\nc{% endif %}\n{% endset %}\n{{ x }}", 2),
    ("{% raw %}{% if %}{% endraw %}\nfoo", 1),
    ("Hi {% set b = [\n  1] %}\nNext", 2),
]
_RIGHT = [
    "Hi{% if a %}, you{% endif %}\n",
    "{% if a %}\nx\n{% endif %}\ny",
    "Hi{% if a %}x{% endif %}\n\nNext",
    "{% set b = 1 %}\nx",
    "{% set b = {\n  'a': 1} %}\nx",
    "{% set b %}text{% endset %}\nx{{ b }}",
    "{% macro f(x) %}a{{ x }}{% endmacro %}\nText",
    "{% if a %}\nx{% if a %}y{% endif %}\n{% else %}\nz\n{% endif %}\n",
    "{% for x in [1] %}{{ x }}{% endfor +%}\nq",
    "Hi{% if a %}x{% endif -%}\nNext",
    "Hi{% if a %}x{% endif %}\n{%- if a %}, y{% endif %}",
    "{% raw %}text {% if %}\n{% endraw %}",
    "Hi {{ a }}\nNext",
    "{# a remark #}\nx",
    "",
]


# contract 3.7
@pytest.mark.parametrize(("text", "line"), _GLUED)
def test_a_line_end_that_is_lost(text, line):
    assert [text.count("\n", 0, at) + 1 for at, _ in list_eaten(text)] == [line]
    assert all(text[at - 1 : at + 1] in ("%}", "#}") for at, _ in list_eaten(text))


@pytest.mark.parametrize("text", _RIGHT)
def test_line_ends_that_stay_or_are_not_missed(text):
    assert list(list_eaten(text)) == []


@pytest.mark.parametrize(("text", "line"), [one for one in _GLUED if "raw" not in one[0]])
def test_the_template_does_glue_them(text, line):
    """What is found is so: with the tag made to keep its line end, the output has one line more."""
    rows = text.split("\n")
    row = rows[line - 1]
    rows[line - 1] = f"{row[:-2]}+{row[-2:]}"
    before, after = (_render(one) for one in (text, "\n".join(rows)))
    assert after.count("\n") > before.count("\n")


def test_a_long_tag_is_shown_by_its_ends(tmp_path):
    text = "Hi {% if state.name %}you{% elif state.name == 'so and so, of such and such a place' %}\nNext{% endif %}"
    (found,) = lint(tmp_path, "sections: [{id: a, template: a.md.j2}]", files={"a.md.j2": text})
    assert "the `{% elif state.name == 'so … %}` at the end" in found.message
    assert "write `{% elif state.name == 'so … +%}`" in found.help


def test_files_and_inline_texts(tmp_path):
    body = """
        sections:
          - {id: a, template: a.md.j2}
          - {id: b, template: b.md}
          - id: c
            text: |
              Hi{% if state.name %}, {{ state.name }}{% endif %}
              Next
        """
    text = "Hi{% if state.name %}!{% endif %}\nNext\n"
    found = lint(tmp_path, body, files={"a.md.j2": text, "b.md": text})
    assert codes(found) == ["PC0641", "PC0641"]
    assert found[0].span.file.endswith("a.md.j2") and found[0].span.line == 1
    assert "at the end of line 1 of the text of `c`" in found[1].message
    assert "{% endif +%}" in found[0].help


def _render(text: str) -> str:
    return load_template(text, Place(Span("t.md.j2", 1, 1), inline=False)).render({"a": True})
