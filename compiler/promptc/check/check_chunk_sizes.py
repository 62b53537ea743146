"""Sections that retrieve more than they may hold (language.md §4). It needs the indexes themselves, so it is a rule of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.diag.findings import Diagnostic
from promptc.model.section import Retrieve, Section


def check_chunk_sizes(looks: Sequence[Configuration], medians: Mapping[str, int]) -> Iterator[Diagnostic]:
    """PC0660 where the best chunks, were they of middling size, would not go into the section's cap. `medians` are tokens of a chunk, by
    index; of one that is not there nothing is said.
    """
    return merge_configurations(looks, lambda look: _iter_look(look, medians))


def _iter_look(look: Configuration, medians: Mapping[str, int]) -> Iterator[Diagnostic]:
    for section in look.plan.sections:
        source = section.items.source if section.items is not None else None
        cap = _find_cap(section, look)
        if not isinstance(source, Retrieve) or cap is None or not _shows_texts(section):
            continue
        median = max((medians.get(name, 0) for name in source.indexes), default=0)
        if source.top * median > cap and section.budget is not None:
            message = (
                f"`{section.id}` retrieves {source.top} chunks of about {median} tokens, {source.top * median} in all, and may hold {cap}"
            )
            help = f"a `top` of {max(cap // median, 1)}, smaller chunks, or a larger budget"
            yield Diagnostic("PC0660", message, section.budget.span, help, "warn")


def _shows_texts(section: Section) -> bool:
    """A section that only names its chunks is as short as its form."""
    first = section.items.forms[:1] if section.items is not None else ()
    return any({("item",), ("item", "text")} & form.reads for form in first)


def _find_cap(section: Section, look: Configuration) -> int | None:
    cap = section.budget.cap if section.budget is not None else None
    return cap.tokens(look.base.budget.total) if cap is not None and cap.unit != "chars" else None
