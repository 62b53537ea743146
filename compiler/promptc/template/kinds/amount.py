"""How much a stretch of a template puts out, at most."""

from collections.abc import Iterable
from dataclasses import dataclass

from promptc.template.kinds.unite import add_bounds, find_most
from promptc.template.types.types import TextType


@dataclass(frozen=True, slots=True)
class Amount:
    """At most so many tokens in any surroundings, bytes of UTF-8, and characters; of the bytes, `loose` are no constant text counted as
    it stands. None without a bound, and `at` then tells the schema's place (a JSON pointer after `#`, or empty)."""

    tokens: int | None = 0
    size: int | None = 0
    characters: int | None = 0
    loose: int | None = 0
    at: str = ""

    def plus(self, *others: "Amount") -> "Amount":
        """One after the other."""
        found = (self, *others)
        at = next((one.at for one in found if one.size is None), "")
        tokens, size = add_bounds(*(one.tokens for one in found)), add_bounds(*(one.size for one in found))
        characters, loose = add_bounds(*(one.characters for one in found)), add_bounds(*(one.loose for one in found))
        return Amount(tokens, size, characters, loose, at)

    def times(self, count: int | None, at: str = "") -> "Amount":
        """So many times, at most; `at` is the place of a count without a bound."""
        if self.size == 0 or count == 0:
            return Amount()
        if count is None or self.size is None or self.tokens is None or self.characters is None or self.loose is None:
            return Amount(None, None, None, None, self.at if self.size is None else at)
        return Amount(self.tokens * count, self.size * count, self.characters * count, self.loose * count)


UNBOUNDED = Amount(None, None, None, None)


def find_largest(amounts: Iterable[Amount]) -> Amount:
    """One of several."""
    found = list(amounts)
    if not found:
        return Amount()
    at = next((one.at for one in found if one.size is None), "")
    tokens, size = find_most(*(one.tokens for one in found)), find_most(*(one.size for one in found))
    characters, loose = find_most(*(one.characters for one in found)), find_most(*(one.loose for one in found))
    return Amount(tokens, size, characters, loose, at)


def amount_of(shown: TextType) -> Amount:
    """What printing a text that is not known puts out: a token has at least one byte."""
    return Amount(shown.size, shown.size, shown.characters if shown.characters is not None else shown.size, shown.size, shown.at)


def text_of_amount(made: Amount) -> TextType:
    """The text that a stretch of a template makes, as a value."""
    return TextType(made.characters, made.size, None, made.at)
