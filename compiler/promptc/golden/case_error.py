"""The error of a case that cannot be run as it stands."""

from promptc.diag.findings import Diagnostic, PromptcError, Span


class CaseError(PromptcError):
    """The case itself is at fault, not what its pack makes of its state: it is broken, whatever it expects."""


def fail_case(code: str, message: str, span: Span | None = None, *, help: str = "") -> CaseError:
    """The error of a single finding, to be raised by the caller."""
    return CaseError([Diagnostic(code, message, span, help)])
