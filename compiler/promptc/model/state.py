"""A loaded state."""

from collections.abc import Callable, Mapping

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any


@frozen(eq=False)
class State:
    """A state as templates see it: valid against the pack's schema, defaults filled in, mappings in code-point order of their keys.

    Nothing changes `value`.
    """

    value: Mapping[str, Any]
    find_digest: Callable[[], str] = field(repr=False)
    name: str
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def digest(self) -> str:
        """The sha256 of the state's canonical JSON as it was given, taken when first asked for: most renders put it nowhere."""
        return self.find_digest()
