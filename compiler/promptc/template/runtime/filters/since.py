"""Time between two moments of the state, in whole units."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

from promptc.diag.typed import Any
from promptc.template.runtime.fault import name_kind, refuse
from promptc.template.runtime.payments import check_defined
from promptc.template.runtime.run import Run

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?[ ]?(Z|z|[+-]\d\d(?::?\d\d)?)?", re.ASCII)


def count_minutes(run: Run, value: Any, now: Any) -> int:
    """Whole minutes from `value` to `now`."""
    return _count_since(run, value, now, 60)


def count_hours(run: Run, value: Any, now: Any) -> int:
    """Whole hours from `value` to `now`."""
    return _count_since(run, value, now, 3_600)


def count_days(run: Run, value: Any, now: Any) -> int:
    """Whole days of 24 hours from `value` to `now`."""
    return _count_since(run, value, now, 86_400)


def _count_since(run: Run, value: Any, now: Any, seconds: int) -> int:
    """How many whole units of `seconds` lie between `value` and `now` (floor; below zero when `value` is later).

    A leap second counts as the one after it.

    Both are ISO 8601: `2026-11-22`, `2026-11-22T18:30`, with or without seconds and `Z` or `+01:00`; without an offset, UTC.
    """
    run.take(80)
    return (load_moment(now) - load_moment(value)) // timedelta(seconds=seconds)


def load_moment(value: Any) -> datetime:
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
    except ValueError as wrong:
        return refuse("PC0422", f"`{found.group()}` is no time: {wrong}", "write it as `2026-11-22T18:30:00Z`")


def _find_zone(offset: str | None) -> timezone:
    if not offset or offset in "Zz":
        return UTC
    sign = -1 if offset[0] == "-" else 1
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))


FILTERS: dict[str, Callable[..., Any]] = {"minutes_since": count_minutes, "hours_since": count_hours, "days_since": count_days}
