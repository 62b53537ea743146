"""Moments of the state as whole numbers: the time between two, and a number that sorts as they do."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.payments import check_defined
from promptc.template.runtime.run import Run

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?[ ]?(Z|z|[+-]\d\d(?::?\d\d)?)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def count_minutes(run: Run, value: Any, now: Any) -> int:
    """Whole minutes from `value` to `now`."""
    return _count_since(run, value, now, 60)


def count_hours(run: Run, value: Any, now: Any) -> int:
    """Whole hours from `value` to `now`."""
    return _count_since(run, value, now, 3_600)


def count_days(run: Run, value: Any, now: Any) -> int:
    """Whole days of 24 hours from `value` to `now`."""
    return _count_since(run, value, now, 86_400)


def count_stamp(run: Run, value: Any) -> int:
    """Microseconds from 1970-01-01T00:00:00Z to `value`; below zero before that. What is finer than a microsecond is cut off."""
    run.take(40)
    return (load_moment(value) - _EPOCH) // timedelta(microseconds=1)


def _count_since(run: Run, value: Any, now: Any, seconds: int) -> int:
    """How many whole units of `seconds` lie between `value` and `now` (floor; below zero when `value` is later)."""
    run.take(80)
    return (load_moment(now) - load_moment(value)) // timedelta(seconds=seconds)


def load_moment(value: Any) -> datetime:
    """The moment of an ISO 8601 text: `2026-11-22`, `2026-11-22T18:30`, with or without seconds and `Z` or `+01:00`.

    Without an offset it is UTC. A leap second is the one after it. Raises `Fault` (PC0422) for anything else.
    """
    found = _ISO.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        check_defined(value)
        shown = f"`{value[:40]}`" if isinstance(value, str) else name_kind(value)
        refuse("PC0422", f"{shown} is no ISO 8601 time", "write it as `2026-11-22T18:30:00Z`")
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    micro = int((found.group(7) or "0").ljust(6, "0")[:6])
    leap = timedelta(seconds=second == 60)
    try:
        return (
            datetime(year, month, day, hour, minute, min(second, 59) if leap else second, micro, tzinfo=_find_zone(found.group(8))) + leap
        )
    except (ValueError, OverflowError) as wrong:  # a leap second after the last moment overflows
        return refuse("PC0422", f"`{found.group()}` is no time: {wrong}", "write it as `2026-11-22T18:30:00Z`")


def _find_zone(offset: str | None) -> timezone:
    if not offset or offset in "Zz":
        return UTC
    sign = -1 if offset[0] == "-" else 1
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))


FILTERS: dict[str, Callable[..., Any]] = {
    "minutes_since": count_minutes,
    "hours_since": count_hours,
    "days_since": count_days,
    "timestamp": count_stamp,
}
