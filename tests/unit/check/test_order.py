"""What `check` says of lists that begin elsewhere, or stand in another order, though nothing of their content asks for it."""

import pytest

from tests.unit.check.lint import lint

WORDS = {"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 20}}
TURNS = {
    "type": "array",
    "maxItems": 9,
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "n", "role", "text"],
        "properties": {"id": {"type": "string"}, "n": {"type": "integer"}, "role": {"enum": ["user"]}, "text": {"type": "string"}},
    },
}
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["shown", "words", "told", "talk", "now"],
    "properties": {
        "shown": WORDS,
        "words": WORDS,
        "told": {**WORDS, "x-changes": "each_turn"},
        "talk": TURNS,
        "now": {"type": "string", "x-changes": "each_turn"},
    },
}
QUIET = {**SCHEMA, "properties": {name: {key: one[key] for key in one if key != "x-changes"} for name, one in SCHEMA["properties"].items()}}
NOTES = "indexes: {notes: {from: state.words, text: '{{ item }}'}}\n"
RETRIEVE = "{from: {retrieve: {index: notes, query: state.now%s}}, %stext: '{{ item.text }}'}"


def _find(tmp_path, body, code, schema=SCHEMA):
    return [(one.level, one.message) for one in lint(tmp_path, body, schema=schema) if one.code == code]


def _sections(items, behind="", cache=""):
    behind = behind or "{id: rules, text: Be kind.}"
    return f"sections:\n  - {{id: list, items: {items}{cache}}}\n  - {behind}\n"


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ("{from: state.talk, id: item.id, freeze: {shown: state.shown}, message: {role: item.role, content: item.text}}", 1),
        ("{from: state.talk, id: item.id, freeze: {shown: state.shown, late: false}, message: {role: item.role, content: item.text}}", 0),
        ("{from: state.talk, id: item.id, freeze: {shown: state.shown}, message: {role: \"'user'\", content: item.text}}", 0),
        ("{from: state.talk, id: item.id, freeze: {shown: state.shown}, text: '{{ item.text }}'}", 0),
        ("{from: state.talk, id: item.id, freeze: {shown: state.shown}, window: {last: 4}, text: '{{ item.text }}'}", 1),
        ("{from: state.talk, window: {last: 4}, text: '{{ item.text }}'}", 0),
    ],
)
def test_a_list_in_time_says_what_comes_late(tmp_path, items, found):
    assert [level for level, _ in _find(tmp_path, _sections(items), "PC0685")] == ["warn"] * found


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ("{from: state.words, text: '{{ item }}'}", 1),
        ("{from: state.words, sort: item, text: '{{ item }}'}", 0),
        ("{from: state.words, freeze: {shown: state.shown}, text: '{{ item }}'}", 0),
        ("{from: state.words | sort, text: '{{ item }}'}", 0),
        ("{from: state.words, window: {last: 3}, text: '{{ item }}'}", 0),
        ("{from: state.words, limit: {last: 3}, text: '{{ item }}'}", 0),
        ("{from: state.words, limit: 3, text: '{{ item }}'}", 1),
        ("{from: state.talk, number: item.n, text: '{{ item.text }}'}", 0),
        ("{from: state.talk, message: {role: item.role, content: item.text}}", 0),
        ("{from: state.told, text: '{{ item }}'}", 0),
        (RETRIEVE % ("", ""), 1),
        (RETRIEVE % ("", "sort: item.id, "), 0),
        (RETRIEVE % (", top: 1", ""), 0),
        (RETRIEVE % ("", "freeze: {shown: state.shown}, "), 0),
    ],
)
def test_a_list_that_a_cache_is_to_keep_has_an_order(tmp_path, items, found):
    told = _find(tmp_path, NOTES + _sections(items), "PC0686")
    assert [level for level, _ in told] == ["note"] * found


@pytest.mark.parametrize(
    ("behind", "cache", "schema", "found"),
    [
        ("", "", SCHEMA, 1),
        ("", "", QUIET, 0),
        ("", ", cache: true", QUIET, 1),
        ("{id: rules, text: Be kind., cache: true}", "", QUIET, 1),
        ("{id: rules, text: Be kind., cache: true, when: false}", "", QUIET, 0),
    ],
)
def test_only_where_the_pack_cares_for_caches(tmp_path, behind, cache, schema, found):
    assert len(_find(tmp_path, _sections("{from: state.words, text: '{{ item }}'}", behind, cache), "PC0686", schema)) == found


def test_what_stands_behind_the_last_breakpoint_is_left_alone(tmp_path):
    body = "sections:\n  - {id: rules, text: Be kind., cache: true}\n  - {id: list, items: {from: state.words, text: '{{ item }}'}}\n"
    assert _find(tmp_path, body + "  - {id: last, text: Go.}\n", "PC0686") == []


@pytest.mark.parametrize(
    ("items", "edit", "what"),
    [
        (
            "{from: state.words, window: {last: 4, step: 2}, text: '{{ item }}'}",
            "keep: /words, last: 3",
            "`window.step: 2` counts by positions",
        ),
        ("{from: state.words, window: {last: 4}, text: '{{ item }}'}", "keep: /words, last: 3", ""),
        ("{from: state.words, window: {last: 4, step: 2}, text: '{{ item }}'}", "keep: /told, last: 3", ""),
        ("{from: state.words, window: {last: 4, step: 2}, text: '{{ item }}'}", "remove: /words/0", "`window.step: 2` counts by positions"),
        ("{from: state.words, window: {last: 4, step: 2}, text: '{{ item }}'}", "append: /words, to: state.now", ""),
        ("{from: state.talk, number: item.n, window: {last: 4, step: 2}, text: '{{ item.text }}'}", "keep: /talk, last: 3", ""),
        ("{from: state.words, text: '{{ this.number }} {{ item }}'}", "keep: /words, last: 3", "its texts show positions as `this.number`"),
        ("{from: state.words, text: '{{ item }}'}", "keep: /words, last: 3", ""),
        (
            "{from: state.words, freeze: {shown: state.shown}, text: '{{ item }}'}",
            "keep: /words, last: 3",
            "`freeze` identifies items by their positions",
        ),
        ("{from: state.words, id: item, freeze: {shown: state.shown}, text: '{{ item }}'}", "keep: /words, last: 3", ""),
        (
            "{from: state.words, text: '{{ item }}'}, budget: 9, overflow: [{evict: {step: 2}}]",
            "keep: /words, last: 3",
            "`step` of its `evict` counts by positions",
        ),
    ],
)
def test_a_list_that_an_operation_prunes_has_numbers_where_they_count(tmp_path, items, edit, what):
    body = _sections(items) + f"operations: {{tidy: {{edits: [{{{edit}}}]}}}}\n"
    expected = f"the operation `tidy` prunes the list of `list`, which has no `number`: {what}, and all positions shift"
    level = "warn" if "freeze" in items else "note"
    assert _find(tmp_path, body, "PC0687") == ([(level, expected)] if what else [])
