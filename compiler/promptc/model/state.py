"""A loaded state."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from promptc.diag.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A state as templates see it: valid against the pack's schema, defaults filled in, mappings in code-point order of their keys.

    `digest` is the sha256 of the state's canonical JSON as it was given. Nothing changes `value`.
    """

    value: Mapping[str, Any]
    digest: str
    name: str
    warnings: tuple[Diagnostic, ...] = ()
