"""Who takes what: whether a use of a value suits its kind."""

from dataclasses import dataclass

from promptc.template.types.types import (
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
)

Kinds = tuple[type[Type], ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """A use of a value: the kinds it is meant for, those it bears without failing though it makes no sense of them, and how that is said.

    All other kinds stop the run. `lazy`: it takes what is not made yet; `gap`: what is undefined; `none`: what reads as none.
    """

    wants: str
    good: Kinds
    bears: Kinds = ()
    lazy: bool = True
    gap: bool = False
    none: bool = False


SCALARS: Kinds = (TextType, NumberType, BoolType)
ALL: Kinds = (TextType, NumberType, BoolType, NoneType, ListType, MappingType, OpaqueType)
LISTED: Kinds = (ListType, MappingType, OpaqueType)

ANY = Usage("anything", ALL, gap=True, none=True)
VALUE = Usage("a value", ALL)
ASKED = Usage("a value", ALL, none=True)
PRINTED = Usage("a value that can be printed", (TextType, NumberType, BoolType, NoneType, ListType, MappingType), lazy=False)
ONLY_TEXT = Usage("a text", (TextType,), (NumberType, BoolType, NoneType, ListType, MappingType), lazy=False)
STRICT_TEXT = Usage("a text", (TextType,))
SHOWN_TEXT = Usage("a text", SCALARS, (NoneType, ListType, MappingType), lazy=False)
NUMBERS = Usage("a number", (NumberType, BoolType))
PARSED = Usage("a number, or a text that holds one", (NumberType, BoolType, TextType), (NoneType, ListType, MappingType), lazy=False)
SIZED = Usage("a number", (NumberType, BoolType, TextType))
ITERATED = Usage("a list", LISTED, (TextType,))
SEQUENCE = Usage("a list or a text", (*LISTED, TextType))
COUNTED = Usage("a list, a mapping or a text", (ListType, MappingType, TextType, OpaqueType), lazy=False)
MAPPED = Usage("a mapping", (MappingType,))
SLICED = Usage("a list or a text", (ListType, TextType), lazy=False)
PARTED = Usage("a mapping", ALL, lazy=False, none=True)


def accepts(member: Type, taker: Usage) -> str:
    """`good`, `bears` or `fails`, for one member of a kind."""
    if isinstance(member, UnknownType | BlankType):
        return "good"
    if isinstance(member, UndefinedType):
        return "good" if taker.gap else "fails"
    if isinstance(member, ListType) and member.shape == "lazy" and not taker.lazy:
        return "fails"
    if isinstance(member, taker.good):
        return "good"
    return "bears" if isinstance(member, taker.bears) else "fails"


def find_failing(kind: Type, taker: Usage) -> tuple[list[Type], list[Type]]:
    """The members that stop the run, and those that make no sense to it."""
    members = list_members(kind)
    failing = [member for member in members if accepts(member, taker) == "fails"]
    return failing, [member for member in members if accepts(member, taker) == "bears"]
