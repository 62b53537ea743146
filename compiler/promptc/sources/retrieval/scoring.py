"""BM25 in whole numbers: what each word of a chunk adds to a query's score, computed when the index is built.

Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), with k1 = 1.2 and b = 0.75; idf = ln((N + 1) / (df
+ 1/2)), which is never negative. The computation uses fractions and one correctly rounded logarithm, so every machine gets the same result.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import mul

from promptc.diag.frozen import frozen
from promptc.model.sources import Chunk
from promptc.sources.retrieval.encoder import Vector
from promptc.text.characters import compile_later, normalize

UNIT = 10_000
"""The whole number that represents a score of one."""

HEADING = 2
"""How many times a word of the heading path counts, compared to a word of the text."""

FROM_NONE_TO_ONE = 24_169
"""How much less a word can add that one chunk has than one that none has, whatever the number of chunks: ln 3 × (k1 + 1)."""

_NANO = 1_000_000_000
Phrase = tuple[str, ...]
Synonyms = Mapping[Phrase, tuple[Phrase, ...]]
_UNSPACED = "\u1100-\u11ff\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TERM = compile_later(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")
_PLAIN_TERM = compile_later(r"\w+")
"""Equivalent to `_TERM` for ASCII, but compiles fifty times as fast."""

_IS_UNSPACED = compile_later(rf"[{_UNSPACED}]")
_LONGEST = 64
_JOINING = 3


@frozen
class IndexWords:
    """The words of an index. `ideals` are the most that each word can add to a score; `unseen` is that of a word that no chunk has.

    The chunks that have word number n are `rows[ends[n]:ends[n + 1]]`, in ascending order. `impacts`, parallel to `rows`, are what the word
    adds there.
    """

    numbers: Mapping[str, int]
    ideals: array[int]
    ends: array[int]
    rows: array[int]
    impacts: array[int]
    unseen: int


def weigh_words(chunks: Sequence[Chunk]) -> IndexWords:
    """Return the table of the words of `chunks`, whose places are the rows. Words are in code-point order."""
    counted = [Counter(iter_counted(chunk)) for chunk in chunks]
    sizes = [sum(counts.values()) for counts in counted]
    total, rows_of = sum(sizes), dict[str, list[int]]()
    for row, counts in enumerate(counted):
        for word in counts:
            rows_of.setdefault(word, []).append(row)
    ends, rows, impacts, ideals = array("I", [0]), array("I"), array("I"), array("I")
    for word in sorted(rows_of):
        idf = compute_idf(len(chunks), len(rows_of[word]))
        ideals.append(_ideal_of(idf))
        rows.extend(rows_of[word])
        impacts.extend(_weigh(idf, counted[row][word], sizes[row], total, len(chunks)) for row in rows_of[word])
        ends.append(len(rows))
    numbers = {word: number for number, word in enumerate(sorted(rows_of))}
    return IndexWords(numbers, ideals, ends, rows, impacts, _ideal_of(compute_idf(len(chunks), 0)))


def iter_counted(chunk: Chunk) -> Iterable[str]:
    """Return the words of a chunk and of its asked lines; those of its heading path HEADING times."""
    heading = list_words(" ".join(chunk.heading))
    return [*heading * HEADING, *list_words("\n".join((chunk.text, *chunk.asked)))]


def compute_idf(chunks: int, having: int) -> int:
    """Return ln((chunks + 1) / (having + 1/2)) × 10**9, rounded."""
    from decimal import ROUND_HALF_EVEN, Context  # late: queries of a built index do not need it

    exact = Context(prec=34, rounding=ROUND_HALF_EVEN)
    ratio = exact.divide(2 * chunks + 2, 2 * having + 1)
    return int(exact.multiply(exact.ln(ratio), _NANO).to_integral_value(ROUND_HALF_EVEN))


def _ideal_of(idf: int) -> int:
    """Return idf × (k1 + 1): what the word would add to a chunk full of it."""
    return _round(idf * 22 * UNIT, 10 * _NANO)


def _weigh(idf: int, times: int, size: int, total: int, chunks: int) -> int:
    """Return idf × times × (k1 + 1) / (times + k1 × (1 - b + b × size / mean size))."""
    return _round(idf * times * 22 * total * UNIT, (10 * times * total + 3 * total + 9 * size * chunks) * _NANO)


def _round(over: int, under: int) -> int:
    """Return over / under, rounded to the nearest integer, halves up."""
    return (2 * over + under) // (2 * under)


@frozen
class Term:
    """A term of a query: alternative phrases, of which the best match counts, the query's own first."""

    phrases: tuple[Phrase, ...]


def list_terms(query: str, synonyms: Synonyms) -> tuple[Term, ...]:
    """Return the terms of a query in order, without duplicates.

    Of several synonyms that begin at a word, the one with the most words is used.
    """
    words = list_words(query)
    longest = max(map(len, synonyms), default=0)
    terms: dict[Term, None] = {}
    place = 0
    while place < len(words):
        sizes = range(min(longest, len(words) - place), 0, -1)
        size = next((size for size in sizes if tuple(words[place : place + size]) in synonyms), 1)
        own = tuple(words[place : place + size])
        terms[Term(tuple(dict.fromkeys((own, *synonyms.get(own, ())))))] = None
        place += size
    return tuple(terms)


def read_synonyms(given: Sequence[tuple[str, Sequence[str]]]) -> Synonyms:
    """Return the pack's synonyms as words. Keys and values without words are ignored."""
    read: dict[Phrase, tuple[Phrase, ...]] = {}
    for key, values in given:
        phrase, others = tuple(list_words(key)), tuple(tuple(list_words(value)) for value in values)
        if phrase:
            read[phrase] = (*read.get(phrase, ()), *(other for other in others if other))
    return read


def has_words(text: str) -> bool:
    """Return whether the text has a word."""
    normal = normalize(text)
    return (_PLAIN_TERM if normal.isascii() else _TERM).search(normal) is not None


def is_telling(word: str) -> bool:
    """Return whether a text without the word is likely about something else.

    In most scripts, words of up to three letters only join others.
    """
    return len(word) > _JOINING or _IS_UNSPACED.match(word) is not None


def list_words(text: str) -> list[str]:
    """Return the words of `text` in order.

    Words are runs of letters and digits in normalized form (`normalize`), without the `s` of an English plural. In scripts without spaces,
    each pair of neighbouring characters is a word. Words are cut to 64 characters.
    """
    normal = normalize(text)
    if normal.isascii():
        return [_fold_plural(word)[:_LONGEST] for word in _PLAIN_TERM.findall(normal)]
    words: list[str] = []
    for found in _TERM.finditer(normal):
        term = found[0]
        if _IS_UNSPACED.match(term):
            words += [term[place : place + 2] for place in range(max(len(term) - 1, 1))]
        else:
            words.append(_fold_plural(term)[:_LONGEST])
    return words


def _fold_plural(word: str) -> str:
    """Remove the plural ending, by Harman's S stemmer.

    Queries and texts differ in number more than in anything else, and the stemmer joins few words of different meaning.
    """
    if len(word) < 4 or word[-1] != "s" or not word.isascii():
        return word
    if word.endswith("ies") and word[-4] not in "ae":
        return word[:-3] + "y"
    if word.endswith("es") and word[-3] not in "aeo":
        return word[:-1]
    return word[:-1] if word[-2] not in "us" else word


def multiply(values: array[int], vector: Vector) -> list[int]:
    """Return the product of `vector` with each vector in `values`, which are consecutive signed two-byte numbers.

    numpy is used only if it is already loaded: loading it takes longer than a hundred products. float32 is exact here (see
    `encoder.SCALE`), so the order in which a library adds does not matter.
    """
    numpy, size = sys.modules.get("numpy"), len(vector)
    if numpy is None or not values:
        return [sum(map(mul, values[at : at + size], vector)) for at in range(0, len(values), size)]
    matrix = numpy.frombuffer(values, numpy.int16).reshape(-1, size).astype(numpy.float32)
    products: list[int] = (matrix @ numpy.array(vector, numpy.float32)).astype(numpy.int64).tolist()
    return products
