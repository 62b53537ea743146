"""The code made of a schema → functions."""

import marshal

from promptc.diag.typed import Any
from promptc.frontend.schema import rules
from promptc.frontend.schema.rules import Functions


def run_code(code: bytes) -> Functions:
    """The functions whose code `compile_schema` made."""
    space: dict[str, Any] = dict(vars(rules))
    for part in marshal.loads(code):
        exec(part, space)
    return space["valid"], space["fill"]
