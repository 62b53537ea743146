"""Minimums over maximums, and windows that cannot hold their minimum."""

import re

import pytest

from tests.unit.check.lint import codes, excerpts, lint


def _log(window: str, more: str = "") -> str:
    return f'sections: [{{id: log, items: {{from: state.log, text: "{{{{ item.text }}}}", window: {window}{more}}}}}]'


@pytest.mark.parametrize(
    ("budget", "numbers"),
    [
        ("{min: 900, max: 500}", ("900", "500")),
        ("{min: '60%', max: '50%', grow: 1}", ("60% (600 tokens)", "50% (500 tokens)")),
        ("{min: '60%', max: 500}", ("60% (600 tokens)", "500")),
    ],
)
def test_a_budget_that_contradicts_itself(tmp_path, budget, numbers):
    found = [one for one in lint(tmp_path, f"sections: [{{id: lore, text: x, budget: {budget}}}]") if one.level == "error"]
    assert codes(tuple(found)) == ["PC0606"]
    assert all(number in found[0].message for number in numbers)
    assert excerpts(tuple(found), "PC0606")[0].startswith("{min")


@pytest.mark.parametrize("budget", ["{min: 500, max: 500}", "{min: 5, grow: 1}", "{min: {chars: 900}, max: 500}", "{max: 3}"])
def test_budgets_that_are_right(tmp_path, budget):
    assert "PC0606" not in codes(lint(tmp_path, f"sections: [{{id: lore, text: x, budget: {budget}}}]"))


# contract 4.11
@pytest.mark.parametrize(
    ("window", "says"),
    [
        ("{last: 6, min: 8}", "`last: 6` below its `min` of 8"),
        ("{last: 6, min: 2, max: 5}", "`last: 6` above its `max` of 5"),
        ("{last: 6, min: 4, max: 3}", "a `min` of 4 over its `max` of 3"),
        ("{last: 6, step: 4, min: 4}", "moves by 4, so with `last: 6` it may hold as few as 3, below its `min` of 4"),
        ("{last: 3, step: 4}", "moves by 4, more than the 3 of its `last`: it may come out empty"),
        ("{last: 3, step: 5}", "moves by 5, more than the 3 of its `last`: it may come out empty"),
        ("{last: state.window, min: 4, step: 3, max: 5}", "with `max: 5` it may hold as few as 3, below its `min` of 4"),
        ("{last: state.window, min: 4, max: 3}", "a `min` of 4 over its `max` of 3"),
    ],
)
def test_a_window_that_contradicts_itself(tmp_path, window, says):
    found = lint(tmp_path, _log(window))
    assert codes(found) == ["PC0607"]
    assert says in found[0].message
    raised = re.match(r"raise `(last|max)` to (\d+)", found[0].help)
    assert not raised or codes(lint(tmp_path, _log(re.sub(rf"{raised[1]}: \d+", f"{raised[1]}: {raised[2]}", window)))) == []


@pytest.mark.parametrize(
    "window",
    [
        "{last: 6, step: 3, min: 4}",
        "{last: state.window, min: 4, max: 20}",
        "{last: state.window, min: 4, step: 3, max: 6}",
        "{last: 4, step: 4}",
        "{last: 0}",
        "{last: 4}",
    ],
)
def test_windows_that_are_right(tmp_path, window):
    assert codes(lint(tmp_path, _log(window))) == []


def test_a_window_that_a_tier_narrows(tmp_path):
    found = lint(
        tmp_path,
        """
        sections: [{id: log, budget: 20, items: {from: state.log, text: "{{ item.text }}", window: {last: 12, min: 4}}}]
        strain:
          tiers:
            - {name: low, at: 0}
            - {name: high, at: 0.5, sections: {log: {items: {window: {last: 3}}}}}
            - {name: top, at: 0.9, sections: {log: {items: {window: {min: 2}}}}}
        """,
    )
    assert codes(found) == ["PC0607"]
    assert found[0].message.endswith("(with tier `high`)")


def test_groups_that_are_not_declared(tmp_path):
    assert codes(lint(tmp_path, _log("{last: 3, whole: group}"))) == ["PC0608"]
    assert codes(lint(tmp_path, _log("{last: 3, whole: group}", ", group: {by: item.turn}"))) == []
    found = lint(tmp_path, _log("{last: 3}").replace("{id: log", "{id: log, budget: 9, overflow: [{evict: {whole: group}}]"))
    assert [(one.code, one.level) for one in found] == [("PC0608", "warn")]
    assert "`log.overflow[0]` removes whole groups of `log`" in found[0].message


# contract 5.50
def test_tool_calls_where_none_passes(tmp_path):
    body = """
        sections: [{id: log, budget: 9, items: {from: state.log, window: {last: 3}, ITEM}, overflow: [{evict: {whole: call}}]}]
        output: {format: messages}
    """
    message = "message: {role: item.role, content: item.content, parts: [text, PARTS]}"
    for item, expected in (
        ("text: '{{ item }}'", ["PC0608"]),
        (message.replace("PARTS", "tool_use"), ["PC0692", "PC0608"]),
        (message.replace("PARTS", "tool_use, tool_result"), []),
    ):
        found = lint(tmp_path, body.replace("ITEM", item))
        assert codes(found) == expected, item


def test_a_reserve_that_leaves_nothing(tmp_path):
    found = lint(tmp_path, "sections: [{id: lore, text: x}]", budget="{context: 100, reserve: 100}")
    assert codes(found) == ["PC0605"]
