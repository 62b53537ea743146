"""Judges calls of functions, macros, methods, filters and tests, and comparisons; infers what calls return."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import nodes

from promptc.template.allow import COMPARING, LIST_METHODS, MAPPING_METHODS, TEXT_METHODS
from promptc.template.signatures import (
    ANY,
    CHAT,
    FILTERS,
    FUNCTIONS,
    HOLDER,
    KEY,
    LISTED,
    LOOP_METHODS,
    METHODS,
    TESTS,
    UNKNOWN,
    Parameter,
    Signature,
    Sort,
    Wrong,
    find_wrong,
    find_wrong_filter,
    find_wrong_test,
    iter_of,
    iter_taken,
    iter_taken_by_test,
)
from promptc.template.types import algebra
from promptc.template.types.algebra import (
    ALL,
    ASKED,
    NUMBERS,
    PARTED,
    SCALARS,
    SEQUENCE,
    Usage,
    drop_gap,
    element_type,
    join_types,
    like_other,
    map_members,
    part_type,
    value_type,
)
from promptc.template.types.bounds import measure
from promptc.template.types.types import (
    BOOL_TYPE,
    NEVER,
    NONE_TYPE,
    UNKNOWN_TYPE,
    WHOLE,
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    OpaqueType,
    TextType,
    Type,
    UndefinedType,
    UnknownType,
    is_sure,
    list_members,
    make_mapping,
    name_type,
)
from promptc.template.types.walk import Scope, Value, WalkRun, find_time

Evaluate = Callable[[WalkRun, nodes.Expr, Scope], Value]

_Taken = tuple[str, Parameter, Any, int | str]
"""An argument: the callee's name for messages, the parameter, the value if it is a constant, and the argument's place or name."""

LENIENT = frozenset("none string number mapping boolean integer float true false".split())
"""Tests that are false for undefined and none, and never stop the run."""

NUMERIC = frozenset("odd even divisibleby".split())
"""Tests of numbers."""
SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">=", "in": "in", "notin": "not in"}
_CALLED = Usage("a macro", ALL)
_CONTAINERS = Usage("a list, a mapping or a string", (ListType, MappingType, TextType))
_ORDERED = (NumberType, BoolType, TextType, ListType)
_COMPARED: dict[type[Type], str] = {
    NumberType: "a number",
    BoolType: "a number",
    TextType: "a string",
    ListType: "a list",
    NoneType: "none",
    MappingType: "a mapping",
}
_SORTS: tuple[tuple[frozenset[str], type[Type], str], ...] = (
    (TEXT_METHODS, TextType, "a string"),
    (MAPPING_METHODS, MappingType, "a mapping"),
    (LIST_METHODS, ListType, "a list"),
)
_TYPES: dict[type[Type], type] = {TextType: str, MappingType: dict, ListType: list}
_KINDS: dict[type, tuple[type[Type], ...]] = {
    str: (TextType,),
    int: (NumberType, BoolType),
    bool: (BoolType,),
    float: (NumberType,),
    list: (ListType,),
    tuple: (ListType,),
    type(None): (NoneType,),
}
_SAME = frozenset("strip lstrip rstrip removeprefix removesuffix swapcase".split())
_LONGER = frozenset("capitalize casefold lower title upper".split())
_NUMBERS = frozenset("count find index rfind rindex".split())
_LISTS = frozenset("rsplit split splitlines".split())


def call(walk: WalkRun, node: nodes.Call, scope: Scope, evaluate: Evaluate) -> Value:
    """Infer the value of a call, and judge its arguments."""
    callee = node.node
    args = [evaluate(walk, arg, scope) for arg in node.args]
    named = {word.key: evaluate(walk, word.value, scope) for word in node.kwargs}
    for extra in (node.dyn_args, node.dyn_kwargs):
        if extra is not None:
            evaluate(walk, extra, scope)
    if isinstance(callee, nodes.Getattr):
        return _call_method(walk, node, callee, args, named, scope, evaluate)
    if isinstance(callee, nodes.Name) and callee.name not in scope.names and callee.name in _FUNCTIONS:
        judge_call(Arguments(walk, node, scope, args, named), FUNCTIONS[callee.name])
        given = _FUNCTIONS[callee.name](walk, args, named)
        return Value(UNKNOWN_TYPE if node.dyn_args is not None or node.dyn_kwargs is not None else given)
    called = evaluate(walk, callee, scope)
    walk.take(called, _CALLED, "a call", callee, scope)
    return Value(call_thing(walk, called.kind, node, args, named, scope))


def call_thing(walk: WalkRun, kind: Type, node: nodes.Node, args: list[Value], named: dict[str, Value], scope: Scope) -> Type:
    """Return the type of the result of calling a macro or another object of the template language; unknown for any other callee."""
    things = [member for member in list_members(kind) if isinstance(member, OpaqueType) and member.call is not None]
    if not things or len(things) < len(list_members(kind)):
        return UNKNOWN_TYPE
    return join_types(*(one.call(walk, node, args, named, scope) for one in things if one.call is not None))


def _call_method(
    walk: WalkRun, node: nodes.Call, callee: nodes.Getattr, args: list[Value], named: dict[str, Value], scope: Scope, evaluate: Evaluate
) -> Value:
    holder = evaluate(walk, callee.node, scope)
    if any(isinstance(member, OpaqueType) for member in list_members(holder.kind)):
        judge_thing(Arguments(walk, node, scope, args, named), callee.attr, holder.kind)
        part = Value(part_type(holder.kind, callee.attr), None, f"{holder.spelled}.{callee.attr}" if holder.spelled else "")
        walk.take(part, _CALLED, "a call", callee, scope)
        return Value(call_thing(walk, part.kind, node, args, named, scope))
    found = [(sort, words) for methods, sort, words in _SORTS if callee.attr in methods]
    if not found:
        walk.take(holder, PARTED, "`.`", callee.node, scope)
        return Value(UNKNOWN_TYPE)
    taker = Usage(" or ".join(words for _, words in found), tuple(sort for sort, _ in found), lazy=False)
    kind = walk.take(holder, taker, f"`.{callee.attr}()`", callee, scope)
    judge_method(Arguments(walk, node, scope, args, named), callee.attr, kind)
    if isinstance(kind, UnknownType):
        return Value(UNKNOWN_TYPE)
    given = map_members(kind, lambda member: _give(walk, member, callee.attr, args, scope))
    key = find_single(args[0].kind) if callee.attr == "get" and args else None
    if isinstance(key, str) and holder.path is not None:
        path = (*holder.path, key)
        known = scope.facts.get(path)
        return Value(given if known is None else drop_gap(known) if drop_gap(known) == known else given, path)
    return Value(given)


def _give(walk: WalkRun, kind: Type, name: str, args: list[Value], scope: Scope) -> Type:
    if isinstance(kind, MappingType):
        return _give_of_mapping(walk, kind, name, args)
    if name in _NUMBERS:
        return NumberType(True, 0 if name == "count" else -1)
    if isinstance(kind, TextType):
        return _give_of_text(kind, name)
    return UNKNOWN_TYPE


def _give_of_text(kind: TextType, name: str) -> Type:
    shown = measure(kind)
    if name in _SAME:
        return TextType(shown.characters, shown.size, None, shown.at)
    if name in _LONGER:
        characters, size = (None if bound is None else 3 * bound for bound in (shown.characters, shown.size))
        return TextType(characters, size, None, shown.at)
    part = TextType(shown.characters, shown.size, None, shown.at)
    if name in _LISTS:
        return ListType(
            part, 0 if name == "splitlines" else 1, None if shown.characters is None else shown.characters + 1, (), "list", True
        )
    if name.endswith("partition"):
        return ListType(NEVER, 3, 3, (part, part, part), "tuple")
    return BOOL_TYPE if name.startswith("is") or name in ("startswith", "endswith") else TextType(at=shown.at)


def _give_of_mapping(walk: WalkRun, kind: MappingType, name: str, args: list[Value]) -> Type:
    if name == "keys":
        return ListType(TextType(values=frozenset(kind.names) if kind.closed and kind.names else None), 0, kind.most, (), "lazy", True)
    if name == "get":
        key = find_single(args[0].kind) if args else None
        instead = args[1].kind if len(args) > 1 else NONE_TYPE
        if not isinstance(key, str):
            walk.note_all(kind)
            return join_types(value_type(kind), instead)
        walk.note_read(kind, key)
        found = kind.find(key)
        there = map_members(drop_gap(found), lambda one: NoneType(False, one.at) if isinstance(one, NoneType) else one)
        return join_types(there, instead) if drop_gap(found) != found else there
    walk.note_all(kind)
    values = value_type(kind)
    element = values if name == "values" else ListType(NEVER, 2, 2, (TextType(), values), "tuple")
    return ListType(element, 0, kind.most, (), "lazy", True)


def _make_range(walk: WalkRun, args: list[Value], named: dict[str, Value]) -> Type:
    most = None
    if len(args) == 1 and isinstance(args[0].kind, NumberType) and args[0].kind.most is not None:
        most = max(0, int(args[0].kind.most))
    return ListType(WHOLE if most is None else NumberType(True, 0, most), 0, most, (), "range", True)


def _make_dict(walk: WalkRun, args: list[Value], named: dict[str, Value]) -> Type:
    for arg in args:
        walk.note_whole(arg.kind)
    return UNKNOWN_TYPE if args else make_mapping({name: value.kind for name, value in named.items()})


def _make_namespace(walk: WalkRun, args: list[Value], named: dict[str, Value]) -> Type:
    """Return the type of a namespace. Its parts are those passed to it, and those that any file sets."""
    for arg in (*args, *named.values()):
        walk.note_whole(arg.kind)
    given = {node.attr for tree in walk.trees.values() for node in tree.find_all(nodes.NSRef)}
    known = None if args else (*named, *sorted(given - named.keys()))
    return OpaqueType(
        "namespace", lambda name: UNKNOWN_TYPE if known is None or name in known else UndefinedType("closed", name, known, "a namespace")
    )


def _make_cycler(walk: WalkRun, args: list[Value], named: dict[str, Value]) -> Type:
    kind = join_types(*(arg.kind for arg in args)) if args else UNKNOWN_TYPE
    step = OpaqueType("cycler's method", lambda name: UNKNOWN_TYPE, lambda *given: kind)
    parts: dict[str, Type] = {"current": kind, "next": step, "reset": step}
    return OpaqueType("cycler", lambda name: parts.get(name) or UndefinedType("closed", name, tuple(parts), "a cycler"))


def _make_joiner(walk: WalkRun, args: list[Value], named: dict[str, Value]) -> Type:
    given = measure(args[0].kind) if args else TextType(2, 2)
    return OpaqueType("joiner", lambda name: UNKNOWN_TYPE, lambda *rest: TextType(given.characters, given.size, None, given.at))


_FUNCTIONS: dict[str, Callable[[WalkRun, list[Value], dict[str, Value]], Type]] = {
    "range": _make_range,
    "dict": _make_dict,
    "namespace": _make_namespace,
    "cycler": _make_cycler,
    "joiner": _make_joiner,
}


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """The arguments of one call, by place and by name. `node` is the call."""

    walk: WalkRun
    node: nodes.Filter | nodes.Test | nodes.Call
    scope: Scope
    args: Sequence[Value]
    named: Mapping[str, Value]

    @property
    def is_spread(self) -> bool:
        """Whether more arguments may come from `*list` or `**mapping`."""
        return self.node.dyn_args is not None or self.node.dyn_kwargs is not None

    def list_known(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the values of the arguments, `UNKNOWN` for those that are not constants."""
        return [read_constant(one.kind) for one in self.args], {name: read_constant(one.kind) for name, one in self.named.items()}

    def report(self, wrong: Wrong | None) -> None:
        """Report what is wrong with the call, at the argument concerned."""
        if wrong is not None:
            at: nodes.Node = self.node
            if isinstance(wrong.at, int) and wrong.at < len(self.node.args):
                at = self.node.args[wrong.at]
            elif isinstance(wrong.at, str):
                at = next((word for word in self.node.kwargs if word.key == wrong.at), at)
            told = (wrong.code, wrong.message, wrong.help)
            self.walk.report("argument", at, Value(NONE_TYPE), NONE_TYPE, self.scope, told=told)


def judge_filter(given: Arguments, name: str) -> None:
    """Judge the arguments of a filter, and of the filter or test that it applies. Nothing is known of a filter that does not exist."""
    if name in FILTERS or name in CHAT:
        _judge_by(given, name, find_wrong_filter, iter_taken)


def judge_test(given: Arguments, name: str) -> None:
    """Judge the arguments of a test. Nothing is known of a test that does not exist."""
    if name in TESTS:
        _judge_by(given, name, find_wrong_test, iter_taken_by_test)


def _judge_by(
    given: Arguments, called: str | Signature, find: Callable[..., Wrong | None], iter_all: Callable[..., Iterable[_Taken]]
) -> None:
    args, named = given.list_known()
    wrong = find(called, args, named, given.walk.limits, is_spread=given.is_spread)
    given.report(wrong)
    if wrong is None:
        _take_all(given, iter_all(called, args, named))


def judge_thing(given: Arguments, name: str, holder: Type) -> None:
    """Judge the arguments of a method of a loop or a cycler."""
    members = list_members(holder)
    if name in LOOP_METHODS and all(isinstance(one, OpaqueType) and one.what in ("loop", "cycler") for one in members):
        judge_call(given, LOOP_METHODS[name])


def judge_method(given: Arguments, name: str, holder: Type) -> None:
    """Judge the arguments of a method of data, if only one sort of data that the holder may be has the method."""
    sorts = {_TYPES.get(type(member)) for member in list_members(holder)}
    holding = [METHODS[sort][name] for sort in (str, dict, list) if name in METHODS[sort] and (sort in sorts or None in sorts)]
    if len(holding) == 1:
        judge_call(given, holding[0])


def judge_call(given: Arguments, signature: Signature) -> None:
    """Judge the arguments of anything that has a signature."""
    _judge_by(given, signature, find_wrong, iter_of)


def _take_all(given: Arguments, taken: Iterable[_Taken]) -> None:
    """Judge by type the arguments that are not constants."""
    for owner, parameter, value, at in taken:
        if value is UNKNOWN and parameter.sort is not ANY:
            one = given.args[at] if isinstance(at, int) else given.named[at]
            given.walk.take(one, _make_usage(parameter.sort), f"`{parameter.name}` of {owner}", given.node, given.scope)


def _make_usage(sort: Sort) -> Usage:
    if sort is LISTED or sort is HOLDER:
        return SEQUENCE
    if sort is KEY:
        return Usage(sort.words, (*SCALARS, NoneType))
    good = tuple(dict.fromkeys(kind for one in sort.classes for kind in _KINDS.get(one, ())))
    return Usage(sort.words, good, none=NoneType in good) if good else ASKED


def read_constant(kind: Type) -> Any:
    """Return the only value of a type; `UNKNOWN` if there may be several."""
    if isinstance(kind, TextType | NumberType):
        return next(iter(kind.values)) if kind.values is not None and len(kind.values) == 1 else UNKNOWN
    if isinstance(kind, BoolType):
        return UNKNOWN if kind.value is None else kind.value
    if isinstance(kind, NoneType):
        return UNKNOWN if kind.absent else None
    if isinstance(kind, ListType) and kind.least == kind.most == len(kind.first) and kind.shape in ("list", "tuple"):
        parts = [read_constant(part) for part in kind.first]
        return UNKNOWN if any(part is UNKNOWN for part in parts) else (parts if kind.shape == "list" else tuple(parts))
    return UNKNOWN


@dataclass(frozen=True, slots=True, eq=False)
class FilterCall:
    """One use of a filter: the value, the part of its type that the filter can use (`kind`), and the arguments by place and by name."""

    walk: WalkRun
    node: nodes.Filter
    scope: Scope
    value: Value
    kind: Type
    args: Sequence[Value]
    named: Mapping[str, Value]

    def of(self, kind: Type) -> FilterCall:
        """Return this use for a value of another type."""
        return replace(self, kind=kind)

    def find(self, place: int, name: str) -> Value | None:
        """Return an argument, or None if it is left out."""
        return self.args[place] if place < len(self.args) else self.named.get(name)

    def find_whole(self, place: int, name: str, default: int | None) -> int | None:
        """Return an argument that is a constant whole number: `default` if it is left out, None if it is computed."""
        given = self.find(place, name)
        if given is None:
            return default
        value = find_single(given.kind)
        return value if isinstance(value, int) else None

    def find_text(self, place: int, name: str) -> str | None:
        """Return an argument that is a constant text, else None."""
        given = self.find(place, name)
        value = find_single(given.kind) if given is not None else None
        return value if isinstance(value, str) else None


def find_single(kind: Type) -> object | None:
    """Return the only value of a type of texts or numbers, else None."""
    values: frozenset[object] | None = kind.values if isinstance(kind, TextType | NumberType) else None
    return next(iter(values)) if values is not None and len(values) == 1 else None


def ask(walk: WalkRun, node: nodes.Test, value: Value, args: list[Value], scope: Scope) -> None:
    """Judge `value is name(args)`."""
    name = node.name
    if name in ("defined", "undefined"):
        walk.take(value, algebra.ANY, f"`is {name}`", node, scope)
        report_always(walk, node, value, f"`is {name}`", scope)
    elif name in COMPARING:
        if len(args) == 1:
            compare(walk, COMPARING[name], value, args[0], node, scope)
    elif name in NUMERIC:
        walk.take(value, NUMBERS, f"`is {name}`", node, scope)
    else:
        walk.take(value, algebra.ANY if name in LENIENT else Usage("a value", ASKED.good, none=True), f"`is {name}`", node, scope)


def report_always(walk: WalkRun, node: nodes.Node, value: Value, by: str, scope: Scope) -> None:
    """Report a test for existence of a value that reads as none if it is left out, and so is always defined."""
    members = list_members(value.kind)
    absent = next((one for one in members if isinstance(one, NoneType) and one.absent), None)
    if absent is not None and is_sure(value.kind) and not any(isinstance(one, UndefinedType) for one in members):
        walk.report("always", node, value, absent, scope, wants=by)


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
    """Return whether no defined value belongs to both types. True and false count as numbers."""
    sorts = [_list_sorts(kind) for kind in (left, right)]
    if not sorts[0] or not sorts[1] or "" in sorts[0] | sorts[1]:
        return False
    if not sorts[0] & sorts[1]:
        return True
    texts, others = _list_texts(left), _list_texts(right)
    return sorts[0] & sorts[1] == {"a string"} and texts is not None and others is not None and not texts & others


def _list_sorts(kind: Type) -> set[str]:
    return {_COMPARED.get(type(member), "") for member in list_members(kind) if not isinstance(member, UndefinedType)}


def _list_texts(kind: Type) -> frozenset[str] | None:
    """Return the texts that the value may be, or None if they are not listed."""
    texts = [member for member in list_members(kind) if isinstance(member, TextType)]
    return texts[0].values if len(texts) == 1 else None


def _order(walk: WalkRun, operator: str, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    sign = f"`{SIGNS[operator]}`"
    kinds = [walk.take(side, Usage("a number or a string", _ORDERED, lazy=False), sign, node, scope) for side in (left, right)]
    match_sides(walk, left.of(kinds[0]), right.of(kinds[1]), sign, node, scope)
    times = [side for side, other in ((left, right), (right, left)) if find_time(side.kind) and _list_sorts(other.kind) & {"a string", ""}]
    if times:
        walk.report_time(times[0], sign, node, scope)


def match_sides(walk: WalkRun, left: Value, right: Value, sign: str, node: nodes.Node, scope: Scope) -> None:
    """Judge that two ordered values are of one sort."""
    for side, other in ((left, right), (right, left)):
        sorts = _list_sorts(other.kind)
        if len(sorts) == 1 and "" not in sorts:
            (wanted,) = sorts
            good = tuple(sort for sort, name in _COMPARED.items() if name == wanted)
            walk.take(side, like_other(wanted, good), sign, node, scope)
            return


def _search(walk: WalkRun, operator: str, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    sign = f"`{SIGNS[operator]}`"
    found = walk.take(right, _CONTAINERS, f"{sign} on its right", node, scope)
    walk.take(left, ASKED, sign, node, scope)
    walk.note_whole(left.kind)
    texts = _list_texts(left.kind)
    if isinstance(found, TextType):
        walk.take(left, Usage("a string on its left, since one is on its right", (TextType,), lazy=False), sign, node, scope)
    elif isinstance(found, MappingType):
        for key in texts or ():
            walk.note_read(found, key)
    elif isinstance(found, ListType) and left.spelled:
        walk.note_whole(found)
        _judge_element(walk, SIGNS[operator], left, found, node, scope)


def _judge_element(walk: WalkRun, sign: str, left: Value, found: ListType, node: nodes.Node, scope: Scope) -> None:
    for element in found.first or (element_type(found),):
        if list_members(element) and is_apart(left.kind, element) and is_sure(element):
            _report_never(walk, sign, left, element, node, scope)
