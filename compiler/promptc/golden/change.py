"""A piece of what changed in a file, which can be put back alone."""

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any


@frozen
class LineUndo:
    """Lines `start` to `stop` of the present file (from 0, half-open) stood as `before`."""

    start: int
    stop: int
    before: str


@frozen
class ValueUndo:
    """What stood in a JSON document: `keys` lead to the place in the present one, keys of objects and places in lists.

    `kind` tells what `before`, a JSON text, is:
      value    what stood there
      added    nothing: nothing stood there
      gone     what stood under a key that is gone, the one at `start` (from 0) of its object, behind the key `after`
      entries  a list of what stood for the entries `start` to `stop` (from 0, half-open) of the list there
      order    the keys of the object there, as they followed each other
    """

    keys: tuple[str | int, ...]
    kind: str
    before: str = "null"
    after: str | None = None
    start: int = 0
    stop: int = 0


@frozen
class FileChange:
    """A file that reads otherwise than before, in one place. `path` is from the root; line and column are where it differs now (from 1),
    `what` says what it said and says, in a line."""

    path: str
    line: int
    column: int
    what: str
    undo: Any
