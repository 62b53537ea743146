"""The words a text is found by."""

from __future__ import annotations

from promptc.text.guard import compile_later, normalize

_UNSPACED = "\u1100-\u11ff\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TERM = compile_later(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")
_IS_UNSPACED = compile_later(rf"[{_UNSPACED}]")
_LONGEST = 64


def has_words(text: str) -> bool:
    """Whether there is a word in it."""
    return _TERM.search(normalize(text)) is not None


def find_words(text: str) -> list[str]:
    """The words of `text` in order: runs of letters and digits in normalised form (`normalize`), an English plural's `s` left away.

    Scripts without spaces between words give each pair of neighbouring characters. Words are at most 64 characters long.
    """
    words: list[str] = []
    for found in _TERM.finditer(normalize(text)):
        term = found[0]
        if _IS_UNSPACED.match(term):
            words += [term[place : place + 2] for place in range(max(len(term) - 1, 1))]
        else:
            words.append(_fold_plural(term)[:_LONGEST])
    return words


def _fold_plural(word: str) -> str:
    """Harman's S stemmer: queries and texts differ in number more than in anything else, and it joins few words that differ in meaning."""
    if len(word) < 4 or word[-1] != "s" or not word.isascii():
        return word
    if word.endswith("ies") and word[-4] not in "ae":
        return word[:-3] + "y"
    if word.endswith("es") and word[-3] not in "aeo":
        return word[:-1]
    return word[:-1] if word[-2] not in "us" else word
