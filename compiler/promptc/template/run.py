"""What one run of a template has used up."""

from collections.abc import Sequence
from typing import Protocol

from promptc.template.fault import refuse
from promptc.template.limits import MAX_DEPTH, MAX_STEPS, MAX_TEXT
from promptc.template.module import Module


class Counter(Protocol):
    """What `tokens` and `truncate_at` need of the pack's counter."""

    @property
    def unit(self) -> int:
        """How many units are a token."""

    def measure(self, text: str) -> int:
        """Units in a text."""

    def token_ends(self, text: str) -> Sequence[int]:
        """Where tokens end, in characters."""


COUNTER = "__counter__"
"""The name under which a render is given the pack's counter. No template can read it."""


class Run:
    """The counters of one render, shared by everything it includes. Never shared between renders."""

    __slots__ = ("counter", "left", "depth", "modules")

    def __init__(self, counter: Counter | None) -> None:
        self.counter = counter
        self.left = MAX_STEPS
        self.depth = 0
        self.modules: dict[str, Module] = {}

    def take(self, steps: int) -> None:
        """Pay for `steps` before they are made."""
        self.left -= steps
        if self.left < 0:
            refuse("PC0430", f"the template takes more than {MAX_STEPS} steps", "loop over less: limit the list, or the loops inside loops")

    def make(self, characters: int) -> None:
        """Pay for a text of so many characters, or a list of so many elements, before it is made."""
        if characters > MAX_TEXT:
            refuse("PC0430", f"the template makes a value of more than {MAX_TEXT} characters or elements", "limit what is repeated")
        self.take(characters >> 3)

    def enter(self, weight: int) -> None:
        """Go into a macro, include or block that takes `weight` steps; `leave` comes after."""
        self.take(weight + 20)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            refuse("PC0430", f"macros and includes call each other more than {MAX_DEPTH} deep", "let the recursion end sooner")

    def leave(self) -> None:
        """The way back from `enter`."""
        self.depth -= 1
