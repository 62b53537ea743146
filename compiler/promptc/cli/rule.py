"""`promptc rule`."""

import json
import textwrap
from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from promptc.cli.group import Command
from promptc.cli.terminal import write_stdout
from promptc.diag.codes import CODES, find_code
from promptc.diag.codes.code import Code
from promptc.diag.findings import Diagnostic, UsageError
from promptc.diag.frozen import as_plain

_WIDTH = 80
_LEVELS = {"error": "error", "warn": "warning", "note": "note"}


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(code.name, help=code.summary) for code in CODES if code.name.startswith(incomplete.upper())]


@click.command(
    "rule",
    cls=Command,
    examples=[
        ("one code", "promptc rule PC0531"),
        ("all of them, a line each", "promptc rule --all"),
        ("all of them, for a program", "promptc rule --all --format json"),
    ],
)
@click.argument("code", required=False, shell_complete=_complete)
@click.option("--all", "is_all", is_flag=True, help="List every code.")
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="How to print it. [text]")
def command(code: str | None, is_all: bool, format: str) -> int:
    """Explain a diagnostic CODE: what it means, why it is said, an example, and what mends it."""
    if is_all == (code is not None):
        raise UsageError([Diagnostic("PC0720", "`promptc rule` takes one code, or --all", help="such as `promptc rule PC0531`")])
    codes = CODES if code is None else (_find(code),)
    if format == "json":
        shown = [as_plain(one) for one in codes]
        text = json.dumps(shown if is_all else shown[0], ensure_ascii=False, indent=2) + "\n"
    else:
        text = _render_list(codes) if is_all else _render_code(codes[0])
    write_stdout(text.encode())
    return 0


def _find(name: str) -> Code:
    found = find_code(name.upper())
    if found is None:
        raise UsageError([Diagnostic("PC0728", f"there is no code `{name}`", help="`promptc rule --all` lists them")])
    return found


def _render_list(codes: Sequence[Code]) -> str:
    return "".join(f"{code.name}  {_LEVELS[code.level]:<7}  {code.summary}\n" for code in codes)


def _render_code(code: Code) -> str:
    example = textwrap.indent(code.bad.strip("\n"), "    ")
    return f"{code.name} {_LEVELS[code.level]}: {code.summary}\n\n{_fill(code.why)}\n\n{example}\n\n{_fill(code.fix)}\n"


def _fill(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), _WIDTH, break_on_hyphens=False, break_long_words=False)
