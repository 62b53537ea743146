"""From documents to an index."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256

from promptc.diag.frozen import frozen
from promptc.model.sources import Chunk, CorpusIndex, Document
from promptc.sources.retrieval.chunking import render_indexed, split_document
from promptc.sources.retrieval.encoder import SCALE, Vector, VectorEncoder
from promptc.sources.retrieval.postgres import BuiltIndex, Vectors, digest_config, digest_corpus
from promptc.sources.retrieval.retrieve import Retrieved
from promptc.sources.retrieval.scoring import multiply, weigh_words
from promptc.text.guard import normalize

Count = Callable[[str], int]
Progress = Callable[[int, int], None]
_HEADINGS = 200
_MOST_WORKERS = 8
SHARE = 1000
"""Shares are counted in thousandths, cut off."""


def build_index(
    index: CorpusIndex,
    documents: Sequence[Document],
    *,
    count: Count,
    counter: str,
    encoder: VectorEncoder | None = None,
    earlier: BuiltIndex | None = None,
    progress: Progress = lambda done, total: None,
) -> BuiltIndex:
    """The index of `documents` (in the order of their paths). The same bytes whatever `earlier` holds, from which vectors of unchanged
    texts are taken. `progress` is told how many of the texts to encode are done.
    """
    split = [chunk for document in documents for chunk in split_document(document, index.chunk, count)]
    chunks = tuple(sorted(split, key=lambda chunk: (chunk.version, chunk.file.encode("utf-8", "surrogatepass"), chunk.ordinal)))
    return BuiltIndex(
        index.name,
        digest_config(index, counter),
        digest_corpus(documents),
        tuple((document.file, document.digest) for document in documents),
        chunks,
        weigh_words(chunks),
        encode_chunks(chunks, encoder, earlier, progress) if encoder is not None else None,
    )


def encode_chunks(chunks: Sequence[Chunk], encoder: VectorEncoder, earlier: BuiltIndex | None, progress: Progress) -> Vectors:
    """The vectors of chunks and what lies behind all of them: how near a heading is to chunks it does not stand above."""
    headings = _choose_headings(chunks)
    texts = [render_indexed(chunk.heading, chunk.text) for chunk in chunks]
    known = _find_known(encoder, earlier)
    missing = sorted({text for text in (*texts, *headings) if text not in known})
    for done, (text, vector) in enumerate(zip(missing, _encode(encoder, missing), strict=True), 1):
        known[text] = vector
        progress(done, len(missing))
    values = array("h")
    for text in texts:
        values.extend(known[text])
    background = find_background(chunks, values, {heading: known[heading] for heading in headings}, encoder.size)
    return Vectors(encoder.id, encoder.digest, encoder.size, background, values)


def find_background(chunks: Sequence[Chunk], values: array[int], headings: Mapping[str, Vector], size: int) -> int:
    """The mean product of headings with chunks that they do not stand in, in 1/10000, halves up; 0 where there is none."""
    vectors = [values[place * size : (place + 1) * size] for place in range(len(chunks))]
    total = pairs = 0
    for heading, vector in sorted(headings.items()):
        for chunk, product in zip(chunks, multiply(vectors, vector), strict=True):
            if heading not in chunk.heading and heading not in chunk.covers:
                total, pairs = total + product, pairs + 1
    under = max(pairs, 1) * SCALE * SCALE
    return max(0, (2 * total * 10_000 + under) // (2 * under))


def _choose_headings(chunks: Sequence[Chunk]) -> list[str]:
    """At most 200, drawn by their digests so that no part of a corpus is preferred and no draw is chance."""
    names = {name for chunk in chunks for name in chunk.covers}
    return sorted(names, key=lambda name: (sha256(name.encode("utf-8", "surrogatepass")).digest(), name))[:_HEADINGS]


def _find_known(encoder: VectorEncoder, earlier: BuiltIndex | None) -> dict[str, Vector]:
    vectors = earlier.vectors if earlier is not None else None
    if earlier is None or vectors is None or (vectors.encoder, vectors.digest) != (encoder.id, encoder.digest):
        return {}
    texts = [render_indexed(chunk.heading, chunk.text) for chunk in earlier.chunks]
    return {text: vectors.values[place * vectors.size : (place + 1) * vectors.size] for place, text in enumerate(texts)}


def _encode(encoder: VectorEncoder, texts: Sequence[str]) -> Iterator[Vector]:
    """In order. Each text alone and by one thread, but as many at a time as there are processors."""
    workers = min(os.cpu_count() or 1, _MOST_WORKERS, len(texts))
    if workers < 2:
        yield from map(encoder.encode, texts)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(encoder.encode, texts)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@frozen
class Answer:
    """A section that answers a query: the end of its file's path, and its heading."""

    file: str
    heading: str

    def is_in(self, chunk: Chunk) -> bool:
        """Whether the chunk holds the section's own text, or a part of it."""
        in_file = chunk.file == self.file or chunk.file.endswith(f"/{self.file}")
        return in_file and normalize(self.heading) in map(normalize, chunk.covers)


@frozen
class KnownAnswer:
    """A query and what answers it: any of the answers. One without is to find nothing."""

    query: str
    answers: tuple[Answer, ...]


@frozen
class JudgedQuery:
    """What a query came to: the place of the first right answer (from 1; 0: none), whether it stood among those that `cap` tokens hold, the
    best score in millionths, and whether a render would have called it sparse.
    """

    known: KnownAnswer
    rank: int
    in_cap: bool
    best: int
    is_flagged: bool


@frozen
class IndexVerdict:
    """All queries together. Recall, and the mean of 1/rank, are over those with answers, in thousandths."""

    judged: tuple[JudgedQuery, ...]

    @property
    def answered(self) -> tuple[JudgedQuery, ...]:
        """Those that have an answer."""
        return tuple(one for one in self.judged if one.known.answers)

    def recall(self, depth: int) -> int:
        """The share whose answer is among the first `depth`."""
        return self._share(sum(1 for one in self.answered if 0 < one.rank <= depth))

    @property
    def recall_in_cap(self) -> int:
        """The share whose answer is among what the cap holds."""
        return self._share(sum(1 for one in self.answered if one.in_cap))

    @property
    def mean_reciprocal_rank(self) -> int:
        """The mean of 1/rank, nothing for what was not found."""
        return sum(SHARE * SHARE // one.rank for one in self.answered if one.rank) // (SHARE * max(len(self.answered), 1))

    def _share(self, count: int) -> int:
        return SHARE * count // max(len(self.answered), 1)


def judge_index(known: Sequence[KnownAnswer], ask: Callable[[str], Retrieved], *, floor: int, top: int, cap: int) -> IndexVerdict:
    """Asks every query. `ask` is to answer with the floor off, best first, as deep as recall is wanted; `floor`, `top` and `cap` are those
    of a render: the best `top`, as many as `cap` tokens hold whole.
    """
    return IndexVerdict(tuple(_judge(one, ask(one.query), floor, top, cap) for one in known))


def _judge(known: KnownAnswer, retrieved: Retrieved, floor: int, top: int, cap: int) -> JudgedQuery:
    right = [any(answer.is_in(found.chunk) for answer in known.answers) for found in retrieved.found]
    rank = right.index(True) + 1 if True in right else 0
    held, tokens = 0, 0
    for found in retrieved.found[:top]:
        tokens += found.chunk.tokens
        if tokens > cap:
            break
        held += 1
    best = max((found.score.fused for found in retrieved.found), default=0)
    return JudgedQuery(known, rank, 0 < rank <= held, best, best < floor or not retrieved.found)
