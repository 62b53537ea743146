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
    """One operation of a pack.

    - `name`: its name.
    - `title`: what it does, in a few words.
    - `args`: its arguments with their defaults.
    - `asks`: the names of its questions.
    - `is_due`: whether its `when` holds. False without a state, and for an operation without a condition.
    """

    name: str
    title: str
    args: Mapping[str, Any]
    asks: tuple[str, ...]
    is_due: bool


@frozen(eq=False)
class Request:
    """One question to a model.

    - `name`: the name of the question.
    - `prompt`: its messages. Send `prompt.to(provider)`.
    - `digest`: the sha256 of the messages.
    """

    name: str
    prompt: Prompt
    digest: str


@frozen(eq=False)
class Archive:
    """What one edit of an operation took away or added, so that it can be undone.

    - `name`: the name of the archive.
    - `pointer`: the list, or the value that was set.
    - `length`: how many elements the list had.
    - `places`: the ranges [start, stop) of the list where the elements stood.
    - `elements`: those that `keep` took out, or the one value that `set` replaced. Empty if there was none.
    - `is_value`: whether the edit was a `set`.
    - `appended`: what `append` added.
    - `stood`: what the list held before that.
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
    """What an operation came to.

    - `operation`: its name.
    - `value`: the new state. Keys keep their order, and no default is filled in.
    - `before`: the digest of the state that it was made of.
    - `is_changed`: whether the new state differs.
    - `archives`: what went, in the order of the edits.
    - `said`: the text of `say`.
    - `fallbacks`: the questions whose `else` was used.
    - `warnings`: what was said of answers.
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
