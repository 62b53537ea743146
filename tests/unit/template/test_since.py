"""Times of the state."""

import pytest

from promptc.template.runtime.fault import Fault
from promptc.template.runtime.filters.since import _count_since as count_since
from promptc.template.runtime.run import Run

MINUTES = [
    ("2026-11-22T18:00:00Z", "2026-11-22T18:30:00Z", 30),
    ("2026-11-22T18:00:00Z", "2026-11-22T18:30:59.999Z", 30),
    ("2026-11-22T18:00:00.001Z", "2026-11-22T18:30:00Z", 29),
    ("2026-11-22T18:00", "2026-11-22 18:30", 30),
    ("2026-11-22", "2026-11-23", 1440),
    ("2026-11-22T18:00:00+02:00", "2026-11-22T18:00:00Z", 120),
    ("2026-11-22T18:00:00-0530", "2026-11-22T18:00:00Z", -330),
    ("2026-11-22T18:00:00+01", "2026-11-22T18:00:00Z", 60),
    ("2026-11-22t18:00:00z", "2026-11-22T18:00:00,5Z", 0),
    ("2024-02-28", "2024-03-01", 2880),
    ("0001-01-01", "9999-12-31T23:59:59Z", 5258964959),
    ("0001-01-01T00:00:00+12:00", "0001-01-01", 720),
]


@pytest.mark.parametrize(("then", "now", "minutes"), MINUTES)
def test_counts_whole_minutes(then, now, minutes):
    assert count_since(Run(None), then, now, 60) == minutes


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "now",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "2026-11-22T25:00",
        "2026-11-22T18:00:00+99:00",
        "٢٠٢٦-11-22",
        "2026-11-22Z ",
        5,
        None,
        [],
        True,
    ],
)
def test_refuses_what_is_no_time(wrong):
    with pytest.raises(Fault) as caught:
        count_since(Run(None), wrong, "2026-11-22", 60)
    assert caught.value.code == "PC0422"
    assert caught.value.help
