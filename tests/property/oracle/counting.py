"""Counts by the libraries themselves, whatever the counter."""

from functools import lru_cache

from tests.cases.recount import count_text
from tests.property.drawing.tokenizer import ENCODING, NAME, load_drawn_encoding, load_tokenizer

MESSAGE = 3
WHOLE = 3


@lru_cache(200_000)
def count(counter: str, text: str) -> int:
    """Tokens of a text; `chars/4` rounds up."""
    if counter == NAME:
        return len(load_tokenizer().encode(text, add_special_tokens=False).ids)
    if counter == ENCODING:
        return len(load_drawn_encoding().encode_ordinary(text))
    return count_text(counter, text)


def count_messages(counter: str, messages: list[tuple[str, str]], *, message: int = MESSAGE, whole: int = WHOLE) -> int:
    """Tokens of (role, content) pairs with so many for each message and its role's name, and so many for the whole."""
    if counter == "chars/4":
        return -(-sum(len(content) for _, content in messages) // 4) + message * len(messages) + whole
    return sum(message + count(counter, role) + count(counter, content) for role, content in messages) + whole
