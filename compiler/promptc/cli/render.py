"""`promptc render`."""

import json

import click

from promptc.api import Pack, Prompt
from promptc.cli.compile_asked import compile_asked, load_state_file
from promptc.cli.group import Command
from promptc.cli.options import PACK, STATE, Asked, takes_choice
from promptc.cli.reporter import Reporter
from promptc.cli.streams import write_stdout
from promptc.cli.write_file import write_file
from promptc.pipeline import Outcome
from promptc.text.canonical import render_canonical_json

_DOES_NOT_FIT = 3


@click.command(
    "render",
    cls=Command,
    examples=[
        ("the prompt, as the pack says", "promptc render packs/sentinel state.json"),
        ("as messages, with an account of every token", "promptc render . state.json --format messages --report report.json"),
        ("a smaller budget, another mood, a state from a pipe", "jq .last log.json | promptc render . - --budget 4000 --mood action"),
        ("one value of the state changed, into a file", "promptc render . state.json --set '/input=\"Why?\"' -o prompt.txt"),
    ],
)
@PACK
@STATE
@takes_choice
@click.option("--only", multiple=True, metavar="SECTION", help="Print this section alone, of the whole render; may be given again.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write the prompt to FILE, whole or not at all.")
@click.option("--report", metavar="FILE", type=click.Path(), help="Write the report (JSON); also when the prompt does not fit.")
@click.pass_obj
def command(reporter: Reporter, pack: str, state: str, asked: Asked, only: tuple[str, ...], output: str | None, report: str | None) -> int:
    """Print the prompt that PACK makes of STATE.

    Text, or a JSON array of messages. Nothing is printed when anything is wrong; when the content does not fit, the context meter on
    standard error shows what takes the room.
    """
    loaded = Pack.load(pack)
    outcome = compile_asked(loaded, load_state_file(loaded, state, asked), asked)
    data = _encode(Prompt(outcome), only) if outcome.emitted is not None else b""
    if report is not None:
        write_file(report, f"{render_canonical_json(outcome.report)}\n".encode())
    if outcome.emitted is None:
        return _tell_what_is_missing(reporter, outcome)
    if output is not None:
        write_file(output, data)
    else:
        write_stdout(data)
    reporter.report(outcome.warnings)
    if only and not data.strip(b"[]\n"):
        reporter.say(f"nothing of {', '.join(only)} is in the prompt; `promptc explain ... --why {only[0]}` tells why\n")
    return 0


def _encode(prompt: Prompt, only: tuple[str, ...]) -> bytes:
    """The bytes to print: of the whole prompt, or of some sections."""
    if prompt.format == "text":
        return (prompt.find_section(*only) if only else prompt.text).encode()
    messages = prompt.find_messages(*only) if only else prompt.messages
    return (json.dumps(messages, ensure_ascii=False, indent=2) + "\n").encode()


def _tell_what_is_missing(reporter: Reporter, outcome: Outcome) -> int:
    from promptc.cli.views.meter import render_meter

    reporter.report((*outcome.warnings, *outcome.errors))
    reporter.say("\n" + render_meter(outcome))
    return _DOES_NOT_FIT
