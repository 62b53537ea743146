"""`promptc map`."""

from collections.abc import Sequence

import click

from promptc.api import Pack
from promptc.cli.asked import read_asked
from promptc.cli.group import Command
from promptc.cli.options import PACK
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.files.atomic import write_file


@click.command(
    "map",
    cls=Command,
    examples=[
        ("a table for a README or a review", "promptc map packs/companion"),
        ("a page to read or print", "promptc map packs/companion --format html -o companion.html"),
        ("with another case of an axis", "promptc map packs/companion --variant persona=juno"),
        ("all caps, for a program", "promptc map packs/companion --format json | jq '.blocks[] | {id, caps}'"),
    ],
)
@PACK
@click.option("--format", type=click.Choice(("markdown", "html", "json")), default="markdown", help="How to show it. [markdown]")
@click.option("--output", "-o", metavar="FILE", help="Write it there, whole or not at all.")
@click.option("--variant", multiple=True, metavar="AXIS=CASE", help="A case for a variant axis; for several, give it again.")
@click.option("--mood", metavar="CASE", help="Short for --variant mood=CASE.")
@click.option("--patch", multiple=True, metavar="NAME", help="A patch of the pack; several apply in the order given.")
@click.pass_obj
def command(
    reporter: Reporter, pack: str, format: str, output: str | None, variant: Sequence[str], mood: str | None, patch: Sequence[str]
) -> int:
    """Print the block map of PACK: what each section is made of, reads, may hold and leaves out.

    It is read off the pack itself, without a state: the plan of the default cases and the first tier, and what the other cases, the
    tiers and the patches change of it.
    """
    asked = read_asked(None, variant, mood, patch, None, ())
    text = _render(Pack.load(pack), format, asked.variants, asked.patches).encode("utf-8", "backslashreplace")
    if output is not None:
        write_file(output, text)
    else:
        write_stdout(text)
    return 0


def _render(pack: Pack, format: str, variants: dict[str, str], patches: Sequence[str]) -> str:
    from promptc.blockmap.blocks import draw_map

    drawn = draw_map(pack.model, variants, patches)
    if format == "json":
        from promptc.blockmap.render import render_json

        return render_json(drawn)
    if format == "html":
        from promptc.blockmap.render import render_html

        return render_html(drawn)
    from promptc.blockmap.render import render_markdown

    return render_markdown(drawn)
