"""Templates and expressions by Jinja itself."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

_JINJA = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined, autoescape=False)


def render_text(text: str, names: Mapping[str, Any]) -> str:
    """An inline template, or a template file's text."""
    return _load(text).render(names)


def evaluate(expression: Any, names: Mapping[str, Any]) -> Any:
    """An expression; numbers and booleans stand for themselves."""
    return _compile(expression)(**names) if isinstance(expression, str) else expression


@cache
def _load(text: str) -> Template:
    return _JINJA.from_string(text)


@cache
def _compile(expression: str) -> Any:
    return _JINJA.compile_expression(expression, undefined_to_none=False)
