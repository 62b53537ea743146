"""Whether some value meets all that is demanded of it. What is not known may be met: a clash is certain."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from promptc.template.kinds.conditions import Case, Cases, Demand
from promptc.template.types import algebra
from promptc.template.types.types import (
    NEVER,
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    TextType,
    Type,
    UndefinedType,
    UnknownType,
    list_members,
)

_POSITIVE = frozenset(("eq", "in"))
_HELD: Mapping[str, Callable[[object, object], bool]] = {
    "eq": lambda value, other: value == other,
    "ne": lambda value, other: value != other,
    "lt": lambda value, other: value < other,  # type: ignore[operator]
    "lteq": lambda value, other: value <= other,  # type: ignore[operator]
    "gt": lambda value, other: value > other,  # type: ignore[operator]
    "gteq": lambda value, other: value >= other,  # type: ignore[operator]
    "in": lambda value, others: value in others,  # type: ignore[operator]
    "notin": lambda value, others: value not in others,  # type: ignore[operator]
    "true": lambda value, _: bool(value),
    "false": lambda value, _: not value,
}


def find_clash(cases: Cases) -> tuple[Demand, ...] | None:
    """None where some alternative may hold; else the demands of the first one that no value meets together (none: it is never true)."""
    clashes = [_find_in_case(case) for case in cases]
    return None if None in clashes else next((clash for clash in clashes if clash), ())


def _find_in_case(case: Case) -> tuple[Demand, ...] | None:
    parted: dict[tuple[object, ...], list[Demand]] = {}
    for demand in case:
        parted.setdefault(demand.key, []).append(demand)
    return next((_shrink(demands) for demands in parted.values() if not is_satisfiable(demands[0].kind, demands)), None)


def _shrink(demands: Sequence[Demand]) -> tuple[Demand, ...]:
    """The one that cannot be met alone, if there is one, else all of them."""
    return next(((one,) for one in demands if not is_satisfiable(one.kind, [one])), tuple(demands))


def is_satisfiable(kind: Type, demands: Sequence[Demand]) -> bool:
    """Whether a value of `kind` may meet all of the demands."""
    if {"inside", "outside"} <= {one.operator for one in demands}:
        return False
    asked = [one for one in demands if one.operator not in ("inside", "outside")]
    return kind == NEVER or any(_can_member(member, asked) for member in list_members(kind))


def _can_member(member: Type, demands: Sequence[Demand]) -> bool:
    tests = [one for one in demands if one.operator in ("is", "isnot")]
    if not isinstance(member, UnknownType) and any(algebra.by_test(member, str(one.value), one.operator == "is") == NEVER for one in tests):
        return False
    asked = [one for one in demands if one not in tests]
    if isinstance(member, UndefinedType):
        return not any(one.operator in (*_POSITIVE, "lt", "lteq", "gt", "gteq", "true") for one in asked)
    values = _list_values(member, asked)
    if values is not None:
        return any(all(_holds(value, one) for one in asked) for value in values)
    truths = {one.operator for one in asked} & {"true", "false"}
    if len(truths) == 2 or any(algebra.by_truth(member, truth == "true") == NEVER for truth in truths):
        return False
    return not _is_empty(member, asked)


def _list_values(member: Type, demands: Sequence[Demand]) -> list[object] | None:
    """The values it may be: those it is listed with, or those that are asked for and that it can be; None where there are others."""
    if isinstance(member, BoolType):
        return [False, True] if member.value is None else [member.value]
    if isinstance(member, NoneType):
        return [None]
    if isinstance(member, TextType | NumberType) and member.values is not None:
        return list(member.values)
    wanted = next((one for one in demands if one.operator in _POSITIVE), None)
    if wanted is not None:
        given: tuple[object, ...] = wanted.value if wanted.operator == "in" else (wanted.value,)  # type: ignore[assignment]
        return [value for value in given if _suits(value, member)]
    if isinstance(member, TextType | NumberType) and any(one.operator == "false" for one in demands):
        return [value for value in ("", 0) if _suits(value, member)]
    return None


def _suits(value: object, member: Type) -> bool:
    """Whether a value of the kind may be equal to a constant; true and false are equal to 1 and 0."""
    if isinstance(member, TextType):
        return isinstance(value, str) and (member.characters is None or len(value) <= member.characters)
    if isinstance(member, NumberType):
        if not isinstance(value, int | float):
            return False
        low, high = member.least, member.most
        is_whole = isinstance(value, int) or value.is_integer()
        return (low is None or value >= low) and (high is None or value <= high) and (is_whole or not member.whole)
    return not isinstance(member, ListType | MappingType)


def _holds(value: object, demand: Demand) -> bool:
    """What cannot be compared stops the run, and so does not hold."""
    try:
        return _HELD[demand.operator](value, demand.value)
    except TypeError:
        return False


def _is_empty(member: Type, demands: Sequence[Demand]) -> bool:
    """True when no number or text lies between all bounds."""
    for sort in (int | float, str):
        own = _list_own_bounds(member) if sort is not str else ()
        bounds = list(chain(own, ((one.operator, one.value) for one in demands if isinstance(one.value, sort))))
        if isinstance(member, NumberType) and member.whole:
            bounds = [_tighten(operator, value) for operator, value in bounds]
        if _can_be(member, sort) and any(_is_crossed(low, high) for low in _pick(bounds, "gt") for high in _pick(bounds, "lt")):
            return True
    return False


def _can_be(member: Type, sort: object) -> bool:
    """Whether bounds of that sort must be met: a value of another one is not compared with them, or stops the run."""
    return isinstance(member, UnknownType | (TextType if sort is str else NumberType))


def _list_own_bounds(member: Type) -> Iterator[tuple[str, object]]:
    if isinstance(member, NumberType):
        yield from (("gteq", member.least),) if member.least is not None else ()
        yield from (("lteq", member.most),) if member.most is not None else ()


def _tighten(operator: str, bound: object) -> tuple[str, object]:
    """The same bound of whole numbers, itself a whole number where it was written as one: above 4 is from 5 on."""
    if not isinstance(bound, int) or operator not in ("gt", "lt"):
        return operator, bound
    return f"{operator}eq", bound + (1 if operator == "gt" else -1)


def _pick(bounds: Sequence[tuple[str, object]], side: str) -> list[tuple[bool, object]]:
    """The lower (`gt`) or upper (`lt`) bounds; whether each is itself left out."""
    return [(operator == side, value) for operator, value in bounds if operator in (side, f"{side}eq")]


def _is_crossed(low: tuple[bool, object], high: tuple[bool, object]) -> bool:
    return low[1] > high[1] or (low[1] == high[1] and (low[0] or high[0]))  # type: ignore[operator]
