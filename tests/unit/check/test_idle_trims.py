"""Trims to more than their section may hold, and trims that may stop there."""

import pytest

import promptc
from tests.unit.check.lint import excerpts, lint


def _trims(folder, section, more=""):
    body = f"sections: [{{id: a, {section}}}]\n{more}"
    return [one.message for one in lint(folder, body, budget="1000") if one.code == "PC0672"]


@pytest.mark.parametrize(
    ("section", "says"),
    [
        (
            "text: '{{ state.x }}', budget: {chars: 800}, overflow: [{trim: {to: {chars: 900}}}, {trim: {}}]",
            "`to` of `a.overflow[0]`, 900 characters, is more than the section may hold: `a` is capped at 800",
        ),
        (
            "text: '{{ state.x }}', budget: {chars: 1}, overflow: [{trim: {floor: {chars: 2}}}, {drop: {}}]",
            "`floor` of `a.overflow[0]`, 2 characters, is more than the section may hold: `a` is capped at 1",
        ),
        (
            "items: {from: state.x, limit: 9, text: '{{ item }}'}, budget: 80, overflow: [{trim: {to: '9%'}}, {evict: {}}]",
            "`to` of `a.overflow[0]`, 90 tokens, is more than the section may hold: `a` is capped at 80",
        ),
        (
            "text: '{{ state.x }}', budget: {min: 10, max: 80, grow: 1}, overflow: [{trim: {floor: 81}}, {drop: {}}]",
            "`floor` of `a.overflow[0]`, 81 tokens, is more than the section may hold: `a` is capped at 80",
        ),
    ],
)
def test_a_trim_to_more_than_the_cap(tmp_path, section, says):
    assert _trims(tmp_path, section) == [says]


def test_such_a_trim_is_not_said_to_have_no_effect(tmp_path):
    """A cut ends where a sentence does, so what it leaves may be far less than its size."""
    text = "Short one. And then " + "a very long sentence follows here with a lot of words, " * 4
    section = "sections: [{id: a, text: '{{ state.x }}', budget: 12, overflow: [{trim: {to: 20}}, {drop: {}}]}]\n"
    (message,) = [one.message for one in lint(tmp_path, section, budget="1000") if one.code == "PC0672"]
    assert "no effect" not in message
    assert promptc.load(tmp_path).render({"x": text}).text == "Short one.\n"


@pytest.mark.parametrize(
    "section",
    [
        "text: '{{ state.x }}', budget: {chars: 800}, overflow: [{trim: {to: {chars: 800}}}]",
        "text: '{{ state.x }}', budget: {chars: 800}, overflow: [{trim: {to: 900}}]",
        "text: '{{ state.x }}', budget: 800, overflow: [{trim: {to: {chars: 900}}}]",
        "text: '{{ state.x }}', budget: 80, overflow: [{trim: {}}]",
        "text: '{{ state.x }}', budget: {grow: 1}, overflow: [{trim: {floor: 999}}]",
        "text: '{{ state.x }}', overflow: [{trim: {to: 999}}]",
    ],
)
def test_a_trim_that_may_hold(tmp_path, section):
    assert _trims(tmp_path, section) == []


@pytest.mark.parametrize(
    ("section", "says"),
    [
        (
            "text: '{{ state.x }}', budget: 80, overflow: [{trim: {to: 80}}]",
            "`to` of `a.overflow[0]`, 80 tokens, leaves no room for the line end after the text, which may take a token: "
            "`a` is capped at 80",
        ),
        (
            "text: '{{ state.x }}', overflow: [{trim: {to: 1000}}]",
            "`to` of `a.overflow[0]`, 1000 tokens, leaves no room for the line end after the text, which may take a token: "
            "the budget is 1000",
        ),
    ],
)
def test_a_trim_to_all_of_the_cap_leaves_nothing_for_the_line_end(tmp_path, section, says):
    assert _trims(tmp_path, section) == [says]
    assert _trims(tmp_path, section, "output: {format: messages, messages: [{role: user, sections: [a]}]}\n") == []
    assert _trims(tmp_path, section.replace("to: 80", "to: 79").replace("to: 1000", "to: 999")) == []


def test_the_total_and_tiers_trim_too(tmp_path):
    text = "text: '{{ state.x }}', budget: 80, overflow: [{trim: {}}]"
    assert len(_trims(tmp_path, text, "truncate: [{trim: {section: a, to: 81}}]\n")) == 1
    strain = "strain: {tiers: [{name: low, at: 0}, {name: high, at: 0.5, do: [{trim: {section: a, to: 81}}]%s}]}\n"
    assert len(_trims(tmp_path, text, strain % "")) == 1
    assert _trims(tmp_path, text, strain % ", sections: {a: {budget: 90}}") == []


def test_a_cap_that_one_case_raises_may_hold(tmp_path):
    """The step is written once and judged in every combination that has it."""
    text = "text: '{{ state.x }}', budget: 80, overflow: [{trim: {to: 90}}, {trim: {}}]"
    case = "variants: {size: {select: state.size, default: small, cases: {small: {}, large: {sections: {a: {budget: %d}}}}}}\n"
    assert _trims(tmp_path, text, case % 95) == []
    told = "`to` of `a.overflow[0]`, 90 tokens, is more than the section may hold: `a` is capped at 80"
    assert _trims(tmp_path, text, case % 85) == [told]


def test_the_place_is_the_step(tmp_path):
    body = "sections: [{id: a, text: '{{ state.x }}', budget: 80, overflow: [{trim: {to: 90}}, {trim: {}}]}]"
    assert [one[:5] for one in excerpts(lint(tmp_path, body), "PC0672")] == ["trim:"]
