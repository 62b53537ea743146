"""Filters of numbers."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.operators import bound_number
from promptc.template.runtime.payments import NUMBERS, check_defined
from promptc.template.runtime.run import Run

_DIGITS = 1_300
"""Characters that may be a whole number of ours, whatever the base; Python's own bound may be set from outside."""


def absolute(run: Run, value: Any) -> Any:
    """Without its sign."""
    return abs(_check_number("abs", value))


def to_float(run: Run, value: Any, default: Any = 0.0) -> Any:
    """The number a value stands for, or the default."""
    _pay_text(run, value)
    try:
        return bound_number(run, float(_defined(value)))
    except (TypeError, ValueError):
        return default


def to_int(run: Run, value: Any, default: Any = 0, base: Any = 10) -> Any:
    """The whole number a value stands for (of a text in `base`), without what stands after the point; or the default."""
    _pay_text(run, value)
    try:
        return bound_number(run, _load_int(run, value, base) if value.__class__ is str else int(_defined(value)))
    except (TypeError, ValueError):
        try:
            return bound_number(run, int(float(value)))
        except (TypeError, ValueError, OverflowError):
            return default


def _load_int(run: Run, text: str, base: Any) -> int:
    if len(text) > _DIGITS:
        digits = text.strip().lstrip("+-").replace("_", "")
        if digits.isdecimal() if base == 10 else digits.isalnum():
            refuse("PC0416", f"a number of more than {run.limits.bits} bits", "use smaller numbers")
        raise ValueError
    return int(text, base)


def _pay_text(run: Run, value: Any) -> None:
    run.take(1 + len(value) if value.__class__ is str else 1)


def _defined(value: Any) -> Any:
    check_defined(value)
    return value


def round_number(run: Run, value: Any, precision: Any = 0, method: str = "common") -> Any:
    """To so many places: half goes to the even neighbour with "common", up with "ceil", down with "floor"."""
    _check_number("round", value)
    if method == "common":
        return bound_number(run, round(value, precision))
    from math import ceil, floor

    scale = 10**precision
    return bound_number(run, (ceil if method == "ceil" else floor)(value * scale) / scale)


def _check_number(name: str, value: Any) -> Any:
    if value.__class__ not in NUMBERS:
        _defined(value)
        refuse("PC0414", f"`{name}` takes a number, not {name_kind(value)}", "make it a number first: `| int`, `| float`")
    return value


def show_size(run: Run, value: Any, binary: bool = False) -> str:
    """So many bytes as one reads them: `1 Byte`, `13 Bytes`, `4.1 MB`; `4.1 MiB`, by 1 024, with `binary`."""
    _pay_text(run, value)
    size = bound_number(run, float(_defined(value)))
    step = 1024 if binary else 1000
    if size == 1:
        return "1 Byte"
    if size < step:
        return f"{int(size)} Bytes"
    unit = step
    for letter in "kMGTPEZY":
        unit *= step
        if size < unit or letter == "Y":
            break
    prefix = f"{letter.upper()}iB" if binary else f"{letter}B"
    return f"{step * size / unit:.1f} {prefix}"


FILTERS: dict[str, Callable[..., Any]] = {
    "abs": absolute,
    "float": to_float,
    "int": to_int,
    "round": round_number,
    "filesizeformat": show_size,
}
