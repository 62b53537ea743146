"""Plain data from whatever an expression gives."""

from __future__ import annotations

from promptc.diag.typed import Any
from promptc.template.runtime.filters.json_text import _name_keys
from promptc.template.runtime.filters.json_text import plain as copy_plain
from promptc.template.runtime.run import Run
from promptc.template.runtime.undefined import Blank, Missing


def plain(run: Run, value: Any) -> Any:
    """The value with its sequences as lists and its keys as JSON writes them. All else is refused."""
    if value.__class__ is Missing or value.__class__ is Blank:
        value.fail()
    return _name_keys(run, copy_plain(run, value))
