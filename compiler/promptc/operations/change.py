"""A new state, ready to be written."""

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.operations.archived import Archived


@frozen(eq=False)
class StateDiff:
    """The bytes of the new state, and what has to be archived before they replace the old ones. `before` and `after` are the states'
    values, as written.

    `restored` are the archives of a restore: the list's pointer and the archive's file name. `stuck` are the numbers of those whose value
    is not put back, since something else has replaced what their operation left there.

    Where nothing changes, `is_changed` is False, `data` is what was read, and nothing is archived.
    """

    before: Any
    after: Any
    data: bytes
    is_changed: bool
    archived: tuple[Archived, ...] = ()
    restored: tuple[tuple[str, str], ...] = ()
    stuck: tuple[int, ...] = ()
