"""The kind of an expression, part by part (Jinja's tree)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from jinja2 import nodes

from promptc.template.kinds.arguments import Arguments, judge_test
from promptc.template.kinds.compare import compare
from promptc.template.kinds.filters import apply_filter
from promptc.template.kinds.given import find_single
from promptc.template.kinds.operators import ARITHMETIC, negate
from promptc.template.kinds.parts import cut, find_any, find_part
from promptc.template.kinds.questions import ask
from promptc.template.kinds.take import ASKED, PARTED, SHOWN_TEXT, SLICED, VALUE, Usage
from promptc.template.kinds.unite import add_bounds, join_types, map_members, meet
from promptc.template.types import algebra
from promptc.template.types.assume import assume
from promptc.template.types.bounds import measure
from promptc.template.types.calls import call
from promptc.template.types.scope import Scope, Value
from promptc.template.types.trials import is_trial, list_ways
from promptc.template.types.types import (
    BOOL_TYPE,
    NEVER,
    NONE_TYPE,
    TEXT_TYPE,
    UNKNOWN_TYPE,
    BlankType,
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
    make_mapping,
    text_of,
)
from promptc.template.types.walk import WalkRun


def evaluate(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Value:
    """What the expression gives in `scope`; what is wrong in it goes to `walk`."""
    if not walk.spend():
        return Value(UNKNOWN_TYPE)
    if walk.trials is None or walk.trying or not is_trial(node, scope, walk.asked):
        return _EVALUATE[type(node)](walk, node, scope)
    reports, walk.trying = walk.reports, True
    value = _EVALUATE[type(node)](walk, node, scope)
    walk.trying = False
    if walk.reports == reports:
        walk.report_fault(walk.trials.find_fault(node, walk.limits), node, scope)
    return value


def find_kind(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Type:
    """The kind alone."""
    return evaluate(walk, node, scope).kind


def decide(walk: WalkRun, node: nodes.Expr, scope: Scope) -> tuple[Scope, Scope]:
    """The scopes in which the condition holds and in which it does not; it is judged as a condition."""
    return _split(walk, node, judge(walk, node, scope), scope)


def _split(walk: WalkRun, node: nodes.Expr, kind: Type, scope: Scope) -> tuple[Scope, Scope]:
    """The scopes behind a condition of a kind: one that is always true, or never, leaves one of them."""
    yes, no = assume(walk, node, True, scope), assume(walk, node, False, scope)
    answers = {member.value if isinstance(member, BoolType) else None for member in list_members(kind)}
    return (yes.end() if answers == {False} else yes), (no.end() if answers == {True} else no)


def judge(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Type:
    """The kind of a condition: undefined is an error, none is not."""
    return walk.take(evaluate(walk, node, scope), ASKED, "a condition", node, scope)


def literal(value: object) -> Type:
    """The kind of a constant."""
    if isinstance(value, bool):
        return BoolType(value)
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, int | float):
        return NumberType(isinstance(value, int), value, value, frozenset({value}))
    return NoneType() if value is None else UNKNOWN_TYPE


def spell(node: nodes.Node) -> str:
    """The path as the author may have written it; empty where it is computed."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        holder, key = spell(node.node), find_key(node)
        if holder and key is not None:
            return f"{holder}.{key}" if isinstance(key, str) and key.isidentifier() else f"{holder}[{key!r}]"
    return ""


def find_key(node: nodes.Getattr | nodes.Getitem) -> str | int | None:
    """The key or place that is asked for, where it is written out."""
    if isinstance(node, nodes.Getattr):
        return node.attr
    arg = node.arg
    if isinstance(arg, nodes.Neg) and isinstance(arg.node, nodes.Const) and type(arg.node.value) is int:
        return -arg.node.value
    value = arg.value if isinstance(arg, nodes.Const) else None
    return value if isinstance(value, str) or type(value) is int else None


def _name(walk: WalkRun, node: nodes.Name, scope: Scope) -> Value:
    bound = scope.names.get(node.name)
    if bound is None:
        return Value(UndefinedType("given", node.name, (), "name", "", True, (walk.file, node.lineno), node.name), None, node.name)
    return Value(scope.facts.get(bound.path, bound.kind), bound.path, node.name)


def _part(walk: WalkRun, node: nodes.Getattr | nodes.Getitem, scope: Scope) -> Value:
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
        return _slice(walk, node, node.arg, scope)
    holder = evaluate(walk, node.node, scope)
    key = find_key(node)
    kind = walk.take(holder, PARTED, "`.`", node.node, scope)
    if key is None:
        assert isinstance(node, nodes.Getitem)
        walk.take(evaluate(walk, node.arg, scope), VALUE, "`[ ]`", node, scope)
        walk.note_all(kind)
        return Value(find_any(kind))
    path = (*holder.path, key) if holder.path is not None else None
    if isinstance(key, str):
        walk.note_read(kind, key)
    found = scope.facts.get(path) if path is not None else None
    part = meet(found, find_part(kind, key)) if found is not None else find_part(kind, key)
    return Value(_stamp(walk, part, node), path, spell(node))


def _stamp(walk: WalkRun, part: Type, node: nodes.Expr) -> Type:
    """Where it was read, for what may be missing."""
    certain = all(isinstance(member, UndefinedType) for member in list_members(part))
    place, spelled = (walk.file, node.lineno), spell(node)

    def stamp(member: Type) -> Type:
        return replace(member, certain=certain, read_at=place, spelled=spelled) if isinstance(member, UndefinedType) else member

    return map_members(part, stamp)


def _slice(walk: WalkRun, node: nodes.Getitem, part: nodes.Slice, scope: Scope) -> Value:
    kind = walk.take(evaluate(walk, node.node, scope), SLICED, "`[:]`", node, scope)
    reports = walk.reports
    given = [_find_bound(walk, bound, scope) if bound is not None else None for bound in (part.start, part.stop, part.step)]
    if walk.reports == reports:
        ways = list_ways([kind if list_ways([kind]) else TEXT_TYPE, *(NONE_TYPE if one is None else one for one in given)])
        _try_ways(walk, node, [nodes.Getitem(held, nodes.Slice(*sides, lineno=1), "load", lineno=1) for held, *sides in ways], scope)
    bounds = [_find_constant(one) for one in given]
    if part.step is not None:
        return Value(cut(kind, 1, None) if not isinstance(kind, UnknownType) else kind)  # none of them need stand where it stood
    start, stop = bounds[0], bounds[1]
    known = (part.start is None or start is not None) and (part.stop is None or stop is not None)
    return Value(cut(kind, start, stop) if known else cut(kind, 0 if part.start is None else 1, None))


def _find_bound(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Type:
    return walk.take(evaluate(walk, node, scope), _BOUND, "the bound of a slice", node, scope)


def _find_constant(kind: Type | None) -> int | None:
    if isinstance(kind, NumberType) and kind.values is not None and len(kind.values) == 1:
        (value,) = kind.values
        return value if isinstance(value, int) else None
    return None


def _const(walk: WalkRun, node: nodes.Const, scope: Scope) -> Value:
    return Value(literal(node.value))


def _constant_text(walk: WalkRun, node: nodes.TemplateData, scope: Scope) -> Value:
    return Value(text_of(node.data))


def _listed(walk: WalkRun, node: nodes.List | nodes.Tuple, scope: Scope) -> Value:
    first = tuple(_find_part_kind(walk, item, scope) for item in node.items)
    shape = "tuple" if isinstance(node, nodes.Tuple) else "list"
    return Value(ListType(NEVER, len(first), len(first), first, shape))  # type: ignore[arg-type]


def _dict(walk: WalkRun, node: nodes.Dict, scope: Scope) -> Value:
    fields: dict[str, Type] = {}
    open_keys = False
    for pair in node.items:
        kind = _find_part_kind(walk, pair.value, scope)
        _find_part_kind(walk, pair.key, scope)
        if isinstance(pair.key, nodes.Const) and isinstance(pair.key.value, str):
            fields[pair.key.value] = kind
        else:
            open_keys = True
    return Value(UNKNOWN_TYPE if open_keys else make_mapping(fields))


def _find_part_kind(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Type:
    """The kind of what is put into a list or mapping, where what is undefined in any state is a slip."""
    value = evaluate(walk, node, scope)
    walk.report_certain(value, node, scope)
    return value.kind


def _choose(walk: WalkRun, node: nodes.CondExpr, scope: Scope) -> Value:
    yes, no = decide(walk, node.test, scope)
    kinds = []
    if not yes.dead:
        kinds.append(find_kind(walk, node.expr1, yes))
    if not no.dead:
        kinds.append(find_kind(walk, node.expr2, no) if node.expr2 is not None else BlankType())
    return Value(join_types(*kinds))


def _and(walk: WalkRun, node: nodes.And, scope: Scope) -> Value:
    return _either(walk, node, False, scope)


def _or(walk: WalkRun, node: nodes.Or, scope: Scope) -> Value:
    return _either(walk, node, True, scope)


def _either(walk: WalkRun, node: nodes.And | nodes.Or, held: bool, scope: Scope) -> Value:
    """The left side where its truth is `held`, else the right one."""
    asked = judge(walk, node.left, scope)
    left, ways = algebra.by_truth(asked, held), _split(walk, node.left, asked, scope)
    rest = ways[1] if held else ways[0]
    return Value(join_types(left, find_kind(walk, node.right, rest))) if not rest.dead else Value(left)


def _not(walk: WalkRun, node: nodes.Not, scope: Scope) -> Value:
    kind = judge(walk, node.node, scope)
    return Value(BoolType(not kind.value) if isinstance(kind, BoolType) and kind.value is not None else BOOL_TYPE)


def _compare(walk: WalkRun, node: nodes.Compare, scope: Scope) -> Value:
    sides = [evaluate(walk, one, scope) for one in (node.expr, *(operand.expr for operand in node.ops))]
    for operand, left, right in zip(node.ops, sides, sides[1:], strict=False):
        compare(walk, operand.op, left, right, node, scope)
    ways = list_ways([one.kind for one in sides], exact=True)
    return Value(_answer(walk, [_compare_again(node, way) for way in ways]))


def _compare_again(node: nodes.Compare, sides: Sequence[nodes.Expr]) -> nodes.Expr:
    others = [nodes.Operand(one.op, side, lineno=1) for one, side in zip(node.ops, sides[1:], strict=True)]
    return nodes.Compare(sides[0], others, lineno=1)


def _answer(walk: WalkRun, ways: Sequence[nodes.Expr]) -> Type:
    """The kind of a question that was asked of all values there are."""
    if walk.trials is None or not ways:
        return BOOL_TYPE
    found = walk.trials.find_shared_value(ways, walk.limits)
    return BoolType(found) if isinstance(found, bool) else BOOL_TYPE


def _binary(walk: WalkRun, node: nodes.BinExpr, scope: Scope) -> Value:
    reports = walk.reports
    left, right = evaluate(walk, node.left, scope), evaluate(walk, node.right, scope)
    kind = ARITHMETIC[type(node)](walk, left, right, node, scope)
    if walk.reports == reports and not (isinstance(node, nodes.Mod) and find_single(left.kind) is None and _may_be_text(left.kind)):
        _try_ways(walk, node, [type(node)(*sides, lineno=1) for sides in list_ways([left.kind, right.kind])], scope)
    return Value(kind)


def _may_be_text(kind: Type) -> bool:
    return any(isinstance(member, TextType) for member in list_members(kind))


def _try_ways(walk: WalkRun, node: nodes.Expr, ways: Sequence[nodes.Expr], scope: Scope) -> None:
    """Report what a use fails with, whatever it is given of the kinds it may be given."""
    if walk.trials is not None and not walk.trying and ways:
        walk.report_fault(walk.trials.find_shared_fault(ways, walk.limits), node, scope)


def _unary(walk: WalkRun, node: nodes.UnaryExpr, scope: Scope) -> Value:
    return Value(negate(walk, evaluate(walk, node.node, scope), node, scope))


def _concat(walk: WalkRun, node: nodes.Concat, scope: Scope) -> Value:
    characters: int | None = 0
    size: int | None = 0
    at = ""
    for part in node.nodes:
        kind = walk.take(evaluate(walk, part, scope), _JOINED, "`~`", part, scope)
        walk.note_whole(kind)
        shown = measure(kind)
        at = at or (shown.at if shown.size is None else "")
        characters, size = add_bounds(characters, shown.characters), add_bounds(size, shown.size)
    return Value(TextType(characters, size, None, at))


def _filter(walk: WalkRun, node: nodes.Filter, scope: Scope) -> Value:
    assert node.node is not None
    reports = walk.reports
    value = evaluate(walk, node.node, scope)
    found = apply_filter(walk, node, value, scope, evaluate)
    if node.name == "format" and walk.reports == reports and isinstance(find_single(value.kind), str):
        _try_format(walk, node, value.kind, scope)
    return found


def _try_format(walk: WalkRun, node: nodes.Filter, pattern: Type, scope: Scope) -> None:
    """`'%d' | format(x)`: whether any `x` suits."""
    if node.dyn_args is None and node.dyn_kwargs is None:
        kinds = [find_kind(walk, arg, scope) for arg in (*node.args, *(word.value for word in node.kwargs))]
        names = [word.key for word in node.kwargs]
        ways = []
        for text, *values in list_ways([pattern, *kinds]):
            placed, named = values[: len(node.args)], values[len(node.args) :]
            words = [nodes.Keyword(name, value, lineno=1) for name, value in zip(names, named, strict=True)]
            ways.append(nodes.Filter(text, "format", placed, words, None, None, lineno=1))
        _try_ways(walk, node, ways, scope)


def _test(walk: WalkRun, node: nodes.Test, scope: Scope) -> Value:
    value = evaluate(walk, node.node, scope)
    args = [evaluate(walk, arg, scope) for arg in node.args]
    named = {str(word.key): evaluate(walk, word.value, scope) for word in node.kwargs}
    judge_test(Arguments(walk, node, scope, args, named), node.name)
    ask(walk, node, value, args, scope)
    ways = list_ways([value.kind, *(one.kind for one in args)], exact=True) if not named and node.dyn_args is None else []
    return Value(_answer(walk, [nodes.Test(first, node.name, rest, [], None, None, lineno=1) for first, *rest in ways]))


def _call(walk: WalkRun, node: nodes.Call, scope: Scope) -> Value:
    return call(walk, node, scope, evaluate)


_BOUND = Usage("a whole number", (NumberType, BoolType, NoneType))
_JOINED = Usage("a value that can be printed", (*SHOWN_TEXT.good, NoneType, ListType, MappingType), lazy=False)

_EVALUATE: dict[type[nodes.Node], Callable[[WalkRun, Any, Scope], Value]] = {
    nodes.Name: _name,
    nodes.Getattr: _part,
    nodes.Getitem: _part,
    nodes.Const: _const,
    nodes.TemplateData: _constant_text,
    nodes.List: _listed,
    nodes.Tuple: _listed,
    nodes.Dict: _dict,
    nodes.CondExpr: _choose,
    nodes.And: _and,
    nodes.Or: _or,
    nodes.Not: _not,
    nodes.Compare: _compare,
    nodes.Neg: _unary,
    nodes.Pos: _unary,
    nodes.Concat: _concat,
    nodes.Filter: _filter,
    nodes.Test: _test,
    nodes.Call: _call,
    **dict.fromkeys((nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow), _binary),
}
