"""Dates and times as texts: what a schema's `format` takes (RFC 3339)."""

import re
from datetime import date

_DATE = r"(\d{4})-(\d\d)-(\d\d)"
_TIME = r"(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))"
_FULL_DATE, _FULL_TIME = re.compile(_DATE, re.ASCII), re.compile(_TIME, re.ASCII)
_DAY = 24 * 60


def is_date(text: str) -> bool:
    """Whether it is a day of the calendar, as `2026-02-28`; years begin with 0001."""
    found = _FULL_DATE.fullmatch(text)
    try:
        return found is not None and bool(date(*map(int, found.groups())))
    except ValueError:
        return False


def is_time(text: str) -> bool:
    """Whether it is a time of day with its offset, as `18:30:00Z`. A leap second stands where there may be one: at 23:59:60 in UTC."""
    found = _FULL_TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = map(int, found.groups()[:3])
    hours, minutes = int(found[5] or 0), int(found[6] or 0)
    if hour > 23 or minute > 59 or hours > 23 or minutes > 59:
        return False
    offset = (hours * 60 + minutes) * (-1 if found[4] == "-" else 1)
    return second < 60 or (second == 60 and (hour * 60 + minute - offset) % _DAY == _DAY - 1)


def is_date_time(text: str) -> bool:
    """Whether it is a date, `T`, and a time: `2026-11-22T18:30:00.250+01:00`."""
    return text[10:11] in ("T", "t") and is_date(text[:10]) and is_time(text[11:])


FORMATS = {"date-time": is_date_time, "date": is_date, "time": is_time}
"""The formats that are judged; the others are remarks."""
