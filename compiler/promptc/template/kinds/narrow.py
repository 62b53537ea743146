"""A kind after a question was answered: the members that can give that answer."""

from collections.abc import Mapping as Entries
from dataclasses import replace

from promptc.template.kinds.kind import (
    NEVER,
    Blank,
    Gap,
    Kind,
    List,
    Mapping,
    Nothing,
    Number,
    Text,
    Thing,
    Truth,
    Unknown,
    list_members,
    text_of,
)
from promptc.template.kinds.unite import map_members

_YES: Entries[str, tuple[type[Kind], ...]] = {
    "defined": (Text, Number, Truth, Nothing, List, Mapping, Thing, Blank, Unknown),
    "none": (Nothing,),
    "string": (Text,),
    "number": (Number, Truth),
    "boolean": (Truth,),
    "mapping": (Mapping,),
    "sequence": (Text, List, Mapping),
    "iterable": (Text, List, Mapping),
}
_MAYBE: Entries[str, tuple[type[Kind], ...]] = {
    "integer": (Number,),
    "float": (Number,),
    "odd": (Number, Truth),
    "even": (Number, Truth),
    "true": (Truth,),
    "false": (Truth,),
    "lower": (Text, Number, Truth, Nothing, List, Mapping),
    "upper": (Text, Number, Truth, Nothing, List, Mapping),
}


def knows(test: str) -> bool:
    """True when an answer to this test says something about the kind."""
    return test in _YES or test in _MAYBE


def by_test(kind: Kind, test: str, truth: bool) -> Kind:
    """The kind where `is test` is `truth`."""
    return map_members(kind, lambda member: _test(member, test, truth))


def _test(member: Kind, test: str, truth: bool) -> Kind:
    if isinstance(member, Unknown) and test != "defined":
        return member
    if test in ("true", "false") and isinstance(member, Truth):
        return _be(member, (test == "true") is truth)
    sure, may = isinstance(member, _YES.get(test, ())), isinstance(member, (Unknown, *_MAYBE.get(test, ())))
    if test == "defined" and isinstance(member, Nothing) and truth:
        return Nothing(False, member.at)
    keep = sure or may if truth else not sure
    return member if keep else NEVER


def _be(member: Truth, value: bool) -> Kind:
    return Truth(value) if member.value in (None, value) else NEVER


def by_truth(kind: Kind, truth: bool) -> Kind:
    """The kind where the value counts as true, or as false. Undefined stops the run."""
    return map_members(kind, lambda member: _true(member) if truth else _false(member))


def _true(member: Kind) -> Kind:
    if isinstance(member, Nothing | Gap | Blank):
        return NEVER
    if isinstance(member, Truth):
        return _be(member, True)
    if isinstance(member, Text) and member.values is not None:
        values = member.values - {""}
        return text_of(*values) if values else NEVER
    if isinstance(member, List):
        return by_least(member, 1)
    return NEVER if isinstance(member, Number) and member.values == frozenset({0}) else member


def _false(member: Kind) -> Kind:
    if isinstance(member, Gap | Thing) or (isinstance(member, List) and (member.shape == "lazy" or member.least > 0)):
        return NEVER
    if isinstance(member, Truth):
        return _be(member, False)
    if isinstance(member, Text):
        return text_of("") if member.values is None or "" in member.values else NEVER
    if isinstance(member, Number):
        return member if member.values is None or 0 in member.values else NEVER
    if isinstance(member, Mapping):
        return NEVER if any(_is_there(member.find(name)) for name in member.names) else member
    return replace(member, most=0, first=()) if isinstance(member, List) else member


def _is_there(kind: Kind) -> bool:
    return not any(isinstance(member, Gap | Unknown) for member in list_members(kind))


def by_least(kind: Kind, count: int) -> Kind:
    """The kind where the value has at least so many elements."""
    return map_members(kind, lambda member: _lengthen(member, count))


def _lengthen(member: Kind, count: int) -> Kind:
    if isinstance(member, Nothing | Gap | Number | Truth):
        return NEVER
    if not isinstance(member, List):
        return member
    return NEVER if member.most is not None and member.most < count else replace(member, least=max(member.least, count))


def by_equal(kind: Kind, value: object, truth: bool) -> Kind:
    """The kind where the value is (or is not) a constant."""
    return map_members(kind, lambda member: _equal(member, value) if truth else _differ(member, value))


def by_any(kind: Kind, values: list[object]) -> Kind:
    """The kind where the value is one of several constants."""
    return map_members(kind, lambda member: _keep_any(member, values)) if values else NEVER


def _keep_any(member: Kind, values: list[object]) -> Kind:
    if all(_equal(member, value) == NEVER for value in values):
        return NEVER
    if isinstance(member, Text):
        words = {value for value in values if isinstance(value, str)}
        return text_of(*(words if member.values is None else words & member.values))
    return member


def _equal(member: Kind, value: object) -> Kind:
    if isinstance(member, Unknown | Blank | Thing):
        return member
    if isinstance(value, str):
        return text_of(value) if isinstance(member, Text) and (member.values is None or value in member.values) else NEVER
    if value is None:
        return member if isinstance(member, Nothing) else NEVER
    return member if isinstance(member, Number | Truth) else NEVER


def _differ(member: Kind, value: object) -> Kind:
    if value is None and isinstance(member, Nothing):
        return NEVER
    if isinstance(value, str) and isinstance(member, Text) and member.values is not None:
        values = member.values - {value}
        return text_of(*values) if values else NEVER
    if isinstance(value, bool) and isinstance(member, Truth):
        return _be(member, not value)
    return NEVER if isinstance(member, Gap) else member
