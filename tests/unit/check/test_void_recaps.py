"""Recaps that take texts which their template makes no shorter."""

import pytest

from tests.unit.check.lint import codes, lint

CUT = "{{ text | truncate_at('sentence', chars=340) }}\n(Shortened.)\n"


def _lint(folder, where, template=CUT):
    body = f"sections: [{{id: a, text: '{{{{ state.a }}}}'}}]\ntruncate: [recap: {{section: a, where: '{where}', template: cue.j2}}]\n"
    schema = {"type": "object", "required": ["a", "on"], "properties": {"a": {"type": "string"}, "on": {"type": "boolean"}}}
    return codes(lint(folder, body, schema=schema, files={"cue.j2": template}))


@pytest.mark.parametrize(
    "where",
    [
        "this.chars > 200",
        "this.chars > 351",
        "this.chars >= 353 or state.on and this.chars > 90",
        "200 < this.chars",
        "not this.chars <= 9",
    ],
)
def test_a_text_between_gets_no_shorter(tmp_path, where):
    assert "PC0623" in _lint(tmp_path, where)


@pytest.mark.parametrize("where", ["this.chars > 353", "this.chars >= 354 and state.on", "state.on", "this.chars < 20", "this.tokens > 3"])
def test_all_that_is_taken_gets_shorter_or_nothing_is_known(tmp_path, where):
    assert "PC0623" not in _lint(tmp_path, where)


def test_a_template_without_a_bound_is_not_judged(tmp_path):
    assert "PC0623" not in _lint(tmp_path, "this.chars > 200", "{{ text }}")
