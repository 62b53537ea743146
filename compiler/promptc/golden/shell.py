"""What runs cases needs from above: how findings are printed, and how commands and operations are run."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from promptc.api import Pack
from promptc.diag.findings import Diagnostic
from promptc.diag.typed import Protocol
from promptc.golden.cases.case import Case
from promptc.golden.cases.environment import CaseEnvironment
from promptc.golden.outcome import CaseOutcome
from promptc.golden.running.resources import SuiteResources


class Shell(Protocol):
    """The command line gives one; it pickles, since workers are given it, too."""

    def render_diagnostics(self, found: Sequence[Diagnostic]) -> str:
        """Findings as the command line prints them, without colours."""

    def run_command(self, case: Case, there: CaseEnvironment) -> CaseOutcome:
        """The exit code of the case's command line and what it found; its output is `text`. Raises `CaseError` for one that a case may not
        call, nothing that `run` would report."""

    def apply(self, pack: Pack, state: bytes, case: Case, answers: Mapping[str, str], name: str) -> CaseOutcome:
        """An operation, run on a state as it was written, which findings call `name`. Raises `PromptcError`."""

    def surround(self, case: Case, shelf: SuiteResources) -> AbstractContextManager[CaseEnvironment]:
        """Makes the circumstances of a case: `given`."""
