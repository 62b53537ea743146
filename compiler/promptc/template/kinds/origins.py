"""Which lists an expression takes its elements from, and on what condition."""

from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import nodes

from promptc.template.kinds.conditions import ANYTHING, Cases, join_cases, list_cases_of
from promptc.template.kinds.trees import CompiledText, load_trees
from promptc.template.types.assume import find_path
from promptc.template.types.scope import Scope

_SAME = frozenset(("sort", "list", "reverse", "unique", "default", "d"))
"""Filters that give elements of the list they are given."""
_CHOOSING = {"select": True, "reject": False, "selectattr": True, "rejectattr": False}
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Origin:
    """A list, by its path, of whose elements those may come that meet `cases`, said of `item`."""

    path: tuple[object, ...]
    spelled: str
    cases: Cases


def list_origins(code: CompiledText, scope: Scope) -> tuple[Origin, ...]:
    """Every list of the state that elements of the expression's value certainly come from, each by `scope`, in which `item` is an element.
    What is made anew (`map`, a literal) and what is cut by place comes from none."""
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
    """The lists that a list is made of, and what chooses among their elements."""
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
    """The filter as a condition on `item`."""
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
