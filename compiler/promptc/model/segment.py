"""A segment: stored content that becomes an item."""

from collections.abc import Mapping

from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any


@frozen
class Segment:
    """One row of a store. `metadata` is plain data with its keys in code-point order; whoever is given it does not change it.

    `ref_id` is what the segment is about, `locale` a language tag, `version` a SemVer; None where the row has none.
    """

    id: str
    scope: str
    ref_id: str | None
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    active: bool = True
    locale: str | None = None
    version: str | None = None
    priority: int = 0
