"""An item fence that begins with a sign alone, and then with data, makes promptc escape each line that begins with this sign."""

import pytest

from tests.unit.check.lint import lint, messages

BODY = """sections:
  - id: notes
    items: {from: state.notes, text: "{{ item }}", fence: {open: '%s', close: '%s'}}
"""
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["notes"],
    "properties": {"notes": {"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 9}}},
}


@pytest.mark.parametrize(
    ("open", "close", "found"),
    [
        ("<{{ item }}>", "</{{ item }}>", ["<", "</"]),
        ("<note {{ item }}>", "</note>", []),
        ("## {{ item }}", "---", ["##"]),
        ("<note>", "</note>", []),
        ("=== {{ item }} ===", "=== end ===", []),
    ],
)
def test_a_fence_that_begins_with_a_sign_alone(tmp_path, open, close, found):
    told = messages(lint(tmp_path, BODY % (open, close), schema=SCHEMA), "PC0600")
    assert [one.split("`")[5] for one in told] == found


def test_a_guard_that_keeps_fences_escapes_nothing(tmp_path):
    body = BODY % ("<{{ item }}>", "</note>") + "output: {guard: {fences: keep}}\n"
    assert messages(lint(tmp_path, body, schema=SCHEMA), "PC0600") == []
