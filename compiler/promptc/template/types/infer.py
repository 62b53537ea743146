"""The entry point of type inference: a text of a pack and the types of its names yield its type, its size and its problems (`infer_types`).

`read_code` prepares a text for the walk. `add_name` and `suppose` build the scope that the walk starts in. This module walks statements:
what each binds, proves and prints. `expressions` infers the types of the expressions in them.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import nodes
from jinja2.compiler import find_undeclared

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import frozen, replace
from promptc.template.allow import LIMITS, Limits
from promptc.template.compile import Expression, Program, Template
from promptc.template.define import list_sites, read_tree
from promptc.template.parse import iter_file_names, iter_stored, list_bound, verbatim
from promptc.template.place import Definition, Place
from promptc.template.runtime.errors import PARTS_HELP
from promptc.template.signatures import Signature, sign_macro
from promptc.template.types.algebra import (
    ASKED,
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
from promptc.template.types.bounds import UNBOUNDED, Amount, amount_of, choose_largest, measure, text_of_amount
from promptc.template.types.calls import Arguments, call_thing, judge_call
from promptc.template.types.expressions import assume, decide, evaluate, evaluate_name, evaluate_type, find_key, find_path, learn_at
from promptc.template.types.filters import apply_filter, make_lists, spells_none
from promptc.template.types.trials import Trials
from promptc.template.types.types import (
    BOOL_TYPE,
    UNKNOWN_TYPE,
    ListType,
    MappingType,
    NumberType,
    OpaqueType,
    Problem,
    TextType,
    Type,
    UndefinedType,
    UnknownType,
    list_members,
)
from promptc.template.types.walk import MAX_CALLS, Binding, Cost, Scope, Value, WalkRun, join_ways

_KEEPING = frozenset(
    ("capitalize", "d", "default", "indent", "join", "json", "lower", "normalize", "one_line", "string", "title", "tojson", "trim",
     "truncate", "truncate_at", "sentences_about", "upper", "wordwrap")
)  # fmt: skip
"""Filters that print the value they are given, in another form."""

_HERE = Place(Span("", 1, 1), inline=True)
_PLACE = re.compile(r"%(?:\((\w+)\))?[-#0 +]*\d*(?:\.\d*)?([^\d.])")
"""A place in a text for a value: `%s`, `%-8s`, `%(name)s`."""

_BLOCK = Usage("a filter that gives a string (end with `| string` or `| join`)", (TextType,), lazy=False)
_SPACE = Usage("a namespace", (OpaqueType,))
_Step = tuple[Scope, Amount]


@frozen
class CompiledText:
    """A text that was checked when it was loaded, with the texts of its files by name.

    `verbatim`: the text is printed as it is. `definitions`: those of the text's pack, if the text names one.
    """

    text: str
    files: tuple[tuple[str, str], ...] = ()
    is_expression: bool = False
    verbatim: bool = False
    limits: Limits = LIMITS
    definitions: tuple[Definition, ...] = ()


def read_code(code: Expression | Template) -> CompiledText:
    """Return the text of an expression or a template, ready to be walked."""
    text = code.text.replace("\r\n", "\n").replace("\r", "\n")
    program = code.program
    if not isinstance(program, Program):
        return CompiledText(text, (), True) if isinstance(code, Expression) else CompiledText(text, verbatim=True)
    definitions = program.place.definitions if any(file.sites for file in program.files) else ()
    if isinstance(code, Expression):
        return CompiledText(text, (), True, False, program.limits, definitions)
    return CompiledText(text, tuple(sorted(code.files.items())), False, False, program.limits, definitions)


def read_place(code: Expression | Template) -> Place:
    """Return the place of an expression or a template."""
    if isinstance(code, Template):
        return code.place
    return code.program.place if isinstance(code.program, Program) else Place(code.span, inline=True)


def read_site(code: Expression | Template, file: str, at: int) -> tuple[Span, str]:
    """Return the span of a position in one of the code's trees, and what a message adds if that position is in a definition."""
    shown = code.files[file] if file and isinstance(code, Template) else code.text
    return read_place(code).find(file, shown, at, list_sites(load_trees(read_code(code))[file]))


@lru_cache(maxsize=512)
def load_trees(code: CompiledText) -> dict[str, nodes.Template]:
    """Return the trees by file name; the text itself has the empty name."""
    here = replace(_HERE, definitions=code.definitions)
    own = verbatim(code.text) if code.verbatim else read_tree(code.text, "", here, code.limits, expression=code.is_expression)
    files = {name: read_tree(text, name, here, code.limits) if name.endswith(".j2") else verbatim(text) for name, text in code.files}
    return {"": own, **files}


@dataclass(frozen=True, slots=True, eq=False)
class InferredTypes:
    """What inference found out about one text.

    `kind` is the type of an expression's value, None for a template. `amount` is the most that a template prints.
    `read`: pairs of a schema mapping's pointer and a key that is read from it. `whole`: the pointers of mappings that are used whole.
    """

    kind: Type | None
    amount: Amount
    problems: tuple[Problem, ...]
    read: frozenset[tuple[str, str]]
    whole: frozenset[str]


def infer_types(code: CompiledText, scope: Scope, cost: Cost, trials: Trials | None = None) -> InferredTypes:
    """Infer the types of one expression or template. Never raises.

    Reports no failure for a text that fails in no valid state.
    `trials` runs expressions that read nothing, on one account for all the texts of a check.
    """
    trees = load_trees(code)
    walk = WalkRun(trees, cost, code.limits, trials=trials)
    node = _find_expression(code)
    if node is not None:
        kind = walk.take(evaluate(walk, node, scope), ASKED, "an expression", node, scope)
        return _finish(walk, make_lists(kind), UNBOUNDED)
    amount = _walk_whole(walk, scope)
    return _finish(walk, None, amount if walk.left > 0 else UNBOUNDED)


def find_scope(template: str, name: str, scope: Scope, definitions: tuple[Definition, ...]) -> Scope | None:
    """Return the scope at the last place where a template reads the unbound name `name`, or None if the walk finds no such place.

    The scope is `dead` if an `if` keeps every valid state from the place. Raises `PromptcError` if the template cannot be parsed.
    """
    tree = read_tree(template, "", replace(_HERE, definitions=definitions), LIMITS)
    walk = WalkRun({"": tree}, weigh_bytes)
    _walk_whole(walk, scope)
    return walk.gaps.get(name)


def _walk_whole(walk: WalkRun, scope: Scope) -> Amount:
    """Walk a template, then those of its macros that it never calls."""
    _, amount = _walk_file(walk, walk.trees[""], scope)
    for macro, give in walk.macros:
        if id(macro) not in walk.called:
            give()
    return amount


def _finish(walk: WalkRun, kind: Type | None, amount: Amount) -> InferredTypes:
    return InferredTypes(kind, amount, tuple(walk.problems), frozenset(walk.read), frozenset(walk.whole))


def _find_expression(code: CompiledText) -> nodes.Expr | None:
    return load_trees(code)[""].body[0].nodes[0] if code.is_expression else None  # type: ignore[attr-defined]


def add_name(scope: Scope, name: str, kind: Type, code: CompiledText | None = None) -> Scope:
    """Return the scope with one more name of the pack. `code` is the name's expression, which later conditions may look into."""
    condition = _find_expression(code) if code is not None else None
    path = find_path(condition, scope) if condition is not None else None
    return scope.bind(name, Binding(kind, path or (name,), condition))


def suppose(code: CompiledText, scope: Scope, *, truth: bool = True) -> Scope:
    """Return the scope in which an expression is true, or false."""
    node = _find_expression(code)
    return assume(WalkRun(load_trees(code), weigh_bytes), node, truth, scope) if node is not None else scope


def weigh_bytes(text: str) -> tuple[int, int]:
    """Return the cost of a constant text when nothing is known of the tokenizer: one token per byte."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return size, size


def spell_tree(code: CompiledText) -> str:
    """Return a spelling of a text without spacing in tags and comments. Texts with equal spellings always print the same."""
    return repr(sorted(load_trees(code).items()))


def list_filters(code: CompiledText) -> frozenset[str]:
    """Return the names of all filters in the text, without those in its files."""
    return frozenset(one.name for one in load_trees(code)[""].find_all(nodes.Filter))


def find_shown(code: CompiledText) -> tuple[str, ...] | None:
    """Return the path that a template prints as its whole content, except for a label or heading before it; None for any other template."""
    parts = [part for node in load_trees(code)[""].body for part in _list_parts(node)]
    values = [part for part in parts if not isinstance(part, nodes.TemplateData)]
    if len(values) != 1 or not isinstance(values[0], nodes.Expr):
        return None
    at = parts.index(values[0])
    before, after = (_join(parts[:at]), _join(parts[at + 1 :]))
    return _find_path(values[0]) if not after.strip() and _is_label(before) else None


def _list_parts(node: nodes.Node) -> list[nodes.Node]:
    """Return what a statement prints; an `if` without `else` prints its body."""
    if isinstance(node, nodes.Output):
        return list(node.nodes)
    if isinstance(node, nodes.If) and not node.else_ and not node.elif_:
        return [part for inner in node.body for part in _list_parts(inner)]
    return [node]


def _join(parts: list[nodes.Node]) -> str:
    return "".join(part.data for part in parts if isinstance(part, nodes.TemplateData))


def _is_label(text: str) -> bool:
    said = text.rstrip(" ")
    return not said or said.endswith((":", "\n"))


def _find_path(node: nodes.Node) -> tuple[str, ...] | None:
    while isinstance(node, nodes.Filter) and node.name in _KEEPING and node.node is not None:
        node = node.node
    if isinstance(node, nodes.Name):
        return (node.name,)
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        holder, key = _find_path(node.node), find_key(node)
        return (*holder, key) if holder is not None and isinstance(key, str) else None
    return None


def _expression(node: nodes.Node) -> nodes.Expr:
    """Return `node`, typed as an expression: Jinja types it only as a node."""
    assert isinstance(node, nodes.Expr)
    return node


def _walk_body(walk: WalkRun, body: Iterable[nodes.Node], scope: Scope) -> _Step:
    """Walk the statements in order; return the scope after them and what they print."""
    made = Amount()
    for node in body:
        if not walk.spend():
            return scope, UNBOUNDED
        scope, more = _WALK[type(node)](walk, node, scope)
        made = made.plus(more)
    return scope, made


def _walk_file(walk: WalkRun, tree: nodes.Template, scope: Scope) -> _Step:
    """Walk a whole file. If the file extends another, walk that one with the file's blocks."""
    base = next((node for node in tree.body if isinstance(node, nodes.Extends)), None)
    scope = scope.bind("self", Binding(_make_self(walk, tree, base), (object(),)))
    if base is None:
        return _walk_body(walk, tree.body, scope)
    for block in tree.find_all(nodes.Block):
        walk.blocks.setdefault(block.name, []).append((walk.file, block))
    evaluate_type(walk, base.template, scope)
    own = [node for node in tree.body if not isinstance(node, nodes.Extends | nodes.Output | nodes.Block)]
    scope, _ = _walk_body(walk, own, scope)
    return scope, choose_largest([_enter(walk, name, scope)[1] for name in iter_file_names(base.template)])


def _make_self(walk: WalkRun, tree: nodes.Template, base: nodes.Extends | None) -> OpaqueType:
    """Return the type of `self`: the blocks of the file, and of the files that extend it.

    If the file itself extends another, any name may be a block.
    """
    names = tuple(dict.fromkeys((*(block.name for block in tree.find_all(nodes.Block)), *walk.blocks)))
    block = OpaqueType("block", lambda name: UNKNOWN_TYPE, lambda *given: UNKNOWN_TYPE)

    def find(name: str) -> Type:
        return block if name in names or base is not None else UndefinedType("closed", name, names, "a file")

    return OpaqueType("template", find)


def _enter(walk: WalkRun, name: str, scope: Scope) -> _Step:
    """Walk another file in this scope."""
    outer, walk.file = walk.file, name
    found = _walk_file(walk, walk.trees[name], scope) if name in walk.trees else (scope, UNBOUNDED)
    walk.file = outer
    return found


def _output(walk: WalkRun, node: nodes.Output, scope: Scope) -> _Step:
    made = Amount()
    for part in node.nodes:
        made = made.plus(_print(walk, part, scope))
    return scope, made


def _print(walk: WalkRun, node: nodes.Expr, scope: Scope) -> Amount:
    if isinstance(node, nodes.TemplateData):
        tokens, loose = walk.cost(node.data)
        return Amount(tokens, len(node.data.encode("utf-8", "surrogatepass")), len(node.data), loose)
    reports = walk.reports
    value = evaluate(walk, node, scope)
    kind = walk.take(value, PRINTED, "printing", node, scope)
    walk.note_whole(kind)
    if walk.reports == reports:
        _judge_shown(walk, node, value, scope)
    return amount_of(measure(kind))


def _judge_shown(walk: WalkRun, node: nodes.Expr, value: Value | None, scope: Scope) -> None:
    """Report what prints as `None` inside a printed expression: its value, and what `~`, `%s`, `join` and filters make text of.

    `value` is the value of the whole expression, None for a part of it. Calls are not walked a second time.
    """
    parts = _list_joined(node)
    for part in parts:
        _judge_shown(walk, part, None, scope)
    is_call = isinstance(node, nodes.Call) or node.find(nodes.Call) is not None
    if parts or isinstance(node, nodes.Const) or (is_call and value is None):
        return
    if isinstance(node, nodes.Filter) and node.name == "join" and node.node is not None and not node.args[1:] and not node.kwargs:
        joined = evaluate(walk, _read_spelled(node.node), scope)
        walk.judge_shown(dataclasses.replace(joined, kind=element_type(joined.kind)), node, scope, "elements")
    else:
        walk.judge_shown(value or evaluate(walk, node, scope), node, scope, "joined" if value is None else "printed")


def _list_joined(node: nodes.Expr) -> list[nodes.Expr]:
    """Return the parts of an expression that it makes a text of, none included."""
    if isinstance(node, nodes.Concat):
        return node.nodes
    if isinstance(node, nodes.Mod):
        return _list_filled_in(node.left, node.right.items if isinstance(node.right, nodes.Tuple) else [node.right], {})
    if not isinstance(node, nodes.Filter) or node.node is None:
        return []
    if node.name == "join":
        return node.node.items if isinstance(node.node, nodes.List | nodes.Tuple) and not node.args[1:] and not node.kwargs else []
    if node.name == "format":
        return _list_filled_in(node.node, node.args, {str(pair.key): pair.value for pair in node.kwargs})
    hands_on_none = node.name in ("default", "d") and not node.args[1:] and not node.kwargs
    return [node.node] if hands_on_none or spells_none(node.name) else []


def _list_filled_in(text: nodes.Expr, args: list[nodes.Expr], named: dict[str, nodes.Expr]) -> list[nodes.Expr]:
    """Return the values that take the places of `%s` in a constant text. A place of another kind takes no none."""
    places = list(_PLACE.finditer(text.value)) if isinstance(text, nodes.Const) and isinstance(text.value, str) else []
    ordered = zip([place[2] for place in places if not place[1] and place[2] != "%"], args, strict=False)
    return [
        *(value for sign, value in ordered if sign == "s"),
        *(named[place[1]] for place in places if place[1] in named and place[2] == "s"),
    ]


def _read_spelled(node: nodes.Expr) -> nodes.Expr:
    """Return the list that `map` makes texts of, none included, as `map('upper')` does; or else the list itself."""
    while isinstance(node, nodes.Filter) and node.node is not None and (node.name == "list" or _spells_each(node)):
        node = node.node
    return node


def _spells_each(node: nodes.Filter) -> bool:
    mapped = node.args[0] if node.name == "map" and node.args else None
    return isinstance(mapped, nodes.Const) and isinstance(mapped.value, str) and spells_none(mapped.value)


def _if(walk: WalkRun, node: nodes.If, scope: Scope) -> _Step:
    ways: list[Scope] = []
    made: list[Amount] = []
    rest = scope
    for branch in (node, *node.elif_):
        yes, rest = decide(walk, _expression(branch.test), rest)
        _take_way(walk, branch.body, yes, ways, made)
    _take_way(walk, node.else_, rest, ways, made)
    return join_ways(scope, ways), choose_largest(made)


def _take_way(walk: WalkRun, body: list[nodes.Node], scope: Scope, ways: list[Scope], made: list[Amount]) -> None:
    after, amount = _walk_body(walk, body, scope)
    ways.append(after)
    if not scope.dead:
        made.append(amount)


def _for(walk: WalkRun, node: nodes.For, scope: Scope) -> _Step:
    source = _expression(node.iter)
    value = evaluate(walk, source, scope)
    kind = walk.take(value, ITERATED, "a loop", source, scope)
    element, count = element_type(kind), find_count(kind)
    inner = scope if list_members(element) else scope.end()
    if value.path is not None:
        inner = learn_at(walk, source, lambda found: by_least(found, 1), inner)
    inner = _bind_targets(walk, node.target, Value(element), inner)
    if node.test is not None:
        inner, _ = decide(walk, _expression(node.test), inner)
    inner = inner.bind("loop", Binding(_make_loop(element, count), (object(),)))
    _, made = _walk_body(walk, node.body, inner)
    _, otherwise = _walk_body(walk, node.else_, scope)
    return scope, choose_largest([made.times(count, _read_open(kind)), otherwise])


def _read_open(kind: Type) -> str:
    """Return the pointer of the first list or text of the type that has one, to say where the schema sets no bound; else an empty text."""
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


def _bind_targets(walk: WalkRun, target: nodes.Node, value: Value, scope: Scope, condition: nodes.Expr | None = None) -> Scope:
    """Return the scope in which the names of a target stand for the value, or for its parts. Judge the namespaces that take a part."""
    if isinstance(target, nodes.Name):
        return scope.bind(target.name, Binding(value.kind, value.path if value.path is not None else (object(),), condition))
    if isinstance(target, nodes.NSRef):
        walk.take(evaluate_name(walk, target, scope), _SPACE, f"`{{% set {target.name}.{target.attr} %}}`", target, scope)
        walk.note_whole(value.kind)
    if isinstance(target, nodes.Tuple):
        _judge_unpacked(walk, target, value, scope)
        for place, item in enumerate(target.items):
            scope = _bind_targets(walk, item, Value(_unpack(value.kind, place)), scope)
    return scope


def _judge_unpacked(walk: WalkRun, target: nodes.Tuple, value: Value, scope: Scope) -> None:
    """Report an unpacking whose value can never have as many parts as there are names."""
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


def _assign(walk: WalkRun, node: nodes.Assign, scope: Scope) -> _Step:
    given = _expression(node.node)
    value = evaluate(walk, given, scope)
    asks = isinstance(given, nodes.Compare | nodes.Test | nodes.And | nodes.Or | nodes.Not | nodes.Filter)
    return _bind_targets(walk, node.target, value, scope, given if asks else None), Amount()


def _assign_block(walk: WalkRun, node: nodes.AssignBlock, scope: Scope) -> _Step:
    _, made = _walk_body(walk, node.body, scope)
    value = Value(text_of_amount(made))
    if node.filter is not None:
        value = _filter_text(walk, node.filter, value, scope)
    return _bind_targets(walk, node.target, value, scope), Amount()


def _filter_text(walk: WalkRun, node: nodes.Expr, value: Value, scope: Scope) -> Value:
    """Apply a block's filters; the innermost filters the block's text."""
    if not isinstance(node, nodes.Filter):
        return value
    before = _filter_text(walk, node.node, value, scope) if node.node is not None else value
    return apply_filter(walk, node, before, scope, evaluate)


def _filter_block(walk: WalkRun, node: nodes.FilterBlock, scope: Scope) -> _Step:
    _, made = _walk_body(walk, node.body, scope)
    value = _filter_text(walk, node.filter, Value(text_of_amount(made)), scope)
    return scope, amount_of(measure(walk.take(value, _BLOCK, "a block", node.filter, scope)))


def _with(walk: WalkRun, node: nodes.With, scope: Scope) -> _Step:
    inner = scope
    for target, expression in zip(node.targets, node.values, strict=True):
        inner = _bind_targets(walk, target, evaluate(walk, expression, scope), inner)
    return scope, _walk_body(walk, node.body, inner)[1]


def _scope(walk: WalkRun, node: nodes.Scope, scope: Scope) -> _Step:
    return scope, _walk_body(walk, node.body, scope)[1]


def _macro(walk: WalkRun, node: nodes.Macro, scope: Scope) -> _Step:
    return _bind_macro(walk, node, scope), Amount()


def _call_block(walk: WalkRun, node: nodes.CallBlock, scope: Scope) -> _Step:
    caller = _make_caller(walk, node, scope)
    callee = node.call
    args = [evaluate(walk, arg, scope) for arg in callee.args]
    named = {word.key: evaluate(walk, word.value, scope) for word in callee.kwargs}
    named["caller"] = Value(caller)
    kind = call_thing(walk, evaluate(walk, callee.node, scope).kind, node, args, named, scope)
    if isinstance(kind, UnknownType):
        return scope, UNBOUNDED
    return scope, amount_of(measure(kind))


def _block(walk: WalkRun, node: nodes.Block, scope: Scope) -> _Step:
    chain = [*walk.blocks.get(node.name, []), (walk.file, node)]
    return scope, _walk_block(walk, chain, scope)


def _walk_block(walk: WalkRun, chain: list[tuple[str, nodes.Block]], scope: Scope) -> Amount:
    """Walk the first block of the chain; its `super()` is the next one."""
    (file, block), *rest = chain
    outer, walk.file = walk.file, file

    def give(*given: Any) -> Type:
        made = _walk_block(walk, rest, scope) if rest and walk.spend() else UNBOUNDED
        return text_of_amount(made)

    if rest:
        scope = scope.bind("super", Binding(OpaqueType("block", lambda name: UNKNOWN_TYPE, give), (object(),)))
    _, made = _walk_body(walk, block.body, scope)
    walk.file = outer
    return made


def _include(walk: WalkRun, node: nodes.Include, scope: Scope) -> _Step:
    evaluate_type(walk, node.template, scope)
    inner = scope if node.with_context else dataclasses.replace(scope, names={})
    return scope, choose_largest([_enter(walk, name, inner)[1] for name in iter_file_names(node.template)])


def _import(walk: WalkRun, node: nodes.Import, scope: Scope) -> _Step:
    return scope.bind(node.target, Binding(_load_module(walk, node, scope), (object(),))), Amount()


def _from_import(walk: WalkRun, node: nodes.FromImport, scope: Scope) -> _Step:
    module = _load_module(walk, node, scope)
    for pair in node.names:
        name, alias = (pair, pair) if isinstance(pair, str) else pair
        scope = scope.bind(alias, Binding(part_type(module, name), (object(),)))
    return scope, Amount()


def _load_module(walk: WalkRun, node: nodes.Import | nodes.FromImport, scope: Scope) -> Type:
    evaluate_type(walk, node.template, scope)
    given = scope if node.with_context else dataclasses.replace(scope, names={})
    found = [_enter(walk, name, given)[0] for name in iter_file_names(node.template)]

    stored = sorted({name for file in iter_file_names(node.template) if file in walk.trees for name in list_bound(walk.trees[file])})

    def find(name: str) -> Type:
        kinds = [one.names[name].kind if name in one.names else UNKNOWN_TYPE for one in found]
        if kinds and name not in stored:
            return UndefinedType("closed", name, tuple(stored), "a file")
        return join_types(*kinds) if kinds else UNKNOWN_TYPE

    return OpaqueType("module", find)


def _bind_macro(walk: WalkRun, node: nodes.Macro, scope: Scope) -> Scope:
    """Return the scope in which the macro can be called."""
    file = walk.file

    signature = _sign(node)

    def give(walk: WalkRun, at: nodes.Node, args: list[Value], named: dict[str, Value], caller: Scope) -> Type:
        walk.called.add(id(node))
        _judge(walk, signature, at, args, named, caller)
        named = _spread(node, at, len(args), named)
        seen = _make_outer(walk, file, scope)
        return _call(walk, node, file, args, named, _see(seen, caller, node.name, thing))

    thing = OpaqueType("macro", lambda name: UNKNOWN_TYPE, give)
    walk.macros.append((node, lambda: give(walk, node, [Value(UNKNOWN_TYPE) for _ in node.args], {"caller": Value(UNKNOWN_TYPE)}, scope)))
    return scope.bind(node.name, Binding(thing, (object(),)))


def _spread(node: nodes.Macro | nodes.CallBlock, at: nodes.Node, placed: int, named: dict[str, Value]) -> dict[str, Value]:
    """Return the named arguments, with all those that `*list` or `**mapping` may add."""
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


def _make_caller(walk: WalkRun, node: nodes.CallBlock, scope: Scope) -> OpaqueType:
    """Return the type of `caller` inside the macro that a call block calls."""
    file = walk.file

    signature = _sign(node)

    def give(walk: WalkRun, at: nodes.Node, args: list[Value], named: dict[str, Value], caller: Scope) -> Type:
        _judge(walk, signature, at, args, named, caller)
        return _call(walk, node, file, args, _spread(node, at, len(args), named), scope)

    return OpaqueType("caller", lambda name: UNKNOWN_TYPE, give)


def _make_outer(walk: WalkRun, file: str, scope: Scope) -> Scope:
    """Return what a macro sees of its file. A name that the file sets twice, or sets later, may have any value when the macro is called."""
    key = ("stored", file)
    if key not in walk.memo:
        walk.memo[key] = _make_unknown(Counter(iter_stored(walk.trees[file])))
    found = walk.memo[key]
    assert isinstance(found, tuple)
    later, again = found
    return dataclasses.replace(scope, names={**later, **scope.names, **again})


def _make_unknown(stored: Counter[str]) -> tuple[dict[str, Binding], dict[str, Binding]]:
    """Return unknown bindings for all names of a file, and for those that it sets more than once."""
    unknown = {name: Binding(UNKNOWN_TYPE, (object(),)) for name in stored}
    return unknown, {name: bound for name, bound in unknown.items() if stored[name] > 1}


def _see(seen: Scope, caller: Scope, name: str, own: OpaqueType) -> Scope:
    """Return the macro's own names, with what the caller's conditions proved about the state."""
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
) -> Type:
    if walk.calls >= MAX_CALLS or not walk.spend():
        return UNKNOWN_TYPE
    outer, walk.file = walk.file, file
    walk.calls += 1
    _, made = _walk_body(walk, node.body, _bind(walk, node, args, named, scope))
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


_WALK: dict[type[nodes.Node], Callable[[WalkRun, Any, Scope], _Step]] = {
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
