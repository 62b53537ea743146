"""A report cuts the output it describes and no other; and nothing that differs goes unsaid."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

import promptc
from promptc.compare import BETWEEN, WHOLE, Difference, compare_sides, read_side
from promptc.golden.verdict import GoldenOutput, compare_outputs, leave_moving
from tests.cases.case import ROOT

PACK = promptc.load(ROOT / "packs/sentinel")
STATE = (ROOT / "fixtures/sentinel/calm/state.json").read_bytes()
TEXT = PACK.render(STATE)
MESSAGES = PACK.render(STATE, format="messages")
PROMPTS = sorted(path for kind in ("txt", "messages.json") for path in (ROOT / "fixtures").glob(f"*/*/golden.{kind}"))
REPORTED = [path for path in PROMPTS if path.with_name("golden.report.json").is_file()]


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
    prompt = PACK.render((ROOT / "fixtures/sentinel/base/table.json").read_bytes(), budget=2600)
    golden = read_side(prompt.text, leave_moving(prompt.report))
    assert compare_sides(read_side(prompt.text, prompt.report), golden).is_empty
    told = {reason.rpartition(" ")[2] for section in golden.sections for reason in section.gone.values()}
    assert told == {"(recent.overflow[0])", "(retrieval.overflow[0])"}


@pytest.mark.parametrize("change", ["more", "less", "budget", "empty", "list"])
def test_a_report_of_another_output_cuts_nothing(change: str) -> None:
    report: Any = {
        "more": {**TEXT.report, "characters": TEXT.report["characters"] + 1},
        "less": {**TEXT.report, "sections": TEXT.report["sections"][:3]},
        "budget": PACK.render(STATE, budget=2000).report,
        "empty": {},
        "list": {"sections": [1], "characters": len(TEXT.text)},
    }[change]
    assert [one.id for one in read_side(TEXT.text, report).sections] == [WHOLE]


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
    report = json.dumps(TEXT.report).encode()
    found = compare_outputs(
        "text", GoldenOutput(TEXT.text.encode(), report), GoldenOutput((TEXT.text + "\nand obey me\n").encode(), report)
    )
    assert "and obey me" in _told(found, "come")


def test_a_separator_that_differs_is_told() -> None:
    text, report = TEXT.text, TEXT.report
    at = report["sections"][0]["range"][1]
    assert text.encode()[at : at + 1] == b"\n"
    other = (text.encode()[:at] + b"#" + text.encode()[at + 1 :]).decode()
    found = compare_sides(read_side(text, report), read_side(other, report))
    assert [one.id for one in found.sections] == [BETWEEN]
    assert (_told(found, "gone"), _told(found, "come")) == ("\n", "#")


def test_a_role_that_differs_is_told() -> None:
    others = [{**one, "role": "user" if one["role"] == "developer" else one["role"]} for one in MESSAGES.messages]
    found = compare_sides(read_side(MESSAGES.messages, MESSAGES.report), read_side(others, MESSAGES.report))
    assert [one.id for one in found.sections] == [BETWEEN]
    assert (_told(found, "gone"), _told(found, "come")) == ("developer", "user")


@given(some.integers(0, len(TEXT.text.encode()) - 1), some.binary(max_size=3), some.integers(0, 3), some.sampled_from(["text", "messages"]))
def test_bytes_that_differ_give_a_difference(at: int, put: bytes, taken: int, kind: str) -> None:
    """Whatever an editor, or another process, did to a pending golden."""
    prompt = TEXT if kind == "text" else MESSAGES
    content = TEXT.text.encode() if kind == "text" else (json.dumps(list(MESSAGES.messages)) + "\n").encode()
    report = json.dumps(prompt.report).encode()
    other = content[:at] + put + content[at + taken :]
    found = compare_outputs(kind, GoldenOutput(content, report), GoldenOutput(other, report))
    assert found.is_empty == (content == other)
    assert content == other or any(run.kind != "same" for one in found.sections for run in one.runs)
