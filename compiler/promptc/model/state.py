"""A loaded state."""

from collections.abc import Mapping

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any


@frozen(eq=False)
class State:
    """A state as templates see it: valid against the pack's schema, defaults filled in, mappings in code-point order of their keys.

    `digest` is the sha256 of the state's canonical JSON as it was given. Nothing changes `value`.
    """

    value: Mapping[str, Any]
    digest: str
    name: str
    warnings: tuple[Diagnostic, ...] = ()
