"""`promptc segments export`."""

from pathlib import Path

import click

from promptc.cli.find_store import StoreAsked, open_asked, takes_store
from promptc.cli.group import Command
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.views.figures import show_plural
from promptc.diag.findings import Diagnostic, PromptcError, fail
from promptc.files.atomic import write_file, write_folder
from promptc.frontend.segments import ENDINGS, name_file, render_markdown, render_yaml
from promptc.frontend.yaml import load_yaml
from promptc.model.sources import Segment
from promptc.sources.segments.rows import find_malformed

_FINDINGS = 1


@click.command(
    "export",
    cls=Command,
    examples=[
        ("into a folder, a file a segment", "promptc segments export --output segments"),
        ("the NPCs, as one YAML file", "promptc segments export --scope npc --output npc.yaml"),
        ("from one database into another", "promptc segments export --url sqlite:old.db --output moved"),
    ],
)
@takes_store
@click.option("--scope", metavar="SCOPE", help="Only the segments of this scope.")
@click.option("-o", "--output", type=click.Path(), help="A new folder, or a file that ends in .yaml. [standard output]")
@click.option("--force", is_flag=True, help="Write into a folder that is not empty, and replace files.")
@click.pass_obj
def command(reporter: Reporter, store: StoreAsked, scope: str | None, output: str | None, force: bool) -> int:
    """Write the segments of a store as files that `promptc segments import` reads back, inactive ones among them.

    Equal stores give equal files. Malformed rows are left out; each is told, and the exit code is then 1.
    """
    with open_asked(store) as opened:
        stored = opened.load_all(scope)
        shown = opened.address.shown
    if output is None:
        write_stdout(_render_yaml(stored.segments))
    elif output.endswith(ENDINGS[1:]):
        write_file(output, _render_yaml(stored.segments))
    else:
        write_folder(Path(output), {name_file(one): render_markdown(one).encode() for one in stored.segments}, force=force)
    found = find_malformed(stored.malformed, shown)
    reporter.report(found)
    if output is not None:
        reporter.say(f"{show_plural(len(stored.segments), 'segment', 'segments')} written to {output}\n")
    return _FINDINGS if found else 0


def _render_yaml(segments: tuple[Segment, ...]) -> bytes:
    """No more than can be read back."""
    raw = render_yaml(segments).encode()
    try:
        load_yaml(raw, "export", ".")
    except PromptcError as error:
        found: Diagnostic = error.diagnostics[0]
        help = "export into a folder: `--output segments`"
        raise fail("PC0177", f"the {len(segments)} segments are too much for one YAML file: {found.message}", help=help) from None
    return raw
