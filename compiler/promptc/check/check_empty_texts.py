"""Files of templates that hold nothing, for sections that have content in other cases."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.diag.findings import Diagnostic, Span
from promptc.model.pack import PackModel
from promptc.model.section import Section
from promptc.template.compile import Template
from promptc.text.white import is_blank


def check_empty_texts(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """A section whose whole text is a file of white space in some combinations, and has content in others. `text: ''` is how an author
    says that there is to be none."""
    filled = {section.id for look in looks for section in look.plan.sections if not _is_empty(section)}
    return merge_configurations(looks, lambda look: (_describe(one) for one in look.plan.sections if one.id in filled and _is_empty(one)))


def _is_empty(section: Section) -> bool:
    text = section.text
    return isinstance(text, Template) and not text.place.inline and is_blank(text.text)


def _describe(section: Section) -> Diagnostic:
    assert isinstance(section.text, Template)
    message = f"the template of `{section.id}` is empty here, and other cases give the section content"
    span = Span(section.text.place.span.file, 1, 1)
    return Diagnostic("PC0677", message, span, "write it; if there is to be none, say so: `text: ''`, or `null` for the section", "warn")
