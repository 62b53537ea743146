"""What a golden holds of a report."""

from promptc.golden.verdicts.verdict import leave_moving


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
