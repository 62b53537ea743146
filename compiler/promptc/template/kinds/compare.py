"""Comparisons: what each of them takes, and what can never hold."""

from jinja2 import nodes

from promptc.template.kinds.parts import find_element
from promptc.template.kinds.take import ASKED, Usage
from promptc.template.types.scope import Scope, Value
from promptc.template.types.types import (
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    TextType,
    Type,
    UndefinedType,
    is_sure,
    list_members,
    name_type,
)
from promptc.template.types.walk import WalkRun, find_time

SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">=", "in": "in", "notin": "not in"}
_ORDERED = (NumberType, BoolType, TextType, ListType)
_SORTS: dict[type[Type], str] = {
    NumberType: "a number",
    BoolType: "a number",
    TextType: "a text",
    ListType: "a list",
    NoneType: "none",
    MappingType: "a mapping",
}


def compare(walk: WalkRun, operator: str, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    """Judge one comparison."""
    if operator in ("in", "notin"):
        _search(walk, operator, left, right, node, scope)
    elif operator in ("eq", "ne"):
        _equal(walk, operator, left, right, node, scope)
    else:
        _order(walk, operator, left, right, node, scope)


def _equal(walk: WalkRun, operator: str, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    sides = (left, right)
    for side in sides:
        walk.take(side, ASKED, f"`{SIGNS[operator]}`", node, scope)
        walk.note_whole(side.kind)
    for side, other in (sides, sides[::-1]):
        if side.spelled and not other.path and is_apart(side.kind, other.kind):
            _report_never(walk, SIGNS[operator], side, other.kind, node, scope)
            return


def _report_never(walk: WalkRun, sign: str, side: Value, other: Type, node: nodes.Node, scope: Scope) -> None:
    shown = ", ".join(f"`{value}`" for value in sorted(_list_texts(other) or ())[:3]) or name_type(other)
    walk.report("never", node, side, side.kind, scope, wants=f"`{sign}` {shown}", known=tuple(sorted(_list_texts(side.kind) or ())))


def is_apart(left: Type, right: Type) -> bool:
    """True when no value is of both kinds."""
    sorts = [_find_sorts(kind) for kind in (left, right)]
    if not sorts[0] or not sorts[1] or "" in sorts[0] | sorts[1]:
        return False
    if not sorts[0] & sorts[1]:
        return True
    texts, others = _list_texts(left), _list_texts(right)
    return sorts[0] & sorts[1] == {"a text"} and texts is not None and others is not None and not texts & others


def _find_sorts(kind: Type) -> set[str]:
    return {_SORTS.get(type(member), "") for member in list_members(kind) if not isinstance(member, UndefinedType)}


def _list_texts(kind: Type) -> frozenset[str] | None:
    """The texts it may be, where they are listed."""
    texts = [member for member in list_members(kind) if isinstance(member, TextType)]
    return texts[0].values if len(texts) == 1 else None


def _order(walk: WalkRun, operator: str, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    sign = f"`{SIGNS[operator]}`"
    kinds = [walk.take(side, Usage("a number or a text", _ORDERED, lazy=False), sign, node, scope) for side in (left, right)]
    match_sides(walk, Value(kinds[0], left.path, left.spelled), Value(kinds[1], right.path, right.spelled), sign, node, scope)
    times = [side for side, other in ((left, right), (right, left)) if find_time(side.kind) and _find_sorts(other.kind) & {"a text", ""}]
    if times:
        walk.report_time(times[0], sign, node, scope)


def match_sides(walk: WalkRun, left: Value, right: Value, sign: str, node: nodes.Node, scope: Scope) -> None:
    """Two values that are put in order are of one sort."""
    for side, other in ((left, right), (right, left)):
        sorts = _find_sorts(other.kind)
        if len(sorts) == 1 and "" not in sorts:
            (wanted,) = sorts
            good = tuple(sort for sort, name in _SORTS.items() if name == wanted)
            walk.take(side, Usage(f"{wanted} beside {wanted}", good, lazy=False), sign, node, scope)
            return


_CONTAINERS = Usage("a list, a mapping or a text", (ListType, MappingType, TextType))


def _search(walk: WalkRun, operator: str, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    sign = f"`{SIGNS[operator]}`"
    found = walk.take(right, _CONTAINERS, f"{sign} on its right", node, scope)
    walk.take(left, ASKED, sign, node, scope)
    walk.note_whole(left.kind)
    texts = _list_texts(left.kind)
    if isinstance(found, TextType):
        walk.take(left, Usage("a text before a text", (TextType,), lazy=False), sign, node, scope)
    elif isinstance(found, MappingType):
        for key in texts or ():
            walk.note_read(found, key)
    elif isinstance(found, ListType) and left.spelled:
        walk.note_whole(found)
        _judge_element(walk, SIGNS[operator], left, found, node, scope)


def _judge_element(walk: WalkRun, sign: str, left: Value, found: ListType, node: nodes.Node, scope: Scope) -> None:
    for element in found.first or (find_element(found),):
        if list_members(element) and is_apart(left.kind, element) and is_sure(element):
            _report_never(walk, sign, left, element, node, scope)
