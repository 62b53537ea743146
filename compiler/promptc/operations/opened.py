"""What an operation needs of a pack."""

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.typed import Any, Protocol
from promptc.model.messages import Operation
from promptc.model.pack import PackModel
from promptc.model.state import State
from promptc.pipeline import Outcome


class Opened(Protocol):
    """A pack as the library opens it: its model, and what loads its states and renders its questions."""

    @property
    def model(self) -> PackModel: ...

    def load_state(self, given: bytes | Mapping[str, Any] | State, name: str = ..., /) -> State:
        """A valid state, which findings call `name`. Raises `PromptcError` for one that is not."""

    def render_question(self, asking: PackModel, state: State, given: Mapping[str, Any]) -> Outcome:
        """The messages of a question's pack, which sees `given` besides the state."""


def find_operation(pack: Opened, name: str) -> Operation:
    """The operation of that name. Raises `UsageError` (PC0802) where the pack has none."""
    operations: tuple[Operation, ...] = pack.model.operations
    found = next((one for one in operations if one.name == name), None)
    if found is None:
        known = [one.name for one in operations]
        help = suggest(name, known) if known else "its manifest declares none"
        raise UsageError([Diagnostic("PC0802", f"the pack has no operation `{name}`", help=help)])
    return found
