"""What class a character is of, as OpenAI's tokenizers see it, and a text as a row of classes.

The classes are those of tiktoken's own regex engine, asked once for each code point (`tools/make_vocabularies.py`) and frozen in a file, so
that they do not depend on the Unicode version of the Python that runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from promptc.diag.errors import fail

FILE = f"{__file__.rpartition('text')[0]}vocabularies/unicode.classes"
"""Where the classes lie: the runs of one class, a 4-byte number each (low byte first): the first code point × 8 + the class."""

CHECK = 2_912_831_490
"""The Adler-32 of that file."""

UPPER, LOWER, LETTER, MARK, NUMBER, WHITE, OTHER = STAND_INS = "\u00c0\u00e0\u00aa\u00a8\u00b2\u00a0\u00a7"
"""What stands for a character outside ASCII, by class: Lu and Lt, Ll, Lm and Lo, M, N, White_Space, all others."""
LONG_S = "\u00df"
"""What stands for U+017F: a small letter that is an `s` in a contraction."""


def encode_classes(text: str) -> str:
    """`text` with a stand-in for each character outside ASCII; as long as `text` is."""
    if text.isascii():
        return text
    places = find_far(text)
    if places is None:
        return text.translate(_CLASSES)
    parts: list[str] = []
    done = 0
    for place in places:
        parts += (text[done:place], _CLASSES[ord(text[place])])
        done = place + 1
    return "".join((*parts, text[done:]))


def reads_alike(text: str) -> bool:
    """Whether patterns on a row of classes may as well be matched on `text` itself, as on most texts: all of it is ASCII or punctuation,
    symbols and the like, of which patterns name none.
    """
    if text.isascii():
        return True
    far = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    if len(far) > len(text) // _FEW:
        return False
    found = far.decode("utf-8", "surrogatepass")
    return found.translate(_CLASSES) == OTHER * len(found) and MARK not in found


def find_far(text: str) -> list[int] | None:
    """The places of the characters outside ASCII where they are few, which most texts have: a table of characters takes as long for every
    one in ASCII as for these. None where they are many.
    """
    if len(text.encode("utf-8", "surrogatepass")) - len(text) > len(text) // _FEW:
        return None
    return [found.start() for found in _find_pattern().finditer(text)]


def _find_pattern() -> re.Pattern[str]:
    if not _PATTERN:
        _PATTERN.append(re.compile("[^\0-\x7f]"))
    return _PATTERN[0]


_FEW = 32
_ASCII = bytes(range(128))
_PATTERN: list[re.Pattern[str]] = []


def find_class(character: str) -> str:
    """The stand-in of any character, in ASCII or not."""
    return _CLASSES.find(ord(character))


class _Classes(dict[int, str]):
    """A table for `str.translate`, filled as characters are met. It cannot grow beyond Unicode."""

    def __init__(self) -> None:
        super().__init__({code: chr(code) for code in range(128)} | {0x17F: LONG_S})
        self._runs: Sequence[int] = ()

    def __missing__(self, code: int) -> str:
        self[code] = found = self.find(code)
        return found

    def find(self, code: int) -> str:
        from bisect import bisect_right

        runs = self._runs = self._runs or _load_classes()
        return STAND_INS[runs[bisect_right(runs, code << 3 | 7) - 1] & 7]


def _load_classes() -> Sequence[int]:
    from zlib import adler32

    from promptc.text.counters.words import view_words

    try:
        with open(FILE, "rb") as file:  # noqa: PTH123 - pathlib takes longer to import than a render may
            content = file.read()
    except OSError:
        content = b""
    if adler32(content) != CHECK:
        raise fail("PC0181", "the classes of characters are missing or damaged: `unicode.classes`", help="install promptc anew")
    return view_words(content)


_CLASSES = _Classes()
