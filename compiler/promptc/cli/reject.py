"""`promptc reject`."""

import click

from promptc.cli.find_pending import find_named
from promptc.cli.group import Command
from promptc.cli.pending_options import ALL, DIR, ONLY, PATTERNS
from promptc.cli.reporter import Reporter
from promptc.cli.settle_all import resolve_pending
from promptc.golden.pending import reject_golden


@click.command(
    "reject",
    cls=Command,
    examples=[
        ("a change that was not meant", "promptc reject tavern/dragon"),
        ("all of them", "promptc reject --all"),
    ],
)
@PATTERNS
@ALL
@ONLY
@DIR
@click.pass_obj
def command(reporter: Reporter, patterns: tuple[str, ...], is_all: bool, only: str | None, folder: str | None) -> int:
    """Reject pending goldens: they are removed, and the goldens stay as they are.

    A PATTERN is a path (a folder: all under it), a case's name, or either with `*` and `?`.
    """
    return resolve_pending(reporter, find_named(patterns, is_all=is_all, folder=folder, only=only), reject_golden, "rejected")
