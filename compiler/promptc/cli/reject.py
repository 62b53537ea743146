"""`promptc reject`."""

import click

from promptc.cli.find_pending import ONLY, find_pending
from promptc.cli.group import Command
from promptc.cli.reporter import Reporter
from promptc.cli.settle_all import settle_all
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import UsageError
from promptc.golden.settle import reject_golden


@click.command(
    "reject",
    cls=Command,
    examples=[
        ("a change that was not meant", "promptc reject tavern/dragon"),
        ("all of them", "promptc reject --all"),
    ],
)
@click.argument("patterns", metavar="[PATTERN]...", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="All pending goldens.")
@click.option("--only", type=click.Choice(ONLY), help="New goldens, or changed ones.")
@click.option("--dir", "folder", metavar="DIR", type=click.Path(), help="Where to look. [the working folder]")
@click.pass_obj
def command(reporter: Reporter, patterns: tuple[str, ...], is_all: bool, only: str | None, folder: str | None) -> int:
    """Reject pending goldens: they are removed, and the goldens stay as they are.

    A PATTERN is a path (a folder: all under it), a case's name, or either with `*` and `?`.
    """
    if not patterns and not is_all:
        raise UsageError([Diagnostic("PC0943", "no pending golden is named", help="name cases, such as `tavern/*`, or say `--all`")])
    return settle_all(reporter, find_pending(patterns, folder=folder, only=only), reject_golden, "rejected")
