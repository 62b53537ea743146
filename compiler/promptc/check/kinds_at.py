"""What stands at a JSON pointer, by its kind."""

from promptc.template.types.algebra import find_element, find_part, map_members
from promptc.template.types.types import ListType, Type, UndefinedType


def find_kind_at(kind: Type, pointer: str) -> Type:
    """The kind of what a pointer leads to, with a `Gap` where it may lead nowhere."""
    for part in pointer.split("/")[1:]:
        kind = _step(kind, part.replace("~1", "/").replace("~0", "~"))
    return kind


def _step(kind: Type, part: str) -> Type:
    return map_members(kind, lambda member: _step_in(member, part))


def _step_in(member: Type, part: str) -> Type:
    if isinstance(member, UndefinedType):
        return member
    if isinstance(member, ListType) and part.isdecimal():
        return find_element(member)
    return find_part(member, part)
