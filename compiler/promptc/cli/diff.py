"""`promptc diff`."""

import sys
from contextlib import ExitStack
from functools import partial

import click

from promptc.cli.asked import RenderRequest
from promptc.cli.compile_asked import STDIN
from promptc.cli.find_width import find_width
from promptc.cli.group import Command
from promptc.cli.options import read_count, takes_choice
from promptc.cli.read_compared import Compared, find_compared, read_compared
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import read_stdin
from promptc.cli.views.difference import STYLES, DifferenceStyle, render_difference, render_stat
from promptc.cli.views.page import Page
from promptc.compare import compare_sides
from promptc.diag.findings import Diagnostic, UsageError

_DIFFERENT = 1


@click.command(
    "diff",
    cls=Command,
    examples=[
        ("what an edit of a pack changes in a prompt", "promptc diff HEAD:packs/sentinel packs/sentinel --state state.json"),
        ("a turn and the next one", "promptc diff turn1.json turn2.json --pack packs/sentinel"),
        ("two budgets' prompts, written before", "promptc diff small.txt large.txt"),
        ("a prompt, and what is made of it now", "promptc render packs/x state.json | promptc diff before.txt -"),
        ("only the figures, for several states", "promptc diff HEAD~1:packs/x packs/x --state a.json --state b.json --stat"),
    ],
)
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@click.option("--state", "states", multiple=True, metavar="STATE", help="The state that packs are compared with; may be given again.")
@click.option("--pack", metavar="PACK", help="The pack that states are compared with.")
@click.option("--stat", is_flag=True, help="The figures of each section, without the words.")
@click.option("--style", type=click.Choice(STYLES), default="words", help="How changes are shown. [words]")
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
@click.option("--width", callback=read_count, metavar="N", help="Columns to use; the terminal's, else 80.")
@takes_choice
@click.pass_obj
def command(
    reporter: Reporter,
    old: str,
    new: str,
    asked: RenderRequest,
    states: tuple[str, ...],
    pack: str | None,
    stat: bool,
    style: DifferenceStyle,
    as_json: bool,
    width: int | None,
) -> int:
    """Show what differs between two prompts: sections, items, words.

    A and B are packs (compared with each --state), states (compared with --pack), or prompts: texts, or JSON files of messages.
    REV:PATH is one of a git revision, its path from the root of the repository; `-` is a state or a prompt from standard input.

    Exit code 0 where they are the same, 1 where they differ, more for trouble, as of diff(1).
    """
    page = Page(as_json, width or find_width(), reporter.choose_paint(sys.stdout))
    if [old, new, *states].count(STDIN) > 1:
        raise UsageError([Diagnostic("PC0740", "standard input can be read once", help="name a file in place of one `-`")])
    with ExitStack() as stack:
        sides = (find_compared(old, stack), find_compared(new, stack))
        others = _list_others(sides, states, pack)
        piped = read_stdin() if STDIN in others else None
        found = {other: compare_sides(*(read_compared(side, other, asked, piped) for side in sides)) for other in others}
    for other, difference in found.items():
        if len(found) > 1 and not as_json:
            page.show(other, lambda name, _, paint: paint.apply(f"== {name} ==\n", "bold"))
        page.show(difference, render_stat if stat else partial(render_difference, style=style))
    return _DIFFERENT if any(not one.is_empty for one in found.values()) else 0


def _list_others(sides: tuple[Compared, Compared], states: tuple[str, ...], pack: str | None) -> list[str]:
    """What the sides are compared with: states, or a pack; nothing for two prompts."""
    kinds = {side.kind for side in sides} - {"prompt"}
    if kinds == {"pack", "state"}:
        raise UsageError([Diagnostic("PC0741", f"`{sides[0].name}` is a {sides[0].kind}, `{sides[1].name}` a {sides[1].kind}", help=_HELP)])
    if "pack" in kinds and not states:
        raise UsageError([Diagnostic("PC0741", "packs are compared by what they make of a state", help="add `--state STATE`")])
    if "state" in kinds and pack is None:
        raise UsageError([Diagnostic("PC0741", "states are compared by what a pack makes of them", help="add `--pack PACK`")])
    return list(dict.fromkeys(states)) if "pack" in kinds else [pack or ""]


_HELP = "compare two packs with `--state`, or two states with `--pack`"
