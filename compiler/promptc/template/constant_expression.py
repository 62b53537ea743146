"""Expressions that are no text: YAML's true, false, null and numbers stand for themselves."""

from promptc.template.load_expression import Expression
from promptc.template.place import Place


def constant_expression(value: bool | int | float | None, place: Place) -> Expression:
    """An expression that gives `value` and reads nothing."""
    return Expression(_SHOWN.get(str(value), str(value)), place.span, frozenset(), lambda names: value)


_SHOWN = {"None": "none", "True": "true", "False": "false"}
