"""Pending goldens: what a case gives now, beside what it gave when its golden was accepted."""

import contextlib
import os
from collections.abc import Iterable, Sequence

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import frozen, replace
from promptc.files.atomic import replace_remade
from promptc.golden.cases.case import INPUTS, PENDING, Case
from promptc.golden.find_home import show_path
from promptc.golden.verdict import GoldenDifference


@frozen(eq=False)
class Pended:
    """The differences, each with where its pending golden lies, and what could not be written (PC0903)."""

    differences: tuple[GoldenDifference, ...]
    findings: tuple[Diagnostic, ...] = ()


def write_pending(case: Case, differences: Sequence[GoldenDifference], inputs: bytes) -> Pended:
    """Writes what came out for every difference, each whole or not at all, and `inputs` beside them. Goldens are never touched.

    One that cannot be written is a finding, and does not keep the others from being written.
    """
    wanted = {f"{_name(one)}{PENDING}": one.new for one in differences}
    findings: dict[str, Diagnostic] = {}
    for name, content in (*wanted.items(), (f"{INPUTS}{PENDING}", inputs)):
        path = os.path.join(case.folder, name)
        try:
            replace_remade(path, content)
        except OSError as wrong:
            shown, reason = show_path(path, case.root), wrong.strerror or str(wrong)
            findings[name] = Diagnostic("PC0903", f"the pending golden `{shown}` cannot be written: {reason}", help=_HELP)
    pended = (one if f"{_name(one)}{PENDING}" in findings else replace(one, pending=f"{one.path}{PENDING}") for one in differences)
    return Pended(tuple(pended), tuple(findings.values()))


def drop_pending(folder: str, names: Iterable[str]) -> None:
    """Removes pending goldens by name: what they were is no longer what comes out."""
    for name in names:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, name))


_HELP = "the report shows what it would hold"


def _name(one: GoldenDifference) -> str:
    return one.path.rpartition("/")[2]
