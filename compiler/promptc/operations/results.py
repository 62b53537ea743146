"""Results of operations: which operations a pack has, what they ask, and what they changed."""

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
"""The most bytes of an archive that is read: its elements may be written longer than in the state."""

KEPT = 1000
"""The most marks of kept elements in an archive, enough for a restore. Otherwise every archive of a long list would be long."""


@frozen(eq=False)
class Listed:
    """One operation of a pack.

    - `name`: the name of the operation.
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
    - `prompt`: the messages of the question. Send `prompt.to(provider)`.
    - `digest`: the sha256 of the messages.
    """

    name: str
    prompt: Prompt
    digest: str


@frozen(eq=False)
class Archive:
    """What one edit of an operation removed or added, so that it can be undone.

    - `name`: the name of the archive.
    - `pointer`: the JSON pointer to the list, or to the value that was set.
    - `length`: the number of elements that the list had.
    - `places`: the ranges [start, stop) of the removed elements in the list.
    - `elements`: the elements that `keep` removed, or the one value that `set` replaced. Empty if there was none.
    - `is_value`: whether the edit was a `set`.
    - `appended`: the elements that `append` added.
    - `stood`: the elements of the list before `append`.
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
    """The result of an operation.

    - `operation`: the name of the operation.
    - `value`: the new state. Keys keep their order, and no default is filled in.
    - `before`: the digest of the state before the operation.
    - `is_changed`: whether the new state differs.
    - `archives`: what the edits removed or added, in the order of the edits.
    - `said`: the text of `say`.
    - `fallbacks`: the questions whose `else` was used.
    - `warnings`: the findings on the state and on answers.
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
    """The bytes of the new state, and what must be archived before they replace the old ones.

    `before` and `after` are the values of the states, as written. `restored` are the archives of a restore: the list's pointer and the
    archive's file name. `stuck` are the numbers of the archives whose value is not put back or removed, since something else has replaced
    what their operation wrote. `unsure` has for each archive the number of elements that are not put back because of equal elements that
    may be others.

    If nothing changes, `is_changed` is False, `data` is what was read, and nothing is archived.
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
    """Elements that an operation removed from a list, and their places.

    `pointer` leads to the list, `length` is its number of elements, and `places` are the half-open ranges of the removed ones, in order.
    `kept` are the marks (`mark_element`) of those that stayed, at most the first KEPT. `state` is the digest of the state before, and
    `file` the name of its file (empty for standard input).

    For a value that an operation replaced, the value is the one element, `pointer` leads to it, and `replaced` is the mark of what the
    operation wrote there (empty for elements of a list). If there was no value, there is no element. `appended` are the marks of what was
    appended to the list. `absent` is the pointer of the outermost part of the path that the state did not have (empty: it had all of it).
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
    """A pack as the library opens it: its model, and the methods that load its states and render its questions."""

    @property
    def model(self) -> PackModel: ...

    def load_state(self, given: bytes | Mapping[str, Any] | State, name: str = ..., /) -> State:
        """Load a state, which findings call `name`. Raises `PromptcError` if it is not valid."""

    def render_question(self, asking: PackModel, state: State, given: Mapping[str, Any]) -> Outcome:
        """Render the messages of a question with the pack `asking`, which sees `given` in addition to the state."""


def choose_operation(pack: Opened, name: str) -> Operation:
    """Return the operation of that name. Raises `UsageError` (PC0802) if the pack has none."""
    operations: tuple[Operation, ...] = pack.model.operations
    found = next((one for one in operations if one.name == name), None)
    if found is None:
        known = [one.name for one in operations]
        help = suggest(name, known) if known else "its manifest declares none"
        raise UsageError([Diagnostic("PC0802", f"the pack has no operation `{name}`", help=help)])
    return found
