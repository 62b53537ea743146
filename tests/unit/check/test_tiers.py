"""Strain tiers that no pressure reaches, and what is counted for nothing."""

import pytest

from tests.unit.check.lint import codes, excerpts, lint, messages

_SECTIONS = """
sections:
  - {id: lore, text: "{{ state.lore }}", budget: 300}
  - {id: motto, text: "Be kind.", budget: 100}
  - {id: seed, text: "{{ state.seed }}", budget: {chars: 80}}
"""


def _strain(*at: str, more: str = "") -> str:
    tiers = ", ".join(f"{{name: t{place}, at: {one}}}" for place, one in enumerate(at))
    return f"{_SECTIONS}strain: {{tiers: [{tiers}]{more}}}\n"


# contract 7.8
def test_a_tier_over_what_constant_texts_leave(tmp_path):
    found = lint(tmp_path, _strain("0", "0.7", "0.9"))
    assert codes(found) == ["PC0616"]
    assert found[0].message == "tier `t2` begins at 0.9, and pressure reaches 0.79 at most (319 of 400 tokens)"
    assert "`motto` holds 19 of its 100 at most" in found[0].help
    assert excerpts(found, "PC0616")[0].startswith("{name: t2")


@pytest.mark.parametrize("strain", [("0", "0.7"), ("0", "0.75")])
def test_tiers_that_are_reached(tmp_path, strain):
    assert codes(lint(tmp_path, _strain(*strain))) == []
    assert codes(lint(tmp_path, _strain("0", "1", more=", count: [lore]"))) == []


def test_a_section_that_is_off(tmp_path):
    body = _strain("0", "0.5").replace('"{{ state.lore }}"', '"{{ state.lore }}", when: false')
    assert "PC0616" in codes(lint(tmp_path, body))


def test_a_case_that_switches_it_on(tmp_path):
    body = _strain("0", "0.5").replace('"{{ state.lore }}"', '"{{ state.lore }}", when: false')
    body += "variants: {mood: {select: state.mood, cases: {calm: {}, tense: {sections: {lore: {when: state.on}}}}}}"
    assert codes(lint(tmp_path, body)) == []


def test_tiers_with_no_token_between(tmp_path):
    body = """
        sections: [{id: lore, text: "{{ state.lore }}", budget: 10}]
        strain: {tiers: [{name: a, at: 0}, {name: b, at: 0.51}, {name: c, at: 0.55}]}
        """
    assert messages(lint(tmp_path, body), "PC0616") == [
        "tier `b` begins at 0.51, so close below the next one that no number of 10 tokens lies between"
    ]


def test_tiers_that_can_never_act(tmp_path):
    body = """
        sections: [{id: lore, text: "{{ state.lore }}"}]
        strain: {tiers: [{name: a, at: 0}, {name: b, at: 0.5}]}
        """
    assert codes(lint(tmp_path, body)) == ["PC0615"]


def test_a_counted_section_without_a_cap(tmp_path):
    found = lint(tmp_path, _strain("0", "1", more=", count: [lore, seed]"))
    assert codes(found) == ["PC0614"]
    assert excerpts(found, "PC0614")[0].startswith("seed]")


def test_what_is_watched_lifts_pressure_up_to_its_cap(tmp_path):
    """319 of 400 are reached by what counts; `more` adds 60 at most, and without a cap any number."""
    more = '  - {id: more, text: "{{ state.more }}", budget: 60}\nstrain:'
    watch = ", watch: {more: up}"
    assert codes(lint(tmp_path, _strain("0", "0.9", more=watch).replace("strain:", more))) == []
    assert codes(lint(tmp_path, _strain("0", "0.95", more=watch).replace("strain:", more))) == ["PC0616"]
    assert codes(lint(tmp_path, _strain("0", "0.95", more=watch).replace("strain:", more.replace(", budget: 60", "")))) == []


def test_steps_on_what_does_not_exist(tmp_path):
    body = """
        sections: [{id: lore, text: "{{ state.lore }}", budget: 10}]
        strain: {tiers: [{name: a, at: 0}, {name: b, at: 0.5, do: [{drop: {section: loer}}]}]}
        """
    found = lint(tmp_path, body)
    assert codes(found) == ["PC0613"]
    assert [one.help for one in found] == ["did you mean `lore`?"]


def test_no_strain_no_findings(tmp_path):
    assert codes(lint(tmp_path, _SECTIONS)) == []
