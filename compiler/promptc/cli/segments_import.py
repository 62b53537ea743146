"""`promptc segments import`."""

from pathlib import Path

import click

from promptc.cli.find_store import StoreAsked, open_asked, takes_store
from promptc.cli.group import Command
from promptc.cli.reporter import Reporter
from promptc.cli.views.figures import show_plural
from promptc.files.reading import follow_link
from promptc.frontend.segments import load_segments


@click.command(
    "import",
    cls=Command,
    examples=[
        ("a folder of Markdown and YAML files", "promptc segments import segments"),
        ("one file, into a server", "promptc segments import all.yaml --url postgresql://me@db.example/prompts"),
        ("so that the store holds these and no others", "promptc segments import segments --prune"),
    ],
)
@click.argument("source", type=click.Path())
@takes_store
@click.option("--prune", is_flag=True, help="Remove the rows whose ids SOURCE does not have.")
@click.pass_obj
def command(reporter: Reporter, source: str, store: StoreAsked, prune: bool) -> int:
    """Bring the segments in SOURCE into a store: rows of new ids are added, those that differ are changed.

    SOURCE is a YAML file, or a folder with files that end in .md, .yaml or .yml. Nothing is changed unless all of it is right. The store
    and its table are made where they are not, and a table of an older promptc is brought up to date.
    """
    segments = load_segments(Path(follow_link(source)))
    with open_asked(store) as opened:
        changes = opened.write(segments, prune=prune)
        reporter.say(
            f"{show_plural(len(segments), 'segment', 'segments')} in {opened.address.shown}: {changes.added} added, "
            f"{changes.changed} changed, {changes.same} the same{f', {changes.removed} removed' if prune else ''}\n"
        )
    return 0
