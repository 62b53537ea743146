"""What one run of a template has used up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from promptc.diag.typed import Any, Protocol
from promptc.template.limits import LIMITS, Limits
from promptc.template.runtime.fault import refuse


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

    __slots__ = ("counter", "limits", "left", "depth", "modules")

    def __init__(self, counter: Counter | None, limits: Limits = LIMITS) -> None:
        self.counter = counter
        self.limits = limits
        self.left = limits.steps
        self.depth = 0
        self.modules: dict[str, Any] = {}

    def take(self, steps: int) -> None:
        """Pay for `steps` before they are made."""
        self.left -= steps
        if self.left < 0:
            most = self.limits.steps
            help = "loop over less: limit the list, or the loops inside loops; or raise `limits.steps`"
            refuse("PC0430", f"the template takes more than {most} steps", help)

    def make(self, characters: int) -> None:
        """Pay for a text of so many characters, or a list of so many elements, before it is made."""
        if characters > self.limits.text:
            most = self.limits.text
            help = "limit what is repeated, or raise `limits.text`"
            refuse("PC0430", f"the template makes a value of more than {most} characters or elements", help)
        self.take(characters >> 3)

    def enter(self, weight: int) -> None:
        """Go into a macro, include or block that takes `weight` steps; `leave` comes after."""
        self.take(weight + 20)
        self.depth += 1
        if self.depth > self.limits.depth:
            most = self.limits.depth
            refuse("PC0430", f"macros and includes call each other more than {most} deep", "let the recursion end sooner")

    def leave(self) -> None:
        """The way back from `enter`."""
        self.depth -= 1

    def begin(self) -> list[str]:
        """A list for the parts of a text."""
        return []

    def join(self, parts: list[str]) -> str:
        """The text, paid for."""
        size = sum(map(len, parts))
        if size > self.limits.text:
            self.exceed()
        self.take(size >> 3)
        return "".join(parts)

    def exceed(self) -> None:
        """Stop: a text grew too long."""
        raise Excess


class Excess(Exception):
    """A text grew too long: known at its end, where no line is to be told. A `MeasuringRun` finds the line."""


class MeasuringRun(Run):
    """A run that stops at the very output that is too much."""

    __slots__ = ()

    def begin(self) -> list[str]:
        """A list that adds up what it is given."""
        return _Measured(self.limits.text)

    def exceed(self) -> None:
        """Stop here."""
        refuse(
            "PC0430",
            f"the template makes a text of more than {self.limits.text} characters",
            "limit what is repeated, or raise `limits.text`",
        )


class _Measured(list[str]):
    __slots__ = ("left", "most")

    def __init__(self, most: int) -> None:
        super().__init__()
        self.left = self.most = most

    def append(self, part: str) -> None:
        self.left -= len(part)
        if self.left < 0:
            help = "limit the list, or the text of each element; or raise `limits.text`"
            refuse("PC0430", f"the template prints more than {self.most} characters", help)
        super().append(part)

    def extend(self, parts: Iterable[str]) -> None:
        for part in parts:
            self.append(part)
