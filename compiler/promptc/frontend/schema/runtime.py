"""What generated checks and fillers call where an expression would not do. Imports nothing that a valid state does not need."""

from __future__ import annotations

import marshal
from _json import encode_basestring
from collections.abc import Callable

from promptc.diag.typed import Any

Fuel = list[int]
"""How many more references may be followed, in a list so that all share it."""

Check = Callable[[Any, Fuel], bool]
Fill = Callable[[Any, Fuel], Any]
Functions = tuple[Check, Fill, list[Any]]
"""What says whether a value is valid, what fills it in, and the mappings and lists that it may fill in at several places."""

_PLENTY = 10**9
"""A default is filled in once for all states, and adds each key once."""


def run_code(code: bytes) -> Functions:
    """The functions whose code `compile_schema` made."""
    space: dict[str, Any] = dict(globals())
    for part in marshal.loads(code):
        exec(part, space)
    return space["valid"], space["fill"], space["shared"]


class FuelError(Exception):
    """More references were followed, or more keys filled in, than the size of the state allows; or a text needs more states of a pattern's
    automaton than it may have.
    """


class EndlessDefaultError(Exception):
    """A default holds, by way of its own schema, itself."""


def spell(value: Any) -> str:
    """A text that is equal where JSON values are: 1 and 1.0 are, 1 and true are not. A text, since the hashes of texts cannot be made
    to collide, and those of numbers can.
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
    """Whether no two elements are equal, in linear time."""
    return len({spell(value) for value in values}) == len(values)


def is_multiple(value: int | float, step: int | float) -> bool:
    """Whether a number is a multiple, judged by the decimals both are written with."""
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    digits, exponent = _read_decimal(value)
    step_digits, step_exponent = _read_decimal(step)
    lowest = min(exponent, step_exponent)
    whole: int = digits * 10 ** (exponent - lowest)
    whole_step: int = step_digits * 10 ** (step_exponent - lowest)
    return whole % whole_step == 0


def _read_decimal(number: int | float) -> tuple[int, int]:
    """The shortest decimal that reads back as `number`, as whole digits and the power of ten they are multiplied with."""
    mantissa, _, power = repr(number).partition("e")
    whole, _, part = mantissa.partition(".")
    return int(whole + part), int(power or 0) - len(part)


def make_matcher(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a pattern occurs in a text. The pattern is read when a text is first asked about."""
    made: list[Any] = []

    def matches(text: str) -> bool:
        if not made:
            from promptc.text.pattern import Pattern, PatternLimitError

            made[:] = Pattern(pattern).matches, PatternLimitError
        try:
            found: bool = made[0](text)
        except made[1]:
            raise FuelError from None
        return found

    return matches


def make_format_check(name: str) -> Callable[[str], bool]:
    """A function that says whether a text has one of the FORMATS. It is looked for when a text is first asked about."""

    def matches(text: str) -> bool:
        from promptc.text.moment import FORMATS

        return FORMATS[name](text)

    return matches


def merge(value: dict[str, Any], changes: dict[str, Any], declared: tuple[str, ...], fuel: Fuel) -> dict[str, Any]:
    """`value` with `changes`, keys in code-point order. All keys `declared`, which are in that order, are in one of the two."""
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
    """`value`: what a schema that declares nothing fills in."""
    return value


class Defaults(dict[int, Any]):
    """What stands in place of absent mappings and lists: each default, filled in itself by its filler, which asks for those it needs."""

    def __init__(self, defaults: dict[int, tuple[Any, Fill]]) -> None:
        self._defaults = defaults
        self._active: set[int] = set()

    def make_all(self) -> None:
        """Raises an EndlessDefaultError where a default needs itself."""
        for number in self._defaults:
            self[number]

    def __missing__(self, number: int) -> Any:
        if number in self._active:
            raise EndlessDefaultError
        self._active.add(number)
        default, fill = self._defaults[number]
        made = self[number] = fill(default, [_PLENTY])
        return made
