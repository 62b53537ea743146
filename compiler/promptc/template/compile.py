"""Checked templates and expressions of a pack: pure functions from names to a text or a value.

`load_template` and `load_expression` check and compile a text. `constant_template` and `constant_expression` need no compilation.
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
    """A checked template. Rendering is a pure function of the names: it never changes them, and many threads may render at once.

    `reads`: the paths that the template reads from its names, e.g. `("state", "player", "name")`.
    `files`: the texts of the files that the template includes, imports or extends, keyed by the names it uses for them; `check` walks them.
    """

    text: str
    place: Place
    reads: frozenset[tuple[str, ...]]
    program: Renders = field(repr=False, compare=False)
    files: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def render(self, names: Mapping[str, object]) -> str:
        """Return the rendered text.

        `names` contains plain data, and the pack's counter under `__counter__`. Raises `PromptcError` with the place of each error.
        """
        return self.program.render(names)


@frozen
class Expression:
    """A checked expression. Evaluating is a pure function of the names: it never changes them, and many threads may evaluate at once.

    `reads`: the paths that the expression reads from its names, e.g. `("item", "type")`.
    """

    text: str
    span: Span
    reads: frozenset[tuple[str, ...]]
    program: Evaluates = field(repr=False, compare=False)

    def evaluate(self, names: Mapping[str, object]) -> object:
        """Return the value as plain data, with sequences as lists.

        The value may be a part of `names`, so callers must not change it. Raises `PromptcError`.
        """
        return self.program.evaluate(names)


class Renders(Protocol):
    """An object that renders a template: a lowered program, or a constant text."""

    def render(self, names: Mapping[str, object]) -> str:
        """Return the rendered text."""


class Evaluates(Protocol):
    """An object that evaluates an expression: a lowered program, or a constant."""

    def evaluate(self, names: Mapping[str, object]) -> object:
        """Return the value."""


def load_template(text: str, place: Place, *, load_file: Callable[[str], str] | None = None, limits: Limits = LIMITS) -> Template:
    """Check and compile a template; `load_file` returns the text of an included file by name. Raises `PromptcError` with all findings."""
    from promptc.template.lower.module import compile_source

    compiled = compile_source(text, place, load_file, limits=limits)
    return Template(text, place, compiled.reads, compiled.program, compiled.files)


def load_chat_template(text: str, place: Place, *, limits: Limits = LIMITS) -> Template:
    """Check and compile a model's chat template, to render it as inference servers do. Raises `PromptcError` with all findings."""
    from promptc.template.lower.module import compile_source

    compiled = compile_source(text, place, None, limits=limits, dialect=CHAT)
    return Template(text, place, compiled.reads, compiled.program, compiled.files)


def load_expression(text: str, place: Place, *, limits: Limits = LIMITS) -> Expression:
    """Check and compile an expression. Raises `PromptcError` with all findings."""
    from promptc.template.lower.module import compile_source

    compiled = compile_source(text, place, None, expression=True, limits=limits)
    return Expression(text, place.span, compiled.reads, compiled.program)


def list_literals(text: str, place: Place, *, limits: Limits = LIMITS) -> list[tuple[int, str]]:
    """Return the string literals that an expression may evaluate to: the whole expression, or a branch of an `if`.

    Each comes with its position (characters before it), in that order. Raises `PromptcError` with all findings.
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
    """Return a template that renders `text`, reads nothing and never fails."""
    return Template(text, Place(Span(name, 1, 1), inline=False), frozenset(), _ConstantText(text))


@frozen
class _ConstantText:
    text: str

    def render(self, names: Mapping[str, object]) -> str:
        """Return the text."""
        return self.text


def constant_list(values: list[dict[str, Any]], place: Place) -> Expression:
    """Return an expression that evaluates to these values. The values have no source text: the expression's `text` is `none`."""
    return Expression("none", place.span, frozenset(), _ConstantValue(values))


def constant_expression(value: bool | int | float | None, place: Place) -> Expression:
    """Return an expression that evaluates to `value` and reads nothing."""
    return Expression(_SHOWN.get(str(value), str(value)), place.span, frozenset(), _ConstantValue(value))


@frozen
class _ConstantValue:
    value: bool | int | float | list[dict[str, Any]] | None

    def evaluate(self, names: Mapping[str, object]) -> object:
        """Return the constant."""
        return self.value
