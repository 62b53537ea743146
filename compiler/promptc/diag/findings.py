"""Errors that carry findings. The root is `PromptcError`; its `exit_code` is the command line's."""

from __future__ import annotations

from collections.abc import Iterable

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, ClassVar, Literal

Level = Literal["error", "warn", "note"]
_EXCERPT = 400


class PromptcError(Exception):
    """The pack, a template or the state is invalid, cannot fit, or hits a limit. `diagnostics` holds every finding of the stage, sorted."""

    exit_code: ClassVar[int] = 3

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = sort_diagnostics(diagnostics)
        super().__init__("\n".join(str(found) for found in self.diagnostics))


class DiskError(PromptcError):
    """A file cannot be read or written."""

    exit_code: ClassVar[int] = 4


class UsageError(PromptcError):
    """The call itself is wrong: an unknown variant, patch, section or format was asked for."""

    exit_code: ClassVar[int] = 2


class FitError(PromptcError):
    """The content cannot be brought within a budget. `report` tells what was tried (language.md §13, with `error`)."""

    def __init__(self, diagnostics: Iterable[Diagnostic], report: dict[str, Any]) -> None:
        super().__init__(diagnostics)
        self.report = report


def fail(code: str, message: str, span: Span | None = None, *, help: str = "", level: Level = "error") -> PromptcError:
    """The error of a single finding, to be raised by the caller."""
    return PromptcError([Diagnostic(code, message, span, help, level)])


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


@frozen
class Span:
    """One place: a file as shown to its author, a line and a column (both from 1, in characters), and that line's text.

    Of a long line the excerpt is a part; `skipped` characters of the line stand before it.
    """

    file: str
    line: int
    column: int
    excerpt: str = ""
    skipped: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@frozen
class Source:
    """A text file: the name its author knows it by, and its text with line ends as `\\n`."""

    name: str
    text: str

    def find_line(self, line: int) -> str:
        """The text of line `line` (from 1) without its end, at most 400 characters; empty when there is none."""
        lines = self.text.split("\n", line)
        return lines[line - 1][:_EXCERPT] if 0 < line <= len(lines) else ""

    def span(self, line: int, column: int) -> Span:
        """The place at `line` and `column`, both from 1."""
        return Span(self.name, line, column, self.find_line(line))


def count_noun(number: int, noun: str) -> str:
    """`1 token`, `2 tokens`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def suggest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """`did you mean \\`x\\`?` for the nearest known word, else the known words if they are few, else nothing.

    `cutoff`: how alike two words must be, from 0 to 1; short words are soon alike."""
    from difflib import get_close_matches

    names = sorted(set(known))
    near = get_close_matches(word[:80], names, n=1, cutoff=cutoff)
    if near:
        return f"did you mean `{near[0]}`?"
    return "known: " + ", ".join(f"`{name}`" for name in names) if 0 < len(names) <= 12 else ""
