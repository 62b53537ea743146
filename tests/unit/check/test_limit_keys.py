"""Caps of `limit_per` beside the values that `by` may have where the section's `where` holds."""

import pytest

from tests.unit.check.lint import lint, messages

KINDS = ["lore", "rumour", "vow"]
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["log"],
    "properties": {
        "log": {
            "type": "array",
            "maxItems": 100,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text", "kind"],
                "properties": {"text": {"type": "string"}, "kind": {"enum": KINDS}},
            },
        }
    },
}


@pytest.mark.parametrize(
    ("where", "uncapped", "never"),
    [
        ("true", ["rumour", "vow"], []),
        ("item.kind != 'vow'", ["rumour"], []),
        ("item.kind in ['lore', 'rumour']", ["rumour"], []),
        ("item.text and item.kind in ('lore', 'rumour')", ["rumour"], []),
        ("item.kind in ['lore']", [], []),
        ("item.kind in ['rumour', 'vow']", ["rumour", "vow"], ["lore"]),
        ("item.kind in ['lore', item.text]", ["rumour", "vow"], []),
    ],
)
def test_only_what_where_lets_pass_wants_a_cap(tmp_path, where, uncapped, never):
    body = (
        "sections:\n  - id: log\n    items:\n      from: state.log\n"
        f'      where: "{where}"\n      text: "{{{{ item.text }}}}"\n      limit_per: {{by: item.kind, caps: {{lore: 2}}}}\n'
    )
    found = lint(tmp_path, body, schema=SCHEMA)
    wanted = (
        [f"`limit_per` of `log` has no cap for {', '.join(f'`{one}`' for one in uncapped)}: such items pass without a limit"]
        if uncapped
        else []
    )
    assert messages(found, "PC0638") == wanted
    assert len(messages(found, "PC0637")) == len(never)
