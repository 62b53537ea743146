"""What an item was made of: the template, and the part of the state. For reports and tools; no render needs it."""

from collections.abc import Sequence

from promptc.diag.findings import Span
from promptc.diag.typed import Any
from promptc.model.section import Recap, Replace, Section
from promptc.model.state import Pointers
from promptc.passes.act import Entry
from promptc.passes.fit.fit import Fitted
from promptc.passes.fit.ladder import Applied
from promptc.passes.scope import find_names
from promptc.template.compile import Expression, Template


class Origins:
    """Answers for the items of one fitted selection."""

    def __init__(self, fitted: Fitted) -> None:
        self._fitted = fitted
        self._selection = fitted.strained.selection
        self.pointers = Pointers(self._selection.bound.state.value)
        self._sources: dict[str, tuple[Sequence[Any], str | None]] = {}

    def find_template(self, section: Section, entry: Entry) -> Template | None:
        """The template that made the item's text as it stands; None for a message's item, whose content is an expression's value."""
        if entry.is_made:
            step = self.find_making(entry).step
            assert isinstance(step, Recap | Replace)
            return step.template
        if section.items is None:
            return section.text
        return section.items.forms[entry.form] if section.items.message is None else None

    def find_making(self, entry: Entry) -> Applied:
        """The notch that made an item out of others."""
        return next(cut for _, run in self._fitted.iter_runs() for cut in run.applied if cut.act.made is entry.item)

    def find_span(self, section: Section, entry: Entry) -> Span:
        """Where the template, or the message's content, begins."""
        template = self.find_template(section, entry)
        if template is not None:
            return template.place.span
        assert section.items is not None and section.items.message is not None
        return section.items.message.content.span

    def find_pointer(self, section: Section, entry: Entry) -> str | None:
        """The part of the state that is the item's value.

        None where it is none, where the state holds it at several places, and for text or a number that an expression took out of a list.
        """
        if section.items is None or entry.is_made:
            return None
        if section.id not in self._sources:
            self._sources[section.id] = self._find_source(section)
        source, pointer = self._sources[section.id]
        value, unit = entry.item.value, entry.item.unit
        if pointer is None:
            return self.pointers.find(value)
        if 0 <= unit < len(source) and source[unit] is value:
            return f"{pointer}/{unit}"
        return next((f"{pointer}/{place}" for place, one in enumerate(source) if one is value), None)  # a tool's result has its use's unit

    def _find_source(self, section: Section) -> tuple[Sequence[Any], str | None]:
        """The list the section reads, and where it stands if it is one of the state's."""
        assert section.items is not None
        if not isinstance(section.items.source, Expression):
            return (), None
        source: Any = section.items.source.evaluate(find_names(self._selection, section))
        return source or (), self.pointers.find_at(source, section.items.source.reads)
