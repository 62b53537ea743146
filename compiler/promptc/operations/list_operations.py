"""What a pack can do to a state, and what is due."""

from collections.abc import Mapping

from promptc.diag.typed import Any
from promptc.model.messages import Operation
from promptc.model.state import State
from promptc.operations.opened import Opened
from promptc.operations.results import Listed
from promptc.passes.bind import bind_lets
from promptc.template.runtime.run import RUN


def list_operations(pack: Opened, state: State | bytes | Mapping[str, Any] | None = None) -> tuple[Listed, ...]:
    """The pack's operations, in the manifest's order. Raises `PromptcError` for a state that is invalid."""
    model = pack.model
    bare = {"state": pack.load_state(state).value, RUN: model.open_account()} if state is not None else None
    names = bind_lets(model, bare) if bare is not None else None
    operations: tuple[Operation, ...] = model.operations
    return tuple(Listed(one.name, one.title, one.args, tuple(ask.name for ask in one.asks), _is_due(one, names)) for one in operations)


def _is_due(operation: Operation, names: Mapping[str, Any] | None) -> bool:
    return names is not None and operation.when is not None and bool(operation.when.evaluate({**names, "args": operation.args}))
