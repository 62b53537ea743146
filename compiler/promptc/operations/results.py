"""What the library tells of operations: which there are, what they ask, what they came to."""

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.prompt import Prompt


@frozen(eq=False)
class Listed:
    """One operation: its arguments with their defaults, the names of what it asks, and whether it is due (False without a state or a
    condition).
    """

    name: str
    title: str
    args: Mapping[str, Any]
    asks: tuple[str, ...]
    is_due: bool


@frozen(eq=False)
class Request:
    """One question: the prompt of the pack that asks it, in messages (`prompt.tokens`, `.messages`, `.to(provider)`), and the sha256
    (`sha256:…`) of the canonical JSON of its messages.
    """

    name: str
    prompt: Prompt
    digest: str


@frozen(eq=False)
class Archive:
    """What one `keep` took out of a list: its elements as they were written, in order; or the one value that a `set` replaced.

    `pointer` is the list's, `length` how many elements it had, `places` the half-open ranges [start, stop) of those that went, rising and
    apart. Putting the elements back at their places gives the list as it was. Of a value (`is_value`), `pointer` is its own.
    """

    name: str
    pointer: str
    length: int
    places: tuple[tuple[int, int], ...]
    elements: tuple[Any, ...]
    is_value: bool = False


@frozen(eq=False)
class OperationResult:
    """The new state and all that goes with it.

    `value` is the state as written with the edits made: keys in the order of the file, new ones behind them, nothing filled in that was
    not asked for. `before` is the digest (`sha256:…`) of the state it was made of. `archives` hold what went (none that is empty), in the
    order of the edits. `said` is what the operation says (may be empty, ends without a newline). `fallbacks` name the asks whose `else`
    stands.
    """

    operation: str
    value: Any
    before: str
    is_changed: bool
    archives: tuple[Archive, ...] = ()
    said: str = ""
    fallbacks: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
