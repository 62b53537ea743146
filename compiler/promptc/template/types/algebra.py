"""A kind after a question was answered: the members that can give that answer."""

from collections.abc import Mapping as Entries
from dataclasses import replace

from promptc.template.kinds.unite import map_members
from promptc.template.types.types import (
    NEVER,
    BlankType,
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
    list_members,
    text_of,
)

_YES: Entries[str, tuple[type[Type], ...]] = {
    "defined": (TextType, NumberType, BoolType, NoneType, ListType, MappingType, OpaqueType, BlankType, UnknownType),
    "none": (NoneType,),
    "string": (TextType,),
    "number": (NumberType, BoolType),
    "boolean": (BoolType,),
    "mapping": (MappingType,),
    "sequence": (TextType, ListType, MappingType),
    "iterable": (TextType, ListType, MappingType),
}
_MAYBE: Entries[str, tuple[type[Type], ...]] = {
    "integer": (NumberType,),
    "float": (NumberType,),
    "odd": (NumberType, BoolType),
    "even": (NumberType, BoolType),
    "true": (BoolType,),
    "false": (BoolType,),
    "lower": (TextType, NumberType, BoolType, NoneType, ListType, MappingType),
    "upper": (TextType, NumberType, BoolType, NoneType, ListType, MappingType),
}


def knows(test: str) -> bool:
    """True when an answer to this test says something about the kind."""
    return test in _YES or test in _MAYBE


def by_test(kind: Type, test: str, truth: bool) -> Type:
    """The kind where `is test` is `truth`."""
    return map_members(kind, lambda member: _test(member, test, truth))


def _test(member: Type, test: str, truth: bool) -> Type:
    if isinstance(member, UnknownType) and test != "defined":
        return member
    if test in ("true", "false") and isinstance(member, BoolType):
        return _be(member, (test == "true") is truth)
    sure, may = isinstance(member, _YES.get(test, ())), isinstance(member, (UnknownType, *_MAYBE.get(test, ())))
    if test == "defined" and isinstance(member, NoneType) and truth:
        return NoneType(False, member.at)
    keep = sure or may if truth else not sure
    return member if keep else NEVER


def _be(member: BoolType, value: bool) -> Type:
    return BoolType(value) if member.value in (None, value) else NEVER


def by_truth(kind: Type, truth: bool) -> Type:
    """The kind where the value counts as true, or as false. Undefined stops the run."""
    return map_members(kind, lambda member: _true(member) if truth else _false(member))


def _true(member: Type) -> Type:
    if isinstance(member, NoneType | UndefinedType | BlankType):
        return NEVER
    if isinstance(member, BoolType):
        return _be(member, True)
    if isinstance(member, TextType) and member.values is not None:
        values = member.values - {""}
        return text_of(*values) if values else NEVER
    if isinstance(member, ListType):
        return by_least(member, 1)
    return NEVER if isinstance(member, NumberType) and member.values == frozenset({0}) else member


def _false(member: Type) -> Type:
    if isinstance(member, UndefinedType | OpaqueType) or (isinstance(member, ListType) and (member.shape == "lazy" or member.least > 0)):
        return NEVER
    if isinstance(member, BoolType):
        return _be(member, False)
    if isinstance(member, TextType):
        return text_of("") if member.values is None or "" in member.values else NEVER
    if isinstance(member, NumberType):
        return member if member.values is None or 0 in member.values else NEVER
    if isinstance(member, MappingType):
        return NEVER if any(_is_there(member.find(name)) for name in member.names) else member
    return replace(member, most=0, first=()) if isinstance(member, ListType) else member


def _is_there(kind: Type) -> bool:
    return not any(isinstance(member, UndefinedType | UnknownType) for member in list_members(kind))


def by_least(kind: Type, count: int) -> Type:
    """The kind where the value has at least so many elements."""
    return map_members(kind, lambda member: _lengthen(member, count))


def _lengthen(member: Type, count: int) -> Type:
    if isinstance(member, NoneType | UndefinedType | NumberType | BoolType):
        return NEVER
    if not isinstance(member, ListType):
        return member
    return NEVER if member.most is not None and member.most < count else replace(member, least=max(member.least, count))


def by_equal(kind: Type, value: object, truth: bool) -> Type:
    """The kind where the value is (or is not) a constant."""
    return map_members(kind, lambda member: _equal(member, value) if truth else _differ(member, value))


def by_any(kind: Type, values: list[object]) -> Type:
    """The kind where the value is one of several constants."""
    return map_members(kind, lambda member: _keep_any(member, values)) if values else NEVER


def _keep_any(member: Type, values: list[object]) -> Type:
    if all(_equal(member, value) == NEVER for value in values):
        return NEVER
    if isinstance(member, TextType):
        words = {value for value in values if isinstance(value, str)}
        return text_of(*(words if member.values is None else words & member.values))
    return member


def _equal(member: Type, value: object) -> Type:
    if isinstance(member, UnknownType | BlankType | OpaqueType):
        return member
    if isinstance(value, str):
        return text_of(value) if isinstance(member, TextType) and (member.values is None or value in member.values) else NEVER
    if value is None:
        return member if isinstance(member, NoneType) else NEVER
    return member if isinstance(member, NumberType | BoolType) else NEVER


def _differ(member: Type, value: object) -> Type:
    if value is None and isinstance(member, NoneType):
        return NEVER
    if isinstance(value, str) and isinstance(member, TextType) and member.values is not None:
        values = member.values - {value}
        return text_of(*values) if values else NEVER
    if isinstance(value, bool) and isinstance(member, BoolType):
        return _be(member, not value)
    return NEVER if isinstance(member, UndefinedType) else member
