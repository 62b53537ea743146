"""Steps on pinned content, and whole-section steps where something must stay."""

import pytest

from tests.unit.check.lint import codes, excerpts, lint, messages


def test_a_step_in_the_ladder_of_a_pinned_section(tmp_path):
    found = lint(tmp_path, "sections: [{id: rules, pinned: true, text: x, overflow: [{drop: {}}]}]")
    assert messages(found, "PC0603") == ["`drop` of `rules.overflow[0]` would shorten `rules`, which is pinned: no step can change it"]
    assert excerpts(found, "PC0603")[0].startswith("drop: {}")


def test_steps_of_truncate_and_of_a_tier(tmp_path):
    found = lint(
        tmp_path,
        """
        sections: [{id: rules, pinned: true, text: x}, {id: lore, text: y, budget: 20}]
        strain: {tiers: [{name: low, at: 0}, {name: high, at: 0.9, do: [{drop: {section: rules}}]}]}
        truncate: [rules, {trim: {section: rules}}, lore]
        """,
    )
    assert [one.code for one in found if one.code != "PC0616"] == ["PC0603"] * 3
    assert sum("with tier `high`" in one for one in messages(found, "PC0603")) == 1


def test_a_section_that_a_case_pins(tmp_path):
    found = lint(
        tmp_path,
        """
        sections: [{id: lore, text: y, budget: 20, overflow: [{trim: {}}]}]
        variants: {mood: {select: state.mood, cases: {calm: {}, tense: {sections: {lore: {pinned: true}}}}}}
        """,
    )
    assert codes(found) == ["PC0603"]
    assert found[0].message.endswith("(with `mood=tense`)")


@pytest.mark.parametrize("step", ["drop: {}", "replace: {template: cue.md}"])
@pytest.mark.parametrize(
    ("items", "budget", "why"),
    [
        ("keep: [{where: item.vow}]", "20", "items to `keep`"),
        ("window: {last: 5, min: 2}", "20", "a `window.min` of 2"),
        ("limit: 3", "{min: 10, max: 20}", "a `budget.min`"),
    ],
)
def test_taking_all_of_a_section_that_keeps_something(tmp_path, step, items, budget, why):
    body = f"""
        sections:
          - id: log
            budget: {budget}
            items: {{from: state.log, text: "{{{{ item.text }}}}", {items}}}
            overflow: [{{evict: {{}}}}, {{{step}}}]
        """
    found = lint(tmp_path, body, files={"cue.md": "Much has happened."})
    assert codes(found) == ["PC0604"]
    assert why in found[0].message


def test_packs_that_are_right(tmp_path):
    body = """
        sections:
          - {id: rules, pinned: true, text: x}
          - id: log
            budget: {max: 20, min: 0}
            items: {from: state.log, text: "{{ item.text }}", keep: [], limit: 3}
            overflow: [{drop: {}}]
        truncate: [log]
        """
    assert codes(lint(tmp_path, body)) == []
