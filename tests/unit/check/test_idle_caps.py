"""Caps that nothing reaches, caps that just hold, and caps that bind."""

import pytest

from tests.unit.check.lint import excerpts, lint

SCHEMA = {
    "type": "object",
    "required": ["notes", "free", "story", "tale"],
    "properties": {
        "story": {"type": "string", "maxLength": 600},
        "tale": {"type": "string"},
        "free": {"type": "array", "items": {"type": "string"}},
        "notes": {
            "type": "array",
            "maxItems": 20,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["kind", "text", "on", "level"],
                "properties": {
                    "kind": {"enum": ["a", "b", "c"]},
                    "level": {"enum": [1, 2]},
                    "on": {"type": "boolean"},
                    "text": {"type": "string", "maxLength": 400},
                    "maybe": {"enum": ["x", "y"]},
                },
            },
        },
    },
}


def _items(folder, items, more="", budget="90000"):
    body = f"sections: [{{id: log, items: {{text: '{{{{ item.text }}}}', {items}}}{more}}}]"
    return [(one.level, one.message) for one in lint(folder, body, schema=SCHEMA, budget=budget) if one.code == "PC0672"]


@pytest.mark.parametrize(
    ("items", "level", "message"),
    [
        ("from: state.notes, limit: 21", "warn", "`limit` of `log`, 21, never takes effect: the list never holds more than 20"),
        ("from: state.notes, limit: {last: 20}", "note", "`limit` of `log`, 20, never takes effect: the list never holds more than 20"),
        ("from: 'state.notes[:4]', limit: 9", "warn", "`limit` of `log`, 9, never takes effect: the list never holds more than 4"),
        (
            "from: state.notes, window: {last: 30}",
            "warn",
            "`window.last` of `log`, 30, never takes effect: the list never holds more than 20",
        ),
        (
            "from: state.free, window: {last: 6}, limit: 9",
            "warn",
            "`limit` of `log`, 9, never takes effect: `window` lets through at most 6",
        ),
        (
            "from: state.notes, limit_per: {by: item.kind, caps: {a: 2, b: 3, c: 3}}, limit: 8",
            "note",
            "`limit` of `log`, 8, never takes effect: the caps of `limit_per` let through at most 8",
        ),
        (
            "from: state.notes, limit_per: {by: item.kind, caps: {a: 2, b: 3, c: 3}}, limit: 12",
            "warn",
            "`limit` of `log`, 12, never takes effect: the caps of `limit_per` let through at most 8",
        ),
        (
            "from: state.notes, limit_per: {by: item.on, caps: {'true': 2, 'false': 3}}, limit: 6",
            "warn",
            "`limit` of `log`, 6, never takes effect: the caps of `limit_per` let through at most 5",
        ),
        (
            "from: state.notes, limit_per: {by: item.kind, caps: {a: 25, b: 3, c: 3}}",
            "warn",
            "the cap for `a` in `limit_per` of `log`, 25, never takes effect: the list never holds more than 20",
        ),
        (
            "from: state.notes, limit_per: {by: item.kind, caps: {a: 9, b: 1, c: 1}}, limit: 5",
            "warn",
            "the cap for `a` in `limit_per` of `log`, 9, never takes effect: `limit` lets through at most 5",
        ),
        (
            "from: state.notes, limit: 3, trim_each: {to: {chars: 500}}",
            "warn",
            "`trim_each` of `log`, 500 characters, never takes effect: by the schema an item has at most 400",
        ),
        (
            "from: state.notes, limit: 3, trim_each: {to: {chars: 400}}",
            "note",
            "`trim_each` of `log`, 400 characters, never takes effect: by the schema an item has at most 400",
        ),
    ],
)
def test_a_cap_that_never_binds(tmp_path, items, level, message):
    assert _items(tmp_path, items) == [(level, message)]


@pytest.mark.parametrize(
    "items",
    [
        "from: state.notes, limit: 19",
        "from: state.free, limit: 1000",
        "from: state.notes, window: {last: 6}, limit: 5",
        "from: state.notes, window: {last: 6, step: 3}",
        "from: state.free, window: {last: 6}, anchors: {where: item, last: 3}, limit: 9",
        "from: state.free, window: {last: 6}, keep: [{where: item, last: 3}], limit: 9",
        "from: state.free, window: {last: 6, whole: group}, group: {by: item}, limit: 9",
        "from: state.notes, window: {last: state.free | length, max: 12}, limit: 11",
        "from: state.notes, limit_per: {by: item.kind, caps: {a: 2, b: 3, c: 3}}, limit: 7",
        "from: state.notes, limit_per: {by: item.kind, caps: {a: 2, b: 3}}, limit: 9",
        "from: state.notes, limit_per: {by: item.maybe, caps: {x: 2, y: 3}}, limit: 9",
        "from: state.notes, limit_per: {by: item.level, caps: {'1': 2, '2': 3}}, limit: 9",
        "from: state.notes, limit_per: {by: item.kind, caps: {a: 9, b: 1, c: 1}}, limit: {last: 5}",
        "from: state.notes, limit: 3, trim_each: {to: {chars: 399}}",
        "from: state.notes, limit: 3, trim_each: {to: 2}",
        "from: state.free, limit: 3, trim_each: {to: {chars: 4000}}",
    ],
)
def test_a_cap_that_may_bind(tmp_path, items):
    assert _items(tmp_path, items) == []


@pytest.mark.parametrize(
    ("budget", "text", "says"),
    [
        (
            "{chars: 700}",
            "{{ state.story }}",
            ("warn", "the budget of `a`, 700 characters, never takes effect: by the schema it has at most 600"),
        ),
        (
            "{chars: 600}",
            "{{ state.story }}",
            ("note", "the budget of `a`, 600 characters, never takes effect: by the schema it has at most 600"),
        ),
        ("{chars: 605}", "Story: {{ state.story }}", None),
        ("{chars: 9000}", "{{ state.tale }}", None),
        ("{chars: 9000}", "Constant.", None),
        ("100", "{{ state.story }}", None),
        ("9000", "{{ state.tale }}", None),
        ("9000", "Constant.", None),
        ('"15%"', "{{ state.story }}", None),
    ],
)
def test_a_budget(tmp_path, budget, text, says):
    body = f"sections: [{{id: a, text: '{text}', budget: {budget}, overflow: [{{trim: {{}}}}]}}]"
    found = lint(tmp_path, body, schema=SCHEMA, budget="90000")
    assert [(one.level, one.message) for one in found if one.code == "PC0672"] == ([says] if says else [])


def test_a_budget_in_tokens(tmp_path):
    """The bound is far from tight: a note, and none of what is pinned or measured as pressure."""
    body = "sections: [{{id: a, text: '{{{{ state.story }}}}', budget: 5000{more}, overflow: [{{trim: {{}}}}]}}]"
    found = [one for one in lint(tmp_path, body.format(more=""), schema=SCHEMA, budget="90000") if one.code == "PC0672"]
    assert [one.level for one in found] == ["note"] and found[0].message.startswith("the budget of `a`, 5000 tokens, never takes effect: ")
    strain = "strain: {tiers: [{name: low, at: 0}, {name: high, at: 0.0001}]}\n"
    found = lint(tmp_path, strain + body.format(more=""), schema=SCHEMA, budget="90000")
    assert "PC0672" not in [one.code for one in found]


def test_a_finding_points_at_its_cap(tmp_path):
    body = """
        sections:
          - id: log
            items:
              from: state.notes
              text: "{{ item.text }}"
              limit_per:
                by: item.kind
                caps: {a: 2, b: 3, c: 30}
              limit: {last: 40}
              trim_each:
                at: word
                to: {chars: 500}
    """
    found = lint(tmp_path, body, schema=SCHEMA, budget="90000")
    assert excerpts(found, "PC0672") == ["c: 30}", "40}", "{chars: 500}"]


@pytest.mark.parametrize("stage", ["window: {last: 30}", "limit: 30"])
def test_a_source_that_is_no_list_is_one_finding(tmp_path, stage):
    place = {"type": "object", "additionalProperties": False, "properties": {"x": {"type": "string"}}}
    schema = {"type": "object", "required": ["place"], "properties": {"place": place}}
    body = f"sections: [{{id: log, items: {{from: state.place, text: '{{{{ item }}}}', {stage}}}}}]"
    found = lint(tmp_path, body, schema=schema, budget="90000")
    assert [one.code for one in found if one.level != "note"] == ["PC0651"]


def test_the_most_chunks(tmp_path):
    body = """
        indexes: {found: {from: state.notes, text: "{{ item.text }}"}}
        sections:
          - {id: log, items: {from: {retrieve: {index: found, query: state.story, top: 5}}, limit: 9, text: "{{ item.text }}"}}
    """
    found = [one.message for one in lint(tmp_path, body, schema=SCHEMA) if one.code == "PC0672"]
    assert found == ["`limit` of `log`, 9, never takes effect: the list never holds more than 5"]
