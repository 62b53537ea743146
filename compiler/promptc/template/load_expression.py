"""Expressions: a value computed from the names, by Jinja's syntax."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.findings import Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Protocol
from promptc.template.limits import LIMITS, Limits
from promptc.template.place import Place


class Evaluates(Protocol):
    """What is behind an expression: a lowered program, or a constant."""

    def evaluate(self, names: Mapping[str, object]) -> object:
        """The value."""


@frozen
class Expression:
    """A checked expression. Evaluating is a pure function of the names; it never changes them, and many threads may evaluate at once.

    `reads`: the paths it reads from the names it is given, e.g. `("item", "type")`.
    """

    text: str
    span: Span
    reads: frozenset[tuple[str, ...]]
    program: Evaluates = field(repr=False, compare=False)

    def evaluate(self, names: Mapping[str, object]) -> object:
        """The value: plain data, sequences as lists. It may be part of what was given: do not change it. Errors: `PromptcError`."""
        return self.program.evaluate(names)


def load_expression(text: str, place: Place, *, limits: Limits = LIMITS) -> Expression:
    """Check and compile an expression. Errors: `PromptcError` with all findings."""
    from promptc.template.compile_source import compile_source

    compiled = compile_source(text, place, None, expression=True, limits=limits)
    return Expression(text, place.span, compiled.reads, compiled.program)
