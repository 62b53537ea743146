"""Parting long texts where their counts add up."""

import re
from collections.abc import Iterator

from promptc.text.counters.counter import Counter

_PLACES = re.compile(r"[\r\n](?![\r\n])|(?<=\S)(?= \S)|(?<=\w)(?=[^\w\s])|(?<=[^\s\d])(?=\d)|(?<=\d)(?=[^\s\d])|(?<=[a-z])(?=[A-Z])")
_AHEAD = 64


def iter_inner(counter: Counter, text: str) -> Iterator[int]:
    """The places inside `text`, rising, at which `counter` adds up; not all there are, but those at line ends, spaces and punctuation."""
    for found in _PLACES.finditer(text):
        place = found.end()
        if 0 < place < len(text) and counter.is_safe(text[place - 1], text[place : place + _AHEAD]):
            yield place


def iter_pieces(counter: Counter, text: str) -> Iterator[str]:
    """`text` in parts that add up, each a line where that is possible, and longer lines parted where a sentence or clause ends.

    Where a part ends depends on what is near only, so that a text which differs in one place has the other parts in common.
    """
    start = 0
    for place in iter_inner(counter, text):
        if text[place - 1] in _LINE_ENDS or (place - start >= _CLAUSE and text[place - 1] in _CLAUSE_ENDS) or place - start >= _PHRASE:
            yield text[start:place]
            start = place
    yield text[start:]


_LINE_ENDS = "\r\n"
_CLAUSE_ENDS = ".!?…:;,)"
_CLAUSE = 64
_PHRASE = 1024
