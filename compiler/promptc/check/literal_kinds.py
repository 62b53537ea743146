"""The kind of a value that a schema writes down: a constant or a default."""

from promptc.diag.typed import Any
from promptc.template.types.types import NEVER, NONE_TYPE, BoolType, ListType, NumberType, Type, make_mapping, text_of


def find_literal(value: Any) -> Type:
    """The kind of exactly this value."""
    if value is None:
        return NONE_TYPE
    if isinstance(value, bool):
        return BoolType(value)
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, int | float):
        return NumberType(isinstance(value, int), value, value, frozenset({value}))
    if isinstance(value, list):
        return ListType(NEVER, len(value), len(value), tuple(map(find_literal, value)))
    return make_mapping({str(name): find_literal(part) for name, part in value.items()})
