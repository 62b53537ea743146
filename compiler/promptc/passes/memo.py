"""Sections as an earlier render selected them, from the same parts of its state."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.section import Items, Section
from promptc.model.stages import Bound, Memory, Selected, Selection
from promptc.passes.layout.layout import Layout
from promptc.passes.layout.section import SectionLayout
from promptc.template.compile import Expression
from promptc.text.guard import Guard

_PLAIN = frozenset((str, int, bool, type(None)))
_ABSENT = object()
"""A key that the state does not have, which templates tell from one that holds null."""

Paid = tuple[Selected, int, int]
"""What was selected, and the steps and bytes that took: recalling it takes as many, so that no memory moves a limit."""


@frozen(eq=False)
class Recalled:
    """A place in the memory: what is there, if anything, and where to note what will be."""

    memory: Memory
    key: Hashable
    objects: tuple[Any, ...]
    found: Paid | None

    def note(self, made: Paid) -> None:
        """Remembers what was selected, and what it took."""
        self.memory.note(self.key, self.objects, made)


def recall_selected(
    bound: Bound, section: Section, guard: Guard, strain: Mapping[str, Any], counts: Mapping[str, int], fences: tuple[str, str]
) -> Recalled | None:
    """Where the selection of `section` is remembered.

    By the section itself, the guard, and every value that its expressions read, plain ones by kind and value, others as objects. None where
    it depends on more: on what other sections hold, on sources, on the total, as where items are trimmed to a share of it.
    """
    memory, items = bound.memory, section.items
    if memory is None or section.id in bound.without:
        return None
    if items is not None and not _is_of_state(items):
        return None
    objects: list[Any] = [section, guard]
    parts: list[Hashable] = [fences]
    for path in memory.make_once(("roots", id(section)), section, _list_roots):
        _add(path, bound.names, strain, counts, parts, objects)
    key = ("selected", id(section), id(guard), *parts)
    return Recalled(memory, key, tuple(objects), memory.find(key))


def _list_roots(section: Section) -> tuple[tuple[str, ...], ...]:
    """What it reads, no further down than the keys of the state."""
    return tuple(sorted({path[:2] if path[0] == "state" else path[:1] for path in section.reads}))


def _is_of_state(items: Items) -> bool:
    """Whether items come of the state alone, whatever the total and the other sections are."""
    trim = items.trim_each
    is_share = trim is not None and trim.to.unit == "share"
    return isinstance(items.source, Expression) and not is_share and not (items.dedupe is not None and items.dedupe.against)


def _add(
    path: tuple[str, ...],
    names: Mapping[str, Any],
    strain: Mapping[str, Any],
    counts: Mapping[str, int],
    parts: list[Hashable],
    objects: list[Any],
) -> None:
    """The value at a path, as far as it is told apart: a key of the state, a name, the tier, a count. Other names are the section's own."""
    root = path[0]
    if root in names:
        value = names[root]
        if len(path) > 1 and isinstance(value, dict):
            value = value.get(path[1], _ABSENT)
        if root == "variant":
            parts.append(tuple(value.items()))
        elif type(value) in _PLAIN:
            parts.append((type(value), value))
        elif type(value) is float:
            parts.append(value.hex())  # 0.0 and -0.0 are equal, and print unlike
        else:
            parts.append(id(value))
            objects.append(value)
    elif root == "strain":
        parts.append(tuple(strain.values()))
    elif root == "selected":
        parts.append(tuple(counts.items()))


def recall_fit(memory: Memory, selection: Selection, selected: Selected, part: int, layout: Layout) -> SectionLayout:
    """As `SectionFit`, with what its pieces come to from the memory where the same items stood in the same layout before."""
    objects: tuple[Any, ...] = (selected.section, selected.items, selected.groups, selection.plan, selection.bound.provider)
    key = ("laid", *map(id, objects), layout.format, selected.open, selected.close, selected.header)
    laid = memory.find(key)
    fit = SectionLayout(selection, selected, part, layout, laid)
    if laid is None:
        memory.note(key, objects, fit.describe())
    return fit
