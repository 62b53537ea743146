"""Moments of the state as whole numbers: the time between two, and a number that sorts as they do."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.payments import check_defined
from promptc.template.runtime.run import Run
from promptc.text.moment import count_micros

_MICRO = 10**6


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
    return load_moment(value)


def _count_since(run: Run, value: Any, now: Any, seconds: int) -> int:
    """How many whole units of `seconds` lie between `value` and `now` (floor; below zero when `value` is later)."""
    run.take(80)
    return (load_moment(now) - load_moment(value)) // (seconds * _MICRO)


def load_moment(value: Any) -> int:
    """The microseconds of a time, as `count_micros` reads it. Raises `Fault` (PC0422) for what is none."""
    check_defined(value)
    try:
        if isinstance(value, str):
            return count_micros(value)
        why = ""
    except ValueError as wrong:
        why = f": {wrong}" if str(wrong) else ""
    return refuse("PC0422", f"{show_value(value)} is no ISO 8601 time{why}", "write it as `2026-11-22T18:30:00Z`")


FILTERS: dict[str, Callable[..., Any]] = {
    "minutes_since": count_minutes,
    "hours_since": count_hours,
    "days_since": count_days,
    "timestamp": count_stamp,
}
