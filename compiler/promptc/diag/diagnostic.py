"""Findings as data; one reporter (in `cli/`) prints them."""

from collections.abc import Iterable

from promptc.diag.frozen import frozen
from promptc.diag.span import Span
from promptc.diag.typed import Literal

Level = Literal["error", "warn", "note"]


@frozen
class Diagnostic:
    """One finding: its code (`PC0201`), what is wrong in one sentence, where, and what would mend it."""

    code: str
    message: str
    span: Span | None = None
    help: str = ""
    level: Level = "error"

    def __str__(self) -> str:
        place = f"{self.span}: " if self.span else ""
        return f"{place}{self.code} {self.message}"


def sort_diagnostics(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """In the order of file, line, column, code, message; those without a place come last. Equal ones are kept once."""
    return tuple(sorted(dict.fromkeys(found), key=_place))


def _place(found: Diagnostic) -> tuple[bool, str, int, int, str, str]:
    span = found.span
    return (span is None, span.file if span else "", span.line if span else 0, span.column if span else 0, found.code, found.message)
