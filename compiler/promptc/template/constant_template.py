"""Templates that are no template: a file that stands as it is."""

from promptc.diag.span import Span
from promptc.template.load_template import Template
from promptc.template.place import Place


def constant_template(text: str, name: str = "") -> Template:
    """A template that gives `text`, reads nothing and never fails."""
    return Template(text, Place(Span(name, 1, 1), inline=False), frozenset(), lambda names: text)
