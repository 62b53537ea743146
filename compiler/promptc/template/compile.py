"""Templates and expressions of a pack, checked: text in, text or value out, nothing else.

`load_template` and `load_expression` check and compile a text; `constant_template` and `constant_expression` need no compiling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from promptc.diag.findings import Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Protocol
from promptc.template.allow import CHAT, LIMITS, Limits
from promptc.template.place import Place

_SHOWN = {"None": "none", "True": "true", "False": "false"}


@frozen
class Template:
    """A checked template. Rendering is a pure function of the names; it never changes them, and many threads may render at once.

    `reads`: the paths it reads from the names it is given, e.g. `("state", "player", "name")`.
    `files`: the texts of the files it brings in, by the names it calls them by; `check` walks them.
    """

    text: str
    place: Place
    reads: frozenset[tuple[str, ...]]
    program: Renders = field(repr=False, compare=False)
    files: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def render(self, names: Mapping[str, object]) -> str:
        """The text. `names` holds plain data, and under `__counter__` the pack's counter. Errors: `PromptcError` with their places."""
        return self.program.render(names)


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


class Renders(Protocol):
    """Renders a template: a lowered program, or a text that stands as it is."""

    def render(self, names: Mapping[str, object]) -> str:
        """The text."""


class Evaluates(Protocol):
    """Evaluates an expression: a lowered program, or a constant."""

    def evaluate(self, names: Mapping[str, object]) -> object:
        """The value."""


def load_template(text: str, place: Place, *, load_file: Callable[[str], str] | None = None, limits: Limits = LIMITS) -> Template:
    """Check and compile a template; `load_file` reads a file it includes, by its name. Errors: `PromptcError` with all findings."""
    from promptc.template.lower.module import compile_source

    compiled = compile_source(text, place, load_file, limits=limits)
    return Template(text, place, compiled.reads, compiled.program, compiled.files)


def load_chat_template(text: str, place: Place, *, limits: Limits = LIMITS) -> Template:
    """Check and compile the chat template of a model, as those who serve it render it. Errors: `PromptcError` with all findings."""
    from promptc.template.lower.module import compile_source

    compiled = compile_source(text, place, None, limits=limits, dialect=CHAT)
    return Template(text, place, compiled.reads, compiled.program, compiled.files)


def load_expression(text: str, place: Place, *, limits: Limits = LIMITS) -> Expression:
    """Check and compile an expression. Errors: `PromptcError` with all findings."""
    from promptc.template.lower.module import compile_source

    compiled = compile_source(text, place, None, expression=True, limits=limits)
    return Expression(text, place.span, compiled.reads, compiled.program)


def list_literals(text: str, place: Place, *, limits: Limits = LIMITS) -> list[tuple[int, str]]:
    """The texts that an expression gives as its author wrote them, alone or as the branch of an `if`, each with its place. Errors:
    `PromptcError` with all findings.
    """
    from jinja2 import nodes

    from promptc.template.parse import parse

    pending: list[nodes.Node] = [parse(text, "", place, limits, expression=True).body[0].nodes[0]]  # type: ignore[attr-defined]
    found: list[tuple[int, str]] = []
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.CondExpr):
            pending += [one for one in (node.expr1, node.expr2) if one is not None]
        elif isinstance(node, nodes.Const) and isinstance(node.value, str):
            found.append((node.lineno - 1, node.value))
    return sorted(found)


def constant_template(text: str, name: str = "") -> Template:
    """A template that gives `text`, reads nothing and never fails."""
    return Template(text, Place(Span(name, 1, 1), inline=False), frozenset(), _ConstantText(text))


@frozen
class _ConstantText:
    text: str

    def render(self, names: Mapping[str, object]) -> str:
        """The text."""
        return self.text


def constant_list(values: list[dict[str, Any]], place: Place) -> Expression:
    """An expression that gives these values. No text of it is written, so nothing is known of them but that."""
    return Expression("none", place.span, frozenset(), _ConstantValue(values))


def constant_expression(value: bool | int | float | None, place: Place) -> Expression:
    """An expression that gives `value` and reads nothing."""
    return Expression(_SHOWN.get(str(value), str(value)), place.span, frozenset(), _ConstantValue(value))


@frozen
class _ConstantValue:
    value: bool | int | float | list[dict[str, Any]] | None

    def evaluate(self, names: Mapping[str, object]) -> object:
        """The constant."""
        return self.value
