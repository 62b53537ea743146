"""Retrieval: the best chunks of indexes for a query, with scores that can be explained.

    words   = min(1, BM25 / the most BM25 could be for this query)
    vectors = max(0, (cosine - background) / (1 - background))
    fused   = (w × words + v × vectors) / (w + v)        w, v: the index's weights; words alone where there is no vector

Each depends on the query, the chunk and the index only, never on what else was found: a score can be compared between queries, and a
floor means the same for each. All are whole millionths, worked out in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from promptc.diag.frozen import frozen, replace
from promptc.model.section import MICRO
from promptc.sources.retrieval.encoder import SCALE, Vector
from promptc.sources.retrieval.find_terms import Phrase, Term, find_terms
from promptc.sources.retrieval.loaded_index import LoadedIndex
from promptc.sources.retrieval.products import multiply
from promptc.sources.retrieval.request import MOST_REFUSED, ChunkQuery, FoundChunk, Retrieved, Score, Why, describe_chunk

BACKGROUND_UNIT = 10_000
_ONE = SCALE * SCALE


@frozen
class Query:
    """The query as it is compared: its text, and its vector by the id of each encoder that was asked."""

    text: str
    vectors: dict[str, Vector]


def retrieve(indexes: Sequence[LoadedIndex], query: Query, request: ChunkQuery) -> Retrieved:
    """The best `request.top` chunks of all indexes together.

    Of each index: a window of each list is scored, the best `candidates` go on, those under the floor go, boosts are added. What
    `version` and `where` refuse is not scored. Order: score, score by words, then index, version, file (as UTF-8) and place. A query
    without a word in it retrieves nothing.
    """
    found: list[FoundChunk] = []
    refused: list[tuple[FoundChunk, Why]] = []
    considered = under = unwanted = 0
    for index in indexes:
        scored, without = _score(index, query, request)
        ranked = sorted(scored, key=_rank)
        best = ranked[: request.candidates]
        kept = [one for one in best if one.score.fused >= max(request.floor, 1)]
        considered, under, unwanted = considered + len(scored), under + len(best) - len(kept), unwanted + without
        found += [_boost(one, request) for one in kept]
        refused += [(one, "floor") for one in best if one.score.fused < max(request.floor, 1)]
        refused += [(one, "candidates") for one in ranked[request.candidates :][:MOST_REFUSED]]
    found.sort(key=_rank)
    refused += [(one, "top") for one in found[request.top :]]
    refused.sort(key=lambda one: _rank(one[0]))
    chosen = tuple(found[: request.top])
    fingerprints = tuple(index.fingerprint for index in indexes)
    is_sparse = len(chosen) < request.sparse_below
    return Retrieved(chosen, is_sparse, considered, under, fingerprints, refused=tuple(refused[:MOST_REFUSED]), unwanted=unwanted)


def _rank(found: FoundChunk) -> tuple[int, int, str, str, bytes, int]:
    chunk = found.chunk
    return -found.score.total, -found.score.words, found.index, chunk.version, chunk.file.encode(), chunk.ordinal


def _score(index: LoadedIndex, query: Query, request: ChunkQuery) -> tuple[list[FoundChunk], int]:
    """What is scored, and how many `where` refused."""
    terms = find_terms(query.text, index.synonyms)
    if not terms:
        return [], 0
    vector = query.vectors.get(index.encoder)
    rows, unwanted = _propose(index, terms, vector, request)
    by_words = _score_words(index, terms, rows)
    by_vector = _score_vectors(index, vector, rows) if vector is not None else None
    found = []
    for place, chunk in enumerate(index.store.read_chunks(rows)):
        words, near = by_words[place], by_vector[place] if by_vector is not None else 0
        fused = _fuse(words, near, index.weights) if by_vector is not None else words
        found.append(FoundChunk(chunk, index.name, Score(words, near, fused, fused)))
    return found, unwanted


def _propose(index: LoadedIndex, terms: Sequence[Term], vector: Vector | None, request: ChunkQuery) -> tuple[list[int], int]:
    """The first rows of each list that the filter accepts, each row once; and how many it refused."""
    words = sorted({word for term in terms for phrase in term.phrases for word in phrase})
    accepted: dict[int, bool] = {}
    version = request.version if index.has_versions else None
    rows = _take(index, index.store.iter_by_words(words, version), request, accepted)
    if vector is not None:
        rows += _take(index, index.store.iter_by_vector(vector, version), request, accepted)
    return sorted(set(rows)), sum(1 for passes in accepted.values() if not passes)


def _take(index: LoadedIndex, rows: Iterator[int], request: ChunkQuery, accepted: dict[int, bool]) -> list[int]:
    """The first `window` rows that the filter accepts; it is asked of a window of rows at a time, and of each row once."""
    where = request.where
    taken: list[int] = []
    while len(taken) < request.window and (batch := list(islice(rows, request.window))):
        if where is not None:
            new = [row for row in batch if row not in accepted]
            accepted.update(zip(new, (where.accepts(describe_chunk(chunk)) for chunk in index.store.read_chunks(new)), strict=True))
        taken += [row for row in batch if where is None or accepted[row]]
    return taken[: request.window]


def _score_words(index: LoadedIndex, terms: Sequence[Term], rows: Sequence[int]) -> list[int]:
    words = sorted({word for term in terms for phrase in term.phrases for word in phrase if word in index.ideals})
    impacts = index.store.read_impacts(words, rows)
    ideal = max(sum(_find_ideal(index, term) for term in terms), 1)
    return [min(MICRO, MICRO * sum(_match(term, own) for term in terms) // ideal) for own in impacts]


def _find_ideal(index: LoadedIndex, term: Term) -> int:
    """The most the term can add. Phrases of which no word is known say nothing, unless there is no other."""
    known = [phrase for phrase in term.phrases if any(word in index.ideals for word in phrase)]
    return max(_sum_ideals(index, phrase) for phrase in known or term.phrases[:1])


def _sum_ideals(index: LoadedIndex, phrase: Phrase) -> int:
    return sum(index.ideals.get(word, index.unseen) for word in phrase)


def _match(term: Term, impacts: Mapping[str, int]) -> int:
    """What the term adds to a chunk: its best phrase."""
    return max(sum(impacts.get(word, 0) for word in phrase) for phrase in term.phrases)


def _score_vectors(index: LoadedIndex, vector: Vector, rows: Sequence[int]) -> list[int]:
    room = _ONE * (BACKGROUND_UNIT - index.background)
    products = multiply(index.store.read_vectors(rows), vector)
    return [min(MICRO, max(0, MICRO * (product * BACKGROUND_UNIT - index.background * _ONE) // room)) for product in products]


def _fuse(words: int, near: int, weights: tuple[int, int]) -> int:
    return (weights[0] * words + weights[1] * near) // (weights[0] + weights[1])


def _boost(found: FoundChunk, request: ChunkQuery) -> FoundChunk:
    item = describe_chunk(found.chunk) if request.boosts else {}
    added = sum(boost.add for boost in request.boosts if boost.where.accepts(item))
    return replace(found, score=replace(found.score, total=found.score.fused + added))
