"""What a template prints, piece by piece, and what made each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen, replace
from promptc.template.place import Place

Pointers = tuple[str, ...]
"""JSON pointers into a state, each once, in the order they were read."""


@frozen(eq=False)
class TraceContext:
    """What a trace is told of the values it meets: the pointer of a mapping or list of the state, what made the value of a name, and what
    made the parts of a mapping that is not the state's, by that mapping's `id`."""

    find: Callable[[object], str | None]
    named: Mapping[str, Pointers]
    parts: Mapping[int, Mapping[str, Pointers]]


@frozen(eq=False)
class OutputSpan:
    """A run of printed characters.

    `file` is the text it was made in, called `name` (empty: the template itself), and `at` the character there; `code` is the expression
    that made it, as written, empty for constant text. `pointers` are the parts of the state that were read for it. `calls`: where the
    macro, block or file it stands in was called, from the outside in: each a name, a text and a character there.
    """

    text: str
    place: Place
    name: str
    file: str
    at: int
    code: str = ""
    pointers: Pointers = ()
    calls: tuple[tuple[str, str, int], ...] = ()

    @property
    def span(self) -> Span:
        """Where it was made; of an inline template that its manifest writes otherwise, where that begins."""
        return self.place.find_span(self.name, self.file, self.at + 1)

    @property
    def callers(self) -> tuple[Span, ...]:
        """Where what it stands in was called, from the outside in."""
        return tuple(self.place.find_span(name, file, at + 1) for name, file, at in self.calls)

    def part(self, start: int, stop: int) -> OutputSpan:
        """The characters from `start` to `stop`. Constant text knows the place of each, unless it is written otherwise in the file."""
        text = self.text[start:stop]
        moves = not self.code and self.file.startswith(text, self.at + start)
        return replace(self, text=text, at=self.at + start if moves else self.at)
