"""Errors that carry findings. The root is `PromptcError`; its `exit_code` is the command line's."""

from collections.abc import Iterable

from promptc.diag.diagnostic import Diagnostic, Level, sort_diagnostics
from promptc.diag.span import Span
from promptc.diag.typed import Any, ClassVar


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
