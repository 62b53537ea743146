"""Text as the pieces that the encoder was trained on: BERT's uncased WordPiece (Devlin et al. 2018), vocabulary and rules.

Written out here, since the library that knows them takes 12 MB; tests hold it to that library.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

_START, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
_LONGEST_WORD = 100
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def load_vocabulary(content: str) -> dict[str, int]:
    """The pieces of a vocabulary file, one a line, with their numbers."""
    return {piece: number for number, piece in enumerate(content.split("\n")) if piece}


def find_pieces(text: str, vocabulary: Mapping[str, int], most: int) -> list[int]:
    """The numbers of `text`, at most `most` of them, the marks of its two ends included."""
    numbers = [vocabulary[_START]]
    for word in _iter_words(text):
        numbers += _split_word(word, vocabulary)
        if len(numbers) >= most - 1:
            break
    return [*numbers[: most - 1], vocabulary[_END]]


def _iter_words(text: str) -> Iterator[str]:
    """Lower case without accents; each mark of punctuation and each ideograph is a word."""
    cleaned = "".join(map(_clean, text))
    plain = "".join(one for one in unicodedata.normalize("NFD", cleaned) if unicodedata.category(one) != "Mn").lower()
    start = None
    for place, one in enumerate(plain):
        alone = _is_punctuation(one)
        if (alone or one.isspace()) and start is not None:
            yield plain[start:place]
            start = None
        if alone:
            yield one
        elif start is None and not one.isspace():
            start = place
    if start is not None:
        yield plain[start:]


def _clean(character: str) -> str:
    if character in "\t\n\r":
        return " "
    code = ord(character)
    if code in (0, 0xFFFD) or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if any(first <= code <= last for first, last in _IDEOGRAPHS) if code > 0x33FF else False:
        return f" {character} "
    return " " if character.isspace() else character


def _is_punctuation(character: str) -> bool:
    if character.isascii():
        return character.isprintable() and not character.isalnum() and character != " "
    return unicodedata.category(character).startswith("P")


def _split_word(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """The longest piece that fits, again and again; one unknown piece for a word that cannot be made of pieces."""
    if len(word) > _LONGEST_WORD:
        return [vocabulary[_UNKNOWN]]
    numbers: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        stop = next((stop for stop in range(len(word), start, -1) if mark + word[start:stop] in vocabulary), None)
        if stop is None:
            return [vocabulary[_UNKNOWN]]
        numbers.append(vocabulary[mark + word[start:stop]])
        start = stop
    return numbers
