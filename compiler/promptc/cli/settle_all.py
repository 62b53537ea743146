"""Accepting or rejecting many goldens: all of them, or those left are named."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence

from promptc.cli.escape import escape_controls
from promptc.cli.reporter import Reporter
from promptc.cli.views.figures import show_plural
from promptc.diag.findings import Diagnostic, DiskError, PromptcError
from promptc.golden.pending import PendingGolden, SettledGolden

_STALE = 1


def resolve_pending(
    reporter: Reporter, chosen: Sequence[PendingGolden], settle: Callable[[PendingGolden], SettledGolden], done: str
) -> int:
    """Settles each and says so; the exit code. What cannot be settled, or is left by an interruption, is named and still pending.

    One that cannot be settled does not keep the others from it. 4 where a file could not be read or written, else 1 where one is stale.
    """
    failed: list[PendingGolden] = []
    found: list[Diagnostic] = []
    settled, code = 0, 0
    with _hold_interrupts() as interrupts:
        for one in chosen:
            if interrupts:
                break
            try:
                settle(one)
                settled += 1
            except PromptcError as error:
                failed.append(one)
                found += error.diagnostics
                code = max(code, error.exit_code if isinstance(error, DiskError) else _STALE)
    reporter.report(found)
    _tell(reporter, done, settled, [*failed, *chosen[settled + len(failed) :]])
    if signal.SIGTERM in interrupts:
        raise SystemExit(128 + signal.SIGTERM)
    if interrupts:
        raise KeyboardInterrupt
    return code


@contextlib.contextmanager
def _hold_interrupts() -> Iterator[list[int]]:
    """Interrupts and requests to end wait in a list, so that none falls between a golden and what is said of it: one is settled whole, or
    not at all.
    """
    held: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield held
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, lambda number, _: held.append(number))
    try:
        yield held
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(reporter: Reporter, done: str, count: int, left: Sequence[PendingGolden]) -> None:
    reporter.say(f"{done} {show_plural(count, 'golden')}\n")
    if left:
        reporter.say(f"not {done}, and still pending:\n" + "".join(f"    {escape_controls(one.path)}\n" for one in left))
