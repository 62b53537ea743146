"""What a golden holds of a report, and a golden that cannot be looked at."""

import os

import pytest

from promptc.diag.findings import PromptcError
from promptc.golden.cases.discover import load_case
from promptc.golden.verdicts.verdict import compare_goldens, leave_moving


# contract 14.7
def test_the_golden_form_of_a_report_has_no_digests_and_no_places():
    report = {
        "digests": {"pack": "sha256:1"},
        "counter": {"name": "chars/4", "digest": "sha256:2"},
        "sections": [
            {"id": "at", "items": [{"id": "a", "at": "pack.yaml:1:1"}], "source": {"indexes": [{"index": "x", "fingerprint": "3"}]}},
            {"id": "off", "items": []},
        ],
        "cuts": [{"step": "evict", "at": "pack.yaml:2:2"}],
        "warnings": [{"code": "PC0540", "at": None}],
    }
    assert leave_moving(report) == {
        "counter": {"name": "chars/4"},
        "sections": [
            {"id": "at", "items": [{"id": "a"}], "source": {"indexes": [{"index": "x"}]}},
            {"id": "off", "items": []},
        ],
        "cuts": [{"step": "evict"}],
        "warnings": [{"code": "PC0540"}],
    }
    assert "digests" in report and "at" in report["cuts"][0]


def test_names_that_a_pack_gives_stay():
    """A section, a flag or a variant may be called as what is left out."""
    report = {"ladders": {"digest": {"notches": 1}, "at": {}}, "variants": {"at": "dawn"}, "flags": {"digests": True, "fingerprint": False}}
    assert leave_moving(report) == report


def test_no_report_has_no_golden_form():
    assert leave_moving(None) is None


# contract 14.7
def test_a_golden_that_cannot_be_looked_at_is_told(tmp_path, monkeypatch):
    """Nobody but the owner of its folder may be able to."""
    (tmp_path / "pack.yaml").write_text("promptc: 1\nname: x\nversion: 1.0.0\nbudget: 10\nsections: [{id: a, text: a}]\n", encoding="utf-8")
    (tmp_path / "case.yaml").write_text("title: closed\nstate: state.json\ngolden: [text]\n", encoding="utf-8")
    case, lstat = load_case(str(tmp_path)), os.lstat

    def refuse(path, **more):
        if str(path).endswith("golden.txt"):
            raise PermissionError(13, "Permission denied", path)
        return lstat(path, **more)

    monkeypatch.setattr(os, "lstat", refuse)
    with pytest.raises(PromptcError) as told:
        compare_goldens(case, {"golden.txt": b"a"})
    assert [one.code for one in told.value.diagnostics] == ["PC0903"]
