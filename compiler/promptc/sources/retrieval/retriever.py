"""Asks indexes, and remembers: encoders that were loaded, vectors of queries, whole answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from threading import Lock

from promptc.diag.frozen import replace
from promptc.diag.typed import Generic, TypeVar
from promptc.model.sources import Matching
from promptc.sources.retrieval.encoder import MissingEncoder, Vector, VectorEncoder, find_encoder
from promptc.sources.retrieval.index_entries import IndexedItem, digest_entries, index_entries
from promptc.sources.retrieval.loaded_index import LoadedIndex
from promptc.sources.retrieval.request import ChunkQuery, Retrieved
from promptc.sources.retrieval.retrieve import Query, retrieve
from promptc.text.guard import find_form

_ANSWERS = 256
_VECTORS = 4096
_LISTS = 16

_Value = TypeVar("_Value")


class Retriever:
    """One for a pack; several threads may use it. What it remembers changes the time taken, never an answer."""

    def __init__(self, find_encoder: Callable[[str], VectorEncoder | MissingEncoder] = find_encoder) -> None:
        self._find_encoder = find_encoder
        self._encoders: dict[str, VectorEncoder | MissingEncoder] = {}
        self._lock = Lock()
        self._vectors: RecentValues[Vector] = RecentValues(_VECTORS)
        self._answers: RecentValues[Retrieved] = RecentValues(_ANSWERS)
        self._lists: RecentValues[LoadedIndex] = RecentValues(_LISTS)

    def ask(self, indexes: Sequence[LoadedIndex], request: ChunkQuery) -> Retrieved:
        """As `retrieve`. The query counts in its normal form: NFC, white space collapsed. Where an encoder's packages are not installed,
        its indexes answer by words alone and `notes` say so.
        """
        request = replace(request, query=" ".join(find_form("NFC", request.query).split()))
        key = _find_key(indexes, request)
        found = self._answers.find(key) if key is not None else None
        if found is None:
            found = self._ask(indexes, request)
            if key is not None:
                self._answers.keep(key, found)
        return found

    def open_entries(self, name: str, matching: Matching, entries: Sequence[IndexedItem], count: Callable[[str], int]) -> LoadedIndex:
        """The index of a list in the state (`index_entries`), made once for equal lists; texts that were encoded before are not again."""
        key = name, matching, digest_entries(name, entries)
        found = self._lists.find(key)
        if found is None:
            found = self._index(name, matching, entries, count)
            self._lists.keep(key, found)
        return found

    def load_encoder(self, name: str) -> VectorEncoder | MissingEncoder:
        """The encoder of that name, loaded once."""
        with self._lock:
            if name not in self._encoders:
                self._encoders[name] = self._find_encoder(name)
            return self._encoders[name]

    def _index(self, name: str, matching: Matching, entries: Sequence[IndexedItem], count: Callable[[str], int]) -> LoadedIndex:
        encoder = self.load_encoder(matching.encoder) if matching.encoder and matching.weights.vectors else None
        if isinstance(encoder, MissingEncoder):
            return replace(index_entries(name, matching, entries, count=count, encode=None), note=encoder.reason)
        encode = partial(self._encode_with, encoder) if encoder is not None else None
        return index_entries(name, matching, entries, count=count, encode=encode)

    def _ask(self, indexes: Sequence[LoadedIndex], request: ChunkQuery) -> Retrieved:
        notes = [index.note for index in indexes if index.note]
        vectors: dict[str, Vector] = {}
        for name in dict.fromkeys(index.encoder for index in indexes if index.encoder and request.query):
            found = self._encode(name, request.query)
            if isinstance(found, MissingEncoder):
                notes.append(found.reason)
            else:
                vectors[name] = found
        return replace(retrieve(indexes, Query(request.query, vectors), request), notes=tuple(dict.fromkeys(notes)))

    def _encode(self, name: str, query: str) -> Vector | MissingEncoder:
        encoder = self.load_encoder(name)
        if isinstance(encoder, MissingEncoder):
            return encoder
        return self._encode_with(encoder, query)

    def _encode_with(self, encoder: VectorEncoder, text: str) -> Vector:
        found = self._vectors.find((encoder.id, text))
        if found is None:
            found = encoder.encode(text)
            self._vectors.keep((encoder.id, text), found)
        return found


class RecentValues(Generic[_Value]):
    """The values that were used last, by key, at most `most` of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Hashable) -> _Value | None:
        """The value kept under `key`, which counts as used now; or None."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def keep(self, key: Hashable, value: _Value) -> None:
        """Keeps it, and forgets what was used longest ago where there is no room."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)


def _find_key(indexes: Sequence[LoadedIndex], request: ChunkQuery) -> Hashable | None:
    """Everything that decides the answer; None where a condition does not say what decides it."""
    conditions = [request.where, *(boost.where for boost in request.boosts)]
    if any(one is not None and not one.key for one in conditions):
        return None
    return tuple(index.fingerprint for index in indexes), request
