"""Reports and prompts are read, or refused; two of them side by side: nothing that differs goes unsaid."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from promptc.compare import BETWEEN, WHOLE, Difference, Side, _list_moved, compare_sides, is_messages, read_json, read_report, read_side
from promptc.golden.cases.case import Case
from promptc.golden.verdicts.verdict import GoldenOutput, compare_outputs, leave_moving, read_figures
from tests.cases.case import ROOT, load_cases
from tests.cases.run_case import find_report, run_once
from tests.packs import load_pack
from tests.pictures import make_jpeg, make_segment, show

SENTINEL = "packs/sentinel"
STATE = (ROOT / "fixtures/sentinel/calm/state.json").read_bytes()
PROMPTS = sorted(path for kind in ("txt", "messages.json") for path in (ROOT / "fixtures").glob(f"*/*/golden.{kind}"))
REPORTED = [
    path
    for path in PROMPTS
    if (report := path.with_name("golden.report.json")).is_file()
    and json.loads(report.read_bytes())["format"] == ("messages" if path.suffix == ".json" else "text")
]


@cache
def _render(format: str = "text") -> Any:
    return load_pack(SENTINEL).render(STATE, format=format)


def _told(found: Difference, kind: str) -> str:
    return "".join(run.text for section in found.sections for run in section.runs if run.kind == kind)


@pytest.mark.parametrize("path", REPORTED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_sections_and_what_is_between_them_are_the_whole(path: Any) -> None:
    report = json.loads(path.with_name("golden.report.json").read_bytes())
    content = path.read_bytes()
    side = read_side(json.loads(content) if path.suffix == ".json" else content.decode(), report)
    assert [one.id for one in side.sections] != [WHOLE]
    gaps = "".join(text for _, _, text in side.gaps)
    several = {one["id"] for one in report["sections"] if len({item["range"][0] for item in one["items"] if len(item["range"]) == 3}) > 1}
    inner = sum(len(one.text) - len(one.items) * (one.id in several) for one in side.sections)
    assert len(gaps) + inner == len(side.text)


def test_a_golden_of_a_report_tells_the_same_of_a_prompt() -> None:
    """So a golden and a render of now are alike; what took an item is told by its step where the place is left out."""
    prompt = load_pack(SENTINEL).render((ROOT / "fixtures/sentinel/base/table.json").read_bytes(), budget=2600)
    golden = read_side(prompt.text, leave_moving(prompt.report))
    assert compare_sides(read_side(prompt.text, prompt.report), golden).is_empty
    told = {reason.rpartition(" ")[2] for section in golden.sections for reason in section.gone.values()}
    assert told == {"(recent.overflow[0])", "(retrieval.overflow[0])"}


@pytest.mark.parametrize("change", ["more", "less", "budget", "empty", "list"])
def test_a_report_of_another_output_cuts_nothing(change: str) -> None:
    report: Any = {
        "more": {**_render().report, "characters": _render().report["characters"] + 1},
        "less": {**_render().report, "sections": _render().report["sections"][:3]},
        "budget": load_pack(SENTINEL).render(STATE, budget=2000).report,
        "empty": {},
        "list": {"sections": [1], "characters": len(_render().text)},
    }[change]
    assert [one.id for one in read_side(_render().text, report).sections] == [WHOLE]


def test_ranges_that_overlap_or_split_a_character_cut_nothing() -> None:
    def cut(*ranges: list[int]) -> Mapping[str, Any]:
        return {
            "characters": 3,
            "sections": [{"id": f"s{at}", "range": one, "items": [], "state": "present", "tokens": 1} for at, one in enumerate(ranges)],
        }

    assert [one.id for one in read_side("aéb", cut([0, 1], [1, 4])).sections] == ["s0", "s1"]
    for ranges in ([[0, 3], [1, 4]], [[0, 2], [2, 4]], [[-1, 4]], [[4, 1], [1, 4]]):
        assert [one.id for one in read_side("aéb", cut(*ranges)).sections] == [WHOLE]


def test_what_stands_behind_the_last_section_is_told() -> None:
    report = json.dumps(_render().report).encode()
    found = compare_outputs(
        "text", GoldenOutput(_render().text.encode(), report), GoldenOutput((_render().text + "\nand obey me\n").encode(), report)
    )
    assert "and obey me" in _told(found, "come")


def test_a_separator_that_differs_is_told() -> None:
    text, report = _render().text, _render().report
    at = report["sections"][0]["range"][1]
    assert text.encode()[at : at + 1] == b"\n"
    other = (text.encode()[:at] + b"#" + text.encode()[at + 1 :]).decode()
    found = compare_sides(read_side(text, report), read_side(other, report))
    assert [one.id for one in found.sections] == [BETWEEN]
    assert (_told(found, "gone"), _told(found, "come")) == ("\n", "#")


def test_a_role_that_differs_is_told() -> None:
    others = [{**one, "role": "user" if one["role"] == "developer" else one["role"]} for one in _render("messages").messages]
    found = compare_sides(
        read_side(_render("messages").messages, _render("messages").report), read_side(others, _render("messages").report)
    )
    assert [one.id for one in found.sections] == [BETWEEN]
    assert (_told(found, "gone"), _told(found, "come")) == ("developer", "user")


@given(some.integers(0, 2**16), some.binary(max_size=3), some.integers(0, 3), some.sampled_from(["text", "messages"]))
def test_bytes_that_differ_give_a_difference(at: int, put: bytes, taken: int, kind: str) -> None:
    """Whatever an editor, or another process, did to a pending golden."""
    prompt = _render(kind)
    content = prompt.text.encode() if kind == "text" else (json.dumps(list(prompt.messages)) + "\n").encode()
    report = json.dumps(prompt.report).encode()
    at %= len(content)
    other = content[:at] + put + content[at + taken :]
    found = compare_outputs(kind, GoldenOutput(content, report), GoldenOutput(other, report))
    assert found.is_empty == (content == other)
    assert content == other or any(run.kind != "same" for one in found.sections for run in one.runs)


# --- Two prompts side by side: what is said must be so, and nothing that differs goes unsaid ---
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
    pack = load_pack(SENTINEL)
    state = (ROOT / "fixtures/sentinel/base/loaded.json").read_bytes()
    wide, narrow = (pack.render(state, budget=budget, variants={"retrieval": "deep"}) for budget in (13000, 6000))
    found = compare_sides(read_side(wide.text, wide.report), read_side(narrow.text, narrow.report))
    lost = [item for section in found.sections for item in section.items if item.change == "lost"]
    assert lost and all(item.old_tokens > 0 and item.new_tokens == 0 for item in lost)
    assert any("evict: " in item.why and "(pack.yaml:" in item.why for item in lost)


def test_messages_are_sides_too() -> None:
    pack = load_pack(SENTINEL)
    state = (ROOT / "fixtures/sentinel/calm/state.json").read_bytes()
    before = pack.render(state, format="messages")
    after = pack.render(pack.load_state(state, changes=[("/input", '"I wait."')]), format="messages")
    found = compare_sides(read_side(before.messages, before.report), read_side(after.messages, after.report))
    assert [one.id for one in found.sections] == ["input"]
    assert any(run.kind == "come" and "wait" in run.text for run in found.sections[0].runs)


def test_pictures_of_one_size_are_told_apart() -> None:
    """The line of both is the same, and their bytes are not."""
    sides = []
    for before in (b"", make_segment(0xE1, b"another")):
        picture = show(make_jpeg(40, 30, before=before), "image/jpeg", width=40, height=30)
        sides.append(read_side([{"role": "user", "content": [picture]}], None))
    found = compare_sides(*sides)
    assert compare_sides(sides[0], sides[0]).is_empty and not found.is_empty
    assert "[image: image/jpeg, 40 x 30]" in sides[0].text


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


# --- A report in a file is one, or it is none: nothing that is half one reaches what shows it ---
_GOOD = json.loads((ROOT / "fixtures" / "sentinel" / "calm" / "golden.report.json").read_text(encoding="utf-8"))
_FIGURES = {"tokens": 1, "tier": None, "pressure": [1, 2], "variants": {}, "sections": {"a": 1}, "items": {"a": ["b"]}, "reuse": None}


def _bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_every_golden_of_a_report_is_one() -> None:
    goldens = sorted(ROOT.glob("fixtures/*/*/golden*.report.json"))
    assert len(goldens) > 50
    assert not [path for path in goldens if path.read_bytes() != b"null\n" and read_report(path.read_bytes()) is None]


@pytest.mark.parametrize(
    "changed",
    [
        {"sections": 5},
        {"sections": {"a": 1}},
        {"sections": [5]},
        {"sections": [{"id": "a"}]},
        {"sections": [{"id": 1, "tokens": 1, "state": "present"}]},
        {"sections": [{"id": "a", "tokens": "1", "state": "present"}]},
        {"sections": [{"id": "a", "tokens": 1, "state": "present", "items": 5}]},
        {"sections": [{"id": "a", "tokens": 1, "state": "present", "items": [{"id": "x"}]}]},
        {"sections": [{"id": "a", "tokens": 1, "state": "present", "range": [1, 2, 3, 4]}]},
        {"pressure": 1},
        {"pressure": {"before": [1]}},
        {"pressure": {"before": [1, float("nan")]}},
        {"tokens": 10**40},
        {"tokens": -1},
        {"tokens": True},
        {"variants": ["mood"]},
        {"variants": {"mood": 1}},
        {"cuts": [{"items": 5}]},
        {"warnings": [{}]},
        {"counter": "cl100k_base"},
        {"flags": []},
        {"strain": "\ud800"},
    ],
)
def test_what_is_no_report(changed: dict[str, Any]) -> None:
    assert read_report(_bytes({**_GOOD, **changed})) is None
    old, new = GoldenOutput(b"one", _bytes({**_GOOD, **changed})), GoldenOutput(b"two", _bytes(_GOOD))
    assert not compare_outputs("text", old, new).is_empty


@pytest.mark.parametrize(
    "content", [b"5", b"[]", b"null", b"", b"{", b"\xff", b"[" * 5000 + b"]" * 5000, b"[" * 101 + b"]" * 101, b"NaN", b"1e999", None]
)
def test_what_is_no_json_that_can_be_shown(content: bytes | None) -> None:
    assert read_report(content) is None
    assert read_json(content) in (None, 5, [])


@pytest.mark.parametrize("key", sorted(_FIGURES))
@pytest.mark.parametrize("value", [5.5, "x", [1], {"a": {}}, [["a"]], True, -1])
def test_figures_of_another_form_are_none(key: str, value: Any) -> None:
    changed = {**_FIGURES, key: value}
    is_fine = (key, value) == ("tier", "x")
    assert (read_figures(changed) is not None) is is_fine
    assert read_figures({name: one for name, one in _FIGURES.items() if name != key}) is None
    assert read_figures(_FIGURES) is not None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{"role": "user", "content": "a"}], True),
        ([{"role": "user", "content": None}], True),
        ([{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "a"}]}], True),
        ([{"role": "user", "content": [{"type": "text"}]}], False),
        ([{"role": "user", "content": [{"type": "text", "text": 5}]}], False),
        ([{"role": "user", "content": 5}], False),
        ([5], False),
        ({}, False),
    ],
)
def test_messages(value: Any, expected: bool) -> None:
    assert is_messages(value) is expected
    assert not compare_outputs("messages", GoldenOutput(_bytes(value)), GoldenOutput(b"[]\n")).is_empty
