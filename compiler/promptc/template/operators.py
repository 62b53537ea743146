"""Arithmetic that says how large its result may be before it is made."""

import operator
from collections.abc import Callable
from math import isfinite
from typing import Any

from promptc.template.fault import refuse
from promptc.template.format_text import format_percent
from promptc.template.limits import MAX_BITS
from promptc.template.run import Run


def _add(run: Run, left: Any, right: Any) -> Any:
    if isinstance(left, str | list | tuple):
        run.make(len(left) + (len(right) if isinstance(right, str | list | tuple) else 0))
        return left + right
    return bound_number(left + right)


def _multiply(run: Run, left: Any, right: Any) -> Any:
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, str | list | tuple) and isinstance(times, int):
            run.make(len(sequence) * max(times, 0))
    return bound_number(left * right)


def _power(run: Run, left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() * abs(right) > 2 * MAX_BITS:
        refuse("PC0416", f"a number of more than {MAX_BITS} bits", "use smaller numbers")
    return bound_number(left**right)


def _modulo(run: Run, left: Any, right: Any) -> Any:
    return format_percent(run, left, right) if isinstance(left, str) else left % right


def bound_number(value: Any) -> Any:
    """The number itself, when it is not too large."""
    if value.__class__ is int and value.bit_length() > MAX_BITS:
        refuse("PC0416", f"a number of more than {MAX_BITS} bits", "use smaller numbers")
    if value.__class__ is float and not isfinite(value):
        refuse("PC0416", f"the number {value} has no place in JSON", "use smaller numbers")
    return value


OPERATORS: dict[str, Callable[[Run, Any, Any], Any]] = {
    "+": _add,
    "*": _multiply,
    "**": _power,
    "%": _modulo,
    "/": lambda run, left, right: bound_number(operator.truediv(left, right)),
    "-": lambda run, left, right: bound_number(operator.sub(left, right)),
}
