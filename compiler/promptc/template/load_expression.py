"""Expressions: a value computed from the names, by Jinja's syntax."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from promptc.diag.span import Span
from promptc.template.place import Place


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression. Evaluating is a pure function of the names; it never changes them, and many threads may evaluate at once.

    `reads`: the paths it reads from the names it is given, e.g. `("item", "type")`.
    """

    text: str
    span: Span
    reads: frozenset[tuple[str, ...]]
    _evaluate: Callable[[Mapping[str, object]], object] = field(repr=False, compare=False)

    def evaluate(self, names: Mapping[str, object]) -> object:
        """The value: plain data, sequences as lists. It may be part of what was given: do not change it. Errors: `PromptcError`."""
        return self._evaluate(names)


def load_expression(text: str, place: Place) -> Expression:
    """Check and compile an expression. Errors: `PromptcError` with all findings."""
    from promptc.template.compile_source import compile_source
    from promptc.template.run_program import build_evaluate

    program = compile_source(text, place, None, expression=True)
    return Expression(text, place.span, program.reads, build_evaluate(program, place))
