"""From documents to an index."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256

from promptc.model.sources import Chunk, CorpusIndex, Document
from promptc.sources.retrieval.built_index import BuiltIndex, Vectors, digest_config, digest_corpus
from promptc.sources.retrieval.encoder import SCALE, Vector, VectorEncoder
from promptc.sources.retrieval.products import multiply
from promptc.sources.retrieval.split_document import render_indexed, split_document
from promptc.sources.retrieval.weigh_words import weigh_words

Count = Callable[[str], int]
Progress = Callable[[int, int], None]

_HEADINGS = 200
_MOST_WORKERS = 8


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
