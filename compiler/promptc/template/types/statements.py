"""Statements: what they bind, prove and put out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from jinja2 import nodes
from jinja2.compiler import find_undeclared

from promptc.diag.findings import Diagnostic
from promptc.template.parse import iter_file_names, list_bound
from promptc.template.runtime.errors import PARTS_HELP
from promptc.template.signatures import Signature, sign_macro
from promptc.template.types.algebra import (
    ITERATED,
    PRINTED,
    SEQUENCE,
    Usage,
    by_least,
    element_type,
    find_count,
    join_types,
    part_type,
    weaken,
)
from promptc.template.types.assume import learn_at
from promptc.template.types.bounds import UNBOUNDED, Amount, amount_of, choose_largest, measure, text_of_amount
from promptc.template.types.calls import Arguments, call_thing, judge_call
from promptc.template.types.expressions import decide, evaluate, evaluate_type
from promptc.template.types.filters import apply_filter
from promptc.template.types.types import (
    BOOL_TYPE,
    UNKNOWN_TYPE,
    ListType,
    MappingType,
    NumberType,
    OpaqueType,
    TextType,
    Type,
    UndefinedType,
    UnknownType,
    list_members,
)
from promptc.template.types.walk import MAX_CALLS, Binding, Scope, Value, WalkRun, join_ways

Step = tuple[Scope, Amount]
_BLOCK = Usage("a filter that gives a text (end with `| string` or `| join`)", (TextType,), lazy=False)
WalkBody = Callable[[WalkRun, Iterable[nodes.Node], Scope], tuple[Scope, Amount]]


def _expression(node: nodes.Node) -> nodes.Expr:
    """Jinja calls them nodes where they can only be expressions."""
    assert isinstance(node, nodes.Expr)
    return node


def walk_body(walk: WalkRun, body: Iterable[nodes.Node], scope: Scope) -> Step:
    """The statements in order: the scope behind them, and what they put out."""
    made = Amount()
    for node in body:
        if not walk.spend():
            return scope, UNBOUNDED
        scope, more = _WALK[type(node)](walk, node, scope)
        made = made.plus(more)
    return scope, made


def walk_file(walk: WalkRun, tree: nodes.Template, scope: Scope) -> Step:
    """A whole file: its base with its blocks, where it extends one."""
    base = next((node for node in tree.body if isinstance(node, nodes.Extends)), None)
    scope = scope.bind("self", Binding(_make_self(walk, tree, base), (object(),)))
    if base is None:
        return walk_body(walk, tree.body, scope)
    for block in tree.find_all(nodes.Block):
        walk.blocks.setdefault(block.name, []).append((walk.file, block))
    evaluate_type(walk, base.template, scope)
    own = [node for node in tree.body if not isinstance(node, nodes.Extends | nodes.Output | nodes.Block)]
    scope, _ = walk_body(walk, own, scope)
    return scope, choose_largest([_enter(walk, name, scope)[1] for name in iter_file_names(base.template)])


def _make_self(walk: WalkRun, tree: nodes.Template, base: nodes.Extends | None) -> OpaqueType:
    """`self`: the blocks of the file, and those of the files that extend it; of one that extends another, no more is known."""
    names = tuple(dict.fromkeys((*(block.name for block in tree.find_all(nodes.Block)), *walk.blocks)))
    block = OpaqueType("block", lambda name: UNKNOWN_TYPE, lambda *given: UNKNOWN_TYPE)

    def find(name: str) -> Type:
        return block if name in names or base is not None else UndefinedType("closed", name, names, "a file")

    return OpaqueType("template", find)


def _enter(walk: WalkRun, name: str, scope: Scope) -> Step:
    """Another file, in this scope."""
    outer, walk.file = walk.file, name
    found = walk_file(walk, walk.trees[name], scope) if name in walk.trees else (scope, UNBOUNDED)
    walk.file = outer
    return found


def _output(walk: WalkRun, node: nodes.Output, scope: Scope) -> Step:
    made = Amount()
    for part in node.nodes:
        made = made.plus(_print(walk, part, scope))
    return scope, made


def _print(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Amount:
    if isinstance(node, nodes.TemplateData):
        tokens, loose = walk.cost(node.data)
        return Amount(tokens, len(node.data.encode("utf-8", "surrogatepass")), len(node.data), loose)
    kind = walk.take(evaluate(walk, node, scope), PRINTED, "printing", node, scope)
    walk.note_whole(kind)
    return amount_of(measure(kind))


def _if(walk: WalkRun, node: nodes.If, scope: Scope) -> Step:
    ways: list[Scope] = []
    made: list[Amount] = []
    rest = scope
    for branch in (node, *node.elif_):
        yes, rest = decide(walk, _expression(branch.test), rest)
        _take_way(walk, branch.body, yes, ways, made)
    _take_way(walk, node.else_, rest, ways, made)
    return join_ways(scope, ways), choose_largest(made)


def _take_way(walk: WalkRun, body: list[nodes.Node], scope: Scope, ways: list[Scope], made: list[Amount]) -> None:
    after, amount = walk_body(walk, body, scope)
    ways.append(after)
    if not scope.dead:
        made.append(amount)


def _for(walk: WalkRun, node: nodes.For, scope: Scope) -> Step:
    source = _expression(node.iter)
    value = evaluate(walk, source, scope)
    kind = walk.take(value, ITERATED, "a loop", source, scope)
    element, count = element_type(kind), find_count(kind)
    inner = scope if list_members(element) else scope.end()
    if value.path is not None:
        inner = learn_at(walk, source, lambda found: by_least(found, 1), inner)
    inner = bind_targets(walk, node.target, Value(element), inner)
    if node.test is not None:
        inner, _ = decide(walk, _expression(node.test), inner)
    inner = inner.bind("loop", Binding(_make_loop(element, count), (object(),)))
    _, made = walk_body(walk, node.body, inner)
    _, otherwise = walk_body(walk, node.else_, scope)
    return scope, choose_largest([made.times(count, _read_open(kind)), otherwise])


def _read_open(kind: Type) -> str:
    """Where the schema bounds no list of a kind."""
    return next((one.at for one in list_members(kind) if isinstance(one, ListType | TextType) and one.at), "")


def _make_loop(element: Type, count: int | None) -> OpaqueType:
    index = NumberType(True, 0, count)
    beside = weaken(join_types(element, UndefinedType("place", "", (), "a list")))
    parts: dict[str, Type] = {
        **dict.fromkeys(("index", "index0", "revindex", "revindex0", "length"), index),
        **dict.fromkeys(("first", "last"), BOOL_TYPE),
        **dict.fromkeys(("depth", "depth0"), NumberType(True, 0, 1)),
        **dict.fromkeys(("previtem", "nextitem"), beside),
        "cycle": OpaqueType(
            "method", lambda name: UNKNOWN_TYPE, lambda walk, node, args, named, scope: join_types(*(arg.kind for arg in args))
        ),
        "changed": OpaqueType("method", lambda name: UNKNOWN_TYPE, lambda walk, node, args, named, scope: BOOL_TYPE),
    }
    return OpaqueType("loop", lambda name: parts.get(name) or UndefinedType("closed", name, tuple(parts), "a loop"))


def bind_targets(walk: WalkRun, target: nodes.Node, value: Value, scope: Scope, condition: nodes.Expr | None = None) -> Scope:
    """The scope in which the names of a target stand for the value, or for its parts."""
    if isinstance(target, nodes.Name):
        return scope.bind(target.name, Binding(value.kind, value.path if value.path is not None else (object(),), condition))
    if isinstance(target, nodes.Tuple):
        _judge_unpacked(walk, target, value, scope)
        for place, item in enumerate(target.items):
            scope = bind_targets(walk, item, Value(_unpack(value.kind, place)), scope)
    return scope


def _judge_unpacked(walk: WalkRun, target: nodes.Tuple, value: Value, scope: Scope) -> None:
    """As many names as there are parts, where all that the value may be has more or fewer."""
    count = len(target.items)
    kind = walk.take(value, SEQUENCE, "a list of names", target, scope)
    members = list_members(kind)
    if members and not any(_may_have(member, count) for member in members):
        message = f"{count} names are filled from what never has {count} parts"
        walk.report_fault(Diagnostic("PC0414", message, None, PARTS_HELP), target, scope)


def _may_have(kind: Type, count: int) -> bool:
    if isinstance(kind, TextType) and kind.values is not None:
        return any(len(value) == count for value in kind.values)
    most = find_count(kind) if isinstance(kind, ListType | MappingType | TextType) else None
    return (most is None or count <= most) and not (isinstance(kind, ListType) and kind.least > count)


def _unpack(kind: Type, place: int) -> Type:
    members = list_members(kind)
    if members and all(isinstance(member, ListType) and member.least == member.most == len(member.first) for member in members):
        found = part_type(kind, place)
        return UNKNOWN_TYPE if any(isinstance(one, UndefinedType) for one in list_members(found)) else found
    return UNKNOWN_TYPE


def _assign(walk: WalkRun, node: nodes.Assign, scope: Scope) -> Step:
    given = _expression(node.node)
    value = evaluate(walk, given, scope)
    if isinstance(node.target, nodes.NSRef):
        walk.note_whole(value.kind)
        return scope, Amount()
    asks = isinstance(given, nodes.Compare | nodes.Test | nodes.And | nodes.Or | nodes.Not | nodes.Filter)
    return bind_targets(walk, node.target, value, scope, given if asks else None), Amount()


def _assign_block(walk: WalkRun, node: nodes.AssignBlock, scope: Scope) -> Step:
    _, made = walk_body(walk, node.body, scope)
    value = Value(text_of_amount(made))
    if node.filter is not None:
        value = _filter_text(walk, node.filter, value, scope)
    return bind_targets(walk, node.target, value, scope), Amount()


def _filter_text(walk: WalkRun, node: nodes.Expr, value: Value, scope: Scope) -> Value:
    """The filters of a block: the innermost has nothing before it."""
    if not isinstance(node, nodes.Filter):
        return value
    before = _filter_text(walk, node.node, value, scope) if node.node is not None else value
    return apply_filter(walk, node, before, scope, evaluate)


def _filter_block(walk: WalkRun, node: nodes.FilterBlock, scope: Scope) -> Step:
    _, made = walk_body(walk, node.body, scope)
    value = _filter_text(walk, node.filter, Value(text_of_amount(made)), scope)
    return scope, amount_of(measure(walk.take(value, _BLOCK, "a block", node.filter, scope)))


def _with(walk: WalkRun, node: nodes.With, scope: Scope) -> Step:
    inner = scope
    for target, expression in zip(node.targets, node.values, strict=True):
        inner = bind_targets(walk, target, evaluate(walk, expression, scope), inner)
    return scope, walk_body(walk, node.body, inner)[1]


def _scope(walk: WalkRun, node: nodes.Scope, scope: Scope) -> Step:
    return scope, walk_body(walk, node.body, scope)[1]


def _macro(walk: WalkRun, node: nodes.Macro, scope: Scope) -> Step:
    return bind_macro(walk, node, scope, walk_body), Amount()


def _call_block(walk: WalkRun, node: nodes.CallBlock, scope: Scope) -> Step:
    caller = make_caller(walk, node, scope, walk_body)
    callee = node.call
    args = [evaluate(walk, arg, scope) for arg in callee.args]
    named = {word.key: evaluate(walk, word.value, scope) for word in callee.kwargs}
    named["caller"] = Value(caller)
    kind = call_thing(walk, evaluate(walk, callee.node, scope).kind, node, args, named, scope)
    if isinstance(kind, UnknownType):
        return scope, UNBOUNDED
    return scope, amount_of(measure(kind))


def _block(walk: WalkRun, node: nodes.Block, scope: Scope) -> Step:
    chain = [*walk.blocks.get(node.name, []), (walk.file, node)]
    return scope, _walk_block(walk, chain, scope)


def _walk_block(walk: WalkRun, chain: list[tuple[str, nodes.Block]], scope: Scope) -> Amount:
    """The innermost block; `super()` gives the next."""
    (file, block), *rest = chain
    outer, walk.file = walk.file, file

    def give(*given: Any) -> Type:
        made = _walk_block(walk, rest, scope) if rest and walk.spend() else UNBOUNDED
        return text_of_amount(made)

    if rest:
        scope = scope.bind("super", Binding(OpaqueType("block", lambda name: UNKNOWN_TYPE, give), (object(),)))
    _, made = walk_body(walk, block.body, scope)
    walk.file = outer
    return made


def _include(walk: WalkRun, node: nodes.Include, scope: Scope) -> Step:
    evaluate_type(walk, node.template, scope)
    inner = scope if node.with_context else replace(scope, names={})
    return scope, choose_largest([_enter(walk, name, inner)[1] for name in iter_file_names(node.template)])


def _import(walk: WalkRun, node: nodes.Import, scope: Scope) -> Step:
    return scope.bind(node.target, Binding(_load_module(walk, node, scope), (object(),))), Amount()


def _from_import(walk: WalkRun, node: nodes.FromImport, scope: Scope) -> Step:
    module = _load_module(walk, node, scope)
    for pair in node.names:
        name, alias = (pair, pair) if isinstance(pair, str) else pair
        scope = scope.bind(alias, Binding(part_type(module, name), (object(),)))
    return scope, Amount()


def _load_module(walk: WalkRun, node: nodes.Import | nodes.FromImport, scope: Scope) -> Type:
    evaluate_type(walk, node.template, scope)
    given = scope if node.with_context else replace(scope, names={})
    found = [_enter(walk, name, given)[0] for name in iter_file_names(node.template)]

    stored = sorted({name for file in iter_file_names(node.template) if file in walk.trees for name in list_bound(walk.trees[file])})

    def find(name: str) -> Type:
        kinds = [one.names[name].kind if name in one.names else UNKNOWN_TYPE for one in found]
        if kinds and name not in stored:
            return UndefinedType("closed", name, tuple(stored), "a file")
        return join_types(*kinds) if kinds else UNKNOWN_TYPE

    return OpaqueType("module", find)


_WALK: dict[type[nodes.Node], Callable[[WalkRun, Any, Scope], Step]] = {
    nodes.Output: _output,
    nodes.If: _if,
    nodes.For: _for,
    nodes.Assign: _assign,
    nodes.AssignBlock: _assign_block,
    nodes.FilterBlock: _filter_block,
    nodes.With: _with,
    nodes.Scope: _scope,
    nodes.Macro: _macro,
    nodes.CallBlock: _call_block,
    nodes.Block: _block,
    nodes.Include: _include,
    nodes.Import: _import,
    nodes.FromImport: _from_import,
    nodes.Extends: lambda walk, node, scope: (scope, Amount()),
}


def bind_macro(walk: WalkRun, node: nodes.Macro, scope: Scope, walk_body: WalkBody) -> Scope:
    """The scope in which the macro can be called."""
    file = walk.file

    signature = _sign(node)

    def give(walk: WalkRun, at: nodes.Node, args: list[Value], named: dict[str, Value], caller: Scope) -> Type:
        walk.called.add(id(node))
        _judge(walk, signature, at, args, named, caller)
        named = _spread(node, at, len(args), named)
        seen = _make_outer(walk, file, scope)
        return _call(walk, node, file, args, named, _see(seen, caller, node.name, thing), walk_body)

    thing = OpaqueType("macro", lambda name: UNKNOWN_TYPE, give)
    walk.macros.append((node, lambda: give(walk, node, [Value(UNKNOWN_TYPE) for _ in node.args], {"caller": Value(UNKNOWN_TYPE)}, scope)))
    return scope.bind(node.name, Binding(thing, (object(),)))


def _spread(node: nodes.Macro | nodes.CallBlock, at: nodes.Node, placed: int, named: dict[str, Value]) -> dict[str, Value]:
    """The named arguments, with all those that `*list` or `**mapping` may give."""
    call = at.call if isinstance(at, nodes.CallBlock) else at
    if not isinstance(call, nodes.Call) or (call.dyn_args is None and call.dyn_kwargs is None):
        return named
    return {**{arg.name: Value(UNKNOWN_TYPE) for arg in node.args[placed:]}, **named}


def _sign(node: nodes.Macro | nodes.CallBlock) -> Signature:
    uses = find_undeclared(node.body, ("caller", "kwargs", "varargs"))
    return sign_macro(node.name if isinstance(node, nodes.Macro) else None, [arg.name for arg in node.args], uses)


def _judge(walk: WalkRun, signature: Signature, at: nodes.Node, args: list[Value], named: dict[str, Value], scope: Scope) -> None:
    call = at.call if isinstance(at, nodes.CallBlock) else at
    if isinstance(call, nodes.Call):
        judge_call(Arguments(walk, call, scope, args, named), signature)


def make_caller(walk: WalkRun, node: nodes.CallBlock, scope: Scope, walk_body: WalkBody) -> OpaqueType:
    """What `caller()` gives inside the macro that a call block calls."""
    file = walk.file

    signature = _sign(node)

    def give(walk: WalkRun, at: nodes.Node, args: list[Value], named: dict[str, Value], caller: Scope) -> Type:
        _judge(walk, signature, at, args, named, caller)
        return _call(walk, node, file, args, _spread(node, at, len(args), named), scope, walk_body)

    return OpaqueType("caller", lambda name: UNKNOWN_TYPE, give)


def _make_outer(walk: WalkRun, file: str, scope: Scope) -> Scope:
    """What a macro sees of its file: a name that is set again, or only later, may be anything by the time of a call."""
    key = ("stored", file)
    if key not in walk.memo:
        walk.memo[key] = _make_unknown(_count_stored(walk.trees[file]))
    found = walk.memo[key]
    assert isinstance(found, tuple)
    later, again = found
    return replace(scope, names={**later, **scope.names, **again})


def _make_unknown(stored: Counter[str]) -> tuple[dict[str, Binding], dict[str, Binding]]:
    """What each name of a file is where nothing is known of it: of all names, and of those that are set more than once."""
    unknown = {name: Binding(UNKNOWN_TYPE, (object(),)) for name in stored}
    return unknown, {name: bound for name, bound in unknown.items() if stored[name] > 1}


def _count_stored(tree: nodes.Template) -> Counter[str]:
    stored = Counter(node.name for node in tree.find_all(nodes.Name) if node.ctx == "store")
    stored.update(node.name for node in tree.find_all(nodes.Macro))
    stored.update(node.target for node in tree.find_all(nodes.Import))
    for node in tree.find_all(nodes.FromImport):
        stored.update(pair if isinstance(pair, str) else pair[1] for pair in node.names)
    return stored


def _see(seen: Scope, caller: Scope, name: str, own: OpaqueType) -> Scope:
    """The macro's own names, with what the caller's conditions proved of the state."""
    facts = {path: kind for path, kind in caller.facts.items() if isinstance(path[0], str)}
    names = {**seen.names, name: Binding(own, (object(),))}
    return Scope(names, {**seen.facts, **facts}, seen.doubts | caller.doubts, caller.dead)


def _call(
    walk: WalkRun,
    node: nodes.Macro | nodes.CallBlock,
    file: str,
    args: list[Value],
    named: dict[str, Value],
    scope: Scope,
    walk_body: WalkBody,
) -> Type:
    if walk.calls >= MAX_CALLS or not walk.spend():
        return UNKNOWN_TYPE
    outer, walk.file = walk.file, file
    walk.calls += 1
    _, made = walk_body(walk, node.body, _bind(walk, node, args, named, scope))
    walk.calls -= 1
    walk.file = outer
    return text_of_amount(made)


def _bind(walk: WalkRun, node: nodes.Macro | nodes.CallBlock, args: list[Value], named: dict[str, Value], scope: Scope) -> Scope:
    caller = named.get("caller")
    special = {name: Binding(UNKNOWN_TYPE, (object(),)) for name in ("varargs", "kwargs")}
    special["caller"] = Binding(caller.kind if caller is not None else UndefinedType("given", "caller"), (object(),))
    scope = scope.bind_all(special)
    first_default = len(node.args) - len(node.defaults)
    for place, arg in enumerate(node.args):
        value = args[place] if place < len(args) else named.get(arg.name)
        if value is None and place >= first_default:
            value = evaluate(walk, node.defaults[place - first_default], scope)
        if value is None:
            value = Value(UndefinedType("given", arg.name))
        scope = scope.bind(arg.name, Binding(value.kind, value.path if value.path is not None else (object(),)))
    return scope
