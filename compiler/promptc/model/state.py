"""A loaded state."""

from collections.abc import Callable, Mapping

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.text.json import render_digest


class LazyDigest:
    """The digest of a text that is rendered when it is first asked for: most renders put it nowhere. Pickles as what it is."""

    __slots__ = ("_known", "_render")

    def __init__(self, known: str = "", render: Callable[[], bytes] | None = None) -> None:
        """Either is given."""
        self._known = known
        self._render = render

    def find(self) -> str:
        """`sha256:` and 64 hexadecimal digits. What renders the text is then let go of."""
        render = self._render
        if render is not None:
            self._known = render_digest(render())
            self._render = None
        return self._known

    def __reduce__(self) -> tuple[type["LazyDigest"], tuple[str]]:
        return LazyDigest, (self.find(),)


@frozen(eq=False)
class State:
    """A state as templates see it: valid against the pack's schema, defaults filled in, mappings in code-point order of their keys.

    Nothing changes `value`.
    """

    value: Mapping[str, Any]
    late_digest: LazyDigest = field(repr=False)
    name: str
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def digest(self) -> str:
        """The sha256 of the state's canonical JSON as it was given."""
        return self.late_digest.find()
