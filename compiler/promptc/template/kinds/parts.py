"""What `a.b`, `a[b]`, a slice and a loop over a value give, by its kind."""

from dataclasses import replace

from promptc.template.kinds.kind import (
    NEVER,
    UNKNOWN,
    Blank,
    Gap,
    Kind,
    List,
    Mapping,
    Nothing,
    Number,
    Text,
    Thing,
    Unknown,
    is_sure,
    list_members,
    name_kind,
    text_up_to,
)
from promptc.template.kinds.unite import join, loosen, map_members, unite

Key = str | int


def find_part(kind: Kind, key: Key) -> Kind:
    """`kind.key`, `kind['key']` or `kind[0]`: with a `Gap` where it may be undefined."""
    found = [_find_in(member, key) for member in list_members(kind)]
    united = unite(*found)
    return united if is_sure(kind) else loosen(united)


def _find_in(kind: Kind, key: Key) -> Kind:
    if isinstance(kind, Unknown | Gap | Blank):
        return UNKNOWN
    if isinstance(kind, Mapping):
        return kind.find(key) if isinstance(key, str) else Gap("closed", str(key), kind.names, "a mapping")
    if isinstance(kind, Thing):
        return kind.find(str(key))
    if isinstance(kind, List) and isinstance(key, int):
        return _find_place(kind, key)
    if isinstance(kind, Text) and isinstance(key, int):
        return loosen(unite(text_up_to(1), Gap("place", str(key), (), "a text")))
    if isinstance(kind, Nothing):
        return Gap("left_out" if kind.absent else "none", str(key), (), "none", kind.at)
    if isinstance(kind, List) and kind.shape == "tuple" and key in ("grouper", "list"):
        return UNKNOWN  # what `groupby` gives
    return Gap("unlike", str(key), (), name_kind(kind))


def _find_place(listed: List, place: int) -> Kind:
    if listed.shape == "lazy":
        return Gap("unlike", str(place), (), name_kind(listed))
    needed = place + 1 if place >= 0 else -place
    gap = Gap("empty" if needed == 1 else "place", str(place), (), "a list")
    if listed.most is not None and needed > listed.most:
        return gap
    element = listed.first[place] if 0 <= place < len(listed.first) else join(listed)
    if needed <= listed.least:
        return element
    found = unite(element, gap)
    return loosen(found) if listed.loose else found


def find_any(kind: Kind) -> Kind:
    """What an element may be that is asked for by a computed key or place; whether it is there is not asked."""
    return map_members(kind, _find_any_in)


def _find_any_in(kind: Kind) -> Kind:
    if isinstance(kind, Mapping):
        return find_values(kind)
    if isinstance(kind, List):
        return join(kind)
    return text_up_to(1) if isinstance(kind, Text) else UNKNOWN


def find_values(mapping: Mapping) -> Kind:
    """What any value of a mapping may be."""
    declared = (drop_gap(mapping.find(name)) for name in mapping.names)
    return unite(*declared, mapping.rest())


def find_element(kind: Kind) -> Kind:
    """What a loop over the value goes over; nothing is said about what cannot be looped over."""
    return map_members(kind, _find_element_in)


def _find_element_in(kind: Kind) -> Kind:
    if isinstance(kind, List):
        return join(kind)
    if isinstance(kind, Mapping):
        return Text() if not kind.closed else Text(values=frozenset(kind.names)) if kind.names else NEVER
    if isinstance(kind, Text):
        return text_up_to(1)
    return UNKNOWN if isinstance(kind, Unknown) else NEVER


def find_count(kind: Kind) -> int | None:
    """At most so many turns a loop over the value takes; None without a bound."""
    counts = [_count(member) for member in list_members(kind)]
    known = [count for count in counts if count is not None]
    return max(known, default=0) if len(known) == len(counts) else None


def _count(kind: Kind) -> int | None:
    if isinstance(kind, List | Mapping):
        return kind.most
    if isinstance(kind, Text):
        return kind.characters
    return None if isinstance(kind, Unknown | Thing) else 0


def cut(kind: Kind, start: int | None, stop: int | None) -> Kind:
    """`kind[start:stop]`, where both are known or left out."""
    return map_members(kind, lambda member: _cut(member, start, stop))


def _cut(kind: Kind, start: int | None, stop: int | None) -> Kind:
    limit = _find_limit(start, stop)
    if isinstance(kind, Text):
        characters = _least(kind.characters, limit)
        size = _least(kind.size, None if limit is None else 4 * limit)
        return Text(characters, size, None, kind.at)
    if isinstance(kind, List):
        first = kind.first[:limit] if not start else ()
        element = kind.element if first == kind.first[: len(first)] and not start else join(kind)
        least = min(kind.least, stop) if not start and stop is not None and stop >= 0 else 0
        shape = "list" if kind.shape == "lazy" else kind.shape
        return replace(kind, element=element, first=first, least=least, most=_least(kind.most, limit), shape=shape)
    return UNKNOWN


def _find_limit(start: int | None, stop: int | None) -> int | None:
    """At most so many elements remain."""
    if stop is not None and stop >= 0 and (start is None or start >= 0):
        return max(0, stop - (start or 0))
    return -start if start is not None and start < 0 and stop is None else None


def _least(*bounds: int | None) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def drop_gap(kind: Kind) -> Kind:
    """The kind of the value where it is there."""
    return map_members(kind, lambda member: NEVER if isinstance(member, Gap) else member)


def number_between(least: int, most: int | None) -> Number:
    """A whole number made by a template."""
    return Number(True, least, most)
