"""Where a text may be split, or two texts joined, without changing their tokens: the safe boundaries of cl100k_base and o200k_base.

Both vocabularies split a text by a pattern and merge bytes only inside what the pattern matched. No alternative of either pattern looks
back. A place that no match can cross, and before which no match depends on what follows, therefore divides the text into two parts that are
counted separately:

1. *After a line end*: the left text ends in CR or LF; the white space at the beginning of the right text contains neither, and other text
   follows it. (`\\s*[\r\n]+` takes a white run exactly up to its last line end.) o200k_base: the right text does not begin with `/`,
   as ` ?[^\\s\\p{L}\\p{N}]+[\r\n/]*` continues through it.
2. *Before a lone space*: the left text ends in something that is not white; the right text is a space and then something that is not
   white. (A space is the first character of a match or of a white run, never a middle one, and this run is one character long.)
3. *Where the class changes*: from letters to digits or punctuation, from digits to letters or punctuation, from punctuation to digits
   (not to letters: one mark before a word belongs to it). Apostrophes are punctuation, but in o200k_base not after a letter (`'s` belongs
   to the word). In o200k_base a capital after a small letter is a change, in cl100k_base a combining mark after a letter.

White space is Unicode White_Space, as in the tokenizers. `str.isspace` also includes U+001C to U+001F, and therefore errs only towards "not
safe". Letters and punctuation are from blocks that have not changed for decades, so it does not matter which Unicode version the tokenizer
and Python follow.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import accumulate

from promptc.diag.findings import fail
from promptc.text.characters import compile_later
from promptc.text.counters.bpe import view_words

_OTHER_LETTER = (
    "\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u00ff\\u0410-\\u044f\\u05d0-\\u05ea\\u0621-\\u063a\\u0641-\\u064a"  # Latin to Arabic
    "\\u0905-\\u0939\\u0e01-\\u0e30\\u3041-\\u3096\\u30a1-\\u30fa\\u4e00-\\u9fa5\\uac00-\\ud7a3"  # Devanagari to Hangul
)
_COMBINING = "\\u0300-\\u0345\\u064b-\\u0652\\u093c\\u0941-\\u0948\\u094d\\u0e31\\u0e34-\\u0e3a\\u0e47-\\u0e4e"
_MARKS = '!"#$%&()*+,./:;<=>?@[]^_`{|}~-\\、。「」『』（），．：；？！…—“”«»'
_CLASSES = {"l": "a-z", "u": "A-Z", "o": _OTHER_LETTER, "d": "0-9", "m": re.escape(_MARKS), "a": "'", "c": _COMBINING}
_CHANGES = {"ld", "ud", "od", "lm", "um", "om", "dl", "du", "do", "dm", "da", "md", "ad"}
_ALLOWED = {True: _CHANGES | {"la", "ua", "oa", "lc", "uc", "oc"}, False: _CHANGES | {"lu"}}
_LONG = 1 << 16
FILE = f"{__file__.rpartition('text')[0]}vocabularies/unicode.classes"
"""The path of the table of character classes.

For each run of one class it has a 4-byte number (low byte first): the first code point × 8 + the class.
"""

CHECK = 2_912_831_490
"""The Adler-32 of `FILE`."""

UPPER, LOWER, LETTER, MARK, NUMBER, WHITE, OTHER = STAND_INS = "\u00c0\u00e0\u00aa\u00a8\u00b2\u00a0\u00a7"
"""The stand-ins for characters outside ASCII, one for each class: Lu and Lt, Ll, Lm and Lo, M, N, White_Space, all others."""

LONG_S = "\u00df"
"""The stand-in for U+017F, a small letter that counts as `s` in a contraction."""

_FEW = 32
_FAR = compile_later("[^\0-\x7f]")
_CLASS = compile_later("|".join(f"(?P<{name}>[{characters}])" for name, characters in _CLASSES.items()))
_INDENT = compile_later(r"[^\S\r\n]+\S")


class _Names(dict[str, str]):
    """Maps a character to the name of its class, or to `?`."""

    def __missing__(self, character: str) -> str:
        found = _CLASS.match(character)
        self[character] = name = (found and found.lastgroup) or "?"
        return name


_NAMES = _Names({chr(code): "?" for code in range(128)})


_NAMES.update({"'": "a"} | dict.fromkeys(_MARKS[: _MARKS.index("、")], "m") | {chr(code): "d" for code in range(48, 58)})


_NAMES.update({chr(code): "u" for code in range(65, 91)} | {chr(code): "l" for code in range(97, 123)})


@cache
def _compile_inner(slash: bool) -> re.Pattern[str]:
    """Compile a pattern for the boundaries inside a text. It is compiled on first use, as this takes as long as a small render."""
    after_line = r"(?<=[\r\n])(?=\S|[^\S\r\n]+\S)" if slash else r"(?<=[\r\n])(?=[^\s/]|[^\S\r\n]+\S)"
    changes = (f"(?<=[{_CLASSES[pair[0]]}])(?=[{_CLASSES[pair[1]]}])" for pair in sorted(_ALLOWED[slash]))
    return re.compile("|".join((after_line, r"(?<=\S)(?= \S)", *changes)))


def is_boundary(left: str, right: str, *, slash: bool) -> bool:
    """Return whether the place between two texts is one of the three boundaries. An empty text makes every place a boundary.

    `slash` is True for cl100k_base, in which a `/` may follow a line end, and False for o200k_base. If the result is True for two texts, it
    is also True with more text before the left one and after the right one.
    """
    if not left or not right:
        return True
    last, first = left[-1], right[0]
    if last in "\r\n":
        return (slash or first != "/") if not first.isspace() else _INDENT.match(right) is not None
    if first == " ":
        return len(right) > 1 and not last.isspace() and not right[1].isspace()
    return _NAMES[last] + _NAMES[first] in _ALLOWED[slash]


def find_inner_boundary(text: str, *, slash: bool) -> tuple[int, int] | None:
    """Return the first and the last boundary inside `text`, or None if there is none."""
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


_UPPER, _LOWER, _OTHER, _DIGIT, _SPACE = f"A-Z{UPPER}", f"a-z{LOWER}{LONG_S}", LETTER, f"0-9{NUMBER}", f" \t-\r{WHITE}"
_WORD = f"{_UPPER}{_LOWER}{_OTHER}"
_HEAD, _TAIL = f"{_UPPER}{_OTHER}{MARK}", f"{_LOWER}{_OTHER}{MARK}"
_PREFIX = rf"[^\r\n{_WORD}{_DIGIT}]?"
_CONTRACTION = f"'(?:[sSdDmMtT{LONG_S}]|[lL][lL]|[vV][eE]|[rR][eE])"

# Where backtracking cannot help, quantifiers are possessive (`++`): this saves a tenth of the time.
_PATTERNS = {
    "cl100k_base": (
        _CONTRACTION,
        rf"{_PREFIX}+[{_WORD}]++",
        rf"[{_DIGIT}]{{1,3}}+",
        rf" ?+[^{_SPACE}{_WORD}{_DIGIT}]++[\r\n]*+",
        rf"[{_SPACE}]+\Z",
        rf"[{_SPACE}]*[\r\n]",
        rf"[{_SPACE}]+(?![^{_SPACE}])",
        rf"[{_SPACE}]",
    ),
    "o200k_base": (
        rf"{_PREFIX}[{_HEAD}]*[{_TAIL}]+(?:{_CONTRACTION}|)",
        rf"{_PREFIX}[{_HEAD}]+[{_TAIL}]*(?:{_CONTRACTION}|)",
        rf"[{_DIGIT}]{{1,3}}+",
        rf" ?+[^{_SPACE}{_WORD}{_DIGIT}]++[\r\n/]*+",
        rf"[{_SPACE}]*[\r\n]+",
        rf"[{_SPACE}]+(?![^{_SPACE}])",
        rf"[{_SPACE}]+",
    ),
}


def load_splitter(name: str) -> Callable[[str], Iterable[str]]:
    """Return a function that splits a text into its pieces, in order, for the vocabulary `name`."""
    pattern = re.compile("|".join(_PATTERNS[name]))
    find_all, iter_all = pattern.findall, pattern.finditer

    def split(text: str) -> Iterable[str]:
        codes = encode_classes(text)
        if len(text) > _LONG:  # a list of all pieces would take many times the text's memory
            return (text[found.start() : found.end()] for found in iter_all(codes))
        pieces: list[str] = find_all(codes)
        return pieces if codes is text else _take(text, pieces)

    return split


def _take(text: str, codes: list[str]) -> list[str]:
    """Return consecutive parts of `text`, each as long as the code of the same index."""
    ends = [*accumulate(map(len, codes))]
    places = find_far(text)
    if places is not None:  # all other characters stand for themselves
        for place in places:
            at = bisect_right(ends, place)
            codes[at] = text[ends[at - 1] if at else 0 : ends[at]]
        return codes
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def encode_classes(text: str) -> str:
    """Return `text` with a stand-in for each character outside ASCII. The result has the same length."""
    if text.isascii():
        return text
    places = find_far(text)
    if places is None:
        return text.translate(_STAND_INS)
    parts: list[str] = []
    done = 0
    for place in places:
        parts += (text[done:place], _STAND_INS[ord(text[place])])
        done = place + 1
    return "".join((*parts, text[done:]))


def find_far(text: str) -> list[int] | None:
    """Return the places of the characters outside ASCII, or None if these are many.

    Most texts have few. `str.translate` with a table would take as long for each ASCII character as for these.
    """
    if len(text.encode("utf-8", "surrogatepass")) - len(text) > len(text) // _FEW:
        return None
    return [found.start() for found in _FAR.finditer(text)]


def read_class(character: str) -> str:
    """Return the stand-in of any character, in ASCII or not."""
    return _STAND_INS.read(ord(character))


class _Classes(dict[int, str]):
    """A table for `str.translate`, filled as characters are encountered. Unicode bounds its size."""

    def __init__(self) -> None:
        super().__init__({code: chr(code) for code in range(128)} | {0x17F: LONG_S})
        self._runs: Sequence[int] = ()

    def __missing__(self, code: int) -> str:
        self[code] = found = self.read(code)
        return found

    def read(self, code: int) -> str:
        """Return the stand-in of a character."""
        runs = self._runs = self._runs or _load_classes()
        return STAND_INS[runs[bisect_right(runs, code << 3 | 7) - 1] & 7]


def _load_classes() -> Sequence[int]:
    from zlib import adler32

    try:
        with open(FILE, "rb") as file:  # noqa: PTH123 - pathlib takes longer to import than a render may
            content = file.read()
    except OSError:
        content = b""
    if adler32(content) != CHECK:
        raise fail("PC0181", "the classes of characters are missing or damaged: `unicode.classes`", help="install promptc again")
    return view_words(content)


_STAND_INS = _Classes()
