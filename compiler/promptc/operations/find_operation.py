"""An operation of a pack by its name."""

from promptc.api import Pack
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import UsageError
from promptc.diag.suggest import suggest
from promptc.model.operation import Operation


def find_operation(pack: Pack, name: str) -> Operation:
    """The operation of that name. Raises `UsageError` (PC0802) where the pack has none."""
    operations: tuple[Operation, ...] = pack.model.operations
    found = next((one for one in operations if one.name == name), None)
    if found is None:
        known = [one.name for one in operations]
        help = suggest(name, known) if known else "its manifest declares none"
        raise UsageError([Diagnostic("PC0802", f"the pack has no operation `{name}`", help=help)])
    return found
