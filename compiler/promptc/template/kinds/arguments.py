"""The arguments of calls against their signatures: the constants as a run would judge them, all others by their kinds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import nodes

from promptc.template.kinds.take import ASKED, SCALARS, SEQUENCE, Usage
from promptc.template.signature_table import (
    HOLDER,
    KEY,
    LISTED,
    LOOP_METHODS,
    METHODS,
    find_wrong_filter,
    find_wrong_test,
    iter_of,
    iter_taken,
    iter_taken_by_test,
)
from promptc.template.signatures import ANY, UNKNOWN, Parameter, Signature, Sort, Wrong, find_wrong
from promptc.template.types.scope import Scope, Value
from promptc.template.types.types import (
    NONE_TYPE,
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    OpaqueType,
    TextType,
    Type,
    list_members,
)
from promptc.template.types.walk import WalkRun

_Taken = tuple[str, Parameter, Any, int | str]
"""What takes an argument, by which parameter, the argument if it is a constant, and where it stands."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """What one call is given, by place and by name. `node` is the call; `is_spread`: there may be more."""

    walk: WalkRun
    node: nodes.Filter | nodes.Test | nodes.Call
    scope: Scope
    args: Sequence[Value]
    named: Mapping[str, Value]

    @property
    def is_spread(self) -> bool:
        """Whether more may come from `*list` or `**mapping`."""
        return self.node.dyn_args is not None or self.node.dyn_kwargs is not None

    def list_known(self) -> tuple[list[Any], dict[str, Any]]:
        """Their values, `UNKNOWN` where they are not constants."""
        return [find_constant(one.kind) for one in self.args], {name: find_constant(one.kind) for name, one in self.named.items()}

    def report(self, wrong: Wrong | None) -> None:
        """Tell what is wrong with the call, at the argument it is about."""
        if wrong is not None:
            at: nodes.Node = self.node
            if isinstance(wrong.at, int) and wrong.at < len(self.node.args):
                at = self.node.args[wrong.at]
            elif isinstance(wrong.at, str):
                at = next((word for word in self.node.kwargs if word.key == wrong.at), at)
            told = (wrong.code, wrong.message, wrong.help)
            self.walk.report("argument", at, Value(NONE_TYPE), NONE_TYPE, self.scope, told=told)


def judge_filter(given: Arguments, name: str) -> None:
    """The arguments of a filter, and of what it applies."""
    _judge_applied(given, name, find_wrong_filter, iter_taken)


def judge_test(given: Arguments, name: str) -> None:
    """The arguments of a test."""
    _judge_applied(given, name, find_wrong_test, iter_taken_by_test)


def _judge_applied(given: Arguments, name: str, find_wrong: Callable[..., Wrong | None], iter_all: Callable[..., Iterable[_Taken]]) -> None:
    args, named = given.list_known()
    wrong = find_wrong(name, args, named, given.walk.limits, is_spread=given.is_spread)
    given.report(wrong)
    if wrong is None:
        _take_all(given, iter_all(name, args, named))


def judge_thing(given: Arguments, name: str, holder: Type) -> None:
    """The arguments of a method of a loop or a cycler."""
    members = list_members(holder)
    if name in LOOP_METHODS and all(isinstance(one, OpaqueType) and one.what in ("loop", "cycler") for one in members):
        judge_call(given, LOOP_METHODS[name])


def judge_method(given: Arguments, name: str, holder: Type) -> None:
    """The arguments of a method of data, where only one sort of data has it or can be there."""
    sorts = {_TYPES.get(type(member)) for member in list_members(holder)}
    holding = [METHODS[sort][name] for sort in (str, dict, list) if name in METHODS[sort] and (sort in sorts or None in sorts)]
    if len(holding) == 1:
        judge_call(given, holding[0])


def judge_call(given: Arguments, signature: Signature) -> None:
    """The arguments of anything that has a signature."""
    args, named = given.list_known()
    wrong = find_wrong(signature, args, named, given.walk.limits, is_spread=given.is_spread)
    given.report(wrong)
    if wrong is None:
        _take_all(given, iter_of(signature, args, named))


def _take_all(given: Arguments, taken: Iterable[_Taken]) -> None:
    """Judge by kind what is no constant."""
    for owner, parameter, value, at in taken:
        if value is UNKNOWN and parameter.sort is not ANY:
            one = given.args[at] if isinstance(at, int) else given.named[at]
            given.walk.take(one, _find_taker(parameter.sort), f"`{parameter.name}` of {owner}", given.node, given.scope)


def _find_taker(sort: Sort) -> Usage:
    if sort is LISTED or sort is HOLDER:
        return SEQUENCE
    if sort is KEY:
        return Usage(sort.words, (*SCALARS, NoneType))
    good = tuple(dict.fromkeys(kind for one in sort.classes for kind in _KINDS.get(one, ())))
    return Usage(sort.words, good, none=NoneType in good) if good else ASKED


def find_constant(kind: Type) -> Any:
    """The one value of a kind; `UNKNOWN` where there may be several."""
    if isinstance(kind, TextType | NumberType):
        return next(iter(kind.values)) if kind.values is not None and len(kind.values) == 1 else UNKNOWN
    if isinstance(kind, BoolType):
        return UNKNOWN if kind.value is None else kind.value
    if isinstance(kind, NoneType):
        return UNKNOWN if kind.absent else None
    if isinstance(kind, ListType) and kind.least == kind.most == len(kind.first) and kind.shape in ("list", "tuple"):
        parts = [find_constant(part) for part in kind.first]
        return UNKNOWN if any(part is UNKNOWN for part in parts) else (parts if kind.shape == "list" else tuple(parts))
    return UNKNOWN
