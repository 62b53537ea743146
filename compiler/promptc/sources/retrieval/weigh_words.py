"""BM25 with whole numbers: what each word of a chunk adds to a query's score, worked out when the index is built.

Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), with k1 = 1.2 and b = 0.75; idf = ln((N + 1) / (df
+ 1/2)), which is never negative. Fractions throughout and one logarithm that is rounded correctly, so every machine gets the same.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Context

from promptc.diag.frozen import frozen
from promptc.model.sources import Chunk
from promptc.sources.retrieval.words import find_words

UNIT = 10_000
"""What a score of one is counted as."""

HEADING = 2
"""How often a word of the heading path counts as one of the text."""

_EXACT = Context(prec=34, rounding=ROUND_HALF_EVEN)
_NANO = 1_000_000_000


@frozen
class IndexWords:
    """The words of an index. `ideals` gives for each word the most it can add to a score; `unseen` is that of a word no chunk has.

    The chunks that have word number n are `rows[ends[n]:ends[n + 1]]`, rising; `impacts` tells beside each what the word adds there.
    """

    numbers: Mapping[str, int]
    ideals: array[int]
    ends: array[int]
    rows: array[int]
    impacts: array[int]
    unseen: int


def weigh_words(chunks: Sequence[Chunk]) -> IndexWords:
    """The table of the words of `chunks`, whose places are the rows. Words stand in the order of their code points."""
    counted = [Counter(iter_counted(chunk)) for chunk in chunks]
    sizes = [sum(counts.values()) for counts in counted]
    total, rows_of = sum(sizes), dict[str, list[int]]()
    for row, counts in enumerate(counted):
        for word in counts:
            rows_of.setdefault(word, []).append(row)
    ends, rows, impacts, ideals = array("I", [0]), array("I"), array("I"), array("I")
    for word in sorted(rows_of):
        idf = find_idf(len(chunks), len(rows_of[word]))
        ideals.append(_find_ideal(idf))
        rows.extend(rows_of[word])
        impacts.extend(_weigh(idf, counted[row][word], sizes[row], total, len(chunks)) for row in rows_of[word])
        ends.append(len(rows))
    numbers = {word: number for number, word in enumerate(sorted(rows_of))}
    return IndexWords(numbers, ideals, ends, rows, impacts, _find_ideal(find_idf(len(chunks), 0)))


def iter_counted(chunk: Chunk) -> Iterable[str]:
    """The words of a chunk, those of its heading path HEADING times."""
    heading = find_words(" ".join(chunk.heading))
    return [*heading * HEADING, *find_words(chunk.text)]


def find_idf(chunks: int, having: int) -> int:
    """ln((chunks + 1) / (having + 1/2)), times 10**9, rounded."""
    ratio = _EXACT.divide(2 * chunks + 2, 2 * having + 1)
    return int(_EXACT.multiply(_EXACT.ln(ratio), _NANO).to_integral_value(ROUND_HALF_EVEN))


def _find_ideal(idf: int) -> int:
    """idf × (k1 + 1): what the word would add to a chunk full of it."""
    return _round(idf * 22 * UNIT, 10 * _NANO)


def _weigh(idf: int, times: int, size: int, total: int, chunks: int) -> int:
    """idf × times × (k1 + 1) / (times + k1 × (1 - b + b × size / mean size))."""
    return _round(idf * times * 22 * total * UNIT, (10 * times * total + 3 * total + 9 * size * chunks) * _NANO)


def _round(over: int, under: int) -> int:
    """over / under to the nearest, halves up."""
    return (2 * over + under) // (2 * under)
