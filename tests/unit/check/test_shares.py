"""What voids that a larger total never removes content."""

import pytest

from promptc.check.registry import MONOTONY
from tests.unit.check.lint import codes, excerpts, lint, messages


def test_pressure_against_a_percentage(tmp_path):
    body = """
        sections: [{id: lore, text: "{{ state.lore }}", budget: "20%"}]
        strain: {tiers: [{name: a, at: 0}, {name: b, at: 0.5}]}
        """
    found = lint(tmp_path, body)
    assert [one.message for one in found] == ["`strain` counts `lore`, whose cap is in percent: a larger total budget may remove content"]
    assert excerpts(found, "PC0617")[0].startswith('"20%"')


@pytest.mark.parametrize(
    "body",
    [
        'sections: [{id: lore, text: "{{ state.lore }}", budget: "20%"}]\nstrain: {tiers: [{name: a, at: 0}]}',
        'sections: [{id: lore, text: "{{ state.lore }}", budget: "20%"}, {id: log, text: "{{ state.log }}", budget: 20}]\n'
        "strain: {count: [log], tiers: [{name: a, at: 0}, {name: b, at: 0.5}]}",
    ],
)
def test_pressure_that_does_not_depend_on_the_total(tmp_path, body):
    assert not MONOTONY & set(codes(lint(tmp_path, body)))


def test_what_is_watched_with_a_cap_in_percent(tmp_path):
    body = """
        sections: [{id: lore, text: "{{ state.lore }}", budget: "20%"}, {id: log, text: "{{ state.log }}", budget: 20}]
        strain: {count: [log], watch: {lore: up}, tiers: [{name: a, at: 0}, {name: b, at: 0.5}]}
        """
    assert codes(lint(tmp_path, body)) == ["PC0617"]


def test_a_single_tier_whose_percent_is_read(tmp_path):
    body = """
        sections: [{id: lore, text: "{{ state.lore }} {{ strain.percent }}", budget: "20%"}]
        strain: {tiers: [{name: a, at: 0}]}
        """
    assert codes(lint(tmp_path, body)) == ["PC0617"]


def test_sizes_in_percent(tmp_path):
    body = """
        sections:
          - {id: lore, text: "{{ state.lore }}", budget: 90, overflow: [{trim: {to: "5%"}}, {trim: {floor: "2%"}}]}
          - {id: log, budget: {min: "1%", max: 90}, items: {from: state.log, text: "{{ item.text }}", trim_each: {to: "4%"}}}
        truncate: [{trim: {section: log, to: "3%"}}]
        """
    assert [one.split(" is")[0] for one in messages(lint(tmp_path, body), "PC0618")] == [
        "`lore.overflow[0]`",
        "`lore.overflow[1]`",
        "`budget.min` of `log`",
        "`trim_each` of `log`",
        "`truncate[0]`",
    ]


# contract 5.10
def test_what_stands_beside_shares(tmp_path):
    body = """
        sections:
          - {id: rules, text: "{{ state.rules }}", pinned: true}
          - {id: lore, text: "{{ state.lore }}"}
          - {id: seed, text: "{{ state.seed }}", budget: {chars: 80}}
          - {id: off, text: "{{ state.off }}", when: false}
          - {id: least, text: "{{ state.least }}", budget: {min: 5}}
          - {id: log, text: "{{ state.log }}", budget: {grow: 1}}
          - {id: tail, text: "{{ state.tail }}", budget: "20%"}
          - {id: hint, text: "{{ state.hint }}", budget: 20}
        """
    found = lint(tmp_path, body)
    assert [one.code for one in found if one.code != "PC0643"] == ["PC0620", "PC0619", "PC0620"]
    assert (
        messages(found, "PC0620")[0] == "`lore` has no cap and is not pinned: it may leave nothing for `log`, `tail`, which share the rest"
    )


@pytest.mark.parametrize("budgets", [("20", "30"), ("20", "'30%'"), ("{grow: 1}", "{grow: 2, max: 9}"), ("{chars: 9}", "30")])
def test_budgets_that_go_together(tmp_path, budgets):
    sections = (f'{{id: s{place}, text: "{place} {{{{ state.s }}}}", budget: {one}}}' for place, one in enumerate(budgets))
    assert codes(lint(tmp_path, f"sections: [{', '.join(sections)}]")) == []


_TWO = """
sections:
  - {id: one, text: "{{ state.one }}", budget: "20%%"}
  - {id: two, text: "%s", budget: 20%s}
"""


def test_a_separator_that_ends_no_line(tmp_path):
    body = _TWO % ("{{ state.two }}", "") + 'output: {separator: "-- "}\n'
    assert codes(lint(tmp_path, body, tokenizer="cl100k_base")) == ["PC0621"]
    assert codes(lint(tmp_path, body.replace('"-- "', '"--\\n"'), tokenizer="cl100k_base")) == []
    assert codes(lint(tmp_path, body)) == [], "characters add up anywhere"


@pytest.mark.parametrize(
    ("text", "more", "is_found"),
    [
        ("{{ state.two }}", "", True),
        ("/{{ state.two }}", "", True),
        ("{% if state.a %}/{% endif %}x", "", True),
        ("- {{ state.two }}", "", False),
        ("plain", "", False),
        ("{{ state.two }}", ", header: 'Two:'", False),
        ("{{ state.two }}", ", fence: {open: '<{{ section.id }}>', close: '</>'}", False),
        ("two", ", fence: {open: '//{{ section.id }}', close: '//'}", True),
    ],
)
def test_a_slash_that_o200k_joins(tmp_path, text, more, is_found):
    found = lint(tmp_path, _TWO % (text, more), tokenizer="o200k_base")
    assert codes(found) == (["PC0621"] if is_found else [])
    assert codes(lint(tmp_path, _TWO % (text, more), tokenizer="cl100k_base")) == []


def test_joints_do_not_matter_without_shares(tmp_path):
    body = (_TWO % ("{{ state.two }}", "")).replace('"20%"', "20") + 'output: {separator: " "}\n'
    assert codes(lint(tmp_path, body, tokenizer="o200k_base")) == []
