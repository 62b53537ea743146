"""Where a text may be split, or two texts joined, without changing their tokens: the safe boundaries of cl100k_base and o200k_base.

Both vocabularies split a text by a pattern and merge bytes only inside what the pattern matched. No alternative of either pattern looks
back, so a place that no match can cross, and before which no match depends on what follows, parts the text into two that are counted
alone:

1. *After a line end*: the left text ends in CR or LF; the white space that the right one begins with holds neither, and other text
   follows in it. (`\\s*[\\r\\n]+` takes a white run exactly up to its last line end.) o200k_base: the right text does not begin with `/`,
   as ` ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*` goes on through it.
2. *Before a lone space*: the left text ends in something that is not white, the right one is a space and then something that is not
   white. (A space is taken first in a match or in a white run, never in the middle, and this run is one character long.)
3. *Where the class changes*: from letters to digits or punctuation, from digits to letters or punctuation, from punctuation to digits
   (not to letters: one mark before a word belongs to it). Apostrophes are punctuation, but in o200k_base not after a letter (`'s` belongs
   to the word); there a capital after a small letter is a change, in cl100k_base a combining mark after a letter.

White space is the tokenizers' own, Unicode White_Space; `str.isspace` holds that and U+001C to U+001F, so it only errs towards "not
safe". Letters and punctuation are from blocks that have not changed for decades, so it does not matter which Unicode version the
tokenizer and Python follow.
"""

from __future__ import annotations

import re
from functools import cache

_OTHER_LETTER = (
    "\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u00ff\\u0410-\\u044f\\u05d0-\\u05ea\\u0621-\\u063a\\u0641-\\u064a"  # Latin to Arabic
    "\\u0905-\\u0939\\u0e01-\\u0e30\\u3041-\\u3096\\u30a1-\\u30fa\\u4e00-\\u9fa5\\uac00-\\ud7a3"  # Devanagari to Hangul
)
_COMBINING = "\\u0300-\\u0345\\u064b-\\u0652\\u093c\\u0941-\\u0948\\u094d\\u0e31\\u0e34-\\u0e3a\\u0e47-\\u0e4e"
_MARKS = '!"#$%&()*+,./:;<=>?@[]^_`{|}~-\\、。「」『』（），．：；？！…—“”«»'
_CLASSES = {"l": "a-z", "u": "A-Z", "o": _OTHER_LETTER, "d": "0-9", "m": re.escape(_MARKS), "a": "'", "c": _COMBINING}
_CHANGES = {"ld", "ud", "od", "lm", "um", "om", "dl", "du", "do", "dm", "da", "md", "ad"}
_ALLOWED = {True: _CHANGES | {"la", "ua", "oa", "lc", "uc", "oc"}, False: _CHANGES | {"lu"}}


class _Names(dict[str, str]):
    """From a character to the name of its class, or `?`. Patterns are compiled when they are needed, as that takes a part of a small
    render."""

    def __missing__(self, character: str) -> str:
        found = _compile_class().match(character)
        self[character] = name = (found and found.lastgroup) or "?"
        return name


_NAMES = _Names({chr(code): "?" for code in range(128)})
_NAMES.update({"'": "a"} | dict.fromkeys(_MARKS[: _MARKS.index("、")], "m") | {chr(code): "d" for code in range(48, 58)})
_NAMES.update({chr(code): "u" for code in range(65, 91)} | {chr(code): "l" for code in range(97, 123)})


@cache
def _compile_class() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>[{characters}])" for name, characters in _CLASSES.items()))


@cache
def _compile_indent() -> re.Pattern[str]:
    return re.compile(r"[^\S\r\n]+\S")


@cache
def _compile_inner(slash: bool) -> re.Pattern[str]:
    """The places inside a text. Compiled when first asked for, as it takes as long as a small render does."""
    after_line = r"(?<=[\r\n])(?=\S|[^\S\r\n]+\S)" if slash else r"(?<=[\r\n])(?=[^\s/]|[^\S\r\n]+\S)"
    changes = (f"(?<=[{_CLASSES[pair[0]]}])(?=[{_CLASSES[pair[1]]}])" for pair in sorted(_ALLOWED[slash]))
    return re.compile("|".join((after_line, r"(?<=\S)(?= \S)", *changes)))


def is_boundary(left: str, right: str, *, slash: bool) -> bool:
    """Whether the place between two texts is one of the three; `slash` is True for cl100k_base, in which a `/` may follow a line end, and
    False for o200k_base. An empty text meets everything safely.

    If it holds for two texts it also does with more text before the left and after the right one."""
    if not left or not right:
        return True
    last, first = left[-1], right[0]
    if last in "\r\n":
        return (slash or first != "/") if not first.isspace() else _compile_indent().match(right) is not None
    if first == " ":
        return len(right) > 1 and not last.isspace() and not right[1].isspace()
    return _NAMES[last] + _NAMES[first] in _ALLOWED[slash]


def find_inner_boundary(text: str, *, slash: bool) -> tuple[int, int] | None:
    """The first and the last such place inside `text`, or None."""
    pattern = _compile_inner(slash)
    first = pattern.search(text, 1)
    if first is None:
        return None
    reach = 64
    while True:
        places = [found.start() for found in pattern.finditer(text, max(first.start(), len(text) - reach))]
        if places:
            return first.start(), places[-1]
        reach *= 8
