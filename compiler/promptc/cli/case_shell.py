"""What running cases needs of the command line (`golden.shell.Shell`)."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from io import BytesIO, TextIOWrapper

from promptc.api import Pack
from promptc.cli.render_diagnostic import render_diagnostics
from promptc.cli.reporter import Reporter
from promptc.cli.run import run_command
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import PromptcError
from promptc.golden.case import Case
from promptc.golden.given import There, given
from promptc.golden.outcome import Outcome
from promptc.golden.shelf import Shelf


class CaseShell:
    """It has nothing of its own, so it pickles."""

    def render_diagnostics(self, found: Sequence[Diagnostic]) -> str:
        """Findings as they are printed, without colours."""
        return render_diagnostics(found)

    def run_command(self, arguments: Sequence[str]) -> Outcome:
        """The exit code of a command line, what it found, and what it would have printed."""
        reporter = _Recorder()
        printed = BytesIO()
        try:
            with contextlib.redirect_stdout(TextIOWrapper(printed, write_through=True)) as stream:
                code = run_command(arguments, reporter)
                stream.flush()
                return Outcome(code, tuple(reporter.found), text=printed.getvalue().decode("utf-8", "replace"))
        except PromptcError as error:
            return Outcome(error.exit_code, error.diagnostics)

    def apply(self, pack: Pack, state: bytes, case: Case, answers: Mapping[str, str], name: str) -> Outcome:
        """The operation of a case."""
        from promptc.cli.apply_case import apply_case

        return apply_case(pack, state, case, answers, name)

    def surround(self, case: Case, shelf: Shelf) -> AbstractContextManager[There]:
        """The circumstances that a case asks for."""
        return given(case, shelf)


class _Recorder(Reporter):
    """Keeps what a command reports and goes on."""

    found: list[Diagnostic]

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "found", [])

    def report(self, found: Iterable[Diagnostic]) -> None:
        self.found.extend(found)

    def say(self, text: str) -> None:
        """Nothing: hints are for whoever called the command."""

    def render(self, found: Iterable[Diagnostic]) -> str:
        kept = list(found)
        self.found.extend(kept)
        return super().render(kept)
