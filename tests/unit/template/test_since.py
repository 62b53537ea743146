"""Times of the state."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.template.runtime.filters.values import _count_since as count_since
from promptc.template.runtime.objects import Fault
from promptc.template.runtime.run import Run
from promptc.text.moment import is_date_time

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
    ("2026-12-31T23:59:00Z", "2026-12-31T23:59:60Z", 1),
    ("2026-12-31T23:59:00Z", "2027-01-01T00:59:60+01:00", 1),
]


# contract 3.10
@pytest.mark.parametrize(("then", "now", "minutes"), MINUTES)
def test_counts_whole_minutes(then, now, minutes):
    assert count_since(Run(None), then, now, 60) == minutes


# contract 3.10
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
        "2026-11-22T12:00:60Z",
        "2026-12-31T23:59:60+01:00",
        "2026-11-22T18:00:00+01:75",
        "2026-11-22T18:60",
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


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("2026-02-30", "the calendar has no such day"),
        ("2026-11-22T24:00", "a day has no such time"),
        ("2026-11-22T18:00+99", "an offset has 23 hours and 59 minutes at most"),
        ("2026-11-22T12:00:60Z", "a leap second is at 23:59:60 in UTC"),
    ],
)
def test_says_why_a_time_is_none(wrong, why):
    with pytest.raises(Fault, match=f"^`{wrong.replace('+', '.')}` is not an ISO 8601 time: {why}$"):
        count_since(Run(None), wrong, "2026-11-22", 60)


_NUMBERS = st.integers(0, 99).map("{:02d}".format)
_MOMENTS = st.builds(
    "{}-{}-{}{}{}:{}:{}{}{}".format,
    st.sampled_from(["0000", "0001", "2024", "2026", "9999"]),
    *(st.sampled_from(["00", "01", "12", "13"]) | _NUMBERS, st.sampled_from(["01", "28", "29", "30", "31"])),
    st.sampled_from("Tt"),
    *(st.sampled_from(["00", "23", "24"]) | _NUMBERS, st.sampled_from(["00", "59"]) | _NUMBERS, st.sampled_from(["00", "59", "60", "61"])),
    st.sampled_from(["", ".5", ".0123456789"]),
    st.sampled_from(["Z", "z", "+01:00", "-23:59", "+24:00", "+00:60", "-00:01"]),
)


# contract 3.10
@given(_MOMENTS)
def test_a_filter_reads_the_form_of_a_schema_with_the_same_meaning(text):
    """Of RFC 3339's form, both take the same texts."""
    run = Run(None)
    try:
        count_since(run, text, "2026-11-22", 60)
        is_read = True
    except Fault:
        is_read = False
    assert is_read == is_date_time(text)
    assert not is_date_time(text[:-1] if text[-1] in "Zz" else text[:-6])
