"""Why a call of the system failed, in a message."""

import re

import pytest

from promptc.diag.findings import show_reason
from tests.contract.sources import ROOT


@pytest.mark.parametrize(
    ("wrong", "says"),
    [(FileNotFoundError(2, "No such file", "a.txt"), "No such file"), (OSError("closed"), "closed"), (ValueError("a NUL"), "a NUL")],
)
def test_a_reason_has_no_number_and_no_path(wrong, says):
    assert show_reason(wrong) == says


def test_the_reason_is_read_in_one_place():
    found = [
        path.name
        for path in (ROOT / "compiler").rglob("*.py")
        if re.search(r"strerror\b.* or (str\()?(wrong|error)\b", path.read_text("utf-8"))
    ]
    assert found == ["findings.py"]
