"""Keys that two variations set."""

import pytest

from tests.unit.check.lint import codes, excerpts, lint, messages

_BASE = """
sections:
  - {id: lore, text: "{{ state.lore }}", budget: 90}
  - {id: log, items: {from: state.log, text: "{{ item }}", limit: 9}}
"""


def _two(first: str, second: str, more: str = "") -> str:
    return f"""{_BASE}
variants:
  mood: {{select: state.mood, cases: {{calm: {{}}, tense: {first}}}}}
  model: {{select: state.model, cases: {{large: {{}}, small: {second}}}}}
{more}"""


# contract 6.2
@pytest.mark.parametrize(
    ("first", "second", "key"),
    [
        ("{sections: {lore: {budget: 50}}}", "{sections: {lore: {budget: 40}}}", "sections.lore.budget"),
        ("{sections: {lore: {budget: 50}}}", "{sections: {lore: {budget: {max: 40}}}}", "sections.lore.budget.max"),
        ("{sections: {lore: {text: a}}}", "{sections: {lore: {template: a.md}}}", "sections.lore.template"),
        ("{sections: {log: {items: {text: a}}}}", "{sections: {log: {items: {forms: [a.md]}}}}", "sections.log.items.forms"),
        ("{sections: {log: {before: lore}}}", "{sections: {log: {after: lore}}}", "sections.log.after"),
        ("{truncate: [lore]}", "{truncate: [lore, log]}", "truncate"),
        ("{sections: {log: {items: {limit: 5}}}}", "{sections: {log: {items: {limit: null}}}}", "sections.log.items.limit"),
        ("{budget: 500}", "{budget: 400}", "budget"),
    ],
)
def test_two_axes_that_set_one_key(tmp_path, first, second, key):
    found = lint(tmp_path, _two(first, second), files={"a.md": "a"})
    assert messages(found, "PC0601") == [f"`model=small` sets `{key}`, which `mood=tense` sets too"]
    finding = next(one for one in found if one.code == "PC0601")
    assert finding.level == "warn" and "pack.yaml:11" in finding.help
    assert excerpts(found, "PC0601")[0].startswith(f"{key.rsplit('.', 1)[-1]}:")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{sections: {lore: {budget: 50}}}", "{sections: {lore: {budget: 50}}}"),
        ("{sections: {lore: {budget: 50}}}", "{sections: {lore: {role: user}}}"),
        ("{sections: {log: {items: {limit: 5}}}}", "{sections: {log: {items: {sort: item}}}}"),
        ("{}", "{sections: {lore: {budget: 50}}}"),
    ],
)
def test_variations_that_go_together(tmp_path, first, second):
    assert "PC0601" not in codes(lint(tmp_path, _two(first, second)))


def test_cases_of_one_axis_never_meet(tmp_path):
    body = f"{_BASE}\nvariants: {{mood: {{select: state.mood, cases: {{a: {{budget: 500}}, b: {{budget: 400}}}}}}}}"
    assert codes(lint(tmp_path, body)) == []


def test_patches_that_are_used(tmp_path):
    patches = "patches: {small: {use: [tiny]}, tiny: {sections: {lore: {budget: 4}, log: {items: {limit: 1}}}}}"
    found = lint(tmp_path, _two("{use: [small]}", "{sections: {lore: {budget: 40}, log: {items: {limit: 2}}}}", patches))
    assert messages(found, "PC0601") == [
        "`model=small` sets `sections.lore.budget`, `sections.log.items.limit`, which `mood=tense` sets too"
    ]
    assert "pack.yaml:13" in found[0].help
    assert codes(lint(tmp_path, _two("{use: [small]}", "{use: [small]}", patches))) == []


def test_a_tier_and_a_case(tmp_path):
    body = f"""{_BASE}
variants: {{mood: {{select: state.mood, cases: {{calm: {{}}, tense: {{sections: {{log: {{items: {{limit: 5}}}}}}}}}}}}}}
patches: {{few: {{sections: {{log: {{items: {{limit: 2}}}}}}}}}}
strain:
  count: [lore]
  tiers:
    - {{name: low, at: 0}}
    - {{name: high, at: 0.9, use: [few]}}
    - {{name: top, at: 1, do: [{{use: few}}], sections: {{log: {{items: {{limit: 1}}}}}}}}
"""
    found = lint(tmp_path, body)
    assert [(one.code, one.level, one.message) for one in found] == [
        ("PC0602", "note", "tier `high` sets `sections.log.items.limit`, which `mood=tense` sets too")
    ]
