"""Where the parts of an output stand."""

from collections.abc import Iterator, Sequence

from promptc.passes.assemble import Part


def place_parts(parts: Sequence[Part]) -> Iterator[tuple[Part, int, int]]:
    """Every part with the bytes (UTF-8, half-open) it takes of the text, or of its message's content."""
    message, stop = 0, 0
    for part in parts:
        start = stop if part.message == message else 0
        message, stop = part.message, start + len(part.text.encode())
        yield part, start, stop
