"""What an archive file holds."""

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.frontend.json import MAX_STATE_BYTES

MAX_ARCHIVE_BYTES = 2 * MAX_STATE_BYTES
"""Bytes of the longest archive that is read: its elements may be written longer than they stood in the state."""


@frozen(eq=False)
class Archived:
    """Elements that an operation took out of a list, and where they stood.

    `pointer` is the list's, `length` how many elements it had, `places` the half-open ranges of those that went, in order. `kept` are the
    marks (`mark_element`) of those that stayed, at most KEPT of the first. `state` is the digest of the state before, `file` the name of
    its file (empty for standard input).

    Of a value that an operation replaced, which is the one element, `pointer` is its own, and `replaced` is the mark of what the operation
    left there (empty for elements of a list).
    """

    name: str
    pack: str
    version: str
    operation: str
    pointer: str
    length: int
    places: tuple[tuple[int, int], ...]
    kept: tuple[str, ...]
    state: str
    file: str
    elements: tuple[Any, ...]
    replaced: str = ""


KEPT = 1000
"""As many as a restore can go by; a longer list would make every archive of it long."""
