"""The commands that serve: `serve` shows a prompt in the browser while its pack changes, `lsp` is the language server."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import click

from promptc.cache import open_cache
from promptc.cli.commands.diff import extract_pack
from promptc.cli.group import PACK, Command, complete, take
from promptc.cli.options import NO_CACHE, is_count
from promptc.cli.terminal import Reporter, escape_controls, show_text
from promptc.diag.findings import Diagnostic, UsageError
from promptc.files.atomic import write_file
from promptc.workshop.page import Bench, render_static

_INSTALL = "pip install 'promptc-compiler[serve]'"
_MOST_PORT = 65_535


def _read_port(ctx: click.Context, param: click.Parameter, given: str | None) -> int | None:
    if given is not None and not (is_count(given) and int(given) <= _MOST_PORT):
        raise click.BadParameter(f"`{given}` is not a port from 1 to {_MOST_PORT}", ctx, param)
    return int(given) if given is not None else None


@click.command(
    "serve",
    cls=Command,
    examples=[
        ("See what a pack makes of a state, while you change either", "promptc serve packs/sentinel state.json"),
        ("Step through the cases of a pack", "promptc serve packs/sentinel"),
        ("Compare with the last commit", "promptc serve packs/sentinel state.json --rev HEAD"),
        ("Write the page to a file, for a pull request", "promptc serve packs/sentinel state.json --rev main --static page.html"),
    ],
)
@PACK
@click.argument("shown", metavar="[STATES|CASES]...", shell_complete=complete, nargs=-1, type=click.Path())
@click.option("--rev", metavar="REV", help="Offer the pack of this git revision for comparison.")
@click.option("--against", metavar="PACK", type=click.Path(), help="Offer another pack for comparison.")
@click.option("--static", "static", metavar="FILE", type=click.Path(), help="Write the page to FILE, with all that it can show, and end.")
@click.option("--port", callback=_read_port, metavar="N", help="The port. [a free one]")
@take(NO_CACHE)
@click.pass_obj
def serve_command(
    reporter: Reporter,
    pack: str,
    shown: tuple[str, ...],
    rev: str | None,
    against: str | None,
    static: str | None,
    port: int | None,
    no_cache: bool,
) -> int:
    """Show a prompt in your browser while you change its pack.

    The page shows the prompt with what was cut struck through, what each section takes of its budget, and every finding. Sliders try other
    budgets. A saved file changes the page. Without STATES or CASES, the page shows the cases of PACK.

    `--static` needs no server: it writes one file that shows the same, with the prompt of --rev or --against beside that of PACK. Its
    sliders stand where prompts were rendered.

    The page is for this machine alone: its address has a random part, and nobody else can ask for it. It writes nothing but what you tell
    it to write. End it with Ctrl-C.
    """
    if static is not None and port is not None:
        message = "`--static` writes a file, and `--port` is for a page that is served"
        raise UsageError([Diagnostic("PC0720", message, help="leave one out")])
    with ExitStack() as stack:
        others = {f"{rev}:{pack}": extract_pack(rev, pack, stack)} if rev is not None else {}
        others |= {against: against} if against is not None else {}
        bench = Bench(pack, shown, None if no_cache else open_cache(), others)
        if static is not None:
            write_file(static, render_static(bench))
            reporter.say(f"wrote {escape_controls(static)}\n")
            return 0
        try:
            from promptc.workshop.server import PageServer
        except ImportError:
            message = "`promptc serve` needs the packages of the extra `serve`, and one is not installed"
            raise UsageError([Diagnostic("PC0723", message, help=_INSTALL)]) from None
        server = PageServer(bench, port or 0)
        show_text(f"{server.address}\n")
        server.run()
    return 0


@click.command("lsp", cls=Command, examples=[("Let your editor start it; the guide `editors` has what to write for each", "promptc lsp")])
@click.option("--stdio", is_flag=True, help="Change nothing: it always speaks over standard input and output. Some editors add this.")
def lsp_command(stdio: bool) -> int:
    """Serve an editor as a language server, which your editor starts.

    The editor shows findings while you type, what a key, a filter or a part of the state means, what may stand at the cursor, where it
    comes from, and the tokens of each section.

    It speaks the Language Server Protocol over standard input and output, and ends with the editor. It reads the files of a pack that is
    open, and writes nothing.
    """
    if sys.stdin is None or sys.stdout is None:
        message = "`promptc lsp` speaks over standard input and output, and one of them is closed"
        raise UsageError([Diagnostic("PC0723", message, help="let your editor start it, with both open")])
    try:
        from promptc.workshop.editor import serve  # imported late: pygls is an extra
    except ImportError:
        message = "`promptc lsp` needs the package of the extra `lsp`, which is not installed"
        raise UsageError([Diagnostic("PC0723", message, help="pip install 'promptc-compiler[lsp]'")]) from None
    serve()
    return 0
