"""Macros: walked anew for each call, with the kinds it gives them."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from jinja2 import nodes
from jinja2.compiler import find_undeclared

from promptc.template.kinds.amount import Amount, text_of_amount
from promptc.template.kinds.arguments import Arguments, judge_call
from promptc.template.signatures import Signature, sign_macro
from promptc.template.types.expressions import evaluate
from promptc.template.types.scope import Binding, Scope, Value
from promptc.template.types.types import UNKNOWN_TYPE, OpaqueType, Type, UndefinedType
from promptc.template.types.walk import MAX_CALLS, WalkRun

WalkBody = Callable[[WalkRun, Iterable[nodes.Node], Scope], tuple[Scope, Amount]]


def bind_macro(walk: WalkRun, node: nodes.Macro, scope: Scope, walk_body: WalkBody) -> Scope:
    """The scope in which the macro can be called."""
    file = walk.file

    signature = _sign(node)

    def give(walk: WalkRun, at: nodes.Node, args: list[Value], named: dict[str, Value], caller: Scope) -> Type:
        walk.called.add(id(node))
        _judge(walk, signature, at, args, named, caller)
        named = _spread(node, at, len(args), named)
        seen = _find_outer(walk, file, scope)
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


def _find_outer(walk: WalkRun, file: str, scope: Scope) -> Scope:
    """What a macro sees of its file: a name that is set again, or only later, may be anything by the time of a call."""
    key = ("stored", file)
    if key not in walk.memo:
        walk.memo[key] = _find_unknown(_count_stored(walk.trees[file]))
    found = walk.memo[key]
    assert isinstance(found, tuple)
    later, again = found
    return replace(scope, names={**later, **scope.names, **again})


def _find_unknown(stored: "Counter[str]") -> tuple[dict[str, Binding], dict[str, Binding]]:
    """What each name of a file is where nothing is known of it: of all names, and of those that are set more than once."""
    unknown = {name: Binding(UNKNOWN_TYPE, (object(),)) for name in stored}
    return unknown, {name: bound for name, bound in unknown.items() if stored[name] > 1}


def _count_stored(tree: nodes.Template) -> "Counter[str]":
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
