"""What running cases needs of the command line (`golden.shell.Shell`)."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from io import BytesIO, TextIOWrapper

from promptc.api import Pack
from promptc.cli.findings import render_diagnostics
from promptc.cli.reporter import Reporter
from promptc.cli.run import run_judged
from promptc.diag.findings import Diagnostic, PromptcError
from promptc.golden.cases.case import Case, CaseError, CaseOutcome
from promptc.golden.cases.environment import CaseEnvironment, prepare_case
from promptc.golden.running.resources import SuiteResources


class CaseShell:
    """It has nothing of its own, so it pickles."""

    def render_diagnostics(self, found: Sequence[Diagnostic]) -> str:
        """Findings as they are printed, without colours."""
        return render_diagnostics(found)

    def run_command(self, case: Case, there: CaseEnvironment) -> CaseOutcome:
        """The exit code of the case's command line, what it found, and what it would have printed. It sees no variable of the caller's but
        those every program needs. Raises `CaseError` (PC0750, PC0751) for one that a case may not call.
        """
        from promptc.cli.judge import CommandJudge

        with _hiding_variables(case.given.get("environment", {})):
            return self._run(partial(run_judged, case.asked, judge=CommandJudge(case, there)))

    def _run(self, run: Callable[[Reporter], int]) -> CaseOutcome:
        reporter = _Recorder()
        printed = BytesIO()
        try:
            with contextlib.redirect_stdout(TextIOWrapper(printed, write_through=True)) as stream:
                code = run(reporter)
                stream.flush()
                return CaseOutcome(code, tuple(reporter.found), text=printed.getvalue().decode("utf-8", "replace"))
        except CaseError:
            raise
        except PromptcError as error:
            return CaseOutcome(error.exit_code, error.diagnostics)

    def apply(self, pack: Pack, state: bytes, case: Case, answers: Mapping[str, str], name: str) -> CaseOutcome:
        """The operation of a case."""
        from promptc.cli.apply_case import apply_case

        return apply_case(pack, state, case, answers, name)

    def surround(self, case: Case, shelf: SuiteResources) -> AbstractContextManager[CaseEnvironment]:
        """The circumstances that a case asks for."""
        return prepare_case(case, shelf)


@contextlib.contextmanager
def _hiding_variables(own: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    for name in before.keys() - own.keys():
        if name not in _SEEN and not name.startswith("LC_"):
            del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(before)


_SEEN = frozenset(
    (
        *("APPDATA", "COLUMNS", "HOME", "LANG", "LANGUAGE", "LOCALAPPDATA", "NO_COLOR", "PATH", "PROMPTC_CACHE"),
        *("SYSTEMROOT", "TEMP", "TERM", "TMP", "TMPDIR", "USERPROFILE", "XDG_CACHE_HOME", "XDG_STATE_HOME"),
    )
)


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
