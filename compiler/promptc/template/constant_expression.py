"""Expressions that are no text: YAML's true, false, null and numbers stand for themselves."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.frozen import frozen
from promptc.template.load_expression import Expression
from promptc.template.place import Place


def constant_expression(value: bool | int | float | None, place: Place) -> Expression:
    """An expression that gives `value` and reads nothing."""
    return Expression(_SHOWN.get(str(value), str(value)), place.span, frozenset(), _ConstantValue(value))


@frozen
class _ConstantValue:
    value: bool | int | float | None

    def evaluate(self, names: Mapping[str, object]) -> object:
        """The constant."""
        return self.value


_SHOWN = {"None": "none", "True": "true", "False": "false"}
