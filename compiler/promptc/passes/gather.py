"""The one pass that asks sources outside the state: stores of segments, retrieval indexes (language.md §4).

It is asked section by section while they are selected, since what a section asks may depend on the strain tier and on what earlier ones
selected. It reads nothing but through `Sources`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promptc.diag.typed import Any, Protocol
from promptc.model.gathered import Gathered
from promptc.model.section import Section
from promptc.model.source import Retrieve, Segments
from promptc.model.stages import Bound
from promptc.model.store import Store
from promptc.passes.ask_segments import Preference, Wish, ask_segments
from promptc.passes.gather_segments import gather_segments
from promptc.sources.segments.rows import Rows


class Sources(Protocol):
    """What is outside. Every method raises `DiskError` for what cannot be read."""

    def read_segments(self, store: Store, wanted: Sequence[Wish], locales: Sequence[str], version: str | None) -> Rows:
        """The segments for each wish, chosen and in order."""
        ...


def gather(bound: Bound, sources: Sources) -> Gatherer:
    """What gathers for one render of a pack that has stores or indexes."""
    return Gatherer(bound, sources)


class Gatherer:
    """Asks the sources of one render, each question once."""

    def __init__(self, bound: Bound, sources: Sources) -> None:
        self._sources = sources
        self._stores = {store.name: store for store in bound.pack.stores}
        self._rows: dict[tuple[str, tuple[Wish, ...], Preference], Rows] = {}

    def gather(self, section: Section, names: Mapping[str, Any]) -> Gathered:
        """What the section's source gives under these names. Raises `PromptcError`; `DiskError` where a source cannot be read."""
        source = section.items.source if section.items is not None else None
        if isinstance(source, Segments):
            store = self._stores[source.store]
            return gather_segments(section.id, source, store, ask_segments(section.id, source, store, names), self._read)
        assert isinstance(source, Retrieve)
        raise NotImplementedError

    def _read(self, store: Store, wishes: Sequence[Wish], preference: Preference) -> Rows:
        key = (store.name, tuple(wishes), preference)
        if key not in self._rows:
            self._rows[key] = self._sources.read_segments(store, wishes, preference.locales, preference.version)
        return self._rows[key]
