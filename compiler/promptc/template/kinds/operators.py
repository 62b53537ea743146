"""Arithmetic: what each operator takes and gives."""

from collections.abc import Callable
from math import isfinite

from jinja2 import nodes

from promptc.template.kinds.take import NUMBERS, VALUE, Usage
from promptc.template.kinds.unite import add_bounds, join_members, join_types
from promptc.template.types.scope import Scope, Value
from promptc.template.types.types import NUMBER_TYPE, UNKNOWN_TYPE, BoolType, ListType, NumberType, TextType, Type, list_members
from promptc.template.types.walk import WalkRun

_ADDED = Usage("a number, a text or a list", (NumberType, BoolType, TextType, ListType), lazy=False)
_SUM = {TextType: "a text", ListType: "a list", NumberType: "a number", BoolType: "a number"}


def _add(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> Type:
    first = walk.take(left, _ADDED, "`+`", node, scope)
    second = walk.take(right, _ADDED, "`+`", node, scope)
    if first == UNKNOWN_TYPE or second == UNKNOWN_TYPE:
        return UNKNOWN_TYPE
    _match(walk, Value(first, left.path, left.spelled), Value(second, right.path, right.spelled), node, scope)
    found = [_add_two(one, other) for one in list_members(first) for other in list_members(second)]
    return join_types(*(kind for kind in found if kind is not None))


def _match(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    """Both sides of a `+` are of one sort."""
    for side, other in ((left, right), (right, left)):
        groups = {_SUM.get(type(member)) for member in list_members(other.kind)}
        if len(groups) == 1 and None not in groups:
            (wanted,) = groups
            good = tuple(sort for sort, name in _SUM.items() if name == wanted)
            help = " (`~` joins any two values)" if wanted == "a text" else ""
            walk.take(side, Usage(f"{wanted} beside {wanted}{help}", good, lazy=False), "`+`", node, scope)
            return


def _add_two(left: Type, right: Type) -> Type | None:
    if isinstance(left, TextType) and isinstance(right, TextType):
        at = left.at if left.size is None else right.at
        return TextType(add_bounds(left.characters, right.characters), add_bounds(left.size, right.size), None, at)
    if isinstance(left, ListType) and isinstance(right, ListType):
        return _add_lists(left, right)
    if isinstance(left, NumberType | BoolType) and isinstance(right, NumberType | BoolType):
        return _add_numbers(left, right)
    return UNKNOWN_TYPE if UNKNOWN_TYPE in (left, right) else None


def _add_numbers(left: NumberType | BoolType, right: NumberType | BoolType) -> NumberType:
    one, other = as_number(left), as_number(right)
    return NumberType(one.whole and other.whole, _total(one.least, other.least), _total(one.most, other.most), None, one.at or other.at)


def _total(left: float | int | None, right: float | int | None) -> float | int | None:
    total = left + right if left is not None and right is not None else None
    return total if total is not None and isfinite(total) else None


def as_number(kind: NumberType | BoolType) -> NumberType:
    """True and false count as 1 and 0."""
    return kind if isinstance(kind, NumberType) else NumberType(True, 0, 1)


def _add_lists(left: ListType, right: ListType) -> ListType:
    exact = left.most is not None and left.least == left.most == len(left.first)
    first = (*left.first, *right.first) if exact else left.first
    element = right.element if exact else join_types(join_members(left), join_members(right))
    at = left.at if left.most is None else right.at
    most = add_bounds(left.most, right.most)
    return ListType(element, left.least + right.least, most, first, left.shape, left.loose or right.loose, at)


def _numeric(sign: str) -> Callable[..., Type]:
    def calculate(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> Type:
        first = walk.take(left, NUMBERS, f"`{sign}`", node, scope)
        second = walk.take(right, NUMBERS, f"`{sign}`", node, scope)
        whole = all(isinstance(one, BoolType) or (isinstance(one, NumberType) and one.whole) for one in (first, second))
        least, most = _find_corners(sign, first, second)
        return NumberType(whole and sign in ("-", "//"), least, most)

    return calculate


_CORNERS: dict[str, Callable[[int, int], int]] = {
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "//": lambda one, other: one // other,
}
"""Operations whose least and greatest results are those of the bounds of both sides; with `//`, of divisors over zero."""
_LARGEST = 2**53


def _find_corners(sign: str, first: Type, second: Type) -> tuple[int | None, int | None]:
    """The least and the greatest result, where both sides have bounds that are integers and not large."""
    calculate = _CORNERS.get(sign)
    sides = [as_number(one) for one in (first, second) if isinstance(one, NumberType | BoolType)]
    bounds = [bound for one in sides for bound in (one.least, one.most)]
    exact = [bound for bound in bounds if isinstance(bound, int) and abs(bound) < _LARGEST]
    if calculate is None or len(exact) < 4 or (sign == "//" and exact[2] <= 0):
        return None, None
    results = [calculate(one, other) for one in exact[:2] for other in exact[2:]]
    return min(results), max(results)


_REPEATED = Usage("a number, a text or a list", (NumberType, BoolType, TextType, ListType), lazy=False)


def _multiply(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> Type:
    first = walk.take(left, _REPEATED, "`*`", node, scope)
    second = walk.take(right, _REPEATED, "`*`", node, scope)
    found = []
    for one, other in ((first, second), (second, first)):
        if isinstance(one, TextType | ListType):
            walk.take(Value(other, right.path, right.spelled), NUMBERS, "`*` beside a text or a list", node, scope)
            found.append(_repeat(one, other))
    if found or not (isinstance(first, NumberType | BoolType) and isinstance(second, NumberType | BoolType)):
        return found[0] if found else UNKNOWN_TYPE
    return NumberType(False, *_find_corners("*", first, second))


def _repeat(kind: TextType | ListType, times: Type) -> Type:
    most = times.most if isinstance(times, NumberType) else 1 if isinstance(times, BoolType) else None
    count = None if most is None else max(0, int(most))
    at = kind.at or getattr(times, "at", "")
    if isinstance(kind, TextType):
        return TextType(_scale(kind.characters, count), _scale(kind.size, count), None, at)
    return ListType(join_members(kind), 0, _scale(kind.most, count), (), kind.shape, True, at)


def _scale(bound: int | None, count: int | None) -> int | None:
    return None if bound is None or count is None else bound * count


def _modulo(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> Type:
    kind = walk.take(left, Usage("a number, or a text to fill in", (NumberType, BoolType, TextType)), "`%`", node, scope)
    if isinstance(kind, NumberType | BoolType):
        walk.take(right, NUMBERS, "`%`", node, scope)
        return NUMBER_TYPE
    walk.take(right, VALUE, "`%`", node, scope)
    walk.note_whole(right.kind)
    return TextType() if isinstance(kind, TextType) else UNKNOWN_TYPE


def negate(walk: WalkRun, value: Value, node: nodes.Node, scope: Scope) -> Type:
    """`-value` and `+value`."""
    kind = walk.take(value, NUMBERS, "a sign", node, scope)
    if isinstance(node, nodes.Neg) and isinstance(kind, NumberType):
        least, most = kind.most, kind.least
        values = None if kind.values is None else frozenset(-one for one in kind.values)
        return NumberType(kind.whole, None if least is None else -least, None if most is None else -most, values, kind.at)
    return kind if isinstance(kind, NumberType) else NUMBER_TYPE


ARITHMETIC: dict[type[nodes.Node], Callable[..., Type]] = {
    nodes.Add: _add,
    nodes.Sub: _numeric("-"),
    nodes.Mul: _multiply,
    nodes.Div: _numeric("/"),
    nodes.FloorDiv: _numeric("//"),
    nodes.Pow: _numeric("**"),
    nodes.Mod: _modulo,
}
