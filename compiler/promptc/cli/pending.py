"""`promptc pending`."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from promptc.cli.escape import escape_controls
from promptc.cli.find_pending import find_pending
from promptc.cli.group import Command
from promptc.cli.pending_options import DIR, ONLY, PATTERNS
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.views.drawing import render_table
from promptc.cli.views.figures import show_plural
from promptc.golden.cases.case import PENDING
from promptc.golden.pending import PendingGolden


@click.command(
    "pending",
    cls=Command,
    examples=[
        ("what waits for a review", "promptc pending"),
        ("one family of cases, for a program", "promptc pending 'tavern/*' --format json"),
    ],
)
@PATTERNS
@ONLY
@DIR
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="How to print them. [text]")
@click.pass_obj
def command(reporter: Reporter, patterns: tuple[str, ...], only: str | None, folder: str | None, format: str) -> int:
    """List the pending goldens: what cases gave that is not what their goldens say.

    They stand beside the goldens as `golden.….new`, written by `promptc test`.
    """
    found = find_pending(patterns, folder=folder, only=only)
    if format == "json":
        listed = [
            {
                "case": one.case,
                "golden": one.path,
                "pending": one.path + PENDING,
                "status": one.status,
                "bytes": _measure(one.folder, one.name),
            }
            for one in found
        ]
        write_stdout((json.dumps(listed, ensure_ascii=False, indent=2) + "\n").encode())
        return 0
    write_stdout(render_table([[one.status, escape_controls(name), one.name] for one, name in _iter_named(found)], most=60).encode())
    reporter.say(f"{show_plural(len(found), 'golden')} pending" + ("; `promptc review` shows them one by one\n" if found else "\n"))
    return 0


def _iter_named(found: Sequence[PendingGolden]) -> Iterator[tuple[PendingGolden, str]]:
    """Each with its case's name; with its path, where another case is called so as well. `promptc accept` takes both."""
    folders: dict[str, set[str]] = {}
    for one in found:
        folders.setdefault(one.case, set()).add(one.folder)
    for one in found:
        yield one, one.case if len(folders[one.case]) == 1 else one.path.rpartition("/")[0] or "."


def _measure(folder: str, name: str) -> int:
    return Path(folder, name + PENDING).lstat().st_size
