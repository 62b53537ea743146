"""A pack as it was loaded, from its files or from what was kept of them."""

from collections.abc import Mapping

from promptc.diag.frozen import frozen
from promptc.frontend.state import StateSchema
from promptc.model.pack import Choice, PackModel, Plan


@frozen
class Input:
    """A file that was read: `path` inside `folder`, or a manifest's path (`folder` is empty); and its bytes."""

    folder: str
    path: str
    content: bytes


@frozen
class Inputs:
    """All that a pack was made of. `unlinked` are paths to manifests that would have been refused if they were links."""

    files: tuple[Input, ...]
    unlinked: tuple[str, ...]


@frozen(eq=False)
class LoadedPack:
    """A pack, the validator of its states (None when it declares no schema), what it was made of, and the plans found so far."""

    pack: PackModel
    schema: StateSchema | None
    inputs: Inputs
    plans: Mapping[Choice, Plan]
