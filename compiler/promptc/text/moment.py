"""Dates and times as texts: one meaning, two forms.

What a schema's `format` takes is RFC 3339, `2026-11-22T18:30:00Z`: who writes it asks for that form. A filter of a template also takes
the usual others of ISO 8601, since the data may be anybody's.

In both, days are those of the calendar from the year 0001, hours go to 23, minutes to 59, also those of an offset, and a leap second stands
where there may be one: at 23:59:60 in UTC.
"""

import re
from datetime import date

from promptc.text.characters import compile_later

_DATE = r"(\d{4})-(\d\d)-(\d\d)"
_TIME = r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))"
_FULL_DATE, _FULL_TIME = compile_later(f"(?a:{_DATE})"), compile_later(f"(?a:{_TIME})")
_FULL_DATE_TIME = compile_later(f"(?a:{_DATE}[Tt]{_TIME})")
_LOOSE = compile_later(rf"(?a:{_DATE}(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?[ ]?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?)")
_FIRST = date(1970, 1, 1).toordinal()
_DAY = 24 * 60
_MICRO = 10**6


def count_micros(text: str) -> int:
    """Microseconds from 1970-01-01T00:00:00Z to the moment of an ISO 8601 text, below zero before that; what is finer is cut off.

    RFC 3339, and besides a date alone, which is its midnight; a time without seconds; a space for the `T`; a decimal comma; an offset such
    as `+01` or `+0100`, also behind a space; no offset, which is UTC. A leap second is the one after it. Raises `ValueError` for
    anything else, with what is wrong where it has the form.
    """
    found = _LOOSE.fullmatch(text)
    if found is None:
        raise ValueError
    return _count(*found.groups())


def is_date(text: str) -> bool:
    """Whether it is a day of the calendar, as `2026-02-28`."""
    return _is_moment(_FULL_DATE.fullmatch(text))


def is_time(text: str) -> bool:
    """Whether it is a time of day with its offset, as `18:30:00Z`."""
    return _is_moment(_FULL_TIME.fullmatch(text), "1970", "01", "01")


def is_date_time(text: str) -> bool:
    """Whether it is a date, `T`, and a time with its offset, as `2026-11-22T18:30:00.250+01:00`."""
    return _is_moment(_FULL_DATE_TIME.fullmatch(text))


def _is_moment(found: re.Match[str] | None, *before: str) -> bool:
    try:
        return found is not None and _count(*before, *found.groups()) is not None
    except ValueError:
        return False


def _count(
    year: str,
    month: str,
    day: str,
    hour: str | None = None,
    minute: str | None = None,
    second: str | None = None,
    fraction: str | None = None,
    sign: str | None = None,
    hours: str | None = None,
    minutes: str | None = None,
) -> int:
    try:
        days = date(int(year), int(month), int(day)).toordinal() - _FIRST
    except ValueError:
        raise ValueError("the calendar has no such day") from None
    if int(hour or 0) > 23 or int(minute or 0) > 59 or int(second or 0) > 60:
        raise ValueError("a day has no such time")
    if int(hours or 0) > 23 or int(minutes or 0) > 59:
        raise ValueError("an offset has 23 hours and 59 minutes at most")
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * (-1 if sign == "-" else 1)
    moment = days * _DAY + int(hour or 0) * 60 + int(minute or 0) - offset
    if second == "60" and moment % _DAY != _DAY - 1:
        raise ValueError("a leap second is at 23:59:60 in UTC")
    return (moment * 60 + int(second or 0)) * _MICRO + int((fraction or "").ljust(6, "0")[:6])


FORMATS = {"date-time": is_date_time, "date": is_date, "time": is_time}
"""The formats that are judged; the others are remarks."""
