"""Finds demands that no value meets together (`find_clash`), and the lists that a list's elements come from (`list_origins`).

A condition becomes cases, of which one must hold. A case is a set of demands, all of which must hold. A demand that is not understood
counts as met, so a reported clash is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Literal

from jinja2 import nodes

from promptc.diag.findings import count_noun
from promptc.template.allow import COMPARING
from promptc.template.types import algebra
from promptc.template.types.calls import SIGNS
from promptc.template.types.expressions import evaluate, find_path, spell
from promptc.template.types.infer import CompiledText, load_trees
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
    name_type,
)
from promptc.template.types.walk import Scope, WalkRun

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
_SHOWN = 6
_SAME = frozenset(("sort", "list", "reverse", "unique", "default", "d"))
"""Filters that return elements of the list they are given."""

_CHOOSING = {"select": True, "reject": False, "selectattr": True, "rejectattr": False}
_DEEPEST = 20
Operator = Literal["eq", "ne", "lt", "lteq", "gt", "gteq", "in", "notin", "true", "false", "is", "isnot", "inside", "outside"]
"""`inside` and `outside` ask about a list, mapping or text that is not a literal; `is` and `isnot` ask for a test by name."""

_MOST = 128

_OPPOSITE: Mapping[str, Operator] = {
    "eq": "ne", "ne": "eq", "lt": "gteq", "gteq": "lt", "gt": "lteq", "lteq": "gt", "in": "notin", "notin": "in",
}  # fmt: skip
_MIRRORED: Mapping[Operator, Operator] = {"lt": "gt", "gt": "lt", "lteq": "gteq", "gteq": "lteq", "eq": "eq", "ne": "ne"}
_SIGN = NumberType()


def find_clash(cases: Cases) -> tuple[Demand, ...] | None:
    """Return None if some case may hold; else the demands of the first case that no value meets together.

    An empty result means that there are no cases: the condition is never true.
    """
    clashes = [_find_in_case(case) for case in cases]
    return None if None in clashes else next((clash for clash in clashes if clash), ())


def _find_in_case(case: Case) -> tuple[Demand, ...] | None:
    parted: dict[tuple[object, ...], list[Demand]] = {}
    for demand in case:
        parted.setdefault(demand.key, []).append(demand)
    return next((_shrink(demands) for demands in parted.values() if not is_satisfiable(demands[0].kind, demands)), None)


def _shrink(demands: Sequence[Demand]) -> tuple[Demand, ...]:
    """Return the first demand that no value meets even alone, or all of the demands."""
    return next(((one,) for one in demands if not is_satisfiable(one.kind, [one])), tuple(demands))


def is_satisfiable(kind: Type, demands: Sequence[Demand]) -> bool:
    """Return whether a value of type `kind` may meet all of the demands."""
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
    """Return the values to try: those the type lists, or those demanded that the type allows; None if other values are possible."""
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
    """Return whether a value of the type may be equal to a constant; true and false are equal to 1 and 0."""
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
    """Return whether the value meets the demand. A comparison that would stop the run does not hold."""
    try:
        return _HELD[demand.operator](value, demand.value)
    except TypeError:
        return False


def _is_empty(member: Type, demands: Sequence[Demand]) -> bool:
    """Return whether no number or text lies within all bounds."""
    for sort in (int | float, str):
        own = _list_own_bounds(member) if sort is not str else ()
        bounds = list(chain(own, ((one.operator, one.value) for one in demands if isinstance(one.value, sort))))
        if isinstance(member, NumberType) and member.whole:
            bounds = [_tighten(operator, value) for operator, value in bounds]
        if _can_be(member, sort) and any(_is_crossed(low, high) for low in _pick(bounds, "gt") for high in _pick(bounds, "lt")):
            return True
    return False


def _can_be(member: Type, sort: object) -> bool:
    """Return whether bounds of this sort apply to the type. Values of another sort are not compared with them, or stop the run."""
    return isinstance(member, UnknownType | (TextType if sort is str else NumberType))


def _list_own_bounds(member: Type) -> Iterator[tuple[str, object]]:
    if isinstance(member, NumberType):
        yield from (("gteq", member.least),) if member.least is not None else ()
        yield from (("lteq", member.most),) if member.most is not None else ()


def _tighten(operator: str, bound: object) -> tuple[str, object]:
    """Return an exclusive bound of whole numbers as an inclusive one, if it is a whole number itself: above 4 means from 5."""
    if not isinstance(bound, int) or operator not in ("gt", "lt"):
        return operator, bound
    return f"{operator}eq", bound + (1 if operator == "gt" else -1)


def _pick(bounds: Sequence[tuple[str, object]], side: str) -> list[tuple[bool, object]]:
    """Return the lower (`gt`) or upper (`lt`) bounds, each after whether it is exclusive."""
    return [(operator == side, value) for operator, value in bounds if operator in (side, f"{side}eq")]


def _is_crossed(low: tuple[bool, object], high: tuple[bool, object]) -> bool:
    return low[1] > high[1] or (low[1] == high[1] and (low[0] or high[0]))  # type: ignore[operator]


def describe_demand(demand: Demand) -> str:
    """Return the demand as text: `item.level > 5`. A computed subject reads `...`."""
    subject = demand.spelled or "..."
    if demand.operator in SIGNS:
        return f"{subject} {SIGNS[demand.operator]} {_show(demand.value)}"
    if demand.operator in ("is", "isnot"):
        return f"{subject} is {'not ' if demand.operator == 'isnot' else ''}{demand.value}"
    return subject if demand.operator == "true" else f"not {subject}" if demand.operator == "false" else f"{subject} in ..."


def describe_kind(kind: Type) -> str:
    """Return a description of a type: `a number from 1 to 5`, `one of lore, rumour`, `a text of at most 40 characters`."""
    return (
        " or ".join(dict.fromkeys(_describe_one(one) for one in list_members(kind) if not isinstance(one, UndefinedType))) or "never there"
    )


def _describe_one(kind: Type) -> str:
    if isinstance(kind, TextType | NumberType) and kind.values is not None:
        shown = [_show(value) for value in sorted(kind.values)]
        more = ", ..." if len(shown) > _SHOWN else ""
        return f"`{shown[0]}`" if len(shown) == 1 else f"one of {', '.join(f'`{one}`' for one in shown[:_SHOWN])}{more}"
    if isinstance(kind, TextType) and kind.characters is not None:
        return f"a string of at most {count_noun(kind.characters, 'character')}"
    if isinstance(kind, ListType) and kind.most is not None:
        return f"a list of at most {kind.most}"
    if isinstance(kind, BoolType) and kind.value is not None:
        return "true" if kind.value else "false"
    return _describe_range(kind) if isinstance(kind, NumberType) else name_type(kind)


def _describe_range(kind: NumberType) -> str:
    noun = "a whole number" if kind.whole else "a number"
    if kind.least is not None:
        return f"{noun} from {kind.least} {f'to {kind.most}' if kind.most is not None else 'on'}"
    return f"{noun} of at most {kind.most}" if kind.most is not None else noun


def _show(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_show, value))}]"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return repr(value)


@dataclass(frozen=True, slots=True)
class Origin:
    """A list, by its path. Those of its elements that meet `cases`, which are conditions on `item`, may be in the value."""

    path: tuple[object, ...]
    spelled: str
    cases: Cases


def list_origins(code: CompiledText, scope: Scope) -> tuple[Origin, ...]:
    """Return every list of the state that elements of the expression's value certainly come from.

    `item` is an element in `scope`. Lists that are made anew (`map`, a literal) or cut by index have no origins.
    """
    body = load_trees(code)[""].body[0]
    assert isinstance(body, nodes.Output)
    return tuple(_iter_origins(body.nodes[0], scope, ANYTHING, 0))


def _iter_origins(node: nodes.Node, scope: Scope, cases: Cases, depth: int) -> Iterator[Origin]:
    if depth > _DEEPEST:
        return
    if isinstance(node, nodes.Name) and (bound := scope.names.get(node.name)) is not None and bound.condition is not None:
        yield from _iter_origins(bound.condition, scope, cases, depth + 1)
        return
    path = find_path(node, scope)
    if path is not None:
        if path[0] == "state" and len(path) > 1:
            yield Origin(path, ".".join(map(str, path)), cases)
        return
    for inner, more in _list_inner(node, scope):
        yield from _iter_origins(inner, scope, join_cases(cases, more), depth + 1)


def _list_inner(node: nodes.Node, scope: Scope) -> list[tuple[nodes.Node, Cases]]:
    """Return the lists that a list is made of, each with the condition that selects its elements."""
    if isinstance(node, nodes.Add | nodes.Or):
        return [(node.left, ANYTHING), (node.right, ANYTHING)]
    if isinstance(node, nodes.CondExpr):
        return [(one, ANYTHING) for one in (node.expr1, node.expr2) if one is not None]
    if isinstance(node, nodes.Filter) and node.node is not None:
        if node.name in _SAME:
            return [(node.node, ANYTHING)]
        if node.name in _CHOOSING and not node.kwargs:
            return [(node.node, _choose(node, scope))]
    return []


def _choose(node: nodes.Filter, scope: Scope) -> Cases:
    """Return the filter as a condition on `item`."""
    args = list(node.args)
    subject: nodes.Expr = nodes.Name("item", "load", lineno=node.lineno)
    if node.name.endswith("attr"):
        attribute = args.pop(0) if args else None
        if not isinstance(attribute, nodes.Const) or not isinstance(attribute.value, str):
            return ANYTHING
        for part in attribute.value.split("."):
            subject = nodes.Getattr(subject, part, "load", lineno=node.lineno)
    test = args.pop(0) if args else None
    if test is not None and (not isinstance(test, nodes.Const) or not isinstance(test.value, str)):
        return ANYTHING
    condition = nodes.Test(subject, test.value, args, [], None, None, lineno=node.lineno) if test is not None else subject
    return list_cases_of(condition if _CHOOSING[node.name] else nodes.Not(condition, lineno=node.lineno), scope)


@dataclass(frozen=True, slots=True)
class Demand:
    """One demand on one value.

    `key` identifies the value (its path, or how it is computed), `kind` is its type, and `spelled` how an author may have written it (empty
    if computed). `value` is the constant it is compared with, a tuple of constants for `in`, or the name of a test for `is`. `names` are
    the names that the demand reads; `at` is its position in the text.
    """

    key: tuple[object, ...]
    kind: Type
    spelled: str
    operator: Operator
    value: object
    names: frozenset[str]
    at: int


Case = tuple[Demand, ...]
Cases = tuple[Case, ...]
ANYTHING: Cases = ((),)
"""The cases of a condition of which nothing is known."""

NEVER_HOLDS: Cases = ()


def list_cases(code: CompiledText, scope: Scope) -> Cases:
    """Return the alternatives of an expression, of which one must hold for the expression to be true.

    A part that is not understood demands nothing. A condition that would bring the number of alternatives above 128 is ignored.
    """
    body = load_trees(code)[""].body[0]
    assert isinstance(body, nodes.Output)
    return list_cases_of(body.nodes[0], scope)


def list_cases_of(node: nodes.Expr, scope: Scope) -> Cases:
    """Return the cases of a part of a condition."""
    return _split(node, True, scope)


def join_cases(*cases: Cases) -> Cases:
    """Return the alternatives of conditions that all hold."""
    found = ANYTHING
    for one in cases:
        found = tuple((*left, *right) for left, right in product(found, one)) if len(found) * len(one) <= _MOST else found
    return found


def _split(node: nodes.Expr, truth: bool, scope: Scope) -> Cases:
    if isinstance(node, nodes.Not):
        return _split(node.node, not truth, scope)
    if isinstance(node, nodes.And | nodes.Or):
        parts = (_split(node.left, truth, scope), _split(node.right, truth, scope))
        return join_cases(*parts) if isinstance(node, nodes.And) is truth else _either(parts)
    if isinstance(node, nodes.Const):
        return ANYTHING if bool(node.value) is truth else NEVER_HOLDS
    if isinstance(node, nodes.Test):
        return _split_test(node, truth, scope)
    if isinstance(node, nodes.Compare):
        return _split_compare(node, truth, scope)
    bound = scope.names.get(node.name) if isinstance(node, nodes.Name) else None
    if bound is not None and bound.condition is not None:
        return tuple(tuple(replace(one, at=node.lineno) for one in case) for case in _split(bound.condition, truth, scope))
    return ((_make(node, "true" if truth else "false", None, scope),),)


def _either(parts: Iterable[Cases]) -> Cases:
    found = tuple(case for part in parts for case in part)
    return found if len(found) <= _MOST else ANYTHING


def _split_test(node: nodes.Test, truth: bool, scope: Scope) -> Cases:
    if node.name in COMPARING and len(node.args) == 1:
        return ((_compare(node.node, COMPARING[node.name], node.args[0], truth, scope),),)
    name, holds = ("defined", not truth) if node.name == "undefined" else (node.name, truth)
    if algebra.knows(name):
        return ((_make(node.node, "is" if holds else "isnot", name, scope),),)
    return ((_make(node, "true" if truth else "false", None, scope),),)


def _split_compare(node: nodes.Compare, truth: bool, scope: Scope) -> Cases:
    """Return the cases of a comparison; `a < b < c` consists of two."""
    sides = [node.expr, *(one.expr for one in node.ops)]
    parts: list[Cases] = [((_compare(sides[at], one.op, sides[at + 1], truth, scope),),) for at, one in enumerate(node.ops)]
    return join_cases(*parts) if truth else _either(parts)


def _compare(left: nodes.Expr, operator: str, right: nodes.Expr, truth: bool, scope: Scope) -> Demand:
    asked: Operator = operator if truth else _OPPOSITE[operator]  # type: ignore[assignment]
    if asked in ("in", "notin"):
        return _search(left, asked, right, scope)
    if read_written(left) is not COMPUTED and read_written(right) is COMPUTED:
        left, asked, right = right, _MIRRORED[asked], left
    value = read_written(right)
    if value is not COMPUTED:
        return _make(left, asked, value, scope)
    sides = (repr(left), repr(right))
    if sides[0] > sides[1]:
        sides, asked = (sides[1], sides[0]), _MIRRORED[asked]
    return Demand(("sign", *sides), _SIGN, "", asked, 0, _list_names(left) | _list_names(right), _count_start(left))


def _search(left: nodes.Expr, asked: Operator, right: nodes.Expr, scope: Scope) -> Demand:
    values = [read_written(one) for one in right.items] if isinstance(right, nodes.List | nodes.Tuple) else [COMPUTED]
    if COMPUTED not in values:
        return _make(left, asked, tuple(values), scope)
    key = ("in", repr(left), repr(right))
    return Demand(
        key, _SIGN, "", "inside" if asked == "in" else "outside", None, _list_names(left) | _list_names(right), _count_start(left)
    )


def _make(node: nodes.Expr, operator: Operator, value: object, scope: Scope) -> Demand:
    path = find_path(node, scope)
    kind = evaluate(WalkRun({}, _weigh_nothing), node, scope).kind
    return Demand(
        path if path is not None else ("is", repr(node)), kind, _spell(node), operator, value, _list_names(node), _count_start(node)
    )


def _spell(node: nodes.Expr) -> str:
    """Return the expression as `spell` does, or with its filter if the filter has no arguments."""
    if isinstance(node, nodes.Filter) and not node.args and not node.kwargs and isinstance(node.node, nodes.Expr):
        inner = _spell(node.node)
        return f"{inner} | {node.name}" if inner else ""
    return spell(node)


def _count_start(node: nodes.Node) -> int:
    """Return the position of the expression's first node. A part is at its dot, after its holder."""
    return min(node.lineno, *(one.lineno for one in node.find_all(nodes.Expr))) if list(node.iter_child_nodes()) else node.lineno


def _weigh_nothing(text: str) -> tuple[int, int]:
    return 0, 0


def _list_names(node: nodes.Node) -> frozenset[str]:
    own = {node.name} if isinstance(node, nodes.Name) else set()
    return frozenset(own | {one.name for one in node.find_all(nodes.Name)})


@dataclass(frozen=True, slots=True)
class Computed:
    """The type of `COMPUTED`: a value that is no constant."""


COMPUTED = Computed()


def read_written(node: nodes.Node) -> object:
    """Return the value of a literal text, number, truth value or none; `COMPUTED` for any other expression."""
    if isinstance(node, nodes.Const):
        return node.value if node.value is None or isinstance(node.value, str | int | float) else COMPUTED
    if isinstance(node, nodes.Neg) and isinstance(node.node, nodes.Const) and type(node.node.value) in (int, float):
        return -node.node.value
    return COMPUTED
