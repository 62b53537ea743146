"""A query as what is looked for: its words, each with what it also stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promptc.diag.frozen import frozen
from promptc.sources.retrieval.words import find_words

Phrase = tuple[str, ...]
Synonyms = Mapping[Phrase, tuple[Phrase, ...]]


@frozen
class Term:
    """One thing a query asks for: phrases of which the best match counts, the query's own first."""

    phrases: tuple[Phrase, ...]


def find_terms(query: str, synonyms: Synonyms) -> tuple[Term, ...]:
    """The terms of a query in order, each once. Where several synonyms begin at a word, the one of most words holds."""
    words = find_words(query)
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
    """The pack's synonyms by their words. What has no words in it says nothing."""
    read: dict[Phrase, tuple[Phrase, ...]] = {}
    for key, values in given:
        phrase, others = tuple(find_words(key)), tuple(tuple(find_words(value)) for value in values)
        if phrase:
            read[phrase] = (*read.get(phrase, ()), *(other for other in others if other))
    return read
