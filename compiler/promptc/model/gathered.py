"""What a source outside the state gave a section."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Protocol
from promptc.model.section import Section


@frozen
class SourceDigest:
    """What was read, by its content: of a `store` or an `index`, by name."""

    kind: str
    name: str
    digest: str


@frozen(eq=False)
class Gathered:
    """The values that are a section's items, in order, and for each the element of `each` it belongs to (empty without `each`).

    `left_out` counts by stage what the source had and did not give, `account` is what a report tells of it: plain JSON data. `refused` are
    the best of what was scored and not given, each as a chunk of the account with `why`; `unwanted` counts what `retrieve.where` refused.
    """

    values: tuple[Any, ...]
    elements: tuple[Any, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    account: Mapping[str, Any] = field(default_factory=dict)
    digests: tuple[SourceDigest, ...] = ()
    is_sparse: bool = False
    refused: tuple[Mapping[str, Any], ...] = ()
    unwanted: int = 0
    warnings: tuple[Diagnostic, ...] = ()


class Gathering(Protocol):
    """Asks sources for sections. The same question in one render is asked once, and has one answer."""

    def gather(self, section: Section, names: Mapping[str, Any]) -> Gathered:
        """What the section's source gives under these names. Raises `PromptcError`; `DiskError` where a source cannot be read."""
        ...
