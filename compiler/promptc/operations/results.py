"""What the library tells of operations: which there are, what they ask, what they came to."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, Protocol
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.model.messages import Operation
from promptc.model.pack import PackModel
from promptc.model.state import State
from promptc.pipeline import Outcome, Prompt

MAX_ARCHIVE_BYTES = 2 * MAX_STATE_BYTES
"""Bytes of the longest archive that is read: its elements may be written longer than they stood in the state."""

KEPT = 1000
"""As many as a restore can go by; a longer list would make every archive of it long."""


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
    apart. Putting the elements back at their places gives the list as it was. Of a value (`is_value`), `pointer` is its own; where there
    was none before the `set`, there is no element. `appended` is what one `append` put behind the list, from which nothing went, and
    `stood` what stood in it.
    """

    name: str
    pointer: str
    length: int
    places: tuple[tuple[int, int], ...]
    elements: tuple[Any, ...]
    is_value: bool = False
    appended: tuple[Any, ...] = ()
    stood: tuple[Any, ...] = ()


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


@frozen(eq=False)
class StateDiff:
    """The bytes of the new state, and what has to be archived before they replace the old ones. `before` and `after` are the states'
    values, as written.

    `restored` are the archives of a restore: the list's pointer and the archive's file name. `stuck` are the numbers of those whose value
    is not put back or taken away, since something else has replaced what their operation left there. `unsure`: of each archive, how many
    elements are not put back for equal ones that are there and may be others.

    Where nothing changes, `is_changed` is False, `data` is what was read, and nothing is archived.
    """

    before: Any
    after: Any
    data: bytes
    is_changed: bool
    archived: tuple[Archived, ...] = ()
    restored: tuple[tuple[str, str], ...] = ()
    stuck: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()


@frozen(eq=False)
class Archived:
    """Elements that an operation took out of a list, and where they stood.

    `pointer` is the list's, `length` how many elements it had, `places` the half-open ranges of those that went, in order. `kept` are the
    marks (`mark_element`) of those that stayed, at most KEPT of the first. `state` is the digest of the state before, `file` the name of
    its file (empty for standard input).

    Of a value that an operation replaced, which is the one element, `pointer` is its own, and `replaced` is the mark of what the operation
    left there (empty for elements of a list). Where there was no value, there is no element. `appended` are the marks of what was put
    behind the list. `absent` is the pointer of the outermost thing on the way that the state did not have (empty: it had all of it).
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
    appended: tuple[str, ...] = ()
    absent: str = ""


class Opened(Protocol):
    """A pack as the library opens it: its model, and what loads its states and renders its questions."""

    @property
    def model(self) -> PackModel: ...

    def load_state(self, given: bytes | Mapping[str, Any] | State, name: str = ..., /) -> State:
        """A valid state, which findings call `name`. Raises `PromptcError` for one that is not."""

    def render_question(self, asking: PackModel, state: State, given: Mapping[str, Any]) -> Outcome:
        """The messages of a question's pack, which sees `given` besides the state."""


def choose_operation(pack: Opened, name: str) -> Operation:
    """The operation of that name. Raises `UsageError` (PC0802) where the pack has none."""
    operations: tuple[Operation, ...] = pack.model.operations
    found = next((one for one in operations if one.name == name), None)
    if found is None:
        known = [one.name for one in operations]
        help = suggest(name, known) if known else "its manifest declares none"
        raise UsageError([Diagnostic("PC0802", f"the pack has no operation `{name}`", help=help)])
    return found
