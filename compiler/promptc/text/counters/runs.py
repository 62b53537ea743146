"""Long runs of one class of characters: texts without a safe boundary, such as a hundred thousand `a`, or writing without spaces.

The pattern takes such a run in one match (digits three by three) and merges bytes inside it. There, tokens join wherever they fit: a row of
tokens is the encoding of its text exactly if each two neighbours are that of theirs (shown for this kind of byte-pair encoding by the
authors of the Rust crate `bpe`). So the tokens of a text that was cut inside a run need not be made anew from the beginning of the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from promptc.diag.typed import NamedTuple
from promptc.text.counters.classes import LETTER, LONG_S, LOWER, MARK, NUMBER, OTHER, UPPER, WHITE, encode_classes

_LONG = 256
_EDGE = 4  # characters; a contraction (`'ll`) may take the first letters of a run
_ENDS = frozenset("pdw")


class TokenRun(NamedTuple):
    """`text[first:last]` may be cut at any of its token ends; with `step` 3 at every third character from `first`, of which each is one."""

    first: int
    last: int
    step: int


def find_runs(text: str, *, cased: bool) -> list[TokenRun]:
    """The long runs of `text` that do not touch anything which might be taken into the same match.

    `cased`: whether small letters, capitals and other letters and marks are classes of their own (o200k_base), or letters are one class
    and marks are like punctuation (cl100k_base).
    """
    if len(text) < _LONG:
        return []
    codes = encode_classes(text)
    classes = codes.translate(_CASED if cased else _PLAIN)
    found = (_trim_run(codes, classes, *run.span()) for run in _find_long(classes))
    return [run for run in found if run is not None]


def ends_match(character: str) -> bool:
    """Whether `character`, after a cut inside a run, ends the match: a digit, punctuation, white space."""
    return encode_classes(character).translate(_CASED) in _ENDS


def _find_long(classes: str) -> Iterable[re.Match[str]]:
    return re.finditer(rf"([luopd])\1{{{_LONG - 1},}}", classes)


def _trim_run(codes: str, classes: str, first: int, last: int) -> TokenRun | None:
    after_line = codes[max(first - 1, 0) : first] in ("\r", "\n") and codes[first] == "/"  # o200k_base takes slashes after a line end
    if (classes[last : last + 1] or "w") not in _ENDS or after_line:
        return None
    if classes[first] == "d":
        return TokenRun(first, last, 3)
    while first < last and codes[first] == MARK:
        first += 1  # marks after punctuation may belong to it
    return TokenRun(first + _EDGE, last, 1) if first + _EDGE < last else None


def _make_table(upper: str, lower: str, letter: str, mark: str) -> dict[int, str]:
    """A table for `str.translate` from what stands for a character (`classes`) to its class here."""
    table = dict.fromkeys(range(128), "p") | {ord(OTHER): "p", ord(NUMBER): "d", ord(WHITE): "w", ord(LONG_S): lower}
    table |= dict.fromkeys(range(9, 14), "w") | {ord(" "): "w"} | dict.fromkeys(range(ord("0"), ord("9") + 1), "d")
    table |= dict.fromkeys(range(ord("A"), ord("Z") + 1), upper) | dict.fromkeys(range(ord("a"), ord("z") + 1), lower)
    return table | {ord(UPPER): upper, ord(LOWER): lower, ord(LETTER): letter, ord(MARK): mark}


_CASED = _make_table("u", "l", "o", "o")
_PLAIN = _make_table("l", "l", "l", "p")
