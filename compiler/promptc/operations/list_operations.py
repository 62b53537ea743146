"""What a pack can do to a state, and what is due."""

from collections.abc import Mapping

from promptc.api import Pack
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.state import State


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


def list_operations(pack: Pack, state: State | bytes | Mapping[str, Any] | None = None) -> tuple[Listed, ...]:
    """The pack's operations, in the manifest's order. Raises `PromptcError` for a state that is invalid."""
    raise NotImplementedError
