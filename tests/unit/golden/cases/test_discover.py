"""`-k`: which names an expression means."""

import pytest

from promptc.diag.findings import UsageError
from promptc.golden.cases.discover import match_names

NAMES = ("sentinel/strain_1", "sentinel/strain_messages", "tale/fog")


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("strain", NAMES[:2]),
        ("STRAIN and not messages", NAMES[:1]),
        ("not strain", NAMES[2:]),
        ("not (strain or fog)", ()),
        ("messages or fog", NAMES[1:]),
        ("fog or strain and messages", NAMES[1:]),
        ("(fog or strain) and messages", NAMES[1:2]),
        ("not not fog", NAMES[2:]),
        ("*/strain_?", NAMES[:1]),
        ("tale/*", NAMES[2:]),
        ("sentinel/strain", NAMES[:2]),
    ],
)
def test_what_is_meant(expression, wanted):
    assert tuple(filter(match_names(expression), NAMES)) == wanted


@pytest.mark.parametrize("expression", ["", "and", "fog and", "(fog", "fog)", "fog tale", "or fog", "not", "()", "(" * 200, "not " * 200])
def test_what_cannot_be_read(expression):
    with pytest.raises(UsageError) as refused:
        match_names(expression)
    assert refused.value.diagnostics[0].code == "PC0909"
