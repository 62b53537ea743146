"""What a render may be asked for beside its pack and its state."""

from collections.abc import Mapping, Sequence

from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.model.memory import Memory
from promptc.model.pack import Format
from promptc.model.provider import Provider


@frozen(eq=False)
class RenderOptions:
    """`budget` (tokens), `variants` (a case by axis), `patches` and `format` take the place of what the pack and the state say. `without`
    leaves sections out as if their `when` were false.

    `given` are the values of the names that the pack is given, `provider` is the one whose overheads messages are counted with, `memory`
    what earlier renders selected: the outcome is the same with it.
    """

    budget: int | None = None
    variants: Mapping[str, str] = field(default_factory=dict)
    patches: Sequence[str] = ()
    format: Format | None = None
    without: Sequence[str] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    provider: Provider | None = None
    memory: Memory | None = None
