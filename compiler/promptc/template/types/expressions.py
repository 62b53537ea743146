"""Infers the type of an expression (`evaluate`), and the scopes in which a condition is true and false (`decide`).

`assume` narrows a scope by what a condition proves about the values it tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from jinja2 import nodes

from promptc.template.allow import COMPARING
from promptc.template.types import algebra
from promptc.template.types.algebra import (
    ASKED,
    NUMBERS,
    PARTED,
    SHOWN_TEXT,
    SLICED,
    VALUE,
    Key,
    Usage,
    add_bounds,
    any_part_type,
    cut,
    join_members,
    join_types,
    keep_members,
    like_other,
    map_members,
    meet,
    part_type,
)
from promptc.template.types.bounds import measure
from promptc.template.types.calls import LENIENT, Arguments, ask, call, compare, find_single, judge_test
from promptc.template.types.filters import apply_filter
from promptc.template.types.trials import is_trial, list_ways
from promptc.template.types.types import (
    BOOL_TYPE,
    NEVER,
    NONE_TYPE,
    NUMBER_TYPE,
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
    literal,
    make_mapping,
    text_of,
)
from promptc.template.types.walk import Path, Scope, Value, WalkRun, join_facts

_BOUND = Usage("a whole number", (NumberType, BoolType, NoneType))
_JOINED = Usage("a value that can be printed", (*SHOWN_TEXT.good, NoneType, ListType, MappingType), lazy=False)
_SUMMED = Usage("a number, a string or a list", (NumberType, BoolType, TextType, ListType), lazy=False)
_SUM = {TextType: "a string", ListType: "a list", NumberType: "a number", BoolType: "a number"}

_CORNERS: dict[str, Callable[[int, int], int]] = {
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "//": lambda one, other: one // other,
}
"""Operations whose extreme results are those of the bounds of both sides; for `//`, only with divisors above zero."""

_LARGEST = 2**53
Change = Callable[[Type], Type]


def evaluate(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Value:
    """Infer the value of an expression in `scope`; report its problems to `walk`."""
    if not walk.spend():
        return Value(UNKNOWN_TYPE)
    if walk.trials is None or walk.trying or not is_trial(node, scope.names, walk.asked):
        return _EVALUATE[type(node)](walk, node, scope)
    reports, walk.trying = walk.reports, True
    value = _EVALUATE[type(node)](walk, node, scope)
    walk.trying = False
    if walk.reports == reports:
        walk.report_fault(walk.trials.find_fault(node, walk.limits), node, scope)
    return value


def evaluate_type(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Type:
    """Infer the type of an expression."""
    return evaluate(walk, node, scope).kind


def decide(walk: WalkRun, node: nodes.Expr, scope: Scope) -> tuple[Scope, Scope]:
    """Return the scopes in which the condition is true and in which it is false; judge it as a condition."""
    return _split(walk, node, judge(walk, node, scope), scope)


def _split(walk: WalkRun, node: nodes.Expr, kind: Type, scope: Scope) -> tuple[Scope, Scope]:
    """Return the scopes in which a condition of type `kind` is true and false; one of them is dead if the condition is constant."""
    yes, no = assume(walk, node, True, scope), assume(walk, node, False, scope)
    answers = {member.value if isinstance(member, BoolType) else None for member in list_members(kind)}
    return (yes.end() if answers == {False} else yes), (no.end() if answers == {True} else no)


def judge(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Type:
    """Judge an expression as a condition, in which undefined is an error and none is not; return its type."""
    return walk.take(evaluate(walk, node, scope), ASKED, "a condition", node, scope)


def spell(node: nodes.Node) -> str:
    """Return the path as the author may have written it; empty if it is computed."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        holder, key = spell(node.node), find_key(node)
        if holder and key is not None:
            return f"{holder}.{key}" if isinstance(key, str) and key.isidentifier() else f"{holder}[{key!r}]"
    return ""


def find_key(node: nodes.Getattr | nodes.Getitem) -> str | int | None:
    """Return the key or index of a part if it is a constant, else None."""
    if isinstance(node, nodes.Getattr):
        return node.attr
    arg = node.arg
    if isinstance(arg, nodes.Neg) and isinstance(arg.node, nodes.Const) and type(arg.node.value) is int:
        return -arg.node.value
    value = arg.value if isinstance(arg, nodes.Const) else None
    return value if isinstance(value, str) or type(value) is int else None


def evaluate_name(walk: WalkRun, node: nodes.Name | nodes.NSRef, scope: Scope) -> Value:
    """Return the value of a name, or of the namespace that takes a part; an undefined value if nothing binds the name."""
    bound = scope.names.get(node.name)
    if bound is None:
        walk.gaps[node.name] = scope
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
        return Value(any_part_type(kind))
    path = (*holder.path, key) if holder.path is not None else None
    if isinstance(key, str):
        walk.note_read(kind, key)
    found = scope.facts.get(path) if path is not None else None
    part = meet(found, part_type(kind, key)) if found is not None else part_type(kind, key)
    return Value(_stamp(walk, part, node), path, spell(node))


def _stamp(walk: WalkRun, part: Type, node: nodes.Expr) -> Type:
    """Add to each undefined member where and how the part was read."""
    certain = all(isinstance(member, UndefinedType) for member in list_members(part))
    place, spelled = (walk.file, node.lineno), spell(node)

    def stamp(member: Type) -> Type:
        return replace(member, certain=certain, read_at=place, spelled=spelled) if isinstance(member, UndefinedType) else member

    return map_members(part, stamp)


def _slice(walk: WalkRun, node: nodes.Getitem, part: nodes.Slice, scope: Scope) -> Value:
    kind = walk.take(evaluate(walk, node.node, scope), SLICED, "`[:]`", node, scope)
    reports = walk.reports
    given = [
        walk.take(evaluate(walk, bound, scope), _BOUND, "the bound of a slice", bound, scope) if bound is not None else None
        for bound in (part.start, part.stop, part.step)
    ]
    if walk.reports == reports:
        ways = list_ways([kind if list_ways([kind]) else TEXT_TYPE, *(NONE_TYPE if one is None else one for one in given)])
        _try_ways(walk, node, [nodes.Getitem(held, nodes.Slice(*sides, lineno=1), "load", lineno=1) for held, *sides in ways], scope)
    bounds = [_find_constant(one) for one in given]
    if part.step is not None:
        return Value(cut(kind, 1, None) if not isinstance(kind, UnknownType) else kind)  # a step may move every element
    start, stop = bounds[0], bounds[1]
    known = (part.start is None or start is not None) and (part.stop is None or stop is not None)
    return Value(cut(kind, start, stop) if known else cut(kind, 0 if part.start is None else 1, None))


def _find_constant(kind: Type | None) -> int | None:
    if isinstance(kind, NumberType) and kind.values is not None and len(kind.values) == 1:
        (value,) = kind.values
        return value if isinstance(value, int) else None
    return None


def _listed(walk: WalkRun, node: nodes.List | nodes.Tuple, scope: Scope) -> Value:
    first = tuple(_evaluate_part(walk, item, scope) for item in node.items)
    shape = "tuple" if isinstance(node, nodes.Tuple) else "list"
    return Value(ListType(NEVER, len(first), len(first), first, shape))  # type: ignore[arg-type]


def _dict(walk: WalkRun, node: nodes.Dict, scope: Scope) -> Value:
    fields: dict[str, Type] = {}
    open_keys = False
    for pair in node.items:
        kind = _evaluate_part(walk, pair.value, scope)
        _evaluate_part(walk, pair.key, scope)
        if isinstance(pair.key, nodes.Const) and isinstance(pair.key.value, str):
            fields[pair.key.value] = kind
        else:
            open_keys = True
    return Value(UNKNOWN_TYPE if open_keys else make_mapping(fields))


def _evaluate_part(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Type:
    """Infer the type of an element of a list or mapping. One that is undefined in every state is reported once, and then unknown."""
    value = evaluate(walk, node, scope)
    walk.report_certain(value, node, scope)
    return map_members(value.kind, lambda one: UNKNOWN_TYPE if isinstance(one, UndefinedType) and one.certain else one)


def _choose(walk: WalkRun, node: nodes.CondExpr, scope: Scope) -> Value:
    yes, no = decide(walk, node.test, scope)
    kinds = []
    if not yes.dead:
        kinds.append(evaluate_type(walk, node.expr1, yes))
    if not no.dead:
        kinds.append(evaluate_type(walk, node.expr2, no) if node.expr2 is not None else BlankType())
    return Value(join_types(*kinds))


def _either(walk: WalkRun, node: nodes.And | nodes.Or, held: bool, scope: Scope) -> Value:
    """Infer the left side if its truth is `held`, else the right side."""
    asked = judge(walk, node.left, scope)
    left, ways = algebra.by_truth(asked, held), _split(walk, node.left, asked, scope)
    rest = ways[1] if held else ways[0]
    return Value(join_types(left, evaluate_type(walk, node.right, rest))) if not rest.dead else Value(left)


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
    """Return the type of a truth value that was computed for all possible values."""
    if walk.trials is None or not ways:
        return BOOL_TYPE
    found = walk.trials.try_shared(ways, walk.limits)
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
    """Report what a use fails with, if it fails for all samples of the types it may be given."""
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
    """Report `'%d' | format(x)` if it fails for every sample of `x`."""
    if node.dyn_args is None and node.dyn_kwargs is None:
        kinds = [evaluate_type(walk, arg, scope) for arg in (*node.args, *(word.value for word in node.kwargs))]
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


_EVALUATE: dict[type[nodes.Node], Callable[[WalkRun, Any, Scope], Value]] = {
    nodes.Name: evaluate_name,
    nodes.Getattr: _part,
    nodes.Getitem: _part,
    nodes.Const: lambda walk, node, scope: Value(literal(node.value)),
    nodes.TemplateData: lambda walk, node, scope: Value(text_of(node.data)),
    nodes.List: _listed,
    nodes.Tuple: _listed,
    nodes.Dict: _dict,
    nodes.CondExpr: _choose,
    nodes.And: lambda walk, node, scope: _either(walk, node, False, scope),
    nodes.Or: lambda walk, node, scope: _either(walk, node, True, scope),
    nodes.Not: _not,
    nodes.Compare: _compare,
    nodes.Neg: _unary,
    nodes.Pos: _unary,
    nodes.Concat: _concat,
    nodes.Filter: _filter,
    nodes.Test: _test,
    nodes.Call: lambda walk, node, scope: call(walk, node, scope, evaluate),
    **dict.fromkeys((nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow), _binary),
}


def _add(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> Type:
    first = walk.take(left, _SUMMED, "`+`", node, scope)
    second = walk.take(right, _SUMMED, "`+`", node, scope)
    if first == UNKNOWN_TYPE or second == UNKNOWN_TYPE:
        return UNKNOWN_TYPE
    _match(walk, left.of(first), right.of(second), node, scope)
    found = [_add_two(one, other) for one in list_members(first) for other in list_members(second)]
    return join_types(*(kind for kind in found if kind is not None))


def _match(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    """Judge that both sides of `+` are of one sort."""
    for side, other in ((left, right), (right, left)):
        groups = {_SUM.get(type(member), "") for member in list_members(other.kind)}
        if len(groups) == 1 and "" not in groups:
            (wanted,) = groups
            good = tuple(sort for sort, name in _SUM.items() if name == wanted)
            walk.take(side, like_other(wanted, good), "`+`", node, scope)
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
    """Return the type as one of numbers: true and false count as 1 and 0."""
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


def _find_corners(sign: str, first: Type, second: Type) -> tuple[int | None, int | None]:
    """Return the least and the greatest result, if the bounds of both sides are integers and not too large; else None twice."""
    calculate = _CORNERS.get(sign)
    sides = [as_number(one) for one in (first, second) if isinstance(one, NumberType | BoolType)]
    bounds = [bound for one in sides for bound in (one.least, one.most)]
    exact = [bound for bound in bounds if isinstance(bound, int) and abs(bound) < _LARGEST]
    if calculate is None or len(exact) < 4 or (sign == "//" and exact[2] <= 0):
        return None, None
    results = [calculate(one, other) for one in exact[:2] for other in exact[2:]]
    return min(results), max(results)


def _multiply(walk: WalkRun, left: Value, right: Value, node: nodes.Node, scope: Scope) -> Type:
    first = walk.take(left, _SUMMED, "`*`", node, scope)
    second = walk.take(right, _SUMMED, "`*`", node, scope)
    for one, times, side in ((first, second, right), (second, first, left)):
        if isinstance(one, TextType | ListType):
            walk.take(side.of(times), NUMBERS, "`*` with a string or a list", node, scope)
            return _repeat(one, times)
    if isinstance(first, NumberType | BoolType) and isinstance(second, NumberType | BoolType):
        return NumberType(False, *_find_corners("*", first, second))
    return UNKNOWN_TYPE


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
    kind = walk.take(left, Usage("a number, or a string to fill in", (NumberType, BoolType, TextType)), "`%`", node, scope)
    if isinstance(kind, NumberType | BoolType):
        walk.take(right, NUMBERS, "`%`", node, scope)
        return NUMBER_TYPE
    walk.take(right, VALUE, "`%`", node, scope)
    walk.note_whole(right.kind)
    return TextType() if isinstance(kind, TextType) else UNKNOWN_TYPE


def negate(walk: WalkRun, value: Value, node: nodes.Node, scope: Scope) -> Type:
    """Infer the type of `-value` or `+value`."""
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


def assume(walk: WalkRun, node: nodes.Expr, truth: bool, scope: Scope) -> Scope:
    """Return the scope in which the condition is `truth`. Parts that are not understood leave the values they mention in doubt."""
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
        return scope.doubt(_iter_paths(node, scope))
    return learn_at(walk, node, lambda kind: algebra.by_truth(kind, truth), scope)


def _is_missing(node: nodes.Expr, scope: Scope) -> bool:
    """Return whether the value is undefined in every state. That was reported already, so the condition proves nothing more."""
    path = find_path(node, scope)
    members = list_members(_type_at(path, scope)) if path is not None else ()
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
        return scope.doubt(_iter_paths(node, scope))
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
    return scope.doubt([*_iter_paths(left, scope), *_iter_paths(right, scope)])


def _assume_length(walk: WalkRun, left: nodes.Expr, operator: str, right: nodes.Expr, truth: bool, scope: Scope) -> Scope:
    """Narrow the scope by `x | length > 0` and the like: the list has at least that many elements."""
    if not (isinstance(left, nodes.Filter) and left.name in ("length", "count") and left.node is not None):
        return scope
    if not isinstance(right, nodes.Const) or type(right.value) is not int or find_path(left.node, scope) is None:
        return scope
    least = {("gt", True): right.value + 1, ("gteq", True): right.value, ("eq", True): right.value}
    least |= {("lt", False): right.value, ("lteq", False): right.value + 1, ("eq", False): 1 if right.value == 0 else 0}
    count = least.get((operator, truth), 0)
    return learn_at(walk, left.node, lambda kind: algebra.by_least(kind, count), scope) if count > 0 else scope


def _assume_get(walk: WalkRun, node: nodes.Call, truth: bool, scope: Scope) -> Scope:
    """Narrow the scope by `x.get('key')` being true: the key exists, and its value is true."""
    callee = node.node
    if isinstance(callee, nodes.Getattr) and callee.attr == "get" and len(node.args) == 1 and isinstance(node.args[0], nodes.Const):
        key = node.args[0].value
        if truth and isinstance(key, str) and find_path(callee.node, scope) is not None:
            part = nodes.Getitem(callee.node, nodes.Const(key), "load")
            return learn_at(walk, part, lambda kind: algebra.by_truth(algebra.by_test(kind, "defined", True), True), scope)
    return scope.doubt(_iter_paths(node, scope))


def _learn_key(walk: WalkRun, holder: nodes.Expr, name: str, truth: bool, scope: Scope) -> Scope:
    """Narrow the scope by `'key' in mapping`."""
    path = find_path(holder, scope)
    kind = _type_at(path, scope)
    if path is None or not any(isinstance(member, MappingType) for member in list_members(kind)):
        return scope.doubt([path] if path is not None else [])
    part = nodes.Getitem(holder, nodes.Const(name), "load")
    return learn_at(walk, part, lambda found: algebra.by_test(found, "defined", truth), scope)


def learn_at(walk: WalkRun, node: nodes.Expr, change: Change, scope: Scope) -> Scope:
    """Narrow the value at `node` and, step by step, its holders to those that can have such a part."""
    path = find_path(node, scope)
    if path is None:
        return scope.doubt(_iter_paths(node, scope))
    return _learn_path(path, change, scope)


def _learn_path(path: Path, change: Change, scope: Scope) -> Scope:
    """Narrow the value at a path, as `learn_at` does."""
    kind = change(_type_at(path, scope))
    if kind == NEVER:
        return scope.end()
    scope = scope.learn(path, kind)
    if len(path) < 2:
        return scope
    key = path[-1]
    holder = _type_at(path[:-1], scope)

    def fit(found: Type) -> Type:
        return keep_members(found, lambda member: change(part_type(member, key)) != NEVER)  # type: ignore[arg-type]

    return _learn_path(path[:-1], fit, scope) if fit(holder) != holder else scope


def _type_at(path: Path | None, scope: Scope) -> Type:
    """Return the type of the value at a path."""
    if path is None:
        return NEVER
    if len(path) == 1 and path in scope.facts:
        return scope.facts[path]
    if len(path) == 1:
        return next((bound.kind for bound in scope.names.values() if bound.path == path), UNKNOWN_TYPE)
    key = path[-1]
    assert isinstance(key, str | int)
    derived = part_type(_type_at(path[:-1], scope), key)
    return meet(scope.facts[path], derived) if path in scope.facts else derived


def find_path(node: nodes.Node, scope: Scope) -> Path | None:
    """Return the path that an expression reads, or None if it is not a path."""
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


def _iter_paths(node: nodes.Node, scope: Scope) -> Iterator[Path]:
    """Yield the longest paths that an expression mentions."""
    path = find_path(node, scope)
    if path is not None:
        yield path
        return
    for child in node.iter_child_nodes():
        yield from _iter_paths(child, scope)
