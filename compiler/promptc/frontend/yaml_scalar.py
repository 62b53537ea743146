"""Plain YAML scalars, by the core schema of YAML 1.2: null, true, false, integers, floats; all else is text."""

import math
import re

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_FIRST = frozenset("+-.0123456789")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DIGITS = 40
_BITS = 63


def resolve_scalar(raw: str) -> str | int | float | bool | None:
    """The value of a plain scalar. `012` is 12, `1e3` is the integer 1000, `12:30`, `yes` and dates are text.

    A whole number beyond 64 bits, a float beyond the double range, `.inf` and `.nan` are a ValueError that says so.
    """
    if raw in _WORDS:
        return _WORDS[raw]
    if raw[0] not in _FIRST:
        return raw
    if _INT.fullmatch(raw):
        return _read_int(raw)
    if _FLOAT.fullmatch(raw):
        return _read_float(raw)
    if _NOT_FINITE.fullmatch(raw):
        raise ValueError(f"`{raw}` is no number a pack can use")
    return raw


def _read_int(raw: str) -> int:
    if len(raw) <= _DIGITS:
        value = int(raw, {"0o": 8, "0x": 16}.get(raw[:2], 10))
        if value.bit_length() <= _BITS:
            return value
    raise ValueError(f"the integer {_shorten(raw)} is out of range (64 bits)")


def _read_float(raw: str) -> int | float:
    value = float(raw)
    if math.isinf(value):
        raise ValueError(f"the number {_shorten(raw)} is out of range")
    whole = "." not in raw and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value


def _shorten(raw: str) -> str:
    return raw if len(raw) <= _DIGITS else f"{raw[:12]}… of {len(raw)} characters"
