"""How much a stretch of a template puts out, at most."""

from collections.abc import Iterable
from dataclasses import dataclass

from promptc.template.kinds.kind import Text
from promptc.template.kinds.unite import add_bounds, find_most


@dataclass(frozen=True, slots=True)
class Amount:
    """At most so many tokens in any surroundings, and so many bytes; None without a bound, and `at` then tells the schema's place."""

    tokens: int | None = 0
    size: int | None = 0
    at: str = ""

    def plus(self, other: "Amount") -> "Amount":
        """One after the other."""
        at = self.at if self.size is None else other.at
        return Amount(add_bounds(self.tokens, other.tokens), add_bounds(self.size, other.size), at)

    def times(self, count: int | None) -> "Amount":
        """So many times, at most."""
        if self.size == 0 or count == 0:
            return Amount()
        if count is None or self.size is None or self.tokens is None:
            return Amount(None, None, self.at)
        return Amount(self.tokens * count, self.size * count)


def find_largest(amounts: Iterable[Amount]) -> Amount:
    """One of several."""
    found = list(amounts)
    if not found:
        return Amount()
    at = next((one.at for one in found if one.size is None), "")
    return Amount(find_most(*(one.tokens for one in found)), find_most(*(one.size for one in found)), at)


def amount_of(shown: Text) -> Amount:
    """What printing a text that is not known puts out: a token has at least one byte."""
    return Amount(shown.size, shown.size, shown.at)
