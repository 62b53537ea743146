"""A condition as alternatives, each a row of demands on single values that all must be met."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from jinja2 import nodes

from promptc.template.kinds.questions import COMPARING
from promptc.template.kinds.trees import CompiledText, load_trees
from promptc.template.kinds.written import COMPUTED, find_written
from promptc.template.types import algebra
from promptc.template.types.assume import find_path
from promptc.template.types.expressions import evaluate, spell
from promptc.template.types.scope import Scope
from promptc.template.types.types import NumberType, Type
from promptc.template.types.walk import WalkRun

Operator = Literal["eq", "ne", "lt", "lteq", "gt", "gteq", "in", "notin", "true", "false", "is", "isnot", "inside", "outside"]
"""`inside` and `outside`: of a list, mapping or text that is not written out; `is` and `isnot`: a test by name."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One demand on one value: that `key` names (its path, or how it is computed), of `kind`, spelled as an author may have written it
    (empty where it is computed). `value` is the constant it is compared with, a row of them for `in`, the name of a test for `is`.
    `names` are the names it reads; `at` is its place in the text.
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
"""Of a condition of which nothing is known."""
NEVER_HOLDS: Cases = ()
_MOST = 128
_OPPOSITE: Mapping[str, Operator] = {
    "eq": "ne", "ne": "eq", "lt": "gteq", "gteq": "lt", "gt": "lteq", "lteq": "gt", "in": "notin", "notin": "in",
}  # fmt: skip
_MIRRORED: Mapping[Operator, Operator] = {"lt": "gt", "gt": "lt", "lteq": "gteq", "gteq": "lteq", "eq": "eq", "ne": "ne"}
_SIGN = NumberType()


def list_cases(code: CompiledText, scope: Scope) -> Cases:
    """The alternatives of an expression where it stands. It holds only where one of them does; what is not understood demands nothing.
    Beyond 128 alternatives nothing is said."""
    body = load_trees(code)[""].body[0]
    assert isinstance(body, nodes.Output)
    return list_cases_of(body.nodes[0], scope)


def list_cases_of(node: nodes.Expr, scope: Scope) -> Cases:
    """The same of a part of one."""
    return _split(node, True, scope)


def join_cases(*cases: Cases) -> Cases:
    """The alternatives of conditions that all hold."""
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
    """`a < b < c` is both of its comparisons."""
    sides = [node.expr, *(one.expr for one in node.ops)]
    parts: list[Cases] = [((_compare(sides[at], one.op, sides[at + 1], truth, scope),),) for at, one in enumerate(node.ops)]
    return join_cases(*parts) if truth else _either(parts)


def _compare(left: nodes.Expr, operator: str, right: nodes.Expr, truth: bool, scope: Scope) -> Demand:
    asked: Operator = operator if truth else _OPPOSITE[operator]  # type: ignore[assignment]
    if asked in ("in", "notin"):
        return _search(left, asked, right, scope)
    if find_written(left) is not COMPUTED and find_written(right) is COMPUTED:
        left, asked, right = right, _MIRRORED[asked], left
    value = find_written(right)
    if value is not COMPUTED:
        return _make(left, asked, value, scope)
    sides = (repr(left), repr(right))
    if sides[0] > sides[1]:
        sides, asked = (sides[1], sides[0]), _MIRRORED[asked]
    return Demand(("sign", *sides), _SIGN, "", asked, 0, _list_names(left) | _list_names(right), _find_start(left))


def _search(left: nodes.Expr, asked: Operator, right: nodes.Expr, scope: Scope) -> Demand:
    values = [find_written(one) for one in right.items] if isinstance(right, nodes.List | nodes.Tuple) else [COMPUTED]
    if COMPUTED not in values:
        return _make(left, asked, tuple(values), scope)
    key = ("in", repr(left), repr(right))
    return Demand(key, _SIGN, "", "inside" if asked == "in" else "outside", None, _list_names(left) | _list_names(right), _find_start(left))


def _make(node: nodes.Expr, operator: Operator, value: object, scope: Scope) -> Demand:
    path = find_path(node, scope)
    kind = evaluate(WalkRun({}, _weigh_nothing), node, scope).kind
    return Demand(
        path if path is not None else ("is", repr(node)), kind, _spell(node), operator, value, _list_names(node), _find_start(node)
    )


def _spell(node: nodes.Expr) -> str:
    """As `spell`, and what a filter without arguments makes of it."""
    if isinstance(node, nodes.Filter) and not node.args and not node.kwargs and isinstance(node.node, nodes.Expr):
        inner = _spell(node.node)
        return f"{inner} | {node.name}" if inner else ""
    return spell(node)


def _find_start(node: nodes.Node) -> int:
    """A part stands at its dot, and its holder before it."""
    return min(node.lineno, *(one.lineno for one in node.find_all(nodes.Expr))) if list(node.iter_child_nodes()) else node.lineno


def _weigh_nothing(text: str) -> tuple[int, int]:
    return 0, 0


def _list_names(node: nodes.Node) -> frozenset[str]:
    own = {node.name} if isinstance(node, nodes.Name) else set()
    return frozenset(own | {one.name for one in node.find_all(nodes.Name)})
