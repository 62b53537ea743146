"""Labels of bands that are never reached, and templates that were never written."""

import pytest

from tests.unit.check.lint import codes, excerpts, lint, messages

SCHEMA = {
    "type": "object",
    "required": ["heat", "mood", "any"],
    "properties": {
        "heat": {"type": "integer", "minimum": 2, "maximum": 9},
        "part": {"type": "number", "minimum": 0, "maximum": 1, "default": 0},
        "any": {"type": "integer"},
        "mood": {"enum": ["calm", "wild"]},
    },
}


def _band(folder, value, of):
    body = f"let: {{it: {{band: {value!r}, of: {of}}}}}\nsections: [{{id: a, text: '{{{{ it }}}} {{{{ state.mood }}}}'}}]"
    return lint(folder, body, schema=SCHEMA)


@pytest.mark.parametrize(
    ("value", "of", "never"),
    [
        ("state.heat", "{low: 0, high: 10}", ["high"]),
        ("state.heat", "{low: 0, high: 9}", []),
        ("state.heat", "{none: 0, low: 2, high: 5}", ["none"]),
        ("state.heat", "{none: 0, low: 3, high: 5}", []),
        ("state.heat", "{low: 5}", []),  # below the lowest it is the lowest
        ("2 * state.heat - 3", "{low: 0, high: 15}", []),
        ("2 * state.heat - 3", "{low: 0, high: 16}", ["high"]),
        ("state.heat // 4", "{low: 0, high: 2.5}", ["high"]),
        ("-1 * state.heat", "{low: -9, high: -1}", ["high"]),
        ("state.heat * state.part", "{low: 0, high: 9}", []),
        ("state.heat // state.part", "{low: 0, high: 90}", []),  # by how much it is divided is not known
        ("state.any", "{low: 0, high: 90}", []),
    ],
)
def test_labels_that_no_value_reaches(tmp_path, value, of, never):
    found = _band(tmp_path, value, of)
    assert [message.split("`")[3] for message in messages(found, "PC0678")] == never
    assert all(text.startswith(f"{name}:") for text, name in zip(excerpts(found, "PC0678"), never, strict=True))


def test_the_bound_is_told_as_it_is_written(tmp_path):
    [message] = messages(_band(tmp_path, "state.heat", "{low: 0, high: 9.50}"), "PC0678")
    assert message == "`it` is never `high`: it begins at 9.50, and by the schema the value is at most 9"


@pytest.mark.parametrize(
    ("own", "other", "empty"),
    [
        ("template: calm.md", "template: wild.md", True),
        ("template: calm.md", "text: ''", False),
        ("template: wild.md", "header: oh", False),
    ],
)
def test_a_template_that_was_never_written(tmp_path, own, other, empty):
    cases = f"{{calm: {{}}, wild: {{sections: {{guide: {{{other}}}}}}}}}"
    body = f"sections: [{{id: guide, {own}}}]\nvariants: {{mood: {{select: state.mood, cases: {cases}}}}}"
    found = lint(tmp_path, body, schema=SCHEMA, files={"calm.md": "hello", "wild.md": " \n"})
    assert ("PC0677" in codes(found)) is empty
