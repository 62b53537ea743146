"""The one normalisation of text for comparing: in `dedupe`, the filters `normalize` and `mentions`, and retrieval alike."""

from promptc.text.unicode_form import find_form

_DROPPED = frozenset("'’‘ʼ")  # inside words: "don't" is compared as "dont"


def normalize(text: str) -> str:
    """`text` in compatibility form (NFKC) and folded case, without apostrophes and invisible characters, other punctuation as a space,
    white space collapsed and none at the ends. Normalised text stays as it is.

    Symbols (`+`, `$`, emoji) are no punctuation and remain, except the backtick.
    """
    if text.isascii():
        return " ".join(text.lower().translate(_FOLDING).split())
    decomposed = find_form("NFKD", text).translate(_FOLDING).casefold()
    return " ".join(find_form("NFKC", find_form("NFKD", decomposed).casefold()).split())


class _Folding(dict[int, str | None]):
    """A table for `str.translate` that is filled as characters are met."""

    def __missing__(self, code: int) -> str | None:
        self[code] = folded = _fold(chr(code))
        return folded


def _fold(character: str) -> str | None:
    from unicodedata import category as find_category

    category = find_category(character)
    if character.isspace():
        return " "
    if character in _DROPPED or category in ("Cf", "Cc"):
        return None
    return " " if category.startswith("P") or character == "`" else character


_FOLDING = _Folding()
