"""An operation, done: a state and answers in, a new state out."""

from collections.abc import Mapping

from promptc.api import Pack
from promptc.diag.typed import Any
from promptc.operations.done import Done


def run_operation(
    pack: Pack,
    state: bytes | Mapping[str, Any],
    operation: str,
    args: Mapping[str, Any] | None = None,
    answers: Mapping[str, str] | None = None,
    *,
    name: str = "state.json",
) -> Done:
    """The state after an operation. Pure: nothing given is changed, nothing is read or written but the pack's own files.

    `state` is the JSON as written, or a dict; `name` is what findings call it. `args` take the place of the operation's own, `answers` are
    texts as a model gave them, by the names of the asks. An answer that is not there, or fails its check, gives the ask's `else`; a warning
    (PC0800), or a note where none was given (PC0801), says so. Raises `UsageError` for an unknown operation, argument or answer,
    and `PromptcError` where the state is invalid, an edit cannot be made, or the new state would be invalid.
    """
    raise NotImplementedError
