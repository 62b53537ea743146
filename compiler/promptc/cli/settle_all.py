"""Accepting or rejecting many goldens: all of them, or those left are named."""

from collections.abc import Callable, Sequence

from promptc.cli.escape import escape_controls
from promptc.cli.reporter import Reporter
from promptc.cli.views.figures import show_plural
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError, PromptcError
from promptc.golden.pending import Pending
from promptc.golden.settle import Settled

_STALE = 1


def settle_all(reporter: Reporter, chosen: Sequence[Pending], settle: Callable[[Pending], Settled], done: str) -> int:
    """Settles each and says so; the exit code. What cannot be settled, or is left by an interruption, is named and still pending.

    One that cannot be settled does not keep the others from it. 4 where a file could not be read or written, else 1 where one is stale.
    """
    failed: list[Pending] = []
    found: list[Diagnostic] = []
    at, code = 0, 0
    try:
        for at, one in enumerate(chosen):  # noqa: B007  what is left is told from it
            try:
                settle(one)
            except PromptcError as error:
                failed.append(one)
                found += error.diagnostics
                code = max(code, error.exit_code if isinstance(error, DiskError) else _STALE)
    except KeyboardInterrupt:
        _tell(reporter, done, at - len(failed), [*failed, *chosen[at:]])
        raise
    reporter.report(found)
    _tell(reporter, done, len(chosen) - len(failed), failed)
    return code


def _tell(reporter: Reporter, done: str, count: int, left: Sequence[Pending]) -> None:
    reporter.say(f"{done} {show_plural(count, 'golden')}\n")
    if left:
        reporter.say(f"not {done}, and still pending:\n" + "".join(f"    {escape_controls(one.path)}\n" for one in left))
