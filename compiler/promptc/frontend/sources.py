"""The sources of a pack outside its files: databases, and indexes over files, opened on first use.

`OpenSources` opens each source once, for any number of renders, and consults the cache first. `locate_store` determines where a store is.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, UsageError, fail, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Protocol, TypeVar
from promptc.files.reading import check_pack_path, find_link
from promptc.model.pack import PackModel
from promptc.model.sources import Chunk, CorpusIndex, Matching, StateIndex, Store
from promptc.sources.address import Address, read_address
from promptc.sources.kept import KeptCorpus, KeptPart, KeptSegments, KeptSources, LostEncoderError
from promptc.sources.retrieval.local import IndexAtHand, IndexedItem, LoadedIndex, digest_entries, digest_matching, open_index
from promptc.sources.retrieval.retrieve import ChunkQuery, Retrieved, Retriever
from promptc.sources.segments import Rows

Wish = tuple[str, Sequence[str] | None]
_Answer = TypeVar("_Answer")
_MOST_STORES = 64
"""The most stores that stay open: a process may receive another URL for every render."""

_MOST_CORPORA = 32
"""The most indexes over files that stay in memory, one for each version: a state may name any version."""


class _Held(Protocol):
    """A snapshot of a store: `segment_store.HeldStore`."""

    @property
    def is_told_by_its_file(self) -> bool: ...
    def read(self, wanted: Sequence[Wish], locales: Sequence[str], version: str | None) -> Rows: ...
    def list_refs(self, scope: str) -> tuple[str, ...] | None: ...


@frozen
class StorePlace:
    """The address and table of a store's segments, and the place in the manifest that names the store."""

    address: Address
    table: str
    span: Span


class OpenedStore:
    """A store that is opened when it is first read."""

    def __init__(self, place: StorePlace) -> None:
        self._place = place
        self._store: Any = None

    def hold(self) -> AbstractContextManager[_Held]:
        """Return a context manager for a snapshot of the store, valid until it exits. Raises as `SegmentStore.hold` does."""
        if self._store is None:
            from promptc.sources.segment_store import SegmentStore  # late: cached answers need no database

            self._store = SegmentStore(self._place.address, self._place.table, self._place.span)
        held: AbstractContextManager[_Held] = self._store.hold()
        return held

    def find_kept(self, kept: KeptSources) -> KeptSegments | None:
        """Return the cached content of the store in its present state.

        Returns None for a server, and for a file whose bytes do not determine its content.
        """
        if self._place.address.kind != "sqlite":
            return None
        return kept.open_segments(os.path.realpath(self._place.address.target), self._place.table)

    def close(self) -> None:
        """Close the connections. Another read opens them again."""
        if self._store is not None:
            self._store.close()


class OpenSources:
    """The opened sources of one pack. Thread-safe without `kept`.

    An index is read once, like the pack itself; a store is read at every render.
    """

    def __init__(self, counter: str, environment: Mapping[str, str], kept: KeptSources | None = None) -> None:
        """Initialize without opening anything.

        `counter` is the digest of the pack's counter, and `environment` has the variables that stores may name. With `kept`, cached content
        is not read again, and only one thread may use the sources at a time.
        """
        self._counter = counter
        self._environment = dict(environment)
        self._stores: dict[tuple[str, str], OpenedStore] = {}
        self._indexes: dict[tuple[str, str | None], Sequence[IndexAtHand]] = {}
        self._lock = allocate_lock()
        self.kept = kept
        self.retriever = Retriever(kept.load_encoder) if kept is not None else Retriever()

    def open_store(self, store: Store, url: str) -> OpenedStore:
        """Return the store that `locate_store` finds. It is opened once for each URL."""
        with self._lock:
            key = (store.name, url)
            if key not in self._stores:
                self._stores[key] = OpenedStore(locate_store(store, url, self._environment))
            if len(self._stores) > _MOST_STORES:
                self._stores.pop(next(iter(self._stores))).close()
            return self._stores[key]

    def open_corpus(self, index: CorpusIndex, version: str | None) -> Sequence[IndexAtHand]:
        """Return the indexes of `corpus.open_corpus`, located once for each version. Each is read when it is first queried."""
        with self._lock:
            key = (index.name, version)
            if key not in self._indexes:
                self._indexes[key] = self._open_corpus(index, version)
            if len(self._indexes) > _MOST_CORPORA:
                del self._indexes[next(iter(self._indexes))]
            return self._indexes[key]

    def choose(self, urls: Mapping[str, str], *, is_kept: bool = True) -> ChosenSources:
        """Return the sources of one render. `urls` replace the URLs of the pack, by the names of stores.

        Without `is_kept`, stores are read even if the cache has their content.
        """
        if self.kept is not None:
            self.kept.tally.clear()
        return ChosenSources(self, urls, is_kept=is_kept)

    def describe_kept(self) -> dict[str, dict[str, int]] | None:
        """Return by kind how much of the last render came from the cache, or None if there is no cache."""
        return self.kept.tally.describe() if self.kept is not None else None

    def ask(self, indexes: Sequence[IndexAtHand], request: ChunkQuery) -> Retrieved:
        """Return the best chunks of the indexes (`Retriever.ask`). The indexes are not read if the answer is cached."""
        kept = self.kept if all(one.is_decided for one in indexes) else None
        key = kept.digest_question([(one.fingerprint, one.encoder) for one in indexes], request) if kept is not None else None
        found = kept.find_answer(key) if kept is not None and key is not None else None
        if found is None:
            found = self._ask(indexes, request)
            if kept is not None and key is not None:
                kept.note_answer(key, found)
        return found

    def close(self) -> None:
        """Close the connections and store new content in the cache. Another read opens the connections again."""
        for store in self._stores.values():
            store.close()
        if self.kept is not None:
            self.kept.keep()

    def _ask(self, indexes: Sequence[IndexAtHand], request: ChunkQuery) -> Retrieved:
        try:
            return self.retriever.ask([one.load() for one in indexes], request)
        except LostEncoderError:
            self.retriever = Retriever()
            return self.retriever.ask([one.load() for one in indexes], request)

    def _open_corpus(self, index: CorpusIndex, version: str | None) -> Sequence[IndexAtHand]:
        kept = self.kept.open_corpus(index, version) if self.kept is not None and index.engine is None else None
        parts = kept.find() if kept is not None else None
        if kept is None or parts is None:
            return [_hold(one, index) for one in self._read_corpus(index, version, kept)]
        return [
            IndexAtHand(
                index.name,
                digest_matching(part.fingerprint, index.matching),
                _name_encoder(index.matching),
                _once(partial(self._load_part, index, version, kept, part)),
                floor=index.matching.floor,
            )
            for part in parts
        ]

    def _load_part(self, index: CorpusIndex, version: str | None, kept: KeptCorpus, part: KeptPart) -> LoadedIndex:
        built = kept.find_index(part)
        if self.kept is not None:
            self.kept.tally.count("indexes", is_kept=built is not None)
        if built is not None:
            return open_index(index.name, index.matching, built)
        fingerprint = digest_matching(part.fingerprint, index.matching)
        found = [one for one in self._read_corpus(index, version, kept) if one.fingerprint == fingerprint]
        if not found:
            message = f"the index `{index.name}` was rebuilt while it was read"
            raise DiskError([Diagnostic("PC0192", message, index.span, "try again")])
        return found[0]

    def _read_corpus(self, index: CorpusIndex, version: str | None, kept: KeptCorpus | None) -> Sequence[LoadedIndex]:
        from promptc.frontend import corpus  # late: cached content does not need the code that reads documents

        return corpus.open_corpus(index, self._counter, version, self._environment, kept)


def _hold(loaded: LoadedIndex, index: CorpusIndex) -> IndexAtHand:
    return IndexAtHand(loaded.name, loaded.fingerprint, _name_encoder(index.matching), lambda: loaded, index.engine is None, loaded.floor)


def _name_encoder(matching: Matching) -> str:
    return matching.encoder if matching.weights.vectors else ""


def _once(load: Callable[[], LoadedIndex]) -> Callable[[], LoadedIndex]:
    loaded: list[LoadedIndex] = []

    def give() -> LoadedIndex:
        if not loaded:
            loaded.append(load())
        return loaded[0]

    return give


class MovedError(Exception):
    """A store changed between the caching of its content and a read. The render must be repeated without cached content."""


class ChosenSources:
    """The sources of one render. Each store is seen in one snapshot. Must be closed at the end of the render."""

    def __init__(self, opened: OpenSources, urls: Mapping[str, str], *, is_kept: bool) -> None:
        self._opened = opened
        self._urls = urls
        self._is_kept = is_kept
        self._held: dict[str, _StoreAtOneMoment] = {}
        self._stack = ExitStack()

    def read_segments(self, store: Store, wanted: Sequence[Wish], locales: Sequence[str], version: str | None) -> Rows:
        """Return the segments for each wish (`SegmentStore.read`), from one snapshot for the whole render. Raises as `open_store` too."""
        question = "rows", tuple((scope, tuple(refs) if refs is not None else None) for scope, refs in wanted), tuple(locales), version
        return self._hold(store).ask(question, lambda held: held.read(wanted, locales, version))

    def list_refs(self, store: Store, scope: str) -> tuple[str, ...] | None:
        """Return the refs of a scope's rows (`SegmentStore.list_refs`), from the same snapshot, or None."""
        return self._hold(store).ask(("refs", scope), lambda held: held.list_refs(scope))

    def _hold(self, store: Store) -> _StoreAtOneMoment:
        if store.name not in self._held:
            kept = self._opened.kept if self._is_kept else None
            opened = self._opened.open_store(store, self._urls.get(store.name, ""))
            self._held[store.name] = _StoreAtOneMoment(opened, self._stack, kept)
        return self._held[store.name]

    def close(self) -> None:
        """Release the snapshots of stores, and store what was read in the cache."""
        self._stack.close()
        for held in self._held.values():
            held.keep()

    def open_corpus(self, index: CorpusIndex, version: str | None) -> Sequence[IndexAtHand]:
        """Return the indexes of a corpus (`OpenSources.open_corpus`)."""
        return self._opened.open_corpus(index, version)

    def open_entries(self, index: StateIndex, entries: Sequence[IndexedItem], count: Callable[[str], int]) -> IndexAtHand:
        """Return the index of a list in the state (`Retriever.open_entries`), built when it is first queried.

        A `version` in an item is not the version of a corpus, so the index has no versions.
        """
        fingerprint = digest_matching(digest_entries(index.name, entries), index.matching)
        opened = self._opened

        def load() -> LoadedIndex:
            return replace(opened.retriever.open_entries(index.name, index.matching, entries, count), has_versions=False)

        return IndexAtHand(index.name, fingerprint, _name_encoder(index.matching), load, floor=index.matching.floor)

    def ask(self, indexes: Sequence[IndexAtHand], request: ChunkQuery) -> Retrieved:
        """Return the best chunks of the indexes (`OpenSources.ask`)."""
        return self._opened.ask(indexes, request)


class _StoreAtOneMoment:
    """One render's view of a store.

    The store is opened at the first question whose answer is not cached. It must then be unchanged since the answers were cached.
    """

    def __init__(self, store: OpenedStore, stack: ExitStack, kept: KeptSources | None) -> None:
        self._store = store
        self._stack = stack
        self._tally = kept.tally if kept is not None else None
        self._kept = store.find_kept(kept) if kept is not None else None
        self._live: _Held | None = None

    def ask(self, question: Any, read: Callable[[_Held], _Answer]) -> _Answer:
        answer: _Answer | None = self._kept.find(question) if self._kept is not None else None
        if self._tally is not None:
            self._tally.count("segments", is_kept=answer is not None)
        if answer is not None:
            return answer
        made = read(self._open())
        if self._kept is not None and made is not None:
            self._kept.note(question, made)
        return made

    def keep(self) -> None:
        if self._kept is not None:
            self._kept.keep()

    def _open(self) -> _Held:
        if self._live is None:
            self._live = self._stack.enter_context(self._store.hold())
            if self._kept is not None and not (self._live.is_told_by_its_file and self._kept.is_still()):
                if self._kept.is_used:
                    raise MovedError
                self._kept = None
        return self._live


def locate_store(store: Store, url: str, environment: Mapping[str, str], *, table: str | None = None) -> StorePlace:
    """Return the place of a store: `url`, or else the URL in its variable of `environment`, or else that of the manifest.

    A path in the manifest is relative to the pack, any other path to the working folder. `table` overrides the manifest's table. Raises
    `PromptcError` for an invalid URL (PC0167) or a manifest's path that leaves the pack (PC0150, PC0152), and `DiskError` (PC0169) if no
    URL is given anywhere.
    """
    given = url or (environment.get(store.url_env, "") if store.url_env else "")
    if given:
        return StorePlace(read_address(given, store.span), table or store.table, store.span)
    if not store.url:
        message = f"the store `{store.name}` has no URL: the environment variable `{store.url_env}` is not set"
        raise DiskError([Diagnostic("PC0169", message, store.span, f"set it to the URL of the store, or give `--store {store.name}=URL`")])
    address = read_address(store.url, store.span)
    if address.kind == "sqlite":
        _check_path(store, address.target)
        address = replace(address, target=os.path.join(store.folder, address.target))
    return StorePlace(address, table or store.table, store.span)


def _check_path(store: Store, relative: str) -> None:
    """Refuse a database outside the pack, because a manifest may come from elsewhere."""
    wrong = check_pack_path(relative)
    if wrong:
        help = "name a file inside the pack; `--store` and the variable may name any"
        raise fail("PC0150", f"`{relative[:200]}`: {wrong}", store.span, help=help)
    link = find_link(store.folder, relative)
    if link:
        raise fail(
            "PC0152",
            f"`{relative}`: `{link}` is a symbolic link, and promptc does not follow links",
            store.span,
            help="replace the link with the file",
        )


def check_urls(stores: Sequence[Store], urls: Mapping[str, str]) -> None:
    """Raise `UsageError` (PC0707) if `urls` has names that are not among these stores."""
    known = [store.name for store in stores]
    unknown = [name for name in urls if name not in known]
    if unknown:
        raise UsageError(Diagnostic("PC0707", f"the pack has no store `{name}`", help=suggest(name, known)) for name in unknown)


@frozen
class Probed:
    """The errors of sources, and the median token count of the chunks of each readable index over files."""

    found: tuple[Diagnostic, ...]
    medians: Mapping[str, int]


def _list_chunks(index: LoadedIndex) -> Sequence[Chunk]:
    return index.store.read_chunks(range(index.store.count))


def probe_sources(pack: PackModel, opened: OpenSources, urls: Mapping[str, str]) -> Probed:
    """Return the errors found by opening every store and every index over files, in all its versions.

    Raises `UsageError` as `check_urls` does.
    """
    from statistics import median_high  # late: renders do not need it

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
            sizes = [chunk.tokens for part in parts for chunk in _list_chunks(part.load())]
            medians |= {index.name: median_high(sizes)} if sizes else {}
    return Probed(tuple(found), medians)
