"""Dates and times by RFC 3339, and that what a schema takes can be reckoned with."""

import pytest

from promptc.text.moment import FORMATS

GOOD = {
    "date": ["2026-02-28", "2024-02-29", "0001-01-01", "9999-12-31"],
    "time": ["18:30:00Z", "00:00:00.000001+23:59", "23:59:60Z", "15:59:60-08:00", "18:30:00z"],
    "date-time": ["2026-11-22T18:30:00Z", "2026-11-22t18:30:00.25+01:00", "1998-12-31T23:59:60Z", "1998-12-31T15:59:60.123-08:00"],
}
BAD = {
    "date": ["2026-02-29", "2026-02-31", "2026-13-01", "0000-01-01", "2026-1-1", "2026-02-28 ", "٢٠٢٦-02-28", ""],
    "time": [
        "24:00:00Z",
        "18:60:00Z",
        "18:30:60Z",
        "22:59:60Z",
        "23:59:60+01:00",
        "18:30:00",
        "18:30Z",
        "18:30:00+24:00",
        "18:30:00.Z",
        "",
    ],
    "date-time": ["2026-02-31T18:30:00Z", "2026-11-22T18:30:00", "2026-11-22 18:30:00Z", "2026-11-22", "T", "2026-11-22T18:30:00Z\n"],
}


# contract 3.9
@pytest.mark.parametrize("name", GOOD)
def test_each_format_takes_what_is_one_and_nothing_else(name: str) -> None:
    assert all(map(FORMATS[name], GOOD[name]))
    assert not [text for text in BAD[name] if FORMATS[name](text)]
