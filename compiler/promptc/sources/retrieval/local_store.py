"""The store in memory. With numpy it is faster; the rows and their order are the same without, since all numbers are whole."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop
from operator import mul

from promptc.diag.typed import Any
from promptc.model.sources import Chunk
from promptc.sources.retrieval.encoder import Vector
from promptc.sources.retrieval.weigh_words import IndexWords

_FIRST = 200
"""Rows that are brought into order at once; few queries need more."""

_ROW_BITS = 31
_MANY = 20_000


class LocalStore:
    """Chunks, words and vectors (`size` numbers a chunk; 0: none) of one index. May be read by several threads."""

    def __init__(self, chunks: Sequence[Chunk], words: IndexWords, vectors: array[int], size: int) -> None:
        self._chunks = chunks
        self._words = words
        self._vectors = vectors
        self._size = size
        self._versions = [chunk.version for chunk in chunks]

    @property
    def count(self) -> int:
        return len(self._chunks)

    def iter_by_words(self, words: Sequence[str], version: str | None) -> Iterator[int]:
        first, stop = self._find_range(version)
        sums: dict[int, int] = {}
        for start, end in self._iter_stretches(words):
            for place in range(start, end):
                row = self._words.rows[place]
                if first <= row < stop:
                    sums[row] = sums.get(row, 0) + self._words.impacts[place]
        return _iter_least([(-value << _ROW_BITS) + row for row, value in sums.items()])

    def iter_by_vector(self, vector: Vector, version: str | None) -> Iterator[int]:
        first, stop = self._find_range(version) if self._size else (0, 0)
        return _iter_least([(-self._multiply(row, vector) << _ROW_BITS) + row for row in range(first, stop)])

    def read_chunks(self, rows: Sequence[int]) -> Sequence[Chunk]:
        return [self._chunks[row] for row in rows]

    def read_impacts(self, words: Sequence[str], rows: Sequence[int]) -> Sequence[Mapping[str, int]]:
        found: list[dict[str, int]] = [{} for _ in rows]
        for word in words:
            for start, end in self._iter_stretches([word]):
                for place, row in enumerate(rows):
                    at = bisect_left(self._words.rows, row, start, end)
                    if at < end and self._words.rows[at] == row:
                        found[place][word] = self._words.impacts[at]
        return found

    def read_vectors(self, rows: Sequence[int]) -> Sequence[Vector]:
        return [self._vectors[row * self._size : (row + 1) * self._size] for row in rows]

    def _multiply(self, row: int, vector: Vector) -> int:
        return sum(map(mul, self._vectors[row * self._size : (row + 1) * self._size], vector))

    def _iter_stretches(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Where the rows of each known word stand."""
        for word in words:
            number = self._words.numbers.get(word)
            if number is not None:
                yield self._words.ends[number], self._words.ends[number + 1]

    def _find_range(self, version: str | None) -> tuple[int, int]:
        """The rows of a version stand together."""
        if version is None:
            return 0, self.count
        return bisect_left(self._versions, version), bisect_right(self._versions, version)


class _NumpyStore(LocalStore):
    """The same, a chunk's work done at once for all of them."""

    def __init__(self, numpy: Any, chunks: Sequence[Chunk], words: IndexWords, vectors: array[int], size: int) -> None:
        super().__init__(chunks, words, vectors, size)
        self._numpy = numpy
        self._rows = numpy.frombuffer(words.rows, numpy.uint32) if words.rows else numpy.zeros(0, numpy.uint32)
        self._impacts = numpy.frombuffer(words.impacts, numpy.uint32) if words.impacts else numpy.zeros(0, numpy.uint32)
        self._matrix = numpy.frombuffer(vectors, numpy.int16).reshape(-1, size).astype(numpy.float32) if size and vectors else None

    def iter_by_words(self, words: Sequence[str], version: str | None) -> Iterator[int]:
        first, stop = self._find_range(version)
        sums = self._numpy.zeros(self.count, self._numpy.int64)
        for start, end in self._iter_stretches(words):
            sums[self._rows[start:end]] += self._impacts[start:end]
        rows = self._numpy.flatnonzero(sums[first:stop]) + first
        return self._iter_greatest(sums[rows], rows)

    def iter_by_vector(self, vector: Vector, version: str | None) -> Iterator[int]:
        if self._matrix is None:
            return iter(())
        first, stop = self._find_range(version)
        products = self._matrix[first:stop] @ self._numpy.array(vector, self._numpy.float32)
        return self._iter_greatest(products.astype(self._numpy.int64), self._numpy.arange(first, stop))

    def _iter_greatest(self, values: Any, rows: Any) -> Iterator[int]:
        keys = (-values << _ROW_BITS) + rows
        mask = (1 << _ROW_BITS) - 1
        if len(keys) > _FIRST:
            keys = self._numpy.partition(keys, _FIRST)
            yield from (int(row) for row in self._numpy.sort(keys[:_FIRST]) & mask)
            keys = keys[_FIRST:]
        yield from (int(row) for row in self._numpy.sort(keys) & mask)


def make_store(chunks: Sequence[Chunk], words: IndexWords, vectors: array[int], size: int) -> LocalStore:
    """The store of these; `vectors` hold `size` numbers for each chunk in turn. numpy is loaded for many chunks only: that takes a
    quarter of a second.
    """
    if len(chunks) < _MANY and "numpy" not in sys.modules:
        return LocalStore(chunks, words, vectors, size)
    try:
        import numpy as np
    except ImportError:
        return LocalStore(chunks, words, vectors, size)
    return _NumpyStore(np, chunks, words, vectors, size)


def _iter_least(keys: list[int]) -> Iterator[int]:
    """The rows in the low bits of the keys, the least key first."""
    heapify(keys)
    while keys:
        yield heappop(keys) & ((1 << _ROW_BITS) - 1)
