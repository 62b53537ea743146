"""`promptc render`, as the library that reads command lines knows it."""

import click

from promptc.cli.asked import RenderAsked, RenderRequest
from promptc.cli.group import Command
from promptc.cli.options import NO_CACHE, PACK, STATE, takes_choice
from promptc.cli.reporter import Reporter
from promptc.cli.request import run_render


@click.command(
    "render",
    cls=Command,
    examples=[
        ("the prompt, as the pack says", "promptc render packs/sentinel state.json"),
        ("as messages, with an account of every token", "promptc render . state.json --format messages --report report.json"),
        ("the body of a request, ready to send", "promptc render . state.json --format anthropic --model claude-opus-5-5"),
        ("a smaller budget, another mood, a state from a pipe", "jq .last log.json | promptc render . - --budget 4000 --mood action"),
        ("one value of the state changed, into a file", "promptc render . state.json --set '/input=\"Why?\"' -o prompt.txt"),
    ],
)
@PACK
@STATE
@takes_choice
@click.option("--model", metavar="NAME", help="The model a provider's request names, with --format PROVIDER.")
@click.option("--only", multiple=True, metavar="SECTION", help="Print this section alone, of the whole render; may be given again.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write the prompt to FILE, whole or not at all.")
@click.option("--report", metavar="FILE", type=click.Path(), help="Write the report (JSON); also when the prompt does not fit.")
@NO_CACHE
@click.pass_obj
def command(
    reporter: Reporter,
    pack: str,
    state: str,
    asked: RenderRequest,
    model: str | None,
    only: tuple[str, ...],
    output: str | None,
    report: str | None,
    no_cache: bool,
) -> int:
    """Print the prompt that PACK makes of STATE.

    Text, a JSON array of messages, or the JSON body of a request to a provider. Nothing is printed when anything is wrong; when the
    content does not fit, the context meter on standard error shows what takes the room.
    """
    return run_render(reporter, RenderAsked(pack, state, asked, only, output, report, not no_cache, model))
