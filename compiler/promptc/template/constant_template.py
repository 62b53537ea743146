"""Templates that are no template: a file that stands as it is."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen
from promptc.template.compile import Template
from promptc.template.place import Place


def constant_template(text: str, name: str = "") -> Template:
    """A template that gives `text`, reads nothing and never fails."""
    return Template(text, Place(Span(name, 1, 1), inline=False), frozenset(), _ConstantText(text))


@frozen
class _ConstantText:
    text: str

    def render(self, names: Mapping[str, object]) -> str:
        """The text."""
        return self.text
