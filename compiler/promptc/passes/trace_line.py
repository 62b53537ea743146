"""A line of an output, piece by piece, with what made each. For tools that explain a render; none needs it."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from promptc.diag.frozen import frozen
from promptc.passes.assemble import Part
from promptc.passes.fit.fit import Fitted
from promptc.passes.piece import TracedText, slice_pieces
from promptc.passes.trace_part import PartTracer


@frozen(eq=False)
class TracedLine:
    """A line, from 1 in the text or in its message's content: its text without its end, and its pieces under the parts they belong to.

    An empty line has its end as its only piece.
    """

    message: int
    line: int
    text: str
    parts: tuple[tuple[Part, tuple[TracedText, ...]], ...]


class LineTracer:
    """Traces lines of one output."""

    def __init__(self, fitted: Fitted, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._tracer = PartTracer(fitted, parts)
        self._traced: dict[int, tuple[TracedText, ...]] = {}
        self.origins = self._tracer.origins
        self._lines = {
            message: "".join(part.text for part in own).split("\n") for message, own in groupby(parts, lambda part: part.message)
        }

    def count_messages(self) -> int:
        """How many messages there are; 1 in text output that is not empty."""
        return len(self._lines)

    def count_lines(self, message: int = 0) -> int:
        """How many lines the text, or a message's content, has; an empty one behind the last line end is none."""
        lines = self._lines.get(message, [""])
        return len(lines) - (not lines[-1])

    def trace(self, message: int, line: int) -> TracedLine:
        """The line, which is there."""
        text = self._lines[message][line - 1]
        start = sum(len(one) + 1 for one in self._lines[message][: line - 1])
        found = self._iter_parts(message, start, start + len(text)) if text else self._iter_parts(message, start, start + 1)
        return TracedLine(message, line, text, tuple(found))

    def _iter_parts(self, message: int, start: int, stop: int) -> Iterator[tuple[Part, tuple[TracedText, ...]]]:
        place = 0
        for at, part in enumerate(self._parts):
            if part.message != message:
                continue
            if place < stop and start < place + len(part.text):
                if at not in self._traced:
                    self._traced[at] = self._tracer.trace(at)
                yield part, slice_pieces(self._traced[at], start - place, stop - place)
            place += len(part.text)
