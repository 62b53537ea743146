"""What a render has used up: one account for all its templates, its expressions and the compiler's own work on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from promptc.diag.findings import Span, fail
from promptc.diag.typed import Any, Protocol
from promptc.template.limits import CEILINGS, LIMITS, Limits
from promptc.template.runtime.fault import refuse


class PackCounter(Protocol):
    """What `tokens` and `truncate_at` need of the pack's counter."""

    @property
    def unit(self) -> int:
        """How many units are a token."""

    def measure(self, text: str) -> int:
        """Units in a text."""

    def token_ends(self, text: str) -> Sequence[int]:
        """Where tokens end, in characters."""


RUN = "__run__"
"""The name under which all that a render runs is given its account. No template can read it."""

_BASE = 10
_EXPLAINED = 16
_WIDEST = 4


class Run:
    """The account of one render, or of one operation: everything that it evaluates and renders charges it. Never shared between renders.

    Steps and bytes are counted, not measured, so that a pack fails at the same place on every machine. A text counts a byte for each
    character, and four where one of them is not ASCII: that is how much Python may hold it in.
    """

    __slots__ = ("counter", "limits", "left", "memory", "depth", "modules")

    def __init__(self, counter: PackCounter | None, limits: Limits = LIMITS) -> None:
        self.counter = counter
        self.limits = limits
        self.left = limits.steps
        self.memory = limits.memory
        self.depth = 0
        self.modules: dict[str, Any] = {}

    def begin_program(self) -> None:
        """Pay for beginning a template or an expression. What the one before imported is not known to it."""
        self.depth = 0
        if self.modules:
            self.modules = {}
        self.take(_BASE)

    def renew(self) -> None:
        """The render has ended: what explains it may run again what the render ran, some times over."""
        self.left = self.limits.steps * _EXPLAINED
        self.memory = self.limits.memory * _EXPLAINED

    def take(self, steps: int) -> None:
        """Pay for `steps` before they are made."""
        self.left -= steps
        if self.left < 0:
            help = f"loop over less: limit the list, or the loops inside loops; or raise `limits.steps`, up to {CEILINGS.steps}"
            refuse("PC0430", f"the render takes more than {self.limits.steps} steps, and here it is over", help)

    def pay(self, steps: int, span: Span | None, what: str, size: int = 0) -> None:
        """Pay for the compiler's own work on `what`, in steps and bytes. Raises `PromptcError`."""
        self.left -= steps
        self.memory -= size
        if self.memory < 0:
            help = f"make shorter texts, or fewer; or raise `limits.memory`, up to {CEILINGS.memory}"
            raise fail("PC0590", f"the render makes texts of more than {self.limits.memory} bytes, and {what} is over", span, help=help)
        if self.left < 0:
            help = f"select fewer items, or shorter ones: `window`, `limit`, `where`; or raise `limits.steps`, up to {CEILINGS.steps}"
            raise fail("PC0590", f"the render takes more than {self.limits.steps} steps, and {what} is over", span, help=help)

    def hold(self, size: int) -> None:
        """Pay for so many bytes of text."""
        self.memory -= size
        if self.memory < 0:
            most = self.limits.memory
            help = f"make shorter texts, or fewer; or raise `limits.memory`, up to {CEILINGS.memory}"
            refuse("PC0430", f"the render makes texts of more than {most} bytes together, and here it is over", help)

    def make(self, characters: int) -> None:
        """Pay for a text of so many characters, or a list of so many elements, before it is made."""
        if characters > self.limits.text:
            most = self.limits.text
            help = f"limit what is repeated, or raise `limits.text`, up to {CEILINGS.text}"
            refuse("PC0430", f"the template makes a value of more than {most} characters or elements", help)
        self.take(characters >> 3)
        self.hold(characters * _WIDEST)

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
        text = "".join(parts)
        self.hold(size if text.isascii() else size * _WIDEST)
        return text

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


def find_run(names: Mapping[str, Any], limits: Limits = LIMITS) -> Run:
    """The account that `names` hold. One of its own for what is run beside any render, with nothing of a state."""
    found: Run | None = names.get(RUN)
    return Run(None, limits) if found is None else found
