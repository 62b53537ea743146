"""What is asked of indexes, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal
from promptc.model.section import MICRO
from promptc.model.sources import Chunk

_PREVIEW = 120


@frozen
class ChunkFilter:
    """What a chunk must be like. `accepts` is given the chunk as an item (`describe_chunk`); `key` stands for all that decides what it
    says, so that answers can be kept. With an empty key nothing is kept.
    """

    accepts: Callable[[Mapping[str, Any]], bool] = field(compare=False)
    key: str = ""


@frozen
class Boost:
    """What is added to a chunk's score, in millionths, where the condition holds."""

    add: int
    where: ChunkFilter


@frozen
class ChunkQuery:
    """A query with its filters and numbers (language.md §4, Retrieval). `floor` is in millionths. `version` None takes every version."""

    query: str
    version: str | None = None
    where: ChunkFilter | None = None
    boosts: tuple[Boost, ...] = ()
    window: int = 50
    candidates: int = 12
    floor: int = 250_000
    top: int = 6
    sparse_below: int = 1


@frozen
class Score:
    """Why a chunk stands where it does, all in millionths: `words` and `vectors` are from 0 to MICRO, `fused` is their weighted mean,
    `total` is that with what boosts add.
    """

    words: int
    vectors: int
    fused: int
    total: int


@frozen
class FoundChunk:
    """A chunk that was found, in which index, and its score."""

    chunk: Chunk
    index: str
    score: Score

    def describe(self) -> dict[str, Any]:
        """The item a template sees."""
        return {**describe_chunk(self.chunk), "index": self.index, "score": self.score.total / MICRO}


Why = Literal["floor", "candidates", "top"]
"""Why a chunk that was scored is not among the found: under the floor, not among the best of its index, not among the best of all."""

MOST_REFUSED = 12


@frozen
class Retrieved:
    """An answer: the best chunks, best first. `considered` counts the candidates that were scored, `under_floor` those of the best that the
    floor left out, `fingerprints` are those of the indexes asked, `notes` tell why vectors were not used where they were asked for.
    `refused` are the best `MOST_REFUSED` of those that were scored and not chosen, best first, `unwanted` counts what `where` refused.
    """

    found: tuple[FoundChunk, ...] = ()
    is_sparse: bool = True
    considered: int = 0
    under_floor: int = 0
    fingerprints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[tuple[FoundChunk, Why], ...] = ()
    unwanted: int = 0


def describe_chunk(chunk: Chunk) -> dict[str, Any]:
    """A chunk as an item: its metadata (`version`, `domain`, `mode` and `date` are none where it has none), `id`, `text`, `heading` (a
    list), `file`, `length` in tokens and `preview`, its first 120 characters in one line.
    """
    return {
        "version": None,
        "domain": None,
        "mode": None,
        "date": None,
        **chunk.metadata,
        "id": chunk.id,
        "text": chunk.text,
        "heading": list(chunk.heading),
        "file": chunk.file,
        "length": chunk.tokens,
        "preview": " ".join(chunk.text[: 4 * _PREVIEW].split())[:_PREVIEW],
    }
