"""Words in which code is told apart, so that each rendering can mark it its own way."""

import re

from promptc.diag.frozen import frozen

_CODE = re.compile(r"`([^`\n]+)`")


@frozen
class Word:
    """A run of text on one line, or of code as an author wrote it."""

    text: str
    is_code: bool = False


Phrase = tuple[Word, ...]


def say(pattern: str, *codes: object) -> Phrase:
    """The words of `pattern` with code in place of each `{}`. White space in code becomes single spaces."""
    texts = pattern.split("{}")
    found = [Word(texts[0])]
    for code, text in zip(codes, texts[1:], strict=True):
        found += [Word(" ".join(str(code).split()), True), Word(text)]
    return tuple(word for word in found if word.text)


def read_phrase(text: str) -> Phrase:
    """An author's remark: what stands between backticks is code."""
    parts = _CODE.split(" ".join(text.split()))
    return tuple(Word(part, bool(at % 2)) for at, part in enumerate(parts) if part)


def show_plain(phrase: Phrase) -> str:
    """The phrase with backticks around its code."""
    return "".join(f"`{word.text}`" if word.is_code else word.text for word in phrase)


def join_phrases(phrases: list[Phrase], between: str) -> Phrase:
    """One behind the other."""
    found: list[Word] = []
    for phrase in phrases:
        found += [Word(between), *phrase] if found else phrase
    return tuple(found)
