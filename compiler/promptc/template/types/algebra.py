"""Operations on types: join them, narrow them by what a condition proved, take them apart, and match them with a use of the value.

`by_test`, `by_truth` and `by_equal` narrow a type; `part_type` and `element_type` return the type of a part. `Usage` is what a use of a
value accepts. A type is a set of values, and contains every value that is not known to be excluded. The type of a part that may be
undefined has an `UndefinedType` among its members.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Entries
from dataclasses import dataclass, replace
from typing import TypeVar

from promptc.template.types.types import (
    NEVER,
    UNKNOWN_TYPE,
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
    UnionType,
    UnknownType,
    is_sure,
    list_members,
    name_type,
    text_of,
    text_up_to,
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
Key = str | int
_MOST = 40
_MOST_VALUES = 64
Kinds = tuple[type[Type], ...]
SCALARS: Kinds = (TextType, NumberType, BoolType)
ALL: Kinds = (TextType, NumberType, BoolType, NoneType, ListType, MappingType, OpaqueType)
LISTED: Kinds = (ListType, MappingType, OpaqueType)


def knows(test: str) -> bool:
    """Return whether the answer to this test narrows a type."""
    return test in _YES or test in _MAYBE


def by_test(kind: Type, test: str, truth: bool) -> Type:
    """Return the type of the values for which `is test` is `truth`."""
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
    """Return the type of the values that count as true, or as false. Undefined counts as neither: it stops the run."""
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
    """Return the type of the values with at least `count` elements."""
    return map_members(kind, lambda member: _lengthen(member, count))


def _lengthen(member: Type, count: int) -> Type:
    if isinstance(member, NoneType | UndefinedType | NumberType | BoolType):
        return NEVER
    if not isinstance(member, ListType):
        return member
    return NEVER if member.most is not None and member.most < count else replace(member, least=max(member.least, count))


def by_equal(kind: Type, value: object, truth: bool) -> Type:
    """Return the type of the values that are equal to a constant, or of those that are not."""
    return map_members(kind, lambda member: _equal(member, value) if truth else _differ(member, value))


def by_any(kind: Type, values: list[object]) -> Type:
    """Return the type of the values that are equal to one of several constants."""
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


def part_type(kind: Type, key: Key) -> Type:
    """Return the type of `kind.key`, `kind['key']` or `kind[0]`, with an `UndefinedType` if the part may be undefined."""
    found = [_part_of(member, key) for member in list_members(kind)]
    united = join_types(*found)
    return united if is_sure(kind) else weaken(united)


def _part_of(kind: Type, key: Key) -> Type:
    if isinstance(kind, UnknownType | UndefinedType | BlankType):
        return UNKNOWN_TYPE
    if isinstance(kind, MappingType):
        return kind.find(key) if isinstance(key, str) else UndefinedType("closed", str(key), kind.names, "a mapping")
    if isinstance(kind, OpaqueType):
        return kind.find(str(key))
    if isinstance(kind, ListType) and isinstance(key, int):
        return _place_type(kind, key)
    if isinstance(kind, TextType) and isinstance(key, int):
        return weaken(join_types(text_up_to(1), UndefinedType("place", str(key), (), "a string")))
    if isinstance(kind, NoneType):
        return UndefinedType("left_out" if kind.absent else "none", str(key), (), "none", kind.at)
    if isinstance(kind, ListType) and kind.shape == "tuple" and key in ("grouper", "list"):
        return UNKNOWN_TYPE  # pairs from `groupby` have these attributes
    return UndefinedType("unlike", str(key), (), name_type(kind))


def _place_type(listed: ListType, place: int) -> Type:
    if listed.shape == "lazy":
        return UndefinedType("unlike", str(place), (), name_type(listed))
    needed = place + 1 if place >= 0 else -place
    gap = UndefinedType("empty" if needed == 1 else "place", str(place), (), "a list")
    if listed.most is not None and needed > listed.most:
        return gap
    element = listed.first[place] if 0 <= place < len(listed.first) else join_members(listed)
    if needed <= listed.least:
        return element
    found = join_types(element, gap)
    return weaken(found) if listed.loose else found


def any_part_type(kind: Type) -> Type:
    """Return the type of an element with a computed key or index. It does not say whether the element exists."""
    return map_members(kind, _any_part_of)


def _any_part_of(kind: Type) -> Type:
    if isinstance(kind, MappingType):
        return value_type(kind)
    if isinstance(kind, ListType):
        return join_members(kind)
    return text_up_to(1) if isinstance(kind, TextType) else UNKNOWN_TYPE


def value_type(mapping: MappingType) -> Type:
    """Return the type of any value of a mapping."""
    declared = (drop_gap(mapping.find(name)) for name in mapping.names)
    return join_types(*declared, mapping.rest())


def element_type(kind: Type) -> Type:
    """Return the type of the elements of a loop over the value. Members that cannot be looped over add nothing."""
    return map_members(kind, _element_of)


def _element_of(kind: Type) -> Type:
    if isinstance(kind, ListType):
        return join_members(kind)
    if isinstance(kind, MappingType):
        return TextType() if not kind.closed else TextType(values=frozenset(kind.names)) if kind.names else NEVER
    if isinstance(kind, TextType):
        return text_up_to(1)
    return UNKNOWN_TYPE if isinstance(kind, UnknownType) else NEVER


def find_count(kind: Type) -> int | None:
    """Return the most iterations that a loop over the value makes, or None if there is no bound."""
    counts = [_count(member) for member in list_members(kind)]
    known = [count for count in counts if count is not None]
    return max(known, default=0) if len(known) == len(counts) else None


def _count(kind: Type) -> int | None:
    if isinstance(kind, ListType | MappingType):
        return kind.most
    if isinstance(kind, TextType):
        return kind.characters
    return None if isinstance(kind, UnknownType | OpaqueType) else 0


def cut(kind: Type, start: int | None, stop: int | None) -> Type:
    """Return the type of `kind[start:stop]`; a bound that is left out is None."""
    return map_members(kind, lambda member: _cut(member, start, stop))


def _cut(kind: Type, start: int | None, stop: int | None) -> Type:
    limit = _find_limit(start, stop)
    if isinstance(kind, TextType):
        characters = _least(kind.characters, limit)
        size = _least(kind.size, None if limit is None else 4 * limit)
        return TextType(characters, size, None, kind.at)
    if isinstance(kind, ListType):
        first = kind.first[:limit] if not start else ()
        element = kind.element if first == kind.first[: len(first)] and not start else join_members(kind)
        least = min(kind.least, stop) if not start and stop is not None and stop >= 0 else 0
        shape = "list" if kind.shape == "lazy" else kind.shape
        return replace(kind, element=element, first=first, least=least, most=_least(kind.most, limit), shape=shape)
    return UNKNOWN_TYPE


def _find_limit(start: int | None, stop: int | None) -> int | None:
    """Return the most elements that a slice leaves, or None if it sets no limit."""
    if stop is not None and stop >= 0 and (start is None or start >= 0):
        return max(0, stop - (start or 0))
    return -start if start is not None and start < 0 and stop is None else None


def _least(*bounds: int | None) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def drop_gap(kind: Type) -> Type:
    """Return the type of the value if it exists."""
    return map_members(kind, lambda member: NEVER if isinstance(member, UndefinedType) else member)


_Value = TypeVar("_Value")


def join_types(*kinds: Type) -> Type:
    """Return the type of a value of any of the types `kinds`; unknown if it has more than 40 members."""
    sure = all(map(is_sure, kinds))
    members: list[Type] = []
    for kind in kinds:
        for member in list_members(kind):
            _add(members, member)
    if len(members) > _MOST:
        return UNKNOWN_TYPE
    return members[0] if len(members) == 1 and sure else UnionType(tuple(members), sure)


def keep_members(kind: Type, keep: Callable[[Type], bool]) -> Type:
    """Return the type without the members that `keep` refuses."""
    return map_members(kind, lambda member: member if keep(member) else NEVER)


def map_members(kind: Type, change: Callable[[Type], Type]) -> Type:
    """Return the type with each member changed."""
    if not isinstance(kind, UnionType):
        return change(kind)
    found = join_types(*(change(member) for member in kind.members))
    return found if kind.sure else weaken(found)


def meet(known: Type, derived: Type) -> Type:
    """Return what was proved about a part, without what its holder can no longer have since more was proved about the holder."""
    sorts = {type(member) for member in list_members(derived)}
    if not sorts or UnknownType in sorts:
        return known
    if known == UNKNOWN_TYPE:
        return derived
    kept = keep_members(known, lambda member: isinstance(member, UnknownType) or type(member) in sorts)
    return kept if kept != NEVER else known


def weaken(kind: Type) -> Type:
    """Return the type, without the claim that each of its members occurs in some valid state."""
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
    """Return two types as one if nothing that matters is lost, else None."""
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
    """Return the largest bound, or None if any of them is None."""
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


def add_bounds(*bounds: int | None) -> int | None:
    """Return the sum of the bounds, or None if any of them is None."""
    known = [bound for bound in bounds if bound is not None]
    return sum(known) if len(known) == len(bounds) else None


def _join_values(left: frozenset[_Value] | None, right: frozenset[_Value] | None) -> frozenset[_Value] | None:
    if left is None or right is None or len(left | right) > _MOST_VALUES:
        return None
    return left | right


def join_members(listed: ListType) -> Type:
    """Return the type of any element of a list."""
    if listed.most is not None and listed.most <= len(listed.first):
        return join_types(*listed.first[: listed.most])
    return join_types(*listed.first, listed.element)


@dataclass(frozen=True, slots=True)
class Usage:
    """A use of a value: the types it is meant for (`good`), and those that it accepts without failing but makes no sense of (`bears`).

    All other types stop the run. `wants` names the good types in messages. `lazy`: the use accepts lazy sequences. `gap`: it accepts
    undefined values. `none`: it accepts values that read as none because they are left out.
    """

    wants: str
    good: Kinds
    bears: Kinds = ()
    lazy: bool = True
    gap: bool = False
    none: bool = False


ANY = Usage("anything", ALL, gap=True, none=True)
VALUE = Usage("a value", ALL)
ASKED = Usage("a value", ALL, none=True)
PRINTED = Usage("a value that can be printed", (TextType, NumberType, BoolType, NoneType, ListType, MappingType), lazy=False)
ONLY_TEXT = Usage("a string", (TextType,), (NumberType, BoolType, NoneType, ListType, MappingType), lazy=False)
"""A use that works on all that can be printed, but is meant for texts: `upper`."""
STRICT_TEXT = Usage("a string", (TextType,))
"""A use that stops the run for all but texts: `indent`."""
SHOWN_TEXT = Usage("a string", SCALARS, (NoneType, ListType, MappingType), lazy=False)
"""A use that works on all that can be printed, and is meant for numbers and truth values as well as texts: `center`."""
NUMBERS = Usage("a number", (NumberType, BoolType))
PARSED = Usage("a number, or a string that holds one", (NumberType, BoolType, TextType), (NoneType, ListType, MappingType), lazy=False)
SIZED = Usage("a number", (NumberType, BoolType, TextType))
ITERATED = Usage("a list", LISTED, (TextType,))
SEQUENCE = Usage("a list or a string", (*LISTED, TextType))
COUNTED = Usage("a list, a mapping or a string", (ListType, MappingType, TextType, OpaqueType), lazy=False)
MAPPED = Usage("a mapping", (MappingType,))
SLICED = Usage("a list or a string", (ListType, TextType), lazy=False)
PARTED = Usage("a mapping", ALL, lazy=False, none=True)
LIKE_OTHER = "here, since its other side is one"


def like_other(wanted: str, good: Kinds) -> Usage:
    """Return the use of a value whose operator also has a value of the type `wanted`, and takes two of one type."""
    return Usage(f"{wanted} {LIKE_OTHER}", good, lazy=False)


def accepts(member: Type, taker: Usage) -> str:
    """Return `good`, `bears` or `fails` for one member of a type."""
    if isinstance(member, UnknownType | BlankType):
        return "good"
    if isinstance(member, UndefinedType):
        return "good" if taker.gap else "fails"
    if isinstance(member, ListType) and member.shape == "lazy" and not taker.lazy:
        return "fails"
    if isinstance(member, taker.good):
        return "good"
    return "bears" if isinstance(member, taker.bears) else "fails"


def list_failing(kind: Type, taker: Usage) -> tuple[list[Type], list[Type]]:
    """Return the members that stop the run, and those that the use bears but makes no sense of."""
    members = list_members(kind)
    failing = [member for member in members if accepts(member, taker) == "fails"]
    return failing, [member for member in members if accepts(member, taker) == "bears"]
