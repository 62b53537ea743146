"""`promptc accept`."""

import click

from promptc.cli.find_pending import ONLY, find_pending, refuse_in_ci
from promptc.cli.group import Command
from promptc.cli.reporter import Reporter
from promptc.cli.settle_all import settle_all
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import UsageError
from promptc.golden.settle import accept_golden


@click.command(
    "accept",
    cls=Command,
    examples=[
        ("after reading it", "promptc accept tavern/dragon"),
        ("a family of cases, and only what was never accepted before", "promptc accept 'tavern/*' --only new"),
    ],
)
@click.argument("patterns", metavar="[PATTERN]...", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="All pending goldens.")
@click.option("--only", type=click.Choice(ONLY), help="New goldens, or changed ones.")
@click.option("--dir", "folder", metavar="DIR", type=click.Path(), help="Where to look. [the working folder]")
@click.pass_obj
def command(reporter: Reporter, patterns: tuple[str, ...], is_all: bool, only: str | None, folder: str | None) -> int:
    """Accept pending goldens: from now on they are what the cases are held to.

    A PATTERN is a case's name or a golden's path, with `*` and `?`. Each golden is replaced in one step; those that could not be are
    named, and still pending. Refused where `CI` is set.
    """
    refuse_in_ci()
    if not patterns and not is_all:
        raise UsageError([Diagnostic("PC0943", "no pending golden is named", help="name cases, such as `tavern/*`, or say `--all`")])
    return settle_all(reporter, find_pending(patterns, folder=folder, only=only), accept_golden, "accepted")
