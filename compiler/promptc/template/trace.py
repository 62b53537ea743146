"""Which part of a template, and which keys of the state, made what it prints."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.template.load_expression import Expression
from promptc.template.load_template import Template
from promptc.template.made import Known, Made, Pointers


def trace_template(template: Template, names: Mapping[str, object], known: Known) -> tuple[Made, ...]:
    """What the template prints, in order: joined, it is what `render` gives. Errors: as `render`."""
    text = template.render(names)
    return (Made(text, template.place, "", template.text, 0, template.text if "{" in template.text else ""),) if text else ()


def trace_expression(expression: Expression, names: Mapping[str, object], known: Known) -> Pointers:
    """The parts of the state that the expression reads. Errors: as `evaluate`."""
    return ()
