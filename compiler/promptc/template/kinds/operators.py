"""Arithmetic: what each operator takes and gives."""

from collections.abc import Callable
from math import isfinite

from jinja2 import nodes

from promptc.template.kinds.kind import (
    NUMBER,
    UNKNOWN,
    Kind,
    List,
    Number,
    Text,
    Truth,
    list_members,
)
from promptc.template.kinds.scope import Scope, Value
from promptc.template.kinds.take import NUMBERS, VALUE, Taker
from promptc.template.kinds.unite import add_bounds, join, unite
from promptc.template.kinds.walk import WalkRun

_ADDED = Taker("a number, a text or a list", (Number, Truth, Text, List), lazy=False)
_SUM = {Text: "a text", List: "a list", Number: "a number", Truth: "a number"}


def _add(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> Kind:
    first = walk.take(left, _ADDED, "`+`", node, scope)
    second = walk.take(right, _ADDED, "`+`", node, scope)
    if first == UNKNOWN or second == UNKNOWN:
        return UNKNOWN
    _match(walk, Value(first, left.path, left.spelled), Value(second, right.path, right.spelled), node, scope)
    found = [_add_two(one, other) for one in list_members(first) for other in list_members(second)]
    return unite(*(kind for kind in found if kind is not None))


def _match(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    """Both sides of a `+` are of one sort."""
    for side, other in ((left, right), (right, left)):
        groups = {_SUM.get(type(member)) for member in list_members(other.kind)}
        if len(groups) == 1 and None not in groups:
            (wanted,) = groups
            good = tuple(sort for sort, name in _SUM.items() if name == wanted)
            help = " (`~` joins any two values)" if wanted == "a text" else ""
            walk.take(side, Taker(f"{wanted} beside {wanted}{help}", good, lazy=False), "`+`", node, scope)
            return


def _add_two(left: Kind, right: Kind) -> Kind | None:
    if isinstance(left, Text) and isinstance(right, Text):
        at = left.at if left.size is None else right.at
        return Text(add_bounds(left.characters, right.characters), add_bounds(left.size, right.size), None, at)
    if isinstance(left, List) and isinstance(right, List):
        return _add_lists(left, right)
    if isinstance(left, Number | Truth) and isinstance(right, Number | Truth):
        return _add_numbers(left, right)
    return UNKNOWN if UNKNOWN in (left, right) else None


def _add_numbers(left: Number | Truth, right: Number | Truth) -> Number:
    one, other = as_number(left), as_number(right)
    return Number(one.whole and other.whole, _total(one.least, other.least), _total(one.most, other.most), None, one.at or other.at)


def _total(left: float | int | None, right: float | int | None) -> float | int | None:
    total = left + right if left is not None and right is not None else None
    return total if total is not None and isfinite(total) else None


def as_number(kind: Number | Truth) -> Number:
    """True and false count as 1 and 0."""
    return kind if isinstance(kind, Number) else Number(True, 0, 1)


def _add_lists(left: List, right: List) -> List:
    exact = left.most is not None and left.least == left.most == len(left.first)
    first = (*left.first, *right.first) if exact else left.first
    element = right.element if exact else unite(join(left), join(right))
    at = left.at if left.most is None else right.at
    most = add_bounds(left.most, right.most)
    return List(element, left.least + right.least, most, first, left.shape, left.loose or right.loose, at)


def _numeric(sign: str) -> Callable[..., Kind]:
    def calculate(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> Kind:
        first = walk.take(left, NUMBERS, f"`{sign}`", node, scope)
        second = walk.take(right, NUMBERS, f"`{sign}`", node, scope)
        whole = all(isinstance(one, Truth) or (isinstance(one, Number) and one.whole) for one in (first, second))
        least, most = _find_corners(sign, first, second)
        return Number(whole and sign in ("-", "//"), least, most)

    return calculate


_CORNERS: dict[str, Callable[[int, int], int]] = {
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "//": lambda one, other: one // other,
}
"""Operations whose least and greatest results are those of the bounds of both sides; with `//`, of divisors over zero."""
_LARGEST = 2**53


def _find_corners(sign: str, first: Kind, second: Kind) -> tuple[int | None, int | None]:
    """The least and the greatest result, where both sides have bounds that are integers and not large."""
    calculate = _CORNERS.get(sign)
    sides = [as_number(one) for one in (first, second) if isinstance(one, Number | Truth)]
    bounds = [bound for one in sides for bound in (one.least, one.most)]
    exact = [bound for bound in bounds if isinstance(bound, int) and abs(bound) < _LARGEST]
    if calculate is None or len(exact) < 4 or (sign == "//" and exact[2] <= 0):
        return None, None
    results = [calculate(one, other) for one in exact[:2] for other in exact[2:]]
    return min(results), max(results)


_REPEATED = Taker("a number, a text or a list", (Number, Truth, Text, List), lazy=False)


def _multiply(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> Kind:
    first = walk.take(left, _REPEATED, "`*`", node, scope)
    second = walk.take(right, _REPEATED, "`*`", node, scope)
    found = []
    for one, other in ((first, second), (second, first)):
        if isinstance(one, Text | List):
            walk.take(Value(other, right.path, right.spelled), NUMBERS, "`*` beside a text or a list", node, scope)
            found.append(_repeat(one, other))
    if found or not (isinstance(first, Number | Truth) and isinstance(second, Number | Truth)):
        return found[0] if found else UNKNOWN
    return Number(False, *_find_corners("*", first, second))


def _repeat(kind: Text | List, times: Kind) -> Kind:
    most = times.most if isinstance(times, Number) else 1 if isinstance(times, Truth) else None
    count = None if most is None else max(0, int(most))
    at = kind.at or getattr(times, "at", "")
    if isinstance(kind, Text):
        return Text(_scale(kind.characters, count), _scale(kind.size, count), None, at)
    return List(join(kind), 0, _scale(kind.most, count), (), kind.shape, True, at)


def _scale(bound: int | None, count: int | None) -> int | None:
    return None if bound is None or count is None else bound * count


def _modulo(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> Kind:
    kind = walk.take(left, Taker("a number, or a text to fill in", (Number, Truth, Text)), "`%`", node, scope)
    if isinstance(kind, Number | Truth):
        walk.take(right, NUMBERS, "`%`", node, scope)
        return NUMBER
    walk.take(right, VALUE, "`%`", node, scope)
    walk.note_whole(right.kind)
    return Text() if isinstance(kind, Text) else UNKNOWN


def negate(walk: WalkRun, value: Value, node: nodes.Node, scope: Scope) -> Kind:
    """`-value` and `+value`."""
    kind = walk.take(value, NUMBERS, "a sign", node, scope)
    if isinstance(node, nodes.Neg) and isinstance(kind, Number):
        least, most = kind.most, kind.least
        values = None if kind.values is None else frozenset(-one for one in kind.values)
        return Number(kind.whole, None if least is None else -least, None if most is None else -most, values, kind.at)
    return kind if isinstance(kind, Number) else NUMBER


ARITHMETIC: dict[type[nodes.Node], Callable[..., Kind]] = {
    nodes.Add: _add,
    nodes.Sub: _numeric("-"),
    nodes.Mul: _multiply,
    nodes.Div: _numeric("/"),
    nodes.FloorDiv: _numeric("//"),
    nodes.Pow: _numeric("**"),
    nodes.Mod: _modulo,
}
