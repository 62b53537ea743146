"""Arithmetic, and `%` over a text. An operator says how large its result may be, and pays for it, before it is made."""

from __future__ import annotations

import re

from promptc.diag.findings import UNMADE, name_kind
from promptc.diag.typed import Any, NoReturn
from promptc.template.runtime.objects import Group, refuse
from promptc.template.runtime.run import NUMBERS, Run, check_defined
from promptc.template.runtime.values import show

_JOINED: dict[type, type] = {str: str, list: list, tuple: tuple, Group: tuple}
_SPEC = re.compile(r"%(?:\([^()]*\))?[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.)", re.S)


def add(run: Run, left: Any, right: Any) -> Any:
    """`left + right`: numbers, texts, lists."""
    first, second = left.__class__, right.__class__
    if first in NUMBERS and second in NUMBERS:
        return bound_number(run, left + right)
    if first in _JOINED and _JOINED[first] is _JOINED.get(second):
        _pay_sequence(run, left, len(left) + len(right))
        return left + right
    return _refuse("+", left, right)


def add_marked(run: Run, left: Any, right: Any, escapes_left: bool, escapes_right: bool) -> Any:
    """`left + right` in a chat template, where one of them may come from `safe` or `escape`: then Jinja escapes the other as HTML.

    What holds nothing to escape is the same either way. All else is refused, as it would not be the text that others render.
    """
    for value, is_escaped in ((left, escapes_left), (right, escapes_right)):
        if is_escaped and value.__class__ is str:
            run.take(1 + (len(value) >> 4))
            if not _MARKUP.isdisjoint(value):
                refuse(
                    "PC0414", "`+` after `safe` or `escape` makes Jinja escape the text that it adds", "join with `~`, or leave `safe` out"
                )
    return add(run, left, right)


_MARKUP = frozenset("&<>'\"")


def _pay_sequence(run: Run, sequence: Any, size: int) -> None:
    """A place in a list takes as much memory as eight characters."""
    run.make(size)
    if sequence.__class__ is not str:
        run.take(size >> 1)


def subtract(run: Run, left: Any, right: Any) -> Any:
    """`left - right`."""
    _check_numbers("-", left, right)
    return bound_number(run, left - right)


def multiply(run: Run, left: Any, right: Any) -> Any:
    """`left * right`: numbers, or a text or list so many times."""
    first, second = left.__class__, right.__class__
    if first in NUMBERS and second in NUMBERS:
        return bound_number(run, left * right)
    sequence, times = (left, right) if first in _JOINED else (right, left)
    kind = sequence.__class__
    if kind not in _JOINED or times.__class__ not in (int, bool):
        _refuse("*", left, right)
    _pay_sequence(run, sequence, len(sequence) * max(times, 0))
    return left * right


def divide(run: Run, left: Any, right: Any) -> Any:
    """`left / right`, never whole."""
    _check_numbers("/", left, right)
    return bound_number(run, left / right)


def floor_divide(run: Run, left: Any, right: Any) -> Any:
    """`left // right`, rounded down."""
    _check_numbers("//", left, right)
    return bound_number(run, left // right)


def modulo(run: Run, left: Any, right: Any) -> Any:
    """`left % right`: what a division leaves, or a text with its places filled."""
    if left.__class__ is str:
        return format_percent(run, left, right)
    _check_numbers("%", left, right)
    return bound_number(run, left % right)


def power(run: Run, left: Any, right: Any) -> Any:
    """`left ** right`."""
    _check_numbers("**", left, right)
    if left.__class__ is int and right.__class__ is int and left.bit_length() * right > 2 * run.limits.bits and left not in (-1, 1):
        _refuse_size(run)
    return bound_number(run, left**right)


def negate(run: Run, value: Any) -> Any:
    """`-value`."""
    _check_number("-", value)
    return -value


def positive(run: Run, value: Any) -> Any:
    """`+value`."""
    _check_number("+", value)
    return +value


def bound_number(run: Run, value: Any) -> Any:
    """The number itself, when it is not too large."""
    kind = value.__class__
    if kind is int:
        if value.bit_length() > run.limits.bits:
            _refuse_size(run)
    elif kind is float:
        if value - value != 0.0:
            refuse("PC0416", f"the number {value} cannot stand in JSON", "use smaller numbers")
    elif kind is complex:
        refuse("PC0416", "a number below zero has no root", "ask first: `a >= 0`")
    return value


def _refuse_size(run: Run) -> NoReturn:
    refuse("PC0416", f"this number has more than {run.limits.bits} bits", "use smaller numbers")


def format_percent(run: Run, pattern: str, values: Any) -> str:
    """`pattern % values` as Python prints it. Widths and precisions are at most `Limits.width`, and are not taken from the values."""
    run.take(1 + (len(pattern) >> 2))
    specs = stretch = 0
    for spec in _SPEC.finditer(pattern):
        specs += 1
        stretch = max(stretch, _check_spec(run, spec))
    run.take(4 * specs)
    longest = _count_longest(run, values)
    run.make(len(pattern) + specs * max(longest * stretch, run.limits.width if specs else 0))
    made: str = pattern % values
    return made


def _check_spec(run: Run, spec: re.Match[str]) -> int:
    """By how much the text of a value may grow where it is put in."""
    most = run.limits.width
    for width in spec.group(1, 2):
        if width == "*" or (width and (len(width) > 6 or int(width) > most)):
            refuse("PC0430", f"`{spec.group()[:40]}` pads to more than {most} characters", "use a smaller width, or raise `limits.width`")
    if spec.group(3) == "c":
        refuse("PC0424", "promptc has no `%c`", "use `%s`")
    return 10 if spec.group(3) in "ra" else 1


def _count_longest(run: Run, values: Any) -> int:
    if isinstance(values, tuple):
        return max((len(show(run, value)) for value in values), default=0)
    return len(show(run, values))


def _check_numbers(sign: str, left: Any, right: Any) -> None:
    if left.__class__ not in NUMBERS or right.__class__ not in NUMBERS:
        _refuse(sign, left, right)


def _check_number(sign: str, value: Any) -> None:
    if value.__class__ not in NUMBERS:
        check_defined(value)
        refuse("PC0414", f"`{sign}` does not work with {name_kind(value)}", _ask(value))


def _refuse(sign: str, left: Any, right: Any) -> NoReturn:
    check_defined(left)
    check_defined(right)
    hint = "join texts with `~`" if sign == "+" and str in (left.__class__, right.__class__) else _ask(left, right)
    refuse("PC0414", f"`{sign}` does not work with {name_kind(left)} and {name_kind(right)}", hint)


def _ask(*values: Any) -> str:
    if any(value is None for value in values):
        return "ask for none first, or give a value with `default(..., true)`"
    return "add `| list`" if UNMADE in map(name_kind, values) else "compare and count like with like"
