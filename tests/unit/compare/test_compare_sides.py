"""Two prompts side by side: what is said must be so, and nothing that differs goes unsaid."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import pytest

import promptc
from promptc.compare import Side, _list_moved, compare_sides, read_side
from promptc.golden.case import Case
from tests.cases.case import ROOT, load_cases
from tests.cases.run_case import find_report, run_once

RENDERED = [case for case in load_cases() if case.kind == "render" and case.exit == 0 and "only" not in case.flags]
CASES = [case for case in RENDERED if {"report", "text"} <= {*case.golden}]


def _read(name: str) -> Side:
    case = next(one for one in load_cases() if one.name == name)
    (outcome,) = run_once(case.name).turns
    assert outcome.text is not None
    return read_side(outcome.text, find_report(outcome))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_prompt_does_not_differ_from_itself(case: Case) -> None:
    (outcome,) = run_once(case.name).turns
    assert outcome.text is not None
    side = read_side(outcome.text, find_report(outcome))
    assert compare_sides(side, side).is_empty
    assert "".join(section.text for section in side.sections if section.state == "present").strip()


def test_sections_and_items_are_told() -> None:
    found = compare_sides(_read("sentinel/calm"), _read("sentinel/strain_2"))
    sections = {one.id: one for one in found.sections}
    assert [one.name for one in found.facts][:1] == ["tokens"]
    assert sections["banner"].new_state == "present" and sections["banner"].old_tokens == 0
    assert not found.is_empty and found.shared < found.length


def test_an_item_that_was_cut_is_named_with_its_cut() -> None:
    pack = promptc.load(ROOT / "packs/sentinel")
    state = (ROOT / "fixtures/sentinel/base/loaded.json").read_bytes()
    wide, narrow = (pack.render(state, budget=budget, variants={"retrieval": "deep"}) for budget in (13000, 6000))
    found = compare_sides(read_side(wide.text, wide.report), read_side(narrow.text, narrow.report))
    lost = [item for section in found.sections for item in section.items if item.change == "lost"]
    assert lost and all(item.old_tokens > 0 and item.new_tokens == 0 for item in lost)
    assert any("evict: " in item.why and "(pack.yaml:" in item.why for item in lost)


def test_messages_are_sides_too() -> None:
    pack = promptc.load(ROOT / "packs/sentinel")
    state = (ROOT / "fixtures/sentinel/calm/state.json").read_bytes()
    before = pack.render(state, format="messages")
    after = pack.render(pack.load_state(state, changes=[("/input", '"I wait."')]), format="messages")
    found = compare_sides(read_side(before.messages, before.report), read_side(after.messages, after.report))
    assert [one.id for one in found.sections] == ["input"]
    assert any(run.kind == "come" and "wait" in run.text for run in found.sections[0].runs)


def test_without_a_report_the_whole_is_compared() -> None:
    found = compare_sides(read_side("one two\n", None), read_side("one three\n", None))
    assert [(run.kind, run.text) for run in found.sections[0].runs] == [
        ("same", "one "),
        ("gone", "two"),
        ("come", "three"),
        ("same", "\n"),
    ]
    assert not found.facts


def test_the_fewest_are_moved() -> None:
    names = "abcde"
    for order in permutations(names):
        moved = _list_moved(names, order)
        rest = [name for name in order if name not in moved]
        assert rest == sorted(rest)
        longest = max(len(kept) for size in range(6) for kept in _subsequences(order, size) if list(kept) == sorted(kept))
        assert len(rest) == longest


def _subsequences(order: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return combinations(order, size)


@pytest.mark.parametrize(("old", "new", "shared"), [("", "", 0), ("a", "", 0), ("abc", "abd", 2), ("abc", "abc", 3), ("ab", "abc", 2)])
def test_what_both_begin_with_is_counted(old: str, new: str, shared: int) -> None:
    assert compare_sides(read_side(old, None), read_side(new, None)).shared == shared
