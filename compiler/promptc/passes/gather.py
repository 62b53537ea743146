"""The one pass that asks sources outside the state: stores of segments, retrieval indexes (language.md §4).

It is asked section by section while they are selected, since what a section asks may depend on the strain tier and on what earlier ones
selected. It reads nothing but through `Sources`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from promptc.diag.typed import Any, Protocol
from promptc.model.section import Retrieve, Section, Segments
from promptc.model.sources import CorpusIndex, StateIndex, Store
from promptc.model.stages import Bound, Gathered
from promptc.passes.ask_segments import Preference, Wish, ask_segments
from promptc.passes.gather_chunks import gather_chunks
from promptc.passes.gather_segments import gather_segments
from promptc.passes.list_entries import list_entries
from promptc.sources.retrieval.local import LoadedIndex
from promptc.sources.retrieval.retrieve import ChunkQuery, IndexedItem, Retrieved
from promptc.sources.segments.rows import Rows

_ROW = 100
"""Steps of judging one row."""


class Sources(Protocol):
    """What is outside. Every method raises `DiskError` for what cannot be read."""

    def read_segments(self, store: Store, wanted: Sequence[Wish], locales: Sequence[str], version: str | None) -> Rows:
        """The segments for each wish, chosen and in order."""
        ...

    def open_corpus(self, index: CorpusIndex, version: str | None) -> Sequence[LoadedIndex]:
        """The index as it lies on disk, in its parts that may hold chunks of the version (None: of all)."""
        ...

    def open_entries(self, index: StateIndex, entries: Sequence[IndexedItem], count: Callable[[str], int]) -> LoadedIndex:
        """The index of a list, which has no versions."""
        ...

    def ask(self, indexes: Sequence[LoadedIndex], request: ChunkQuery) -> Retrieved:
        """The best chunks of all indexes together."""
        ...


def gather(bound: Bound, sources: Sources) -> Gatherer:
    """What gathers for one render of a pack that has stores or indexes."""
    return Gatherer(bound, sources)


class Gatherer:
    """Asks the sources of one render, each question once."""

    def __init__(self, bound: Bound, sources: Sources) -> None:
        self._bound = bound
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
        stamp = f"{self._bound.state.digest} {self._bound.pack.digest}"
        return gather_chunks(section.id, source, names, stamp, open=partial(self._open, source), ask=self._sources.ask)

    def _open(self, source: Retrieve, version: str | None) -> Sequence[LoadedIndex]:
        known = {index.name: index for index in self._bound.pack.indexes}
        return [opened for name in source.indexes for opened in self._open_index(known[name], version)]

    def _open_index(self, index: CorpusIndex | StateIndex, version: str | None) -> Sequence[LoadedIndex]:
        if isinstance(index, CorpusIndex):
            return self._sources.open_corpus(index, version)
        meter = self._bound.meter
        return [self._sources.open_entries(index, list_entries(index, self._bound.names), lambda text: meter.tokens(meter.count(text)))]

    def _read(self, store: Store, wishes: Sequence[Wish], preference: Preference) -> Rows:
        key = (store.name, tuple(wishes), preference)
        if key not in self._rows:
            self._rows[key] = rows = self._sources.read_segments(store, wishes, preference.locales, preference.version)
            texts = sum(len(one.content) for one in rows.rows)
            self._bound.run.pay(_ROW * len(rows.rows) + texts, store.span, f"reading the store `{store.name}`", 4 * texts)
        return self._rows[key]
