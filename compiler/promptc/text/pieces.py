"""Parting long texts where their counts add up."""

import re
from collections.abc import Iterator

from promptc.text.compile_later import compile_later
from promptc.text.counters.counter import Counter

_PLACES = compile_later(r"[\r\n](?![\r\n])|(?<=\S)(?= \S)|(?<=\w)(?=[^\w\s])|(?<=[^\s\d])(?=\d)|(?<=\d)(?=[^\s\d])|(?<=[a-z])(?=[A-Z])")
_ENDS = compile_later(r"[\r\n](?![\r\n])|[.!?…:;](?= \S)|\w(?=[。！？])")
_AHEAD = 64


def iter_inner(counter: Counter, text: str) -> Iterator[int]:
    """Places inside `text`, rising, at which `counter` adds up: those at line ends, spaces and changes of class."""
    return _iter_safe(counter, text, _PLACES)


def iter_pieces(counter: Counter, text: str) -> Iterator[str]:
    """`text` in parts that add up: lines, parted where sentences end, as far as those places are safe.

    Where a part ends depends on what is near only, so that two texts which differ in one place have the other parts in common.
    """
    start = 0
    for place in _iter_safe(counter, text, _ENDS):
        yield text[start:place]
        start = place
    yield text[start:]


def _iter_safe(counter: Counter, text: str, pattern: re.Pattern[str]) -> Iterator[int]:
    for found in pattern.finditer(text):
        place = found.end()
        if 0 < place < len(text) and counter.is_safe(text[place - 1], text[place : place + _AHEAD]):
            yield place
