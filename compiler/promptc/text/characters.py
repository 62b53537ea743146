"""Characters: the only definition of white space, normal forms of texts, and patterns that are compiled on first use.

White space decides which texts are blank, what `\\s` matches in patterns, the ends and gaps of cuts, and promptc's own filters (contract.md
§3). Other software uses three definitions: Unicode's White_Space; Python's (and thus Jinja's `trim`), which also has U+001C to U+001F; and
ECMA-262's `\\s`, which also has U+FEFF but neither those nor U+0085. The definition here is the union of all three. A text that matches
`\\S` therefore has a character that is white in none of them, and no software considers it blank.
"""

import re

from promptc.diag.typed import Any, Literal, cast

WHITE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""Every white character, in code-point order."""

WHITE_CLASS = r"\s\ufeff"
"""`WHITE` for use inside the brackets of a Python pattern."""
Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
_DROPPED = frozenset("'’‘ʼ")  # inside words: "don't" is compared as "dont"


def is_blank(text: str) -> bool:
    """Return whether a text is empty or white space only."""
    return not text.strip(WHITE)


def join_words(text: str) -> str:
    """Return the text on one line: every run of white space becomes one space, and the ends have none."""
    return " ".join((text.replace("\ufeff", " ") if "\ufeff" in text else text).split())


def normalize(text: str) -> str:
    """Return `text` in a form for comparison: NFKC, folded case, collapsed white space, no punctuation.

    Apostrophes and invisible characters are removed; other punctuation becomes a space. White space is removed at the ends. Symbols (`+`,
    `$`, emoji) are not punctuation and remain, except the backtick. The function is idempotent.
    """
    if text.isascii():
        return " ".join(text.lower().translate(_FOLDING).split())
    decomposed = convert_form("NFKD", text).translate(_FOLDING).casefold()
    return " ".join(convert_form("NFKC", convert_form("NFKD", decomposed).casefold()).split())


def convert_form(form: Form, text: str) -> str:
    """Return `unicodedata.normalize(form, text)`, faster for long runs of marks.

    Python's function sorts the marks of one letter by exchanging neighbours, which takes seconds for 20 000 marks and hours for a million.
    This function sorts them first.
    """
    if text.isascii():
        return text
    from unicodedata import normalize

    if _CROWD.search(text):
        whole: Form = "NFKD" if "K" in form else "NFD"
        text = _CROWD.sub(lambda found: _sort_marks("".join([normalize(whole, one) for one in found[0]])), text)
    return normalize(form, text)


def _sort_marks(text: str) -> str:
    """Return `text`, which must be decomposed, with each run of marks in canonical order."""
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
    """Return a stand-in for `re.compile(pattern)` with the same methods. An invalid pattern raises at its first use."""
    return cast("re.Pattern[str]", _Later(pattern))


class _Later:
    def __init__(self, pattern: str) -> None:
        self._source = pattern

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source), name)
        self.__dict__[name] = found
        return found


_CROWD = compile_later(r"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){32,}")
"""Matches places where many marks may follow one letter: no mark is a letter or digit, except two half-width ones in compatibility form."""


class _Folding(dict[int, str | None]):
    """A table for `str.translate`, filled as characters are encountered."""

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
