"""What holds the chunks of an index: memory, or an engine elsewhere.

A store proposes candidates; it never decides. `retrieve` scores, fuses, floors and orders what it proposes with the index's own whole
numbers, so two stores that propose the same rows give the same answer, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.typed import Protocol
from promptc.model.sources import Chunk
from promptc.sources.retrieval.encoder import Vector


class ChunkStore(Protocol):
    """Chunks by row: their places in the order of (version, file as UTF-8, ordinal).

    A version is given where only its chunks take part. Rows come without end until the reader has enough.
    """

    @property
    def count(self) -> int:
        """How many chunks there are."""
        ...

    def iter_by_words(self, words: Sequence[str], version: str | None) -> Iterator[int]:
        """The rows that have any of these words (all different), the greatest sum of impacts first, then by row."""
        ...

    def iter_by_vector(self, vector: Vector, version: str | None) -> Iterator[int]:
        """All rows, the greatest product with `vector` first, then by row. An engine may leave out what is far."""
        ...

    def read_chunks(self, rows: Sequence[int]) -> Sequence[Chunk]:
        """The chunks of these rows, in this order."""
        ...

    def read_impacts(self, words: Sequence[str], rows: Sequence[int]) -> Sequence[Mapping[str, int]]:
        """For each of these rows what each of the words adds there; words it does not have are left out."""
        ...

    def read_vectors(self, rows: Sequence[int]) -> Sequence[Vector]:
        """The vectors of these rows, in this order."""
        ...
