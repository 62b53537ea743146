"""What `check` says where the schema of the states tells what changes from turn to turn."""

import pytest

from tests.unit.check.lint import codes, lint

EACH, SELDOM = {"x-changes": "each_turn"}, {"x-changes": "seldom"}
LINES = {"type": "array", "items": {"type": "string"}}
CLOCK = '  - {id: clock, text: "{{ state.now }}"}\n'
RULES = '  - {id: rules, text: "{{ state.rules }}"}\n'
TALK = '  - {id: talk, items: {from: state.lines, text: "{{ item }}", window: {last: 8%s}}%s}\n'


def _schema(**more):
    parts = {"now": {"type": "string"}, "rules": {"type": "string"}, "lines": LINES}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["now", "rules", "lines"],
        "properties": {key: {**one, **more.get(key, {})} for key, one in parts.items()},
    }


def _find(tmp_path, body, schema):
    return [one for one in codes(lint(tmp_path, f"sections:\n{body}", schema=schema)) if one in ("PC0661", "PC0662", "PC0663")]


@pytest.mark.parametrize(
    ("body", "changes", "found"),
    [
        (CLOCK + RULES, {"now": EACH}, ["PC0661"]),
        (CLOCK + RULES, {"now": SELDOM}, []),
        (CLOCK + RULES, {}, []),
        (RULES + CLOCK, {"now": EACH}, []),
        (CLOCK + RULES, {"now": EACH, "rules": EACH}, []),
        (CLOCK.replace("}\n", ", when: false}\n") + RULES, {"now": EACH}, []),
        (CLOCK + RULES.replace("}\n", ", cache: true}\n"), {"now": EACH}, ["PC0662", "PC0661"]),
        (RULES.replace("}\n", ", cache: true}\n") + CLOCK, {"now": EACH}, []),
        (RULES + CLOCK.replace("}\n", ", cache: true}\n"), {"now": EACH}, ["PC0662"]),
        (RULES + TALK % ("", ""), {"lines": EACH}, ["PC0663"]),
        (RULES + TALK % (", step: 4", ""), {"lines": EACH}, []),
        (RULES + TALK % ("", ""), {"lines": SELDOM}, []),
        (RULES + TALK % (", step: 4", ", cache: true"), {"lines": EACH}, []),
        (TALK % (", step: 4", "") + RULES, {"lines": EACH}, ["PC0661"]),
    ],
)
def test_what_changes_goes_behind_what_stays(tmp_path, body, changes, found):
    assert sorted(_find(tmp_path, body, _schema(**changes))) == sorted(found)


def test_the_nearest_word_counts_through_references(tmp_path):
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["world"],
        "properties": {"world": {"$ref": "#/$defs/world"}},
        "$defs": {
            "world": {
                "type": "object",
                "x-changes": "each_turn",
                "additionalProperties": False,
                "required": ["now", "name"],
                "properties": {"now": {"type": "string"}, "name": {"type": "string", "x-changes": "never"}},
            }
        },
    }
    body = '  - {id: clock, text: "{{ state.world.%s }}"}\n  - {id: rules, text: Be brief.}\n'
    assert _find(tmp_path, body % "now", schema) == ["PC0661"]
    assert _find(tmp_path, body % "name", schema) == []


def test_a_let_stands_for_what_it_reads(tmp_path):
    body = '  - {id: clock, text: "{{ time }}"}\n  - {id: rules, text: Be brief.}\nlet: {time: state.now | upper}\n'
    assert _find(tmp_path, body, _schema(now=EACH)) == ["PC0661"]


def test_a_breakpoint_on_the_section_that_changes_names_what_changes(tmp_path):
    body = '  - {id: rules, text: "Be brief. It is {{ state.now }}.", cache: true}\n'
    found = next(one for one in lint(tmp_path, f"sections:\n{body}", schema=_schema(now=EACH)) if one.code == "PC0662")
    assert found.message == "the breakpoint of `rules` has no effect: `rules` itself changes in each turn, with `state.now`"
    assert found.help == "move what reads `state.now` into a section of its own after it, or remove `cache: true`"
