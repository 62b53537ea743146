"""`promptc segments check`."""

import json
import sys

import click

from promptc.cli.find_store import StoreAsked, open_asked, takes_store
from promptc.cli.findings import describe_diagnostic, render_diagnostics
from promptc.cli.group import Command
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.views.figures import show_plural
from promptc.sources.segments.rows import find_malformed, find_twins

_FINDINGS = 1


@click.command(
    "check",
    cls=Command,
    examples=[
        ("the store of the pack you are in", "promptc segments check"),
        ("any store", "promptc segments check --url sqlite:segments.db"),
        ("for a program", "promptc segments check --format json"),
    ],
)
@takes_store
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="How to print the findings. [text]")
@click.pass_obj
def command(reporter: Reporter, store: StoreAsked, format: str) -> int:
    """Look for damage, for rows that are no segments, and for segments that are one, in all of a store.

    Exit code 0 where there is nothing, 1 with findings, 4 where the store cannot be read.
    """
    with open_asked(store) as opened:
        opened.check()
        stored = opened.load_all()
        found = [*find_malformed(stored.malformed, opened.address.shown), *find_twins(stored.segments)]
    if format == "json":
        text = json.dumps([describe_diagnostic(one) for one in found], ensure_ascii=False, indent=2) + "\n"
    else:
        text = render_diagnostics(found, reporter.choose_paint(sys.stdout))
        text += "" if reporter.settings.is_quiet else _sum_up(len(stored.segments), len(found))
    write_stdout(text.encode("utf-8", "backslashreplace"))
    return _FINDINGS if found else 0


def _sum_up(segments: int, found: int) -> str:
    return f"{show_plural(segments, 'segment', 'segments')}, {show_plural(found, 'finding', 'findings') if found else 'nothing found'}\n"
