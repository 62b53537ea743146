"""A report in a file is one, or it is none: nothing that is half one reaches what shows it."""

import json
from typing import Any

import pytest

from promptc.compare import is_messages, read_json, read_report
from promptc.golden.verdict import GoldenOutput, compare_outputs, read_figures
from tests.cases.case import ROOT

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
