"""One kind out of several: what a value is that comes from one of many places."""

from collections.abc import Callable
from typing import TypeVar

from promptc.template.types.types import (
    NEVER,
    UNKNOWN_TYPE,
    BoolType,
    ListType,
    NumberType,
    TextType,
    Type,
    UnionType,
    UnknownType,
    is_sure,
    list_members,
)

_Value = TypeVar("_Value")
_MOST = 40
_MOST_VALUES = 64


def join_types(*kinds: Type) -> Type:
    """The kind of a value that is of one of `kinds`. More than 40 different ones are no longer told apart."""
    sure = all(map(is_sure, kinds))
    members: list[Type] = []
    for kind in kinds:
        for member in list_members(kind):
            _add(members, member)
    if len(members) > _MOST:
        return UNKNOWN_TYPE
    return members[0] if len(members) == 1 and sure else UnionType(tuple(members), sure)


def keep_members(kind: Type, keep: Callable[[Type], bool]) -> Type:
    """The kind without the members that `keep` refuses."""
    return map_members(kind, lambda member: member if keep(member) else NEVER)


def map_members(kind: Type, change: Callable[[Type], Type]) -> Type:
    """The kind with each member changed."""
    if not isinstance(kind, UnionType):
        return change(kind)
    found = join_types(*(change(member) for member in kind.members))
    return found if kind.sure else weaken(found)


def meet(known: Type, derived: Type) -> Type:
    """What was proved of a part, less what its holder can no longer have: more may have been proved of that since."""
    sorts = {type(member) for member in list_members(derived)}
    if not sorts or UnknownType in sorts:
        return known
    if known == UNKNOWN_TYPE:
        return derived
    kept = keep_members(known, lambda member: isinstance(member, UnknownType) or type(member) in sorts)
    return kept if kept != NEVER else known


def weaken(kind: Type) -> Type:
    """The kind, of whose members it is not said that each can be met."""
    members = list_members(kind)
    return UnionType(members, False) if len(members) > 1 else kind


def _add(members: list[Type], kind: Type) -> None:
    for place, member in enumerate(members):
        merged = _merge(member, kind)
        if merged is not None:
            members[place] = merged
            return
    members.append(kind)


def _merge(left: Type, right: Type) -> Type | None:
    """Two kinds as one, where nothing that matters is lost by it."""
    if left == right:
        return left
    if isinstance(left, TextType) and isinstance(right, TextType):
        return _merge_texts(left, right)
    if isinstance(left, NumberType) and isinstance(right, NumberType):
        return _merge_numbers(left, right)
    if isinstance(left, BoolType) and isinstance(right, BoolType):
        return BoolType()
    if isinstance(left, ListType) and isinstance(right, ListType) and left.shape == right.shape:
        return _merge_lists(left, right)
    return None


def _merge_texts(left: TextType, right: TextType) -> TextType:
    open_at = left.at if left.size is None else right.at
    characters, size = find_most(left.characters, right.characters), find_most(left.size, right.size)
    format = left.format if left.format == right.format else ""
    return TextType(characters, size, _join_values(left.values, right.values), open_at, format)


def _merge_numbers(left: NumberType, right: NumberType) -> NumberType:
    least = None if left.least is None or right.least is None else min(left.least, right.least)
    most = None if left.most is None or right.most is None else max(left.most, right.most)
    open_at = left.at if left.least is None or left.most is None else right.at
    return NumberType(left.whole and right.whole, least, most, _join_values(left.values, right.values), open_at)


def _merge_lists(left: ListType, right: ListType) -> ListType:
    shared = left.first if len(left.first) == len(right.first) else ()
    first = tuple(join_types(one, other) for one, other in zip(shared, right.first, strict=False))
    element = (
        join_types(left.element, right.element)
        if first or not (left.first or right.first)
        else join_types(join_members(left), join_members(right))
    )
    open_at = left.at if left.most is None else right.at
    return ListType(
        element, min(left.least, right.least), find_most(left.most, right.most), first, left.shape, left.loose or right.loose, open_at
    )


def find_most(*bounds: int | None) -> int | None:
    """The largest bound; None where one of them is none."""
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


def add_bounds(*bounds: int | None) -> int | None:
    """The sum of bounds; None where one of them is none."""
    known = [bound for bound in bounds if bound is not None]
    return sum(known) if len(known) == len(bounds) else None


def _join_values(left: frozenset[_Value] | None, right: frozenset[_Value] | None) -> frozenset[_Value] | None:
    if left is None or right is None or len(left | right) > _MOST_VALUES:
        return None
    return left | right


def join_members(listed: ListType) -> Type:
    """What any element of a list may be."""
    if listed.most is not None and listed.most <= len(listed.first):
        return join_types(*listed.first[: listed.most])
    return join_types(*listed.first, listed.element)
