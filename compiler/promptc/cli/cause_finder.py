"""The causes of what fails, found while cases are run."""

from promptc.api import Pack
from promptc.cache.store import Cache
from promptc.cli.case_shell import CaseShell
from promptc.diag.findings import PromptcError
from promptc.diag.frozen import replace
from promptc.diag.typed import Self
from promptc.golden.cases.case import Case
from promptc.golden.cases.discover import load_case
from promptc.golden.history.cause import Cause, KnownCause, find_cause
from promptc.golden.judging.compare import Verdict
from promptc.golden.running.resources import SuiteResources, work_in

MOST = 20
"""So many failures have their cause looked for among all edits, the first ones: each takes some runs. Whether an edit that moved one of
them moved another one, too, is asked of every failure."""

_NOT_LOOKED_FOR = f"not looked for: no edit that moved the {MOST} before it explains it, and each search takes some runs"
_SHOWN = 5
"""Edits that are told of one cause; more than these together are asked of no other failure."""

_PENDING = "PC0923"


class CauseFinder:
    """To be used in a `with`. Verdicts are given in the order in which they are told, so that the same ones have a cause each time."""

    def __init__(self, cache: Cache | None) -> None:
        self._shelf = SuiteResources(cache)
        self._left = MOST
        self._known: list[tuple[KnownCause, tuple[str, ...]]] = []

    def __enter__(self) -> Self:
        self._shelf.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for known, _lines in self._known:
            known.close()
        self._shelf.__exit__()

    def explain(self, verdict: Verdict) -> Verdict:
        """The verdict with its cause (a line for each edit; more than one did it together), or why that was not looked for."""
        if verdict.status != "failed" or all(one.code == _PENDING for one in verdict.findings):
            return verdict
        try:
            case = load_case(verdict.folder)
            with work_in(case.root):
                return self._explain(verdict, case)
        except PromptcError:
            return verdict

    def _explain(self, verdict: Verdict, case: Case) -> Verdict:
        pack = self._find_pack(case)
        for at, (known, lines) in enumerate(self._known):
            if known.explains(case, pack):
                self._known.insert(0, self._known.pop(at))  # what stands beside it was moved by the same, mostly
                return replace(verdict, cause=lines, moved_by=_name(case, lines))
        if not self._left:
            return replace(verdict, cause=(_NOT_LOOKED_FOR,))
        self._left -= 1
        cause = find_cause(case, pack, CaseShell())
        if cause is None:
            return verdict
        lines = _describe(cause)
        if 0 < len(cause.changes) <= _SHOWN:
            self._known.insert(0, (KnownCause(cause, case.root, CaseShell()), lines))
        return replace(verdict, cause=lines, moved_by=_name(case, lines))

    def _find_pack(self, case: Case) -> Pack | None:
        try:
            return self._shelf.load_pack(case.root, case.pack)
        except PromptcError:
            return None


def _name(case: Case, lines: tuple[str, ...]) -> str:
    """What moved it, told apart from what moved cases of another root."""
    return "\n".join((case.root, *lines))


def _describe(cause: Cause) -> tuple[str, ...]:
    lines = [f"{one.path}:{one.line}:{one.column} {one.what}" for one in cause.changes]
    more = [f"and {len(lines) - _SHOWN} more edits"] if len(lines) > _SHOWN else []
    return (*lines[:_SHOWN], *more, *([cause.what] if cause.what else []))
