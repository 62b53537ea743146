"""Pinned caps, minimums and constant pinned texts against the total."""

import pytest

from tests.unit.check.lint import codes, lint


def test_pinned_caps_over_the_total(tmp_path):
    body = (
        "sections: [{id: a, pinned: true, text: '{{ state.a }}', budget: 700}, {id: b, pinned: true, text: '{{ state.b }}', budget: 600}]"
    )
    found = lint(tmp_path, body)
    assert codes(found) == ["PC0609"]
    assert found[0].message == "pinned sections may take 1300 tokens, and the total is 1000 (`a` 700, `b` 600)"
    assert found[0].level == "error"


def test_minimums_and_pinned_caps_over_the_total(tmp_path):
    body = """
        sections:
          - {id: a, pinned: true, text: '{{ state.a }}', budget: 700}
          - {id: b, text: '{{ state.b }}', budget: {min: '40%', max: 600}}
        """
    found = [one for one in lint(tmp_path, body) if one.code == "PC0609"]
    assert [one.message for one in found] == ["pinned sections and minimums may take 1100 tokens, and the total is 1000 (`a` 700, `b` 400)"]


def test_only_with_all_sections_on(tmp_path):
    body = """
        sections:
          - {id: a, pinned: true, when: state.day, text: '{{ state.a }}', budget: 700}
          - {id: b, pinned: true, when: not state.day, text: '{{ state.b }}', budget: 600}
        """
    found = lint(tmp_path, body)
    assert [(one.code, one.level) for one in found] == [("PC0609", "warn")]
    assert ", all of them present" in found[0].message


@pytest.mark.parametrize(
    "body",
    [
        "sections: [{id: a, pinned: true, text: '{{ state.a }}', budget: 700}, {id: b, text: '{{ state.b }}', budget: 900}]",
        "sections: [{id: b, when: false, pinned: true, text: '{{ state.b }}', budget: 1001}, {id: c, pinned: true, text: '{{ state.c }}'}]",
        "sections: [{id: a, pinned: true, text: '{{ state.a }}', budget: {chars: 9000}}]",
    ],
)
def test_packs_that_are_right(tmp_path, body):
    assert "PC0609" not in codes(lint(tmp_path, body))


def test_a_pinned_text_over_its_own_cap(tmp_path):
    found = lint(tmp_path, f"sections: [{{id: rules, pinned: true, text: '{'word ' * 20}', budget: 10}}]")
    assert codes(found) == ["PC0610"]
    assert "has a cap of 10 tokens" in found[0].message and "has 25" in found[0].message


def test_a_cap_in_characters_and_one_that_warns(tmp_path):
    found = lint(
        tmp_path,
        "sections: [{id: rules, pinned: true, template: rules.md, budget: {chars: 4, over: warn}}]",
        files={"rules.md": "Be kind.\n"},
    )
    assert [(one.code, one.level) for one in found] == [("PC0610", "warn")]


@pytest.mark.parametrize("text", ["{{ state.rules }}", "short"])
def test_a_text_that_may_fit(tmp_path, text):
    assert codes(lint(tmp_path, f"sections: [{{id: rules, pinned: true, text: '{text}', budget: 10}}]")) == []
