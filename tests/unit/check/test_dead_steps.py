"""Steps that never act, and ladders that are never walked."""

import pytest

from tests.unit.check.lint import codes, excerpts, lint, messages


def _log(overflow: str, items: str = "limit: 9", more: str = "budget: 20") -> str:
    return f'sections: [{{id: log, {more}, items: {{from: state.log, text: "{{{{ item.text }}}}", {items}}}, overflow: [{overflow}]}}]'


@pytest.mark.parametrize(
    ("overflow", "dead", "why"),
    [
        ("{drop: {}}, {trim: {}}", "trim", "the `drop` of line 6 has taken the whole section"),
        ("{evict: {}}, {drop: {}}", "drop", "the `evict` of line 6 takes every item first"),
        ("{evict: {order: [item.old, true]}}, {trim: {}}", "trim", "takes every item first"),
        ("{evict: {by: item.score}}, {trim: {}}", "trim", "takes every item first"),
        ("{fail: {}}, {drop: {}}", "drop", "the `fail` of line 6 stops before it"),
        ("{drop: {}}, {fail: {}}, {fail: {}}", "fail", "the `fail` of line 6 stops before it"),
        ("{shorten: {}}, {evict: {}}", "shorten", "`log` has no second form to move on to"),
    ],
)
def test_a_dead_step(tmp_path, overflow, dead, why):
    found = lint(tmp_path, _log(overflow))
    assert codes(found) == ["PC0611"]
    assert why in found[0].message
    assert excerpts(found, "PC0611")[0].startswith(f"{dead}:")


@pytest.mark.parametrize(
    ("overflow", "items", "more"),
    [
        ("{trim: {to: 9}}, {evict: {}}", "limit: 9", "budget: 20"),
        ("{evict: {order: [item.old]}}, {drop: {}}", "limit: 9", "budget: 20"),
        ("{evict: {floor: 2}}, {trim: {}}", "limit: 9", "budget: 20"),
        ("{evict: {}}, {trim: {}}", "window: {last: 9, min: 2}", "budget: 20"),
        ("{evict: {}}, {trim: {}}", "limit: 9, keep: [{where: item.vow}]", "budget: 20"),
        ("{evict: {}}, {trim: {}}", "limit: 9", "budget: {min: 5, max: 20}"),
        ("{recap: {template: cue.md}}, {evict: {}}", "limit: 9", "budget: 20"),
        ("{replace: {template: cue.md}}, {drop: {}}", "limit: 9", "budget: 20"),
        ("{evict: {}}, {fail: {}}", "limit: 9", "budget: 20"),
        ("{drop: {}}, {fail: {}}", "limit: 9", "budget: 20"),
    ],
)
def test_ladders_that_are_alive(tmp_path, overflow, items, more):
    assert codes(lint(tmp_path, _log(overflow, items, more), files={"cue.md": "Much happened."})) == []


def test_a_step_that_is_alive_in_some_combination(tmp_path):
    body = _log("{evict: {}}, {trim: {}}") + (
        "\nvariants: {mood: {select: state.mood, cases: {calm: {}, tense: {sections: {log: {items: {keep: [{where: item.vow}]}}}}}}}"
    )
    assert codes(lint(tmp_path, body)) == []


@pytest.mark.parametrize(
    ("truncate", "dead", "why"),
    [
        ("[log, tail, log]", ["log]"], "line 10 continues that ladder already"),
        ("[log, {drop: {section: log}}]", ["drop: {section: log}}]"], "the `evict` of line 7 takes every item first"),
        ("[{drop: {section: tail}}, tail]", ["tail]"], "the `drop` of line 10 has taken the whole section"),
        ("[still]", ["still]"], "the ladder of `still` has no step that acts"),
        ("[{shorten: {section: tail}}]", ["shorten: {section: tail}}]"], "`tail` has no second form"),
    ],
)
def test_a_dead_entry_of_truncate(tmp_path, truncate, dead, why):
    body = f"""
        sections:
          - {{id: log, budget: 20, items: {{from: state.log, text: "{{{{ item.text }}}}"}}, overflow: [{{evict: {{}}}}]}}
          - {{id: still, text: "{{{{ state.still }}}}", budget: 900, overflow: []}}
          - {{id: tail, text: "{{{{ state.tail }}}}"}}
        truncate: {truncate}
        """
    found = lint(tmp_path, body)
    assert excerpts(found, "PC0611") == dead
    assert why in messages(found, "PC0611")[0]


def test_truncate_that_is_right(tmp_path):
    body = """
        sections:
          - {id: log, items: {from: state.log, text: "{{ item.text }}"}, overflow: [{evict: {floor: 3}}, {trim: {}}]}
          - {id: tail, text: "{{ state.tail }}"}
        truncate: [{trim: {section: tail, to: 9}}, log, {fail: {section: tail}}, {drop: {section: log}}]
        """
    assert codes(lint(tmp_path, body)) == []


def test_a_fail_says_that_there_is_no_prompt_where_nothing_is_left(tmp_path):
    """Of the section: others would have to give way."""
    body = """
        sections:
          - {id: head, budget: 20, text: "{{ state.head }}", overflow: [{drop: {}}, {fail: {}}]}
          - {id: tail, text: "{{ state.tail }}", overflow: [{fail: {}}]}
        truncate: [head, {drop: {section: tail}}, tail]
        """
    assert codes(lint(tmp_path, body)) == []


def test_what_tiers_do(tmp_path):
    body = """
        sections: [{id: log, budget: 90, text: "{{ state.log }}"}]
        strain:
          tiers:
            - {name: a, at: 0}
            - {name: b, at: 0.3, do: [{drop: {section: log}}]}
            - {name: c, at: 0.6, do: [{trim: {section: log, to: 9}}]}
            - {name: d, at: 0.8, do: []}
            - {name: e, at: 0.9, do: [{trim: {section: log, to: 5}}]}
        """
    found = lint(tmp_path, body)
    assert codes(found) == ["PC0611"]
    assert "`strain.c.do[0]` never has an effect: the `drop` of line 10 has taken the whole section" in found[0].message


def test_a_ladder_that_is_never_walked(tmp_path):
    found = lint(tmp_path, 'sections: [{id: lore, text: "{{ state.lore }}", overflow: [{trim: {}}]}]')
    assert [(one.code, one.level) for one in found] == [("PC0612", "note")]
    assert excerpts(found, "PC0612")[0].startswith("trim")


@pytest.mark.parametrize(
    "more",
    [
        "sections: [{id: lore, text: x, overflow: [{trim: {}}]}]\ntruncate: [lore]",
        "sections: [{id: lore, text: x, budget: {grow: 1}, overflow: [{trim: {}}]}]",
        "sections: [{id: lore, text: x}]",
        "sections: [{id: lore, text: x, overflow: [{trim: {}}]}]\npatches: {small: {sections: {lore: {budget: 5}}}}",
    ],
)
def test_ladders_that_may_be_walked(tmp_path, more):
    assert "PC0612" not in codes(lint(tmp_path, more))
