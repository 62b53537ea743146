"""A section to be fitted, whose pieces an earlier render laid."""

from promptc.diag.typed import Any
from promptc.model.stages import Memory, Selected, Selection
from promptc.passes.layout.layout import Layout
from promptc.passes.layout.section import SectionLayout


def recall_fit(memory: Memory, selection: Selection, selected: Selected, part: int, frame: Layout) -> SectionLayout:
    """As `SectionFit`, with what its pieces come to from the memory where the same items stood in the same frame before."""
    objects: tuple[Any, ...] = (selected.section, selected.items, selected.groups, selection.plan, selection.bound.provider)
    key = ("laid", *map(id, objects), frame.format, selected.open, selected.close, selected.header)
    laid = memory.find(key)
    fit = SectionLayout(selection, selected, part, frame, laid)
    if laid is None:
        memory.note(key, objects, fit.describe())
    return fit
