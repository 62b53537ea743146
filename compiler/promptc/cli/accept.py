"""`promptc accept`."""

import click

from promptc.cli.escape import escape_controls
from promptc.cli.find_pending import find_named, refuse_in_ci
from promptc.cli.group import Command
from promptc.cli.pending_options import ALL, DIR, ONLY, PATTERNS
from promptc.cli.reporter import Reporter
from promptc.cli.settle_all import resolve_pending
from promptc.diag.findings import fail
from promptc.golden.pending import PendingGolden, SettledGolden, accept_golden, find_stale


@click.command(
    "accept",
    cls=Command,
    examples=[
        ("after reading it", "promptc accept tavern/dragon"),
        ("a family of cases, and only what was never accepted before", "promptc accept 'tavern/*' --only new"),
    ],
)
@PATTERNS
@ALL
@ONLY
@DIR
@click.option("--stale", is_flag=True, help="Also such as were made of files that are others now.")
@click.pass_obj
def command(reporter: Reporter, patterns: tuple[str, ...], is_all: bool, only: str | None, folder: str | None, stale: bool) -> int:
    """Accept pending goldens: from now on they are what the cases are held to.

    A PATTERN is a path (a folder: all under it), a case's name, or either with `*` and `?`. Each golden is replaced in one step; those
    that could not be are named, and still pending. Refused where `CI` is set.

    Exit code 1 where one was made of files that are others now, 4 where one cannot be written.
    """
    refuse_in_ci()
    pending = find_named(patterns, is_all=is_all, folder=folder, only=only)
    return resolve_pending(reporter, pending, accept_golden if stale else _accept_fresh, "accepted")


def _accept_fresh(pending: PendingGolden) -> SettledGolden:
    """Raises `PromptcError` (PC0947) for one that is not what `promptc test` would write now."""
    stale = find_stale(pending)
    if stale:
        made = escape_controls(stale[0]) + (f" and {len(stale) - 1} more" if len(stale) > 1 else "")
        raise fail("PC0947", f"{pending.path} is made of {made} as it was", help="run `promptc test`, which makes it anew; or `--stale`")
    return accept_golden(pending)
