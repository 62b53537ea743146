"""Indexes in the form for queries: `open_index` opens a built index, `index_entries` makes one of a list in the state.

Their chunks are in a `ChunkStore`: here in memory (with numpy if there are many), or in PostgreSQL (`postgres.DatabaseStore`).
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heapify, heappop
from itertools import accumulate, pairwise

from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Protocol
from promptc.model.sources import Chunk, Matching
from promptc.sources.retrieval.encoder import BACKGROUNDS, KNOWN, Vector
from promptc.sources.retrieval.scoring import FROM_NONE_TO_ONE, IndexWords, Synonyms, multiply, read_synonyms, weigh_words
from promptc.text.json import render_canonical_json, render_digest

_FIRST = 200
"""The number of rows that are sorted at once; few queries need more."""

BACKGROUND_UNIT = 10_000
"""The whole number that represents a background of one, which no index has: what is left above it is divided by."""

_ROW_BITS = 31
"""The bits of a row in a key that sorts by value and then by row."""

_MANY = 20_000
_MANY_VECTORS = 2_000
"""The numbers of chunks and of vectors from which numpy is worth loading: without it, a product takes a tenth of a millisecond."""

_UNBUILT = "the index `{}` has no vectors: it was built without the extra `[retrieval]`"


@frozen
class Vectors:
    """The vectors of an index.

    `values` has the vectors of all chunks in turn (of each chunk that of its text, then those of its asked lines), then those of the idle
    lines, and after these, if there are any, the direction from idle to asked lines. `middle` is the product with this direction that is
    between both sides. `encoder` and `digest` identify the encoder. `background` is the product of a heading with chunks that it is not
    above, in 1/BACKGROUND_UNIT.
    """

    encoder: str
    digest: str
    size: int
    background: int
    values: array[int]
    middle: int = 0


@frozen(eq=False)
class BuiltIndex:
    """The complete content of an index.

    `config` and `corpus` are digests of what it was made from, and `documents` has the digest of each file. `idle` are lines that no chunk
    answers.
    """

    name: str
    config: str
    corpus: str
    documents: tuple[tuple[str, str], ...]
    chunks: Sequence[Chunk]
    words: IndexWords
    vectors: Vectors | None
    fingerprint: str = ""
    idle: tuple[str, ...] = ()


@frozen(eq=False)
class LoadedIndex:
    """An index in the form for queries.

    `fingerprint` changes with everything that decides an answer. `ideals` are the most that each word can add; `rarest` is that of a word
    that one chunk has, `unseen` that of a word that no chunk has. `weights` are those of words and vectors, as whole numbers. `encoder` is
    the id of the encoder of its vectors, empty if it has none, and `background` is how near a query is to any chunk, in 1/10000. `note`
    says why it has no vectors although they were requested. An index without versions (`has_versions`) answers whatever version is wanted.
    `floor` is the default of a request. `idle` are the lines that no chunk answers, and `idle_vectors` their vectors in turn, then the
    direction from these to asked lines. `middle` is the product with it that is between both sides. `lead` is how much nearer, in
    millionths, a query must be to chunks than to these lines.
    """

    name: str
    fingerprint: str
    store: ChunkStore
    ideals: Mapping[str, int]
    rarest: int
    unseen: int
    synonyms: Synonyms
    weights: tuple[int, int]
    encoder: str = ""
    background: int = 0
    note: str = ""
    has_versions: bool = True
    floor: int = 250_000
    lead: int = 0
    neighbours: int = 0
    idle: tuple[str, ...] = ()
    idle_vectors: array[int] = field(default_factory=lambda: array("h"))
    middle: int = 0


@frozen(eq=False)
class IndexAtHand:
    """An index that can be identified before it is read by `load`.

    `encoder` is the id of the encoder that its queries need; empty if only words count. `is_decided` is False if something other than the
    fingerprint decides its answers: an engine. `hidden` counts elements of its list that are not chunks because the pack does not show
    them. `floor` is the default of a request.
    """

    name: str
    fingerprint: str
    encoder: str
    load: Callable[[], LoadedIndex]
    is_decided: bool = True
    floor: int = 250_000
    hidden: int = 0


class ChunkStore(Protocol):
    """Chunks by row. Rows are places in the order of (version, file as UTF-8, ordinal).

    If a version is given, only its chunks are used. Iterators yield rows until the reader has enough.
    """

    @property
    def count(self) -> int:
        """The number of chunks."""
        ...

    def iter_by_words(self, words: Sequence[str], version: str | None) -> Iterator[int]:
        """Yield the rows that have any of these (distinct) words, the greatest sum of impacts first, then by row."""
        ...

    def iter_by_vector(self, vector: Vector, version: str | None) -> Iterator[int]:
        """Yield all rows, the greatest product of a vector of theirs with `vector` first, then by row. An engine may omit distant rows."""
        ...

    def read_chunks(self, rows: Sequence[int]) -> Sequence[Chunk]:
        """Return the chunks of these rows, in this order."""
        ...

    def list_rows(self, ids: Sequence[str], version: str | None) -> Sequence[int]:
        """Return the first row of each chunk id in ascending order; only those of `version`, if it is given."""
        ...

    def read_impacts(self, words: Sequence[str], rows: Sequence[int]) -> Sequence[Mapping[str, int]]:
        """Return for each of these rows what each of the words adds there, without words that the row does not have."""
        ...

    def read_products(self, vector: Vector, rows: Sequence[int]) -> Sequence[Sequence[int]]:
        """Return for each of these rows the products of its vectors with `vector`: that of its text, then those of its asked lines."""
        ...


def open_index(name: str, matching: Matching, built: BuiltIndex) -> LoadedIndex:
    """Return a built index in the form for queries."""
    words, vectors = built.words, built.vectors
    weights = matching.weights
    asked = bool(weights.vectors and matching.encoder)
    ours = vectors if asked else None
    values, size = (vectors.values, vectors.size) if vectors is not None else (array("h"), 0)
    return LoadedIndex(
        name,
        digest_matching(built.fingerprint, matching),
        make_store(built.chunks, words, values, size),
        {word: words.ideals[number] for word, number in words.numbers.items()},
        max(words.unseen - FROM_NONE_TO_ONE, 0),
        words.unseen,
        read_synonyms(matching.synonyms),
        (weights.words, weights.vectors),
        ours.encoder if ours is not None else "",
        ours.background if ours is not None else 0,
        _UNBUILT.format(name) if asked and ours is None else "",
        floor=matching.floor,
        lead=matching.lead,
        neighbours=matching.neighbours,
        idle=built.idle,
        idle_vectors=values[len(values) - (len(built.idle) + 1) * size :] if ours is not None and built.idle else array("h"),
        middle=ours.middle if ours is not None else 0,
    )


def list_starts(chunks: Sequence[Chunk]) -> array[int]:
    """Return the index of the first vector of each chunk, and at the end the number of vectors of all chunks."""
    return array("I", accumulate((1 + len(chunk.asked) for chunk in chunks), initial=0))


def digest_matching(fingerprint: str, matching: Matching) -> str:
    """Return the fingerprint of an index with its matching, from the fingerprint of the built index."""
    told = [
        fingerprint,
        [matching.weights.words, matching.weights.vectors],
        matching.encoder,
        matching.synonyms,
        matching.floor,
        matching.lead,
        *([matching.neighbours] if matching.neighbours else []),
    ]
    return render_digest(render_canonical_json(told).encode("utf-8", "surrogatepass"))


@frozen
class IndexedItem:
    """An item of the list: its id, its text, and other metadata (the item itself, if it is a mapping)."""

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


def index_entries(
    name: str,
    matching: Matching,
    entries: Sequence[IndexedItem],
    *,
    count: Callable[[str], int],
    encode: Callable[[str], Vector] | None,
) -> LoadedIndex:
    """Return the index of `entries`, one chunk each, in their order.

    `count` returns the tokens of a text; `encode` returns its vector, or is None if the index should have no vectors.
    """
    fingerprint = digest_entries(name, entries)
    made = [Chunk(one.id, "", place, (), (), one.text, count(one.text), one.metadata) for place, one in enumerate(entries)]
    chunks = tuple(sorted(made, key=lambda chunk: (chunk.version, chunk.ordinal)))
    vectors = _encode(chunks, matching.encoder, encode) if encode is not None else None
    return open_index(name, matching, BuiltIndex(name, "", "", (), chunks, weigh_words(chunks), vectors, fingerprint=fingerprint))


def digest_entries(name: str, entries: Sequence[IndexedItem]) -> str:
    """Return a digest of the list: equal lists have equal digests."""
    told = [name, *([one.id, one.text, one.metadata] for one in entries)]
    return render_digest(render_canonical_json(told).encode("utf-8", "surrogatepass"))


def _encode(chunks: Sequence[Chunk], encoder: str, encode: Callable[[str], Vector]) -> Vectors:
    """Encode the chunks. A list has no headings to measure the background by, so the encoder's constant is used."""
    values = array("h")
    for chunk in chunks:
        values.extend(encode(chunk.text))
    return Vectors(encoder, KNOWN.get(encoder, ""), len(values) // max(len(chunks), 1), BACKGROUNDS.get(encoder, 0), values)


def make_store(chunks: Sequence[Chunk], words: IndexWords, vectors: array[int], size: int) -> LocalStore:
    """Return a store of these chunks. numpy is only loaded for many chunks or vectors, as this takes a quarter of a second.

    `vectors` has `size` numbers for each vector of the chunks in turn, and may have more after them.
    """
    if len(chunks) < _MANY and len(vectors) // max(size, 1) < _MANY_VECTORS and "numpy" not in sys.modules:
        return LocalStore(chunks, words, vectors, size)
    try:
        import numpy as np
    except ImportError:
        return LocalStore(chunks, words, vectors, size)
    return _NumpyStore(np, chunks, words, vectors, size)


class LocalStore:
    """Chunks, words and vectors of one index. A vector has `size` numbers; 0 means that there are none. Several threads may read it."""

    def __init__(self, chunks: Sequence[Chunk], words: IndexWords, vectors: array[int], size: int) -> None:
        self._chunks = chunks
        self._words = words
        self._vectors = vectors
        self._size = size
        self._starts = list_starts(chunks) if size else array("I")
        self._versions = [chunk.version for chunk in chunks]

    @property
    def count(self) -> int:
        return len(self._chunks)

    def iter_by_words(self, words: Sequence[str], version: str | None) -> Iterator[int]:
        first, stop = self._range_of(version)
        sums: dict[int, int] = {}
        for start, end in self._iter_stretches(words):
            for place in range(start, end):
                row = self._words.rows[place]
                if first <= row < stop:
                    sums[row] = sums.get(row, 0) + self._words.impacts[place]
        return _iter_least([(-value << _ROW_BITS) + row for row, value in sums.items()])

    def iter_by_vector(self, vector: Vector, version: str | None) -> Iterator[int]:
        first, stop = self._range_of(version) if self._size else (0, 0)
        products = self._multiply(first, stop, vector)
        return _iter_least([(-max(products[place]) << _ROW_BITS) + row for place, row in enumerate(range(first, stop))])

    def read_chunks(self, rows: Sequence[int]) -> Sequence[Chunk]:
        return [self._chunks[row] for row in rows]

    def list_rows(self, ids: Sequence[str], version: str | None) -> Sequence[int]:
        first, stop = self._range_of(version)
        wanted, rows = set(ids), list[int]()
        for row in range(first, stop):
            if self._chunks[row].id in wanted:
                wanted.discard(self._chunks[row].id)
                rows.append(row)
        return rows

    def read_impacts(self, words: Sequence[str], rows: Sequence[int]) -> Sequence[Mapping[str, int]]:
        found: list[dict[str, int]] = [{} for _ in rows]
        for word in words:
            for start, end in self._iter_stretches([word]):
                for place, row in enumerate(rows):
                    at = bisect_left(self._words.rows, row, start, end)
                    if at < end and self._words.rows[at] == row:
                        found[place][word] = self._words.impacts[at]
        return found

    def read_products(self, vector: Vector, rows: Sequence[int]) -> Sequence[Sequence[int]]:
        return [products for row in rows for products in self._multiply(row, row + 1, vector)]

    def _multiply(self, first: int, stop: int, vector: Vector) -> list[list[int]]:
        """Return the products of the rows from `first` up to but excluding `stop`."""
        if first == stop:
            return []
        starts = self._starts[first : stop + 1]
        products = self._multiply_between(starts[0], starts[-1], vector)
        return [products[start - starts[0] : end - starts[0]] for start, end in pairwise(starts)]

    def _multiply_between(self, start: int, end: int, vector: Vector) -> list[int]:
        return multiply(self._vectors[start * self._size : end * self._size], vector)

    def _iter_stretches(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the start and end of the rows of each known word."""
        for word in words:
            number = self._words.numbers.get(word)
            if number is not None:
                yield self._words.ends[number], self._words.ends[number + 1]

    def _range_of(self, version: str | None) -> tuple[int, int]:
        """Return the range of rows of a version, which are adjacent."""
        if version is None:
            return 0, self.count
        return bisect_left(self._versions, version), bisect_right(self._versions, version)


class _NumpyStore(LocalStore):
    """A `LocalStore` that processes all chunks at once with numpy, with the same results."""

    def __init__(self, numpy: Any, chunks: Sequence[Chunk], words: IndexWords, vectors: array[int], size: int) -> None:
        super().__init__(chunks, words, vectors, size)
        self._numpy = numpy
        self._rows = numpy.frombuffer(words.rows, numpy.uint32) if words.rows else numpy.zeros(0, numpy.uint32)
        self._impacts = numpy.frombuffer(words.impacts, numpy.uint32) if words.impacts else numpy.zeros(0, numpy.uint32)
        self._matrix = numpy.frombuffer(vectors, numpy.int16).reshape(-1, max(size, 1)).astype(numpy.float32)

    def iter_by_words(self, words: Sequence[str], version: str | None) -> Iterator[int]:
        first, stop = self._range_of(version)
        sums = self._numpy.zeros(self.count, self._numpy.int64)
        for start, end in self._iter_stretches(words):
            sums[self._rows[start:end]] += self._impacts[start:end]
        rows = self._numpy.flatnonzero(sums[first:stop]) + first
        return self._iter_greatest(sums[rows], rows)

    def iter_by_vector(self, vector: Vector, version: str | None) -> Iterator[int]:
        first, stop = self._range_of(version)
        if not self._matrix.size or first == stop:
            return iter(())
        start, end = self._starts[first], self._starts[stop]
        products = self._matrix[start:end] @ self._numpy.array(vector, self._numpy.float32)
        best = self._numpy.maximum.reduceat(products, self._numpy.array(self._starts[first:stop], self._numpy.intp) - start)
        return self._iter_greatest(best.astype(self._numpy.int64), self._numpy.arange(first, stop))

    def _multiply_between(self, start: int, end: int, vector: Vector) -> list[int]:
        products: list[int] = (self._matrix[start:end] @ self._numpy.array(vector, self._numpy.float32)).astype(self._numpy.int64).tolist()
        return products

    def _iter_greatest(self, values: Any, rows: Any) -> Iterator[int]:
        keys = (-values << _ROW_BITS) + rows
        mask = (1 << _ROW_BITS) - 1
        if len(keys) > _FIRST:
            keys = self._numpy.partition(keys, _FIRST)
            yield from (int(row) for row in self._numpy.sort(keys[:_FIRST]) & mask)
            keys = keys[_FIRST:]
        yield from (int(row) for row in self._numpy.sort(keys) & mask)


def _iter_least(keys: list[int]) -> Iterator[int]:
    """Yield the rows in the low bits of the keys, the least key first."""
    heapify(keys)
    while keys:
        yield heappop(keys) & ((1 << _ROW_BITS) - 1)
