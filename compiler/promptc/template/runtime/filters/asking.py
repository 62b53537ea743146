"""The tests: what stands behind `is`. Those that look at more than a kind are paid for."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.template.runtime.compare import compare, contains
from promptc.template.runtime.objects import Blank, Missing
from promptc.template.runtime.operators import modulo
from promptc.template.runtime.payments import NUMBERS, UNDEFINED, check_defined
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import show

Test = Callable[..., bool]


def is_odd(run: Run, value: Any) -> bool:
    """A number that 2 does not divide."""
    return bool(modulo(run, value, 2) == 1)


def is_even(run: Run, value: Any) -> bool:
    """A number that 2 divides."""
    return bool(modulo(run, value, 2) == 0)


def is_divisible(run: Run, value: Any, num: Any) -> bool:
    """A number that `num` divides."""
    return bool(modulo(run, value, num) == 0)


def is_lower(run: Run, value: Any) -> bool:
    """A text with letters, none of them a capital."""
    text = show(run, value)
    run.take(1 + (len(text) >> 4))
    return text.islower()


def is_upper(run: Run, value: Any) -> bool:
    """A text with letters, all of them capitals."""
    text = show(run, value)
    run.take(1 + (len(text) >> 4))
    return text.isupper()


def is_sequence(run: Run, value: Any) -> bool:
    """Something with a length and places or keys: a list, a text, a mapping, a range; and, to Jinja, what an `if` without `else` gives."""
    kind = value.__class__
    return kind is Blank or (kind is not Missing and hasattr(value, "__len__") and hasattr(value, "__getitem__"))


def is_iterable(run: Run, value: Any) -> bool:
    """Something a `for` can go over."""
    try:
        iter(value)
    except TypeError:
        return False
    return True


def is_callable(run: Run, value: Any) -> bool:
    """A macro, a function, a joiner: nothing of the state. An undefined value could have been one."""
    return callable(value) or value.__class__.__name__ in ("Macro", "BlockCall")


def is_filter(run: Run, value: Any) -> bool:
    """The name of a filter of ours."""
    from promptc.template.runtime.filters.table import FILTER_NAMES

    return _is_name(value, FILTER_NAMES)


def is_test(run: Run, value: Any) -> bool:
    """The name of a test of ours."""
    from promptc.template.runtime.filters.table import TEST_NAMES

    return _is_name(value, TEST_NAMES)


def _is_name(value: Any, names: frozenset[str]) -> bool:
    check_defined(value)
    return value.__class__ is str and value in names


def is_in(run: Run, value: Any, seq: Any) -> bool:
    """Whether `seq` holds it."""
    return contains(run, seq, value)


def _comparing(name: str) -> Test:
    def compares(run: Run, value: Any, other: Any, /) -> bool:
        return compare(run, name, value, other)

    return compares


def _of_kinds(*kinds: type | None) -> Test:
    known = frozenset(kinds)

    def is_of_kind(run: Run, value: Any) -> bool:
        return value.__class__ in known

    return is_of_kind


def _same(*values: bool | None) -> Test:
    def is_same(run: Run, value: Any) -> bool:
        return any(value is one for one in values)

    return is_same


_EQUAL, _UNEQUAL = _comparing("eq"), _comparing("ne")
_LESS, _LESS_OR_EQUAL, _GREATER, _GREATER_OR_EQUAL = map(_comparing, ("lt", "lteq", "gt", "gteq"))

TESTS: dict[str, Test] = {
    "odd": is_odd,
    "even": is_even,
    "divisibleby": is_divisible,
    "defined": lambda run, value: value.__class__ not in UNDEFINED,
    "undefined": _of_kinds(*UNDEFINED),
    "none": _same(None),
    "boolean": _of_kinds(bool),
    "true": _same(True),
    "false": _same(False),
    "integer": _of_kinds(int),
    "float": _of_kinds(float),
    "number": _of_kinds(*NUMBERS),
    "string": _of_kinds(str),
    "mapping": _of_kinds(dict),
    "lower": is_lower,
    "upper": is_upper,
    "sequence": is_sequence,
    "iterable": is_iterable,
    "callable": is_callable,
    "filter": is_filter,
    "test": is_test,
    "in": is_in,
    "eq": _EQUAL,
    "==": _EQUAL,
    "equalto": _EQUAL,
    "ne": _UNEQUAL,
    "!=": _UNEQUAL,
    "lt": _LESS,
    "<": _LESS,
    "lessthan": _LESS,
    "le": _LESS_OR_EQUAL,
    "<=": _LESS_OR_EQUAL,
    "gt": _GREATER,
    ">": _GREATER,
    "greaterthan": _GREATER,
    "ge": _GREATER_OR_EQUAL,
    ">=": _GREATER_OR_EQUAL,
}
