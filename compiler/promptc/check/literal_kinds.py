"""The kind of a value that a schema writes down: a constant or a default."""

from promptc.diag.typed import Any
from promptc.template.kinds.kind import NEVER, NOTHING, Kind, List, Number, Truth, make_mapping, text_of


def find_literal(value: Any) -> Kind:
    """The kind of exactly this value."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return Truth(value)
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, int | float):
        return Number(isinstance(value, int), value, value, frozenset({value}))
    if isinstance(value, list):
        return List(NEVER, len(value), len(value), tuple(map(find_literal, value)))
    return make_mapping({str(name): find_literal(part) for name, part in value.items()})
