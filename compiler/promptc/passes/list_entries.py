"""The items of an index over a list in the state."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.findings import fail
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.section import spell_key
from promptc.model.sources import StateIndex
from promptc.passes.scope import evaluate_key
from promptc.sources.retrieval.retrieve import IndexedItem


def list_entries(index: StateIndex, names: Mapping[str, Any]) -> list[IndexedItem]:
    """The entries in the list's order; what has no text is none. `names` are those of `let`. Raises `PromptcError`: PC0556 for no list."""
    source = index.source.evaluate(names)
    if source is not None and not isinstance(source, list | tuple):
        raise fail("PC0556", f"`from` of the index `{index.name}` must be a list, not {show_value(source)}", index.source.span)
    entries = [_make_entry(index, place, {**names, "item": item}) for place, item in enumerate(source or ())]
    return [entry for entry in entries if entry.text]


def _make_entry(index: StateIndex, place: int, names: Mapping[str, Any]) -> IndexedItem:
    """An item that is a mapping tells more of itself by its keys."""
    id = evaluate_key(index.id, names, f"`id` of the index `{index.name}`") if index.id is not None else None
    item = names["item"]
    return IndexedItem(
        str(place) if id is None else spell_key(id), index.text.render(names).strip(), item if isinstance(item, Mapping) else {}
    )
