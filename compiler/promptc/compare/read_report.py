"""A report that stands in a file, believed as far as it is one: goldens may be anybody's."""

import json
from collections.abc import Callable, Mapping

from promptc.diag.typed import Any

_MOST = 1 << 53
"""Counts are exact in JSON up to here; nothing that is counted comes near."""

_DEEPEST = 100
"""Levels of what is compared; deeper ones are shown as they stand."""

Shape = Callable[[Any], bool]


def read_json(content: bytes | None) -> Any:
    """The value of a JSON text; None where there is none that can be read, for its form, its depth or the text in it."""
    try:
        value = json.loads(content) if content is not None else None
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # half a character, or no number
    except (ValueError, RecursionError):
        return None
    kept: Any = value if _is_shallow(value, _DEEPEST) else None
    return kept


def _is_shallow(value: Any, left: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left > 0 and all(_is_shallow(one, left - 1) for one in inner)


def read_report(content: bytes | None) -> dict[str, Any] | None:
    """The report in a file; None for anything whose parts, as far as they are looked at, are not those of a report."""
    value = read_json(content)
    return value if is_report(value) else None


def is_messages(value: Any) -> bool:
    """Whether it is a list of messages, as promptc prints them: each with a content that is a text, or parts, or with none."""
    return _ARE_MESSAGES(value)


def is_text(value: Any) -> bool:
    """Whether it is a string."""
    return isinstance(value, str)


def is_count(value: Any) -> bool:
    """Whether it is a whole number that something may be counted to."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def is_list(inner: Shape, least: int = 0, most: int = _MOST) -> Shape:
    """Whether it is a list of such values, from `least` to `most` of them."""
    return lambda value: isinstance(value, list) and least <= len(value) <= most and all(map(inner, value))


def is_mapping(inner: Shape) -> Shape:
    """Whether it is a mapping to such values."""
    return lambda value: isinstance(value, dict) and all(map(inner, value.values()))


def or_none(inner: Shape) -> Shape:
    """Whether it is such a value, or null."""
    return lambda value: value is None or inner(value)


def has(wanted: Mapping[str, Shape], **maybe: Shape) -> Shape:
    """Whether it is a mapping with these keys, and such values under them; those of `maybe` may be left out."""
    return lambda value: (
        isinstance(value, dict)
        and all(key in value and inner(value[key]) for key, inner in wanted.items())
        and all(key not in value or inner(value[key]) for key, inner in maybe.items())
    )


def _is_any(_: Any) -> bool:
    return True


is_pair = is_list(is_count, 2, 2)
_PART = has({}, text=is_text)
_CONTENT = or_none(
    lambda value: is_text(value) or is_list(lambda part: _PART(part) and ("text" in part or part.get("type") != "text"))(value)
)
_ARE_MESSAGES = is_list(has({}, content=_CONTENT))
_RANGE = or_none(is_list(is_count, 0, 3))
_ITEM = has({"id": is_text, "tokens": is_count}, range=_RANGE)
_SECTION = has({"id": is_text, "tokens": is_count, "state": is_text}, range=_RANGE, items=is_list(_ITEM))
_CUT = has({"section": is_text, "items": is_list(is_text), "rule": is_text, "why": is_text})

is_report: Shape = has(
    {"sections": is_list(_SECTION)},
    tokens=or_none(is_count),
    budget=or_none(is_count),
    characters=or_none(is_count),
    strain=or_none(is_text),
    format=or_none(is_text),
    pressure=or_none(has({"before": is_pair})),
    counter=or_none(has({"name": is_text})),
    variants=is_mapping(is_text),
    cuts=is_list(_CUT),
    warnings=is_list(has({"code": is_text})),
    flags=is_mapping(_is_any),
)
