"""A text counted whole, by what the pattern found in its lines before.

A whole count is to confirm sums, so it takes nothing from them: not their pieces, not their counts, not the boundaries they were made at.
It runs the tokenizer's pattern over every line together with the character behind it, and remembers what came out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise

_LONG = 2_000
"""Characters of a stretch from which on it is not remembered."""

_MOST = 8_000_000
"""Characters that are remembered."""


class LineCounts:
    """Counts of lines. Several threads may use one: each step of the memory is one operation on a dict."""

    def __init__(self, split: Callable[[str], Iterable[str]], tally: Callable[[Iterable[str]], int]) -> None:
        """`split` gives the matches of the tokenizer's pattern in a text, `tally` the tokens of matches."""
        self._known = _Known(split, tally)
        self._split = split
        self._tally = tally

    def count(self, text: str) -> int:
        """The tokens of `text`.

        No alternative of the patterns looks back, none takes a character after a line end but white space or `/`, and none looks further
        than to the first character that it does not take. So the pattern goes over the text as it goes over each stretch that ends before
        such a line, given the first character of that line; that a match does end there is seen in what it gives.
        """
        known = self._known
        stretches = _find_line().split(text)
        counts = [known[f"{one}\n{after[0]}"] for one, after in pairwise(stretches)]
        if -1 in counts:
            return self._tally(self._split(text))
        return sum(counts) + self._tally(self._split(stretches[-1]))


@cache
def _find_line() -> re.Pattern[str]:
    """The end of a line before one that begins neither with white space, as Python sees it, which is more than the patterns do, nor with
    `/`."""
    return re.compile(r"\n(?=[^\s/])")


class _Known(dict[str, int]):
    """From a stretch and the character behind it to the stretch's tokens; -1 where a match goes on into that character, or the stretch is
    too long to be remembered."""

    def __init__(self, split: Callable[[str], Iterable[str]], tally: Callable[[Iterable[str]], int]) -> None:
        super().__init__()
        self._split = split
        self._tally = tally
        self._characters = 0

    def __missing__(self, key: str) -> int:
        if len(key) > _LONG:
            return -1
        *matches, last = self._split(key)
        self._characters += len(key)
        if self._characters > _MOST:
            self.clear()
            self._characters = len(key)
        self[key] = units = self._tally(matches) if last == key[-1] else -1
        return units
