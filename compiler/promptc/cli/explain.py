"""`promptc explain`."""

import click

from promptc.api import Pack
from promptc.cli.compile_asked import compile_asked, load_state_file
from promptc.cli.group import Command
from promptc.cli.options import PACK, STATE, Asked, takes_choice
from promptc.cli.reporter import Reporter
from promptc.cli.streams import write_stdout
from promptc.cli.views.meter import render_meter


@click.command("explain", cls=Command)
@PACK
@STATE
@takes_choice
@click.option("--width", type=int, default=80)
@click.pass_obj
def command(reporter: Reporter, pack: str, state: str, asked: Asked, width: int) -> int:
    """Show."""
    loaded = Pack.load(pack)
    outcome = compile_asked(loaded, load_state_file(loaded, state, asked), asked)
    write_stdout(render_meter(outcome, width).encode())
    return 0
