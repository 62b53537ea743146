"""The values of a kind, where they are listed."""

from promptc.model.section import spell_key
from promptc.template.types.types import BoolType, NoneType, NumberType, TextType, Type, list_members


def list_values(kind: Type) -> list[str] | None:
    """Every value as a cap of `limit_per` names it; None where there may be others, or none is known."""
    found: list[str] = []
    for member in list_members(kind):
        values = _list_one(member)
        if values is None:
            return None
        found += [spell_key(value) for value in values]
    return found or None


def _list_one(member: Type) -> list[object] | None:
    if isinstance(member, TextType | NumberType):
        return [*sorted(member.values)] if member.values is not None else None
    if isinstance(member, BoolType):
        return [False, True] if member.value is None else [member.value]
    return [None] if isinstance(member, NoneType) else None
