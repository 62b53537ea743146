"""What is remembered of a state's archives beside it: which are out, which are back.

A list alone does not tell where elements are equal: `a` taken out of `a, b, a` leaves an `a`. So each call that takes out or puts back
notes it, with the list as it leaves it. A list that no longer begins like that was changed by something else, and its note is worth
nothing.
"""

from collections.abc import Mapping, Sequence

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.text.json import find_list, render_canonical_json, render_digest

NOTED = 1000
"""Archives of one list that are remembered, the newest. Of older ones the list decides."""


@frozen
class ListNote:
    """Of one list: `length` and `digest` are of the list as it was left. `out` are the file names of archives whose elements are missing,
    in the order they were taken, `back` of those whose elements are there again.
    """

    length: int
    digest: str
    out: tuple[str, ...] = ()
    back: tuple[str, ...] = ()

    def fits(self, elements: Sequence[Any]) -> bool:
        """Whether nothing was done to the list since but appends."""
        return len(elements) >= self.length and digest_list(elements[: self.length]) == self.digest


@frozen(eq=False)
class Note:
    """Of one state: its lists by their pointers, those that fit. `is_settled`: the file says this and no more."""

    lists: Mapping[str, ListNote]
    is_settled: bool = True


NO_NOTE = Note({})


@frozen(eq=False)
class PendingNote:
    """A note while a state is replaced: what holds before, what holds after, and the digests of the file's bytes that tell which."""

    was: Mapping[str, ListNote]
    now: Mapping[str, ListNote]
    before: str
    after: str


def digest_list(elements: Sequence[Any]) -> str:
    """Of the elements' canonical JSON."""
    return render_digest(render_canonical_json(list(elements)).encode())


def read_list(value: Any, pointer: str) -> Sequence[Any]:
    """The list at a pointer of a state; an empty one where there is none."""
    return find_list(value, pointer) or []
