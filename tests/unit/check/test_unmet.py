"""Conditions that no valid state meets, and those that some state does."""

import pytest

from tests.unit.check.lint import codes, excerpts, lint, messages

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["notes", "on", "mood", "hp", "free"],
    "properties": {
        "on": {"type": "boolean"},
        "mood": {"enum": ["calm", "tense", None]},
        "hp": {"type": "integer", "minimum": 0, "maximum": 10},
        "free": {},
        "maybe": {"type": "string", "maxLength": 4},
        "notes": {
            "type": "array",
            "maxItems": 9,
            "items": {
                "type": "object",
                "required": ["kind", "level", "text", "at"],
                "properties": {
                    "kind": {"enum": ["fact", "vow", "debt"]},
                    "level": {"type": "integer", "minimum": 1, "maximum": 5},
                    "rank": {"enum": [1, 2, 3, 9], "default": 9},
                    "text": {"type": "string", "maxLength": 20},
                    "at": {"type": "string"},
                    "until": {"type": "string"},
                    "open": {"type": "boolean", "default": True},
                },
            },
        },
    },
}


def _where(folder, where, **more):
    body = f"sections: [{{id: log, items: {{from: state.notes, where: {where!r}, limit: 3, text: '{{{{ item.text }}}}'}}}}]"
    return lint(folder, body, schema=SCHEMA, **more)


def _when(folder, when):
    return lint(folder, f"sections: [{{id: log, when: {when!r}, text: words}}]", schema=SCHEMA)


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("item.level > 5", "it requires `item.level > 5`, but by the schema `item.level` is a whole number from 1 to 5"),
        ("6 <= item.level", "it requires `item.level >= 6`"),
        ("item.level == 0", "it requires `item.level == 0`"),
        ("item.level is lt 1", "it requires `item.level < 1`"),
        ("item.level in [0, 6, -1]", "it requires `item.level in [0, 6, -1]`"),
        ("item.level == 2.5", "it requires `item.level == 2.5`"),
        ("not item.level >= 1", "it requires `item.level < 1`"),
        ("not item.level", "it requires `not item.level`"),
        ("item.rank not in [1, 2, 3, 9]", "one of `1`, `2`, `3`, `9`"),
        ("item.level > 2 and item.open and item.level < 2", "no value meets `item.level > 2` and `item.level < 2`"),
        ("item.level > 3 and item.at or item.level > 7", None),
        ("item.level > 7 or item.level < 1", "it requires `item.level > 7`"),
        ("item.at > 'b' and item.at < 'a'", "no value meets"),
        ("item.open and not item.open", "no value meets `item.open` and `not item.open`"),
        ("item.text | length > 20", "`item.text | length` is a whole number from 0 to 20"),
        ("item.text == 'a text of more than twenty characters'", "is a string of at most 20 characters"),
        ("5 < item.level < 9", "it requires `item.level > 5`"),
        ("item.at | lower == 'a' and item.at | lower == 'b'", "no value meets `item.at | lower == 'a'` and `item.at | lower == 'b'`"),
        ("item.level < state.hp and item.level >= state.hp", "two of its conditions exclude each other"),
        ("item.text in state.free and item.text not in state.free", "two of its conditions exclude each other"),
        ("false and item.open", "it is false for every state"),
        ("not (item.level <= 5 or item.open)", "it requires `item.level > 5`"),
    ],
)
def test_a_filter_that_nothing_meets(tmp_path, where, why):
    found = _where(tmp_path, where)
    if why is None:
        assert "PC0673" not in codes(found)
    else:
        assert why in messages(found, "PC0673")[0] and codes(found) == ["PC0673"]
        assert messages(found, "PC0673")[0].startswith("`items.where` of `log` is never true: ")


@pytest.mark.parametrize(
    "where",
    [
        "item.level > 4",
        "item.level >= 5 and item.kind == 'vow'",
        "item.level in [5, 6]",
        "item.rank == 9",
        "item.rank > 3",
        "item.level == 1.0",
        "item.at > 'a' and item.at < 'b'",
        "not item.at",
        "item.until is none",
        "item.until is not none and item.until != 'a'",
        "not item.text",
        "item.nothing is undefined",
        "item.nothing == 3",
        "item.kind != 'vow' and item.kind != 'fact'",
        "item.kind not in ['vow', 'fact']",
        "item.text | length == 20",
        "item.text | length == 0",
        "item.level < state.hp and item.level >= 5",
        "item.text in state.free or item.text not in state.free",
        "state.free == 1 or state.free == 'a'",
        "item.level % 2 == 1 and item.level % 3 == 2",
        "this.number > 3 and this.number < 5",
        "item.open == 1",
        "state.mood is none",
        "state.hp == 0 and not state.hp",
        "true",
    ],
)
def test_a_filter_that_something_meets(tmp_path, where):
    assert "PC0673" not in codes(_where(tmp_path, where))


@pytest.mark.parametrize(
    ("when", "flagged"),
    [
        ("state.hp > 10", True),
        ("state.hp >= 10", False),
        ("state.notes | length >= 10", True),
        ("state.notes | length == 9", False),
        ("state.notes and state.hp < 0", True),
        ("state.maybe == 'abcde'", True),
        ("state.maybe == 'abcd'", False),
        ("state.maybe is none", False),
        ("state.on", False),
    ],
)
def test_when(tmp_path, when, flagged):
    assert codes(_when(tmp_path, when)) == (["PC0673"] if flagged else [])


def test_what_other_rules_say_is_said_once(tmp_path):
    """A comparison with what a value never is, and a constant."""
    assert codes(_where(tmp_path, "item.kind == 'vwo'")) == ["PC0652"]
    assert codes(_where(tmp_path, "item.kind == 'vow' and item.kind == 'fact'")) == ["PC0652"]
    assert codes(_when(tmp_path, "false")) == ["PC0643"]


def test_the_place_is_that_of_the_demand(tmp_path):
    assert excerpts(_where(tmp_path, "item.open and item.level > 5"), "PC0673")[0].startswith("item.level > 5")


def test_a_let_is_asked_what_it_stands_for(tmp_path):
    body = "let: {strong: state.hp > 10, weak: state.hp < 5}\nsections: [{id: a, when: strong, text: x}, {id: b, when: weak, text: y}]"
    assert messages(lint(tmp_path, body, schema=SCHEMA), "PC0673") == [
        "`when` of `a` is never true: it requires `state.hp > 10`, but by the schema `state.hp` is a whole number from 0 to 10"
    ]


def test_a_step_and_what_keeps_items(tmp_path):
    body = """
        sections:
          - id: log
            budget: 50
            items:
              from: state.notes
              where: item.level > 2
              text: "{{ item.text }}"
              window: {last: 4}
              keep: [{where: item.level < 2, last: 1}]
              anchors: {where: item.level > 9, last: 1}
            overflow:
              - evict: {order: [item.level == 1, item.level == 3, true]}
    """
    found = lint(tmp_path, body, schema=SCHEMA)
    assert sorted(one.split(" is never")[0] for one in messages(found, "PC0673")) == [
        "`anchors.where` of `log`",
        "`keep.where` of `log`",
        "`order` of `log.overflow[0]`",
    ]
    assert "is never true: no value meets `item.level < 2` and `item.level > 2`" in "".join(messages(found, "PC0673"))


def test_variants_and_tiers_are_values_that_are_known(tmp_path):
    body = """
        variants: {mode: {select: state.mood, default: a, cases: {a: {}, b: {}}}}
        strain: {tiers: [{name: low, at: 0}, {name: high, at: 0.9}]}
        sections:
          - {id: one, budget: 20, when: variant.mode == 'b', text: "{{ state.mood }}", overflow: [{drop: {}}]}
          - {id: two, when: strain.index > 1, text: words}
          - {id: three, when: strain.index == 1, text: words three}
    """
    found = lint(tmp_path, body, schema=SCHEMA)
    assert [one.split(" is never")[0] for one in messages(found, "PC0673")] == ["`when` of `two`"]


def test_nothing_is_said_without_a_schema(tmp_path):
    body = "sections: [{id: log, items: {from: state.notes, where: item.level > 5, limit: 3, text: '{{ item.text }}'}}]"
    assert "PC0673" not in codes(lint(tmp_path, body))


def test_where_it_holds_is_told(tmp_path):
    body = """
        variants: {mode: {select: state.mood, default: a, cases: {a: {}, b: {sections: {log: {when: state.hp > 50}}}}}}
        sections: [{id: log, text: words}]
    """
    assert messages(lint(tmp_path, body, schema=SCHEMA), "PC0673")[0].endswith(" (with `mode=b`)")
