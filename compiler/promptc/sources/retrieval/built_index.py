"""An index as it is built and as it lies on disk."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from promptc.diag.frozen import frozen
from promptc.model.sources import Chunk, CorpusIndex, Document
from promptc.sources.retrieval.weigh_words import IndexWords
from promptc.text.json import render_canonical_json, render_digest

FORMAT = 1
"""Rises with every change of the files' form, or of how chunks, words and vectors are made."""


@frozen
class Vectors:
    """The vectors of all chunks in turn, what made them, and the product of a heading with chunks it does not stand above, in 1/10000."""

    encoder: str
    digest: str
    size: int
    background: int
    values: array[int]


@frozen(eq=False)
class BuiltIndex:
    """All that an index is. `config` and `corpus` are digests of what it was made from, `documents` the digest of each file."""

    name: str
    config: str
    corpus: str
    documents: tuple[tuple[str, str], ...]
    chunks: Sequence[Chunk]
    words: IndexWords
    vectors: Vectors | None
    fingerprint: str = ""


def digest_corpus(documents: Iterable[Document]) -> str:
    """One digest of every file's path and content, in order."""
    return render_digest("".join(f"{one.file}\0{one.digest}\n" for one in documents).encode("utf-8", "surrogatepass"))


def digest_config(index: CorpusIndex, counter: str) -> str:
    """One digest of what decides how files become chunks; `counter` is that of what counts tokens. What only decides how queries meet
    chunks (weights, synonyms) is not in it: it may change without a build.
    """
    chunk = index.chunk
    told = {
        "format": FORMAT,
        "pattern": index.pattern,
        "chunk": [chunk.least, chunk.most, chunk.overlap],
        "defaults": dict(index.defaults),
        "counter": counter,
    }
    return render_digest(render_canonical_json(told).encode("utf-8", "surrogatepass"))
