"""The sources of a pack as they are outside: databases and index folders, opened when first asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median_high
from threading import Lock

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, UsageError, fail, suggest
from promptc.diag.frozen import frozen, replace
from promptc.files.paths import check_pack_path
from promptc.files.reading import find_link
from promptc.frontend.corpora import open_corpus
from promptc.model.pack import PackModel
from promptc.model.sources import CorpusIndex, StateIndex, Store
from promptc.sources.address import read_address
from promptc.sources.retrieval.local import IndexedItem, LoadedIndex
from promptc.sources.retrieval.retrieve import ChunkQuery, Retrieved, Retriever
from promptc.sources.segments.rows import Rows
from promptc.sources.segments.store import Read, SegmentStore

Wish = tuple[str, Sequence[str] | None]


@frozen
class Probed:
    """What is wrong with sources, and for each index over files that can be read the median of its chunks' tokens."""

    found: tuple[Diagnostic, ...]
    medians: Mapping[str, int]


def probe_sources(pack: PackModel, opened: OpenSources, urls: Mapping[str, str]) -> Probed:
    """Opens every store and every index over files, in all its versions. Raises `UsageError` as `check_urls` does."""
    check_urls(pack.stores, urls)
    found: list[Diagnostic] = []
    medians: dict[str, int] = {}
    for store in pack.stores:
        try:
            with opened.open_store(store, urls.get(store.name, "")).hold():
                pass
        except PromptcError as error:
            found += error.diagnostics
    for index in pack.indexes:
        if isinstance(index, CorpusIndex):
            try:
                parts = opened.open_corpus(index, None)
            except PromptcError as error:
                found += error.diagnostics
                continue
            sizes = [chunk.tokens for part in parts for chunk in part.store.read_chunks(range(part.store.count))]
            medians |= {index.name: median_high(sizes)} if sizes else {}
    return Probed(tuple(found), medians)


def check_urls(stores: Sequence[Store], urls: Mapping[str, str]) -> None:
    """`UsageError` (PC0707) for URLs of stores that are not among these."""
    known = [store.name for store in stores]
    unknown = [name for name in urls if name not in known]
    if unknown:
        raise UsageError(Diagnostic("PC0707", f"the pack has no store `{name}`", help=suggest(name, known)) for name in unknown)


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

    def choose(self, urls: Mapping[str, str]) -> ChosenSources:
        """Gives the sources with these URLs in place of the pack's, by the names of stores."""
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


def open_store(store: Store, url: str, environment: Mapping[str, str], *, table: str | None = None) -> SegmentStore:
    """The store at `url`; where that is empty, at the URL in its variable of `environment`, else at that of the manifest.

    A path of the manifest is relative to the pack, any other to the working folder; `table` takes the place of the manifest's. Nothing is
    opened yet. Raises `PromptcError`: PC0167 for what is no URL or table, PC0150 and PC0152 for a manifest's path that leaves the pack;
    `DiskError` (PC0169) where nothing says where the store is.
    """
    given = url or (environment.get(store.url_env, "") if store.url_env else "")
    if given:
        return SegmentStore(read_address(given, store.span), table or store.table, store.span)
    if not store.url:
        message = f"nothing says where the store `{store.name}` is: the variable `{store.url_env}` is not set"
        raise DiskError([Diagnostic("PC0169", message, store.span, f"set it, or give `--store {store.name}=URL`")])
    address = read_address(store.url, store.span)
    if address.kind == "sqlite":
        _check_path(store, address.target)
        address = replace(address, target=str(Path(store.folder, address.target)))
    return SegmentStore(address, table or store.table, store.span)


def _check_path(store: Store, relative: str) -> None:
    """A manifest may come from elsewhere: it names no database outside its pack."""
    wrong = check_pack_path(relative)
    if wrong:
        help = "name a file inside the pack; `--store` and the variable may name any"
        raise fail("PC0150", f"`{relative[:200]}`: {wrong}", store.span, help=help)
    link = find_link(store.folder, relative)
    if link:
        raise fail("PC0152", f"`{relative}`: `{link}` is a link; links are not followed", store.span, help="put the file itself there")
