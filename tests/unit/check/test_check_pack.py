"""All lints at once: which combinations are looked at, how findings name them, what is said of the pack as a whole."""

from pathlib import Path

import pytest

import promptc
from promptc.check.configurations import list_configurations
from promptc.check.registry import check_pack
from tests.unit.check.lint import codes, lint, messages

_ROOT = Path(__file__).resolve().parents[3]
_PIN = "{sections: {lore: {pinned: true}}}"
_BAD = "{sections: {lore: {pinned: true, overflow: [{drop: {}}]}}}"


def _axes(*cases: str) -> str:
    lines = [f"  a{place}: {{select: state.a, cases: {one}}}" for place, one in enumerate(cases)]
    return "sections: [{id: lore, text: '{{ state.lore }}', budget: 50}]\nvariants:\n" + "\n".join(lines) + "\n"


def test_a_combination_that_does_not_load(tmp_path):
    found = lint(tmp_path, _axes("{x: {}, y: {sections: {loer: {budget: 5}}}}", "{p: {}, q: {}}"))
    assert codes(found) == ["PC0243"]
    assert found[0].message == "there is no section `loer` to change (with `a0=y`)"


def test_what_only_a_tier_would_mend(tmp_path):
    """Every render merges its cases without tiers first, so that has to load too."""
    body = """
        sections: [{id: lore, text: x}, {id: log, text: y}]
        variants: {mood: {select: state.mood, cases: {calm: {}, tense: {sections: {log: {text: null}}}}}}
        strain: {tiers: [{name: only, at: 0, sections: {log: {text: z}}}]}
        """
    found = [one for one in lint(tmp_path, body) if one.level == "error"]
    assert [one.code for one in found] == ["PC0207"]
    assert found[0].message.endswith("(with `mood=tense`)")


def test_a_section_that_a_case_adds_and_no_message_holds(tmp_path):
    body = """
        sections: [{id: lore, text: x}]
        variants: {mood: {select: state.mood, cases: {calm: {}, tense: {sections: {fear: {text: y, after: lore}}}}}}
        output: {messages: [{role: system, sections: [lore]}]}
        """
    assert messages(lint(tmp_path, body), "PC0250") == ["section `fear` is in no message of `output.messages` (with `mood=tense`)"]


def test_a_patch_that_does_not_load(tmp_path):
    body = "sections: [{id: lore, text: x}]\npatches: {small: {sections: {loer: {budget: 5}}}}"
    assert messages(lint(tmp_path, body), "PC0243") == ["there is no section `loer` to change (with patch `small`)"]


def test_how_combinations_are_named(tmp_path):
    for axes, name in (
        (_axes(f"{{x: {{}}, y: {_BAD}}}"), "with `a0=y`"),
        (_axes(f"{{w: {{}}, x: {_PIN}, y: {_PIN}}}").replace("50}", "50, overflow: [{trim: {}}]}"), "with `a0=x` or `a0=y`"),
        (_axes(f"{{x: {{}}, y: {_BAD}}}", "{p: {}, q: {sections: {lore: {overflow: []}}}}"), "with `a0=y`, `a1=p`"),
    ):
        found = [one for one in lint(tmp_path, axes) if one.code == "PC0603"]
        assert {one.message.split("(")[1].rstrip(")") for one in found} == {name}


def test_a_finding_from_one_tier_on(tmp_path):
    body = f"""
        sections: [{{id: lore, text: '{{{{ state.lore }}}}', budget: 50}}]
        strain: {{tiers: [{{name: a, at: 0}}, {{name: b, at: 0.5, {_BAD[1:-1]}}}, {{name: c, at: 0.9}}]}}
        """
    assert [one.split("(")[1] for one in messages(lint(tmp_path, body), "PC0603")] == ["from tier `b` on)"]


def test_more_combinations_than_are_looked_at(tmp_path):
    found = lint(tmp_path, _axes(*["{x: {}, y: {}}"] * 8, f"{{x: {{}}, y: {_BAD}}}"))
    assert codes(found) == ["PC0603", "PC0644"]
    assert "looked at only 10 of 512 combinations" in found[1].message
    assert codes(lint(tmp_path, _axes(*["{x: {}, y: {}}"] * 8))) == []


def test_looks_of_tiers_and_patches(tmp_path):
    lint(tmp_path, _axes("{x: {}, y: {}}") + "patches: {p: {}}\nstrain: {tiers: [{name: a, at: 0}, {name: b, at: 0.5, do: [{use: p}]}]}")
    configurations = list_configurations(promptc.load(tmp_path).model)
    assert [(one.combination.cases[0][1], one.combination.tier, one.combination.patch) for one in configurations.loaded] == [
        ("x", 0, ""), ("x", 1, ""), ("y", 0, ""), ("y", 1, ""), ("x", 0, "p"),
    ]  # fmt: skip
    assert configurations.loaded[1].combination.choice.uses == ("p",)


def test_a_section_that_is_never_on(tmp_path):
    body = "sections: [{id: lore, text: x}, {id: old, when: %s, text: y}]"
    assert messages(lint(tmp_path, body % "1 > 2"), "PC0643") == ["`old` is never on: its `when` is false in every combination"]
    assert codes(lint(tmp_path, body % "state.on")) == []
    assert [one.level for one in lint(tmp_path, (body % "false").replace("text: y", "text: y, required: true"))] == ["error"]
    assert codes(lint(tmp_path, body % "false" + "\npatches: {p: {sections: {old: {when: true}}}}")) == []


def test_a_pack_without_a_schema(tmp_path):
    lint(tmp_path, "sections: [{id: lore, text: x}]")
    found = check_pack(promptc.load(tmp_path).model)
    assert [(one.code, one.level) for one in found] == [("PC0642", "note")]
    assert codes(lint(tmp_path, "sections: [{id: lore, text: x}]", schema={"type": "object"})) == []


def test_what_was_said_while_loading(tmp_path):
    assert codes(lint(tmp_path, "sections: [{id: lore, text: x}]", schema={"requird": ["a"]})) == ["PC0311"]


def test_a_pack_that_extends_another(tmp_path):
    lint(tmp_path, "sections: [{id: lore, text: '{{ state.lore }}', budget: 50, overflow: [{trim: {}}]}]\ntruncate: [lore]")
    child = tmp_path / "child"
    child.mkdir()
    for changes, count in (
        ("sections: {lore: {pinned: true}}\n", 2),
        ("sections: {lore: {pinned: true, overflow: null}}\ntruncate: null\n", 0),
    ):
        (child / "pack.yaml").write_text(f"promptc: 1\nname: child\nversion: 1.0.0\nextends: ..\n{changes}", encoding="utf-8")
        found = [one.code for one in check_pack(promptc.load(child).model) if one.level == "error"]
        assert found == ["PC0603"] * count


@pytest.mark.dear
def test_packs_that_are_shipped():
    """A list of facts that is read whole may be meant; nothing else is doubtful, and nothing wrong."""
    for manifest in sorted(_ROOT.glob("packs/*/pack.yaml")):
        found = check_pack(promptc.load(manifest.parent).model)
        assert not [str(one) for one in found if one.level != "note" and one.code != "PC0640"]
