"""Dates and times as texts, in a strict form and a loose one.

A schema's `format` accepts RFC 3339 only, as in `2026-11-22T18:30:00Z`: the author of a schema asks for that form. A filter of a template
also accepts the other usual forms of ISO 8601, since its data may come from anywhere.

In both forms days are calendar days from the year 0001, hours go up to 23, and minutes up to 59, also those of an offset. A leap second is
accepted only where one is possible: at 23:59:60 in UTC.
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
    """Return the microseconds from 1970-01-01T00:00:00Z to the moment of an ISO 8601 text, negative for an earlier moment.

    Digits finer than a microsecond are cut off. In addition to RFC 3339, the text may be a date alone, which means its midnight; have a
    time without seconds, a space for the `T`, a decimal comma, or an offset such as `+01` or `+0100`, also after a space; or have no
    offset, which means UTC. A leap second counts as the second after it. Raises `ValueError` for any other text; the error has a message if
    the text has the right form but names a day, time or offset that does not exist.
    """
    found = _LOOSE.fullmatch(text)
    if found is None:
        raise ValueError
    return _count(*found.groups())


def is_date(text: str) -> bool:
    """Return whether `text` is a calendar day such as `2026-02-28`."""
    return _is_moment(_FULL_DATE.fullmatch(text))


def is_time(text: str) -> bool:
    """Return whether `text` is a time of day with an offset, such as `18:30:00Z`."""
    return _is_moment(_FULL_TIME.fullmatch(text), "1970", "01", "01")


def is_date_time(text: str) -> bool:
    """Return whether `text` is a date, `T`, and a time with an offset, such as `2026-11-22T18:30:00.250+01:00`."""
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
"""The checks of the formats that schemas enforce, by name; other formats are only remarks."""
