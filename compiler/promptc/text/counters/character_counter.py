"""The estimate `chars/4`: a token for every four characters begun."""

from __future__ import annotations

from collections.abc import Sequence

from promptc.text.counters.runs import TokenRun


class CharacterCounter:
    """Measures characters (code points), four of which make a token, so that parts add up everywhere."""

    name = "chars/4"
    digest = "sha256:bf8c86e3cf4deec0e825762217533e015eb7f4bc1a48d14d822d69fa3ab7b546"
    exact = False
    unit = 4

    special_tokens: Sequence[str] = ()
    """None of its own."""

    def measure(self, text: str) -> int:
        """Characters."""
        return len(text)

    def recount(self, text: str) -> int:
        """The same."""
        return self.measure(text)

    def is_safe(self, left: str, right: str) -> bool:
        """Always."""
        return True

    def find_inner(self, text: str) -> tuple[int, int] | None:
        """Everywhere inside."""
        return (1, len(text) - 1) if len(text) > 1 else None

    def find_runs(self, text: str) -> list[TokenRun]:
        """None needed."""
        return []

    def iter_starts(self, text: str) -> Sequence[int]:
        """A token begins at every fourth character of the whole."""
        starts, place = [], 0
        for first in range(0, len(text), 4):
            starts.append(place)
            place += len(text[first : first + 4].encode())
        return starts

    def token_ends(self, text: str) -> Sequence[int]:
        """After every fourth character, and at the end."""
        ends = [*range(4, len(text), 4), len(text)] if text else []
        return [end for end in ends if text[end - 1 : end + 1] != "\r\n"]

    def role_tokens(self, role: str) -> int:
        """None: the estimate of a message covers its role."""
        return 0
