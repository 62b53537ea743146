"""Rows that are no segments, as findings."""

from collections.abc import Iterable

from promptc.diag.findings import Diagnostic, Span
from promptc.sources.segments.rows import Malformed


def find_malformed(rows: Iterable[Malformed], shown: str, span: Span | None = None) -> tuple[Diagnostic, ...]:
    """PC0172 for each, a warning. `shown` is what the store's address is called, `span` where the store is named."""
    return tuple(
        Diagnostic("PC0172", f"the row `{one.id}` of the store `{shown}` is left out: {one.why}", span, "correct the row", "warn")
        for one in rows
    )
