"""Characters: white space in its one definition, normal forms of texts, and patterns that are compiled when they are first used.

White space is that of blank texts, `\\s` in patterns, the ends and gaps of what is cut, and the filters that are ours (contract.md §3).
Three definitions are in use outside: Unicode's White_Space; Python's, and so Jinja's `trim`, which has U+001C to U+001F as well;
ECMA-262's `\\s`, which has U+FEFF and neither those nor U+0085. This is all of them together, so that a text which satisfies `\\S` holds
a character that none of the three takes for white: nothing takes it for blank.
"""

import re

from promptc.diag.typed import Any, Literal, cast

WHITE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""Every white character, in order."""

WHITE_CLASS = r"\s\ufeff"
"""`WHITE` inside the brackets of a pattern of Python's."""
Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
_DROPPED = frozenset("'’‘ʼ")  # inside words: "don't" is compared as "dont"


def is_blank(text: str) -> bool:
    """Whether a text is empty or white space only."""
    return not text.strip(WHITE)


def join_words(text: str) -> str:
    """The text on one line: every run of white space is one space, none at the ends."""
    return " ".join((text.replace("\ufeff", " ") if "\ufeff" in text else text).split())


def normalize(text: str) -> str:
    """`text` in compatibility form (NFKC) and folded case, without apostrophes and invisible characters, other punctuation as a space,
    white space collapsed and none at the ends. Normalised text stays as it is.

    Symbols (`+`, `$`, emoji) are no punctuation and remain, except the backtick.
    """
    if text.isascii():
        return " ".join(text.lower().translate(_FOLDING).split())
    decomposed = convert_form("NFKD", text).translate(_FOLDING).casefold()
    return " ".join(convert_form("NFKC", convert_form("NFKD", decomposed).casefold()).split())


def convert_form(form: Form, text: str) -> str:
    """`unicodedata.normalize(form, text)`, the same characters. Python's own brings the marks of one letter into their order by
    exchanging neighbours, which takes seconds for 20 000 of them and hours for a million: they are sorted before it sees them."""
    if text.isascii():
        return text
    from unicodedata import normalize

    if _CROWD.search(text):
        whole: Form = "NFKD" if "K" in form else "NFD"
        text = _CROWD.sub(lambda found: _sort_marks("".join([normalize(whole, one) for one in found[0]])), text)
    return normalize(form, text)


def _sort_marks(text: str) -> str:
    """`text`, decomposed, with each run of marks in canonical order."""
    from unicodedata import combining

    made: list[str] = []
    marks: list[str] = []
    for character in text:
        if combining(character):
            marks.append(character)
        else:
            made += sorted(marks, key=combining)
            made.append(character)
            marks.clear()
    return "".join(made + sorted(marks, key=combining))


def compile_later(pattern: str) -> re.Pattern[str]:
    """What `re.compile(pattern)` gives, as far as its methods go. A wrong pattern is told at its first use."""
    return cast("re.Pattern[str]", _Later(pattern))


class _Later:
    def __init__(self, pattern: str) -> None:
        self._source = pattern

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source), name)
        self.__dict__[name] = found
        return found


_CROWD = compile_later(r"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){32,}")
"""Where so many marks may stand on one letter: no mark is a letter or digit, but for two half-width ones in their compatibility form."""


class _Folding(dict[int, str | None]):
    """A table for `str.translate` that is filled as characters are met."""

    def __missing__(self, code: int) -> str | None:
        self[code] = folded = _fold_form(chr(code))
        return folded


def _fold_form(character: str) -> str | None:
    from unicodedata import category as find_category

    category = find_category(character)
    if character.isspace():
        return " "
    if character in _DROPPED or category in ("Cf", "Cc"):
        return None
    return " " if category.startswith("P") or character == "`" else character


_FOLDING = _Folding()
