"""The sources of a pack as they are outside: databases and index folders, opened when first asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from threading import Lock

from promptc.diag.frozen import replace
from promptc.frontend.open_corpus import open_corpus
from promptc.frontend.open_store import open_store
from promptc.model.sources import CorpusIndex, StateIndex, Store
from promptc.sources.retrieval.local import LoadedIndex
from promptc.sources.retrieval.retrieve import ChunkQuery, IndexedItem, Retrieved, Retriever
from promptc.sources.segments.rows import Rows
from promptc.sources.segments.store import Read, SegmentStore

Wish = tuple[str, Sequence[str] | None]


class OpenSources:
    """One for a pack; several threads may use it. An index is read once, as the pack itself is; a store at every render."""

    def __init__(self, counter: str, environment: Mapping[str, str]) -> None:
        """`counter` is the digest of the pack's counter, `environment` holds the variables that stores may name."""
        self._counter = counter
        self._environment = dict(environment)
        self._stores: dict[tuple[str, str], SegmentStore] = {}
        self._indexes: dict[tuple[str, str | None], Sequence[LoadedIndex]] = {}
        self._lock = Lock()
        self.retriever = Retriever()

    def open_store(self, store: Store, url: str) -> SegmentStore:
        """As `open_store`, once."""
        with self._lock:
            key = (store.name, url)
            if key not in self._stores:
                self._stores[key] = open_store(store, url, self._environment)
            return self._stores[key]

    def open_corpus(self, index: CorpusIndex, version: str | None) -> Sequence[LoadedIndex]:
        """As `open_corpus`, once."""
        with self._lock:
            key = (index.name, version)
            if key not in self._indexes:
                self._indexes[key] = open_corpus(index, self._counter, version, self._environment)
            return self._indexes[key]

    def find_urls(self, urls: Mapping[str, str]) -> ChosenSources:
        """The sources with these URLs in place of the pack's, by the names of stores."""
        return ChosenSources(self, urls)

    def close(self) -> None:
        """Gives connections back; another read opens them again."""
        for store in self._stores.values():
            store.close()


class ChosenSources:
    """The sources of one render, which sees each store at one moment; to be closed at its end."""

    def __init__(self, opened: OpenSources, urls: Mapping[str, str]) -> None:
        self._opened = opened
        self._urls = urls
        self._held: dict[str, Read] = {}
        self._stack = ExitStack()

    def read_segments(self, store: Store, wanted: Sequence[Wish], locales: Sequence[str], version: str | None) -> Rows:
        """As `SegmentStore.read`; and the errors of `open_store`."""
        if store.name not in self._held:
            self._held[store.name] = self._stack.enter_context(self._opened.open_store(store, self._urls.get(store.name, "")).hold())
        return self._held[store.name](wanted, locales, version)

    def close(self) -> None:
        """Ends what was held of stores."""
        self._stack.close()

    def open_corpus(self, index: CorpusIndex, version: str | None) -> Sequence[LoadedIndex]:
        """As `open_corpus`."""
        return self._opened.open_corpus(index, version)

    def open_entries(self, index: StateIndex, entries: Sequence[IndexedItem], count: Callable[[str], int]) -> LoadedIndex:
        """As `Retriever.open_entries`; what an item may call its version is none of a corpus."""
        return replace(self._opened.retriever.open_entries(index.name, index.matching, entries, count), has_versions=False)

    def ask(self, indexes: Sequence[LoadedIndex], request: ChunkQuery) -> Retrieved:
        """As `Retriever.ask`."""
        return self._opened.retriever.ask(indexes, request)
