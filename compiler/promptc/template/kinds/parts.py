"""What `a.b`, `a[b]`, a slice and a loop over a value give, by its kind."""

from dataclasses import replace

from promptc.template.kinds.unite import join_members, join_types, map_members, weaken
from promptc.template.types.types import (
    NEVER,
    UNKNOWN_TYPE,
    BlankType,
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
    name_type,
    text_up_to,
)

Key = str | int


def find_part(kind: Type, key: Key) -> Type:
    """`kind.key`, `kind['key']` or `kind[0]`: with a `Gap` where it may be undefined."""
    found = [_find_in(member, key) for member in list_members(kind)]
    united = join_types(*found)
    return united if is_sure(kind) else weaken(united)


def _find_in(kind: Type, key: Key) -> Type:
    if isinstance(kind, UnknownType | UndefinedType | BlankType):
        return UNKNOWN_TYPE
    if isinstance(kind, MappingType):
        return kind.find(key) if isinstance(key, str) else UndefinedType("closed", str(key), kind.names, "a mapping")
    if isinstance(kind, OpaqueType):
        return kind.find(str(key))
    if isinstance(kind, ListType) and isinstance(key, int):
        return _find_place(kind, key)
    if isinstance(kind, TextType) and isinstance(key, int):
        return weaken(join_types(text_up_to(1), UndefinedType("place", str(key), (), "a text")))
    if isinstance(kind, NoneType):
        return UndefinedType("left_out" if kind.absent else "none", str(key), (), "none", kind.at)
    if isinstance(kind, ListType) and kind.shape == "tuple" and key in ("grouper", "list"):
        return UNKNOWN_TYPE  # what `groupby` gives
    return UndefinedType("unlike", str(key), (), name_type(kind))


def _find_place(listed: ListType, place: int) -> Type:
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


def find_any(kind: Type) -> Type:
    """What an element may be that is asked for by a computed key or place; whether it is there is not asked."""
    return map_members(kind, _find_any_in)


def _find_any_in(kind: Type) -> Type:
    if isinstance(kind, MappingType):
        return find_values(kind)
    if isinstance(kind, ListType):
        return join_members(kind)
    return text_up_to(1) if isinstance(kind, TextType) else UNKNOWN_TYPE


def find_values(mapping: MappingType) -> Type:
    """What any value of a mapping may be."""
    declared = (drop_gap(mapping.find(name)) for name in mapping.names)
    return join_types(*declared, mapping.rest())


def find_element(kind: Type) -> Type:
    """What a loop over the value goes over; nothing is said about what cannot be looped over."""
    return map_members(kind, _find_element_in)


def _find_element_in(kind: Type) -> Type:
    if isinstance(kind, ListType):
        return join_members(kind)
    if isinstance(kind, MappingType):
        return TextType() if not kind.closed else TextType(values=frozenset(kind.names)) if kind.names else NEVER
    if isinstance(kind, TextType):
        return text_up_to(1)
    return UNKNOWN_TYPE if isinstance(kind, UnknownType) else NEVER


def find_count(kind: Type) -> int | None:
    """At most so many turns a loop over the value takes; None without a bound."""
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
    """`kind[start:stop]`, where both are known or left out."""
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
    """At most so many elements remain."""
    if stop is not None and stop >= 0 and (start is None or start >= 0):
        return max(0, stop - (start or 0))
    return -start if start is not None and start < 0 and stop is None else None


def _least(*bounds: int | None) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def drop_gap(kind: Type) -> Type:
    """The kind of the value where it is there."""
    return map_members(kind, lambda member: NEVER if isinstance(member, UndefinedType) else member)


def number_between(least: int, most: int | None) -> NumberType:
    """A whole number made by a template."""
    return NumberType(True, least, most)
