"""A text in the pieces that a tokenizer never merges across: its pattern, by the standard library's `re`.

The patterns of cl100k_base and o200k_base name Unicode classes, which `re` does not know and which would have to be written out in
thousands of ranges. So they are matched on the row of classes (`classes`), where each is one character more beside those of ASCII.
Parts that are possessive in the originals are plain here where nothing that follows could make them give way.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

from promptc.text.counters.classes import LETTER, LONG_S, LOWER, MARK, NUMBER, UPPER, WHITE, encode_classes, find_far, reads_alike

_UPPER, _LOWER, _OTHER, _DIGIT, _SPACE = f"A-Z{UPPER}", f"a-z{LOWER}{LONG_S}", LETTER, f"0-9{NUMBER}", f" \t-\r{WHITE}"
_WORD = f"{_UPPER}{_LOWER}{_OTHER}"
_HEAD, _TAIL = f"{_UPPER}{_OTHER}{MARK}", f"{_LOWER}{_OTHER}{MARK}"
_PREFIX = rf"[^\r\n{_WORD}{_DIGIT}]?"
_CONTRACTION = f"'(?:[sSdDmMtT{LONG_S}]|[lL][lL]|[vV][eE]|[rR][eE])"
_PATTERNS = {
    "cl100k_base": (
        _CONTRACTION,
        rf"{_PREFIX}[{_WORD}]+",
        rf"[{_DIGIT}]{{1,3}}",
        rf" ?[^{_SPACE}{_WORD}{_DIGIT}]+[\r\n]*",
        rf"[{_SPACE}]+\Z",
        rf"[{_SPACE}]*[\r\n]",
        rf"[{_SPACE}]+(?![^{_SPACE}])",
        rf"[{_SPACE}]",
    ),
    "o200k_base": (
        rf"{_PREFIX}[{_HEAD}]*[{_TAIL}]+(?:{_CONTRACTION}|)",
        rf"{_PREFIX}[{_HEAD}]+[{_TAIL}]*(?:{_CONTRACTION}|)",
        rf"[{_DIGIT}]{{1,3}}",
        rf" ?[^{_SPACE}{_WORD}{_DIGIT}]+[\r\n/]*",
        rf"[{_SPACE}]*[\r\n]+",
        rf"[{_SPACE}]+(?![^{_SPACE}])",
        rf"[{_SPACE}]+",
    ),
}
_LONG = 1 << 16


def load_splitter(name: str) -> Callable[[str], Iterable[str]]:
    """What gives the pieces of a text, in order, for the vocabulary `name`."""
    pattern = re.compile("|".join(_PATTERNS[name]))
    find_all, iter_all = pattern.findall, pattern.finditer

    def split(text: str) -> Iterable[str]:
        codes = text if reads_alike(text) else encode_classes(text)
        if len(text) > _LONG:  # a list of all pieces would take many times the text's memory
            return (text[found.start() : found.end()] for found in iter_all(codes))
        pieces: list[str] = find_all(codes)
        return pieces if codes is text else _take(text, pieces)

    return split


def _take(text: str, codes: list[str]) -> list[str]:
    """The parts of `text` that are as long as each of `codes`, one after the other."""
    ends = [*accumulate(map(len, codes))]
    places = find_far(text)
    if places is not None:  # all others are what they stand for
        for place in places:
            at = bisect_right(ends, place)
            codes[at] = text[ends[at - 1] if at else 0 : ends[at]]
        return codes
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
