"""The causes of what fails, found while the failures are printed."""

from promptc.api import Pack
from promptc.cache.store import Cache
from promptc.cli.case_shell import CaseShell
from promptc.diag.errors import PromptcError
from promptc.diag.frozen import replace
from promptc.diag.typed import Self
from promptc.golden.case import Case
from promptc.golden.find_cause import Cause, find_cause
from promptc.golden.load_case import load_case
from promptc.golden.shelf import Shelf, work_in
from promptc.golden.verdict import Verdict

MOST = 20
"""So many failures have their cause looked for, the first ones: each takes some renders."""

_SHOWN = 5
_PENDING = "PC0923"


class CauseFinder:
    """To be used in a `with`. Verdicts are given in the order in which they are told, so that the same ones have a cause each time."""

    def __init__(self, cache: Cache | None) -> None:
        self._shelf = Shelf(cache)
        self._left = MOST

    def __enter__(self) -> Self:
        self._shelf.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._shelf.__exit__()

    def explain(self, verdict: Verdict) -> Verdict:
        """The verdict with its cause, where it has one and there was time to look for it."""
        if verdict.status != "failed" or all(one.code == _PENDING for one in verdict.findings):
            return verdict
        if not self._left:
            return replace(verdict, cause=(f"not looked for, as {MOST} failures before it had theirs looked for",))
        self._left -= 1
        try:
            case = load_case(verdict.folder)
            with work_in(case.root):
                cause = find_cause(case, self._find_pack(case), CaseShell())
        except PromptcError:
            return verdict
        return replace(verdict, cause=_describe(cause)) if cause is not None else verdict

    def _find_pack(self, case: Case) -> Pack | None:
        try:
            return self._shelf.load_pack(case.root, case.pack)
        except PromptcError:
            return None


def _describe(cause: Cause) -> tuple[str, ...]:
    """A line for each edit; more than one did it together."""
    lines = [f"{one.path}:{one.line}:{one.column} {one.what}" for one in cause.changes]
    more = [f"and {len(lines) - _SHOWN} more edits"] if len(lines) > _SHOWN else []
    return (*lines[:_SHOWN], *more, *([cause.what] if cause.what else []))
