"""What a condition proves about the values it asks about."""

from collections.abc import Callable, Iterator

from jinja2 import nodes

from promptc.template.types import algebra
from promptc.template.types.algebra import Key, keep_members, meet, part_type
from promptc.template.types.calls import COMPARING, LENIENT
from promptc.template.types.types import NEVER, UNKNOWN_TYPE, MappingType, Type, UndefinedType, list_members
from promptc.template.types.walk import Path, Scope, WalkRun, join_facts

Change = Callable[[Type], Type]


def assume(walk: WalkRun, node: nodes.Expr, truth: bool, scope: Scope) -> Scope:
    """The scope in which the condition is `truth`. What it says and is not understood is left in doubt."""
    if scope.dead or not walk.spend():
        return scope
    if isinstance(node, nodes.Not):
        return assume(walk, node.node, not truth, scope)
    if isinstance(node, nodes.And | nodes.Or):
        return _assume_both(walk, node, truth, scope)
    if isinstance(node, nodes.Const):
        return scope if bool(node.value) is truth else scope.end()
    if isinstance(node, nodes.Test):
        return _assume_test(walk, node, truth, scope)
    if isinstance(node, nodes.Compare) and len(node.ops) == 1:
        return _assume_compare(walk, node.expr, node.ops[0].op, node.ops[0].expr, truth, scope)
    if isinstance(node, nodes.Filter) and node.name in ("length", "count") and node.node is not None:
        return learn_at(walk, node.node, lambda kind: algebra.by_truth(kind, truth), scope)
    if isinstance(node, nodes.Call):
        return _assume_get(walk, node, truth, scope)
    return _assume_value(walk, node, truth, scope)


def _assume_both(walk: WalkRun, node: nodes.And | nodes.Or, truth: bool, scope: Scope) -> Scope:
    both = isinstance(node, nodes.And) is truth
    first = assume(walk, node.left, truth, scope)
    if both:
        return assume(walk, node.right, truth, first)
    return join_facts(first, assume(walk, node.right, truth, assume(walk, node.left, not truth, scope)))


def _assume_value(walk: WalkRun, node: nodes.Expr, truth: bool, scope: Scope) -> Scope:
    if _is_missing(node, scope):
        return scope
    if isinstance(node, nodes.Name):
        bound = scope.names.get(node.name)
        if bound is not None and bound.condition is not None:
            scope = assume(walk, bound.condition, truth, scope)
    if find_path(node, scope) is None:
        return scope.doubt(iter_paths(node, scope))
    return learn_at(walk, node, lambda kind: algebra.by_truth(kind, truth), scope)


def _is_missing(node: nodes.Expr, scope: Scope) -> bool:
    """True where the value is undefined in any state: that was told, and what stands behind the condition is looked at all the same."""
    path = find_path(node, scope)
    members = list_members(type_at(path, scope)) if path is not None else ()
    return bool(members) and all(isinstance(member, UndefinedType) for member in members)


def _assume_test(walk: WalkRun, node: nodes.Test, truth: bool, scope: Scope) -> Scope:
    name = node.name
    if name == "undefined":
        name, truth = "defined", not truth
    if name in COMPARING and len(node.args) == 1:
        return _assume_compare(walk, node.node, COMPARING[name], node.args[0], truth, scope)
    if name == "defined" and isinstance(node.node, nodes.Name) and node.node.name not in scope.names:
        return scope.end() if truth else scope
    if name != "defined" and _is_missing(node.node, scope):
        return scope.end() if truth and name in LENIENT else scope
    if not algebra.knows(name) or find_path(node.node, scope) is None:
        return scope.doubt(iter_paths(node, scope))
    return learn_at(walk, node.node, lambda kind: algebra.by_test(kind, name, truth), scope)


def _assume_compare(walk: WalkRun, left: nodes.Expr, operator: str, right: nodes.Expr, truth: bool, scope: Scope) -> Scope:
    if operator in ("ne", "notin"):
        operator, truth = {"ne": "eq", "notin": "in"}[operator], not truth
    if operator == "eq" and isinstance(left, nodes.Const):
        left, right = right, left
    if _is_missing(left, scope) or _is_missing(right, scope):
        return scope
    if operator == "eq" and isinstance(right, nodes.Const):
        value = right.value
        if find_path(left, scope) is not None:
            return learn_at(walk, left, lambda kind: algebra.by_equal(kind, value, truth), scope)
    if operator == "in" and isinstance(left, nodes.Const) and isinstance(left.value, str) and find_path(right, scope) is not None:
        name = left.value
        return _learn_key(walk, right, name, truth, scope)
    if (
        operator == "in"
        and truth
        and isinstance(right, nodes.List | nodes.Tuple)
        and all(isinstance(one, nodes.Const) for one in right.items)
    ):
        values = [one.value for one in right.items]  # type: ignore[attr-defined]
        if find_path(left, scope) is not None:
            return learn_at(walk, left, lambda kind: algebra.by_any(kind, values), scope)
    scope = _assume_length(walk, left, operator, right, truth, scope)
    return scope.doubt([*iter_paths(left, scope), *iter_paths(right, scope)])


def _assume_length(walk: WalkRun, left: nodes.Expr, operator: str, right: nodes.Expr, truth: bool, scope: Scope) -> Scope:
    """`x | length > 0` and its kin: the list is so long at least."""
    if not (isinstance(left, nodes.Filter) and left.name in ("length", "count") and left.node is not None):
        return scope
    if not isinstance(right, nodes.Const) or type(right.value) is not int or find_path(left.node, scope) is None:
        return scope
    least = {("gt", True): right.value + 1, ("gteq", True): right.value, ("eq", True): right.value}
    least |= {("lt", False): right.value, ("lteq", False): right.value + 1, ("eq", False): 1 if right.value == 0 else 0}
    count = least.get((operator, truth), 0)
    return learn_at(walk, left.node, lambda kind: algebra.by_least(kind, count), scope) if count > 0 else scope


def _assume_get(walk: WalkRun, node: nodes.Call, truth: bool, scope: Scope) -> Scope:
    """`x.get('key')` where it is true: the key is there, and true."""
    callee = node.node
    if isinstance(callee, nodes.Getattr) and callee.attr == "get" and len(node.args) == 1 and isinstance(node.args[0], nodes.Const):
        key = node.args[0].value
        if truth and isinstance(key, str) and find_path(callee.node, scope) is not None:
            part = nodes.Getitem(callee.node, nodes.Const(key), "load")
            return learn_at(walk, part, lambda kind: algebra.by_truth(algebra.by_test(kind, "defined", True), True), scope)
    return scope.doubt(iter_paths(node, scope))


def _learn_key(walk: WalkRun, holder: nodes.Expr, name: str, truth: bool, scope: Scope) -> Scope:
    """`'key' in mapping`."""
    path = find_path(holder, scope)
    kind = type_at(path, scope)
    if path is None or not any(isinstance(member, MappingType) for member in list_members(kind)):
        return scope.doubt([path] if path is not None else [])
    part = nodes.Getitem(holder, nodes.Const(name), "load")
    return learn_at(walk, part, lambda found: algebra.by_test(found, "defined", truth), scope)


def learn_at(walk: WalkRun, node: nodes.Expr, change: Change, scope: Scope) -> Scope:
    """The value at `node` is narrowed, and so is what it is a part of: to what can have such a part."""
    path = find_path(node, scope)
    if path is None:
        return scope.doubt(iter_paths(node, scope))
    return learn_path(path, change, scope)


def learn_path(path: Path, change: Change, scope: Scope) -> Scope:
    """As `learn_at`, by path."""
    kind = change(type_at(path, scope))
    if kind == NEVER:
        return scope.end()
    scope = scope.learn(path, kind)
    if len(path) < 2:
        return scope
    key = path[-1]
    holder = type_at(path[:-1], scope)

    def fit(found: Type) -> Type:
        return keep_members(found, lambda member: change(part_type(member, key)) != NEVER)  # type: ignore[arg-type]

    return learn_path(path[:-1], fit, scope) if fit(holder) != holder else scope


def type_at(path: Path | None, scope: Scope) -> Type:
    """The kind of the value at a path."""
    if path is None:
        return NEVER
    if len(path) == 1 and path in scope.facts:
        return scope.facts[path]
    if len(path) == 1:
        return next((bound.kind for bound in scope.names.values() if bound.path == path), UNKNOWN_TYPE)
    key = path[-1]
    assert isinstance(key, str | int)
    derived = part_type(type_at(path[:-1], scope), key)
    return meet(scope.facts[path], derived) if path in scope.facts else derived


def find_path(node: nodes.Node, scope: Scope) -> Path | None:
    """The path an expression reads, where it is one."""
    if isinstance(node, nodes.Name):
        bound = scope.names.get(node.name)
        return bound.path if bound is not None else None
    if isinstance(node, nodes.Getattr):
        return _extend(node.node, node.attr, scope)
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and type(node.arg.value) in (str, int):
        return _extend(node.node, node.arg.value, scope)
    return None


def _extend(node: nodes.Node, key: Key, scope: Scope) -> Path | None:
    path = find_path(node, scope)
    return (*path, key) if path is not None else None


def iter_paths(node: nodes.Node, scope: Scope) -> Iterator[Path]:
    """The paths an expression mentions, each as far as it goes."""
    path = find_path(node, scope)
    if path is not None:
        yield path
        return
    for child in node.iter_child_nodes():
        yield from iter_paths(child, scope)
