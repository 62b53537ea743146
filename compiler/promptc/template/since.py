"""Time between two moments of the state, in whole units."""

import re
from datetime import UTC, datetime, timedelta, timezone

from promptc.template.fault import name_kind, refuse

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?[ ]?(Z|z|[+-]\d\d(?::?\d\d)?)?", re.ASCII)


def count_since(value: object, now: object, seconds: int) -> int:
    """How many whole units of `seconds` lie between `value` and `now` (floor; below zero when `value` is later).

    Both are ISO 8601: `2026-11-22`, `2026-11-22T18:30`, with or without seconds and `Z` or `+01:00`; without an offset, UTC.
    """
    return (_load_moment(now) - _load_moment(value)) // timedelta(seconds=seconds)


def _load_moment(value: object) -> datetime:
    found = _ISO.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        shown = f"`{value[:40]}`" if isinstance(value, str) else name_kind(value)
        refuse("PC0422", f"{shown} is no ISO 8601 time", "write it as `2026-11-22T18:30:00Z`")
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    micro = int((found.group(7) or "0").ljust(6, "0")[:6])
    try:
        return datetime(year, month, day, hour, minute, second, micro, tzinfo=_find_zone(found.group(8)))
    except ValueError as wrong:
        return refuse("PC0422", f"`{found.group()}` is no time: {wrong}", "write it as `2026-11-22T18:30:00Z`")


def _find_zone(offset: str | None) -> timezone:
    if not offset or offset in "Zz":
        return UTC
    sign = -1 if offset[0] == "-" else 1
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
