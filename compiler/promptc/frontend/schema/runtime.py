"""Functions that generated checks and fillers call. Importing it loads nothing that a valid state does not need."""

from __future__ import annotations

import marshal
from _json import encode_basestring
from collections.abc import Callable

from promptc.diag.typed import Any

Fuel = list[int]
"""How much more may be done, in references that are followed; a list, because all functions share the number."""

Check = Callable[[Any, Fuel], bool]
Fill = Callable[[Any, Fuel], Any]
Functions = tuple[Check, Fill, list[Any]]
"""The check of a value, its filler, and the default mappings and lists that the filler may put at several places."""

_CHARACTERS = 4
"""As a power of two, the characters of a text, or the places of a pattern, that cost as much as a reference."""

_PLENTY = 10**9
"""Fuel for a default, which is filled once for all states and gains each key once."""


def run_code(code: bytes) -> Functions:
    """Return the functions whose code `compile_schema` made."""
    space: dict[str, Any] = dict(globals())
    for part in marshal.loads(code):
        exec(part, space)
    return space["valid"], space["fill"], space["shared"]


class FuelError(Exception):
    """A limit was exceeded while a state was checked or filled in.

    Raised when more is followed, tried or filled in than the size of the state allows, or when a text needs more states of a pattern's
    automaton than it may have.
    """


class EndlessDefaultError(Exception):
    """A default contains itself by way of its own schema."""


def spell(value: Any) -> str:
    """Return a text that is equal for equal JSON values: 1 and 1.0 are equal, 1 and true are not.

    It is a text because the hashes of texts cannot be made to collide, while those of numbers can.
    """
    kind = value.__class__
    if kind is str:
        return encode_basestring(value)
    if kind is dict:
        return "{" + ",".join([f"{encode_basestring(key)}:{spell(value[key])}" for key in sorted(value)]) + "}"
    if kind is list:
        return "[" + ",".join([spell(item) for item in value]) + "]"
    return repr(int(value) if kind is float and value.is_integer() else value)


def is_unique(values: list[Any]) -> bool:
    """Return whether no two elements are equal, in linear time."""
    return len({spell(value) for value in values}) == len(values)


def is_multiple(value: int | float, step: int | float) -> bool:
    """Return whether `value` is a multiple of `step`, computed exactly from the decimals of both."""
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    digits, exponent = _read_decimal(value)
    step_digits, step_exponent = _read_decimal(step)
    lowest = min(exponent, step_exponent)
    whole: int = digits * 10 ** (exponent - lowest)
    whole_step: int = step_digits * 10 ** (step_exponent - lowest)
    return whole % whole_step == 0


def _read_decimal(number: int | float) -> tuple[int, int]:
    """Return the shortest decimal that reads back as `number`, as integer digits and a power of ten."""
    mantissa, _, power = repr(number).partition("e")
    whole, _, part = mantissa.partition(".")
    return int(whole + part), int(power or 0) - len(part)


def make_matcher(pattern: str) -> Callable[[str, Fuel], bool]:
    """Return a function that reports whether a pattern occurs in a text, and pays for it. The pattern is compiled at the first call."""
    made: list[Any] = []

    def matches(text: str, fuel: Fuel) -> bool:
        if not made:
            from promptc.text.pattern import Pattern, PatternLimitError

            made[:] = Pattern(pattern), PatternLimitError
        automaton, limit = made
        before = automaton.moves
        try:
            found: bool = automaton.matches(text)
        except limit:
            raise FuelError from None
        fuel[0] -= 1 + (len(text) + automaton.moves - max(before, automaton.begun) >> _CHARACTERS)
        if fuel[0] < 0:
            raise FuelError
        return found

    return matches


def make_format_check(name: str) -> Callable[[str], bool]:
    """Return a function that reports whether a text has one of the FORMATS. The format is looked up when it is called."""

    def matches(text: str) -> bool:
        from promptc.text.moment import FORMATS

        return FORMATS[name](text)

    return matches


def merge(value: dict[str, Any], changes: dict[str, Any], declared: tuple[str, ...], fuel: Fuel) -> dict[str, Any]:
    """Return `value` with `changes`, its keys in code-point order.

    `declared` is in that order, and each of its keys must be in `value` or in `changes`.
    """
    merged = {**value, **changes}
    if len(merged) == len(value):
        return merged
    fuel[0] -= len(changes)
    if fuel[0] < 0:
        raise FuelError
    if len(merged) == len(declared):
        return {key: merged[key] for key in declared}
    return dict(sorted(merged.items()))


def keep(value: Any, _: Fuel) -> Any:
    """Return `value` unchanged: the filler of a schema that declares no defaults."""
    return value


class Defaults(dict[int, Any]):
    """Default mappings and lists by the number of their filler, filled in themselves on first access.

    A filler may access other defaults.
    """

    def __init__(self, defaults: dict[int, tuple[Any, Fill]]) -> None:
        self._defaults = defaults
        self._active: set[int] = set()

    def make_all(self) -> None:
        """Fill in all defaults. Raises an EndlessDefaultError if a default contains itself."""
        for number in self._defaults:
            self[number]

    def __missing__(self, number: int) -> Any:
        if number in self._active:
            raise EndlessDefaultError
        self._active.add(number)
        default, fill = self._defaults[number]
        made = self[number] = fill(default, [_PLENTY])
        return made
