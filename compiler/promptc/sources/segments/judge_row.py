"""A row as a database gives it → a segment, or why it is none."""

import json
import math
from functools import lru_cache

from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.sources import Segment
from promptc.sources.segments.expand_locales import is_locale
from promptc.sources.segments.read_semver import read_semver

MAX_ID = 200
"""Characters of the longest id, scope or ref_id: what an index of either database holds."""

MAX_CONTENT = 4_000_000
"""Bytes of the longest content."""

_MAX_METADATA = 100_000
_MAX_DEPTH = 20
_MAX_KEY = 100
_MAX_VALUES = 5_000
_BITS = 63
_KEPT = 4096


class _MalformedError(Exception):
    """The row is none; the argument says why."""


@lru_cache(maxsize=_KEPT, typed=True)
def judge_row(
    id: Any, scope: Any, ref_id: Any, content: Any, metadata: Any, active: Any, locale: Any, version: Any, priority: Any
) -> Segment | str:
    """The segment in a row, or what is wrong with it, in words that follow its name.

    Rows met again are not judged again. `metadata` is JSON text; an absent one is empty, as an absent priority is 0.
    """
    try:
        return Segment(
            _read_name("id", id),
            _read_name("scope", scope),
            None if ref_id is None else _read_name("ref_id", ref_id),
            _read_content(content),
            _read_metadata(metadata),
            _read_active(active),
            _read_locale(locale),
            _read_version(version),
            _read_priority(priority),
        )
    except _MalformedError as wrong:
        return str(wrong)


def _read_name(what: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _MalformedError(f"`{what}` is no text")
    if len(value) > MAX_ID:
        raise _MalformedError(f"`{what}` has {len(value)} characters, more than {MAX_ID}")
    if not value.isprintable():
        raise _MalformedError(f"`{what}` holds an invisible character")
    return value


def _read_content(value: Any) -> str:
    if not isinstance(value, str):
        raise _MalformedError("`content` is no UTF-8 text")
    if "\0" in value:
        raise _MalformedError("`content` holds U+0000")
    if len(value.encode("utf-8", "replace")) > MAX_CONTENT:
        raise _MalformedError(f"`content` has more than {MAX_CONTENT} bytes")
    return value


def _read_metadata(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, str):
        raise _MalformedError("`metadata` is no JSON")
    if len(value) > _MAX_METADATA:
        raise _MalformedError(f"`metadata` has more than {_MAX_METADATA} characters")
    try:
        read = json.loads(value, object_pairs_hook=_read_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _MalformedError("`metadata` is no JSON") from None
    if not isinstance(read, dict):
        raise _MalformedError("`metadata` is no object")
    if _count_values(read, _MAX_DEPTH) > _MAX_VALUES:
        raise _MalformedError(f"`metadata` holds more than {_MAX_VALUES} values")
    order = read.get("order", 0)
    if isinstance(order, bool) or not isinstance(order, int | float):
        raise _MalformedError("`metadata.order` is no number")
    return read


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(sorted(pairs))
    if len(read) < len(pairs):
        raise _MalformedError("`metadata` has a key twice")
    return read


def _refuse_constant(name: str) -> None:
    raise _MalformedError(f"`metadata` holds {name}")


def _count_values(value: Any, depth: int) -> int:
    if depth < 0:
        raise _MalformedError(f"`metadata` is nested more than {_MAX_DEPTH} deep")
    if isinstance(value, dict):
        if any(len(key) > _MAX_KEY for key in value):
            raise _MalformedError(f"`metadata` has a key of more than {_MAX_KEY} characters")
        return 1 + sum(_count_values(key, depth) + _count_values(inner, depth - 1) for key, inner in value.items())
    if isinstance(value, list):
        return 1 + sum(_count_values(inner, depth - 1) for inner in value)
    _check_scalar(value)
    return 1


def _check_scalar(value: Any) -> None:
    if isinstance(value, str):
        if "\0" in value:
            raise _MalformedError("`metadata` holds U+0000")
        if any("\ud800" <= one <= "\udfff" for one in value):
            raise _MalformedError("`metadata` holds half of a surrogate pair")
    elif isinstance(value, int) and value.bit_length() > _BITS:
        raise _MalformedError("`metadata` holds an integer of more than 64 bits")
    elif isinstance(value, float) and not math.isfinite(value):
        raise _MalformedError("`metadata` holds a number out of range")


def _read_active(value: Any) -> bool:
    if value not in (0, 1):
        raise _MalformedError("`active` is neither true nor false")
    return bool(value)


def _read_locale(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not is_locale(value):
        raise _MalformedError(f"its locale {show_value(value)} is no language tag, such as `de` or `de-CH`")
    return value


def _read_version(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or read_semver(value) is None:
        raise _MalformedError(f"its version {show_value(value)} is no SemVer, such as `1.0.0`")
    return value


def _read_priority(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value.bit_length() > _BITS:
        raise _MalformedError("`priority` is no whole number")
    return value
