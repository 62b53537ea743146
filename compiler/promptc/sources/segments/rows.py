"""What a read of a store gives."""

from promptc.diag.frozen import frozen
from promptc.model.sources import Segment


@frozen
class Malformed:
    """A row that is no segment: its id as far as it can be told, and why."""

    id: str
    why: str


@frozen
class Rows:
    """The segments of a render. `parts` answers the wishes one by one, each in the order of its items.

    Left out, each row counted once however many wishes it would answer: `inactive` ones, those that are `malformed` (by id), those
    `passed_over` for another locale or version of the same segment, and the ids of those that are in no preferred locale (`foreign`).
    """

    parts: tuple[tuple[Segment, ...], ...]
    inactive: int = 0
    malformed: tuple[Malformed, ...] = ()
    passed_over: int = 0
    foreign: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Segment, ...]:
        """All parts, one after the other."""
        return tuple(one for part in self.parts for one in part)


@frozen
class Stored:
    """All that a store holds: its segments by (scope, ref_id, id) in code-point order, the malformed rows by id, and which version of the
    schema its table has (0: promptc did not make it).
    """

    segments: tuple[Segment, ...]
    malformed: tuple[Malformed, ...]
    version: int


@frozen
class Changes:
    """What an import changed, in numbers of segments."""

    added: int
    changed: int
    same: int
    removed: int
