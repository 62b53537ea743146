"""`promptc check`."""

import json
import sys
from collections.abc import Sequence

import click

from promptc.api import Pack
from promptc.cli.asked import read_stores
from promptc.cli.group import Command
from promptc.cli.options import PACK, STORE
from promptc.cli.render_diagnostic import describe_diagnostic, render_diagnostics
from promptc.cli.reporter import Reporter
from promptc.cli.streams import write_stdout
from promptc.cli.views.figures import show_plural
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import PromptcError
from promptc.diag.frozen import replace

_FINDINGS = 1
_SHAPES = ("sarif", "github")
_NOUNS = (("error", "error", "errors"), ("warn", "warning", "warnings"), ("note", "note", "notes"))


@click.command(
    "check",
    cls=Command,
    examples=[
        ("errors, warnings and notes, each with its place", "promptc check packs/sentinel"),
        ("the stores and indexes as well", "promptc check packs/worldarchitect --sources"),
        ("for a program", "promptc check packs/sentinel --format json"),
        ("for code scanning", "promptc check packs/sentinel --format sarif > promptc.sarif"),
        ("what one of them means", "promptc rule PC0610"),
    ],
)
@PACK
@click.option("--format", type=click.Choice(("text", "json", "sarif", "github")), default="text", help="How to print the findings. [text]")
@click.option("--sources", is_flag=True, help="Open the stores and indexes, too: are they there, and do chunks fit their sections?")
@STORE
@click.option("--strict", is_flag=True, help="Let notes, too, end with exit code 1.")
@click.pass_obj
def command(reporter: Reporter, pack: str, format: str, sources: bool, store: tuple[str, ...], strict: bool) -> int:
    """Look for what is wrong or doubtful in PACK, without a state.

    Exit code 0 where there is nothing but notes, 1 with errors or warnings, 3 where the pack cannot be loaded: its findings then go to
    standard error (with sarif and github to standard output, too). A store that is not there is a finding only when `--sources` asks for it.
    """
    try:
        found = Pack.load(pack).check(read_stores(store) if sources or store else None)
    except PromptcError as error:
        if format in _SHAPES:
            write_stdout(_render(format, error.diagnostics).encode("utf-8", "backslashreplace"))
        shape = "json" if format == "json" else reporter.settings.diagnostics
        Reporter(replace(reporter.settings, diagnostics=shape)).report(error.diagnostics)
        return error.exit_code
    shown = [one for one in found if one.level == "error" or not reporter.settings.is_quiet]
    if format == "json":
        text = json.dumps([describe_diagnostic(one) for one in shown], ensure_ascii=False, indent=2) + "\n"
    elif format in _SHAPES:
        text = _render(format, shown)
    else:
        text = render_diagnostics(shown, reporter.choose_paint(sys.stdout)) + ("" if reporter.settings.is_quiet else _sum_up(found))
    write_stdout(text.encode("utf-8", "backslashreplace"))
    return _FINDINGS if any(strict or one.level != "note" for one in found) else 0


def _render(format: str, found: Sequence[Diagnostic]) -> str:
    """For a service that shows findings at their lines."""
    if format == "sarif":
        from promptc.cli.reports.sarif import render_sarif

        return render_sarif(found)
    from promptc.cli.reports.github import render_github

    return render_github(found)


def _sum_up(found: Sequence[Diagnostic]) -> str:
    counts = [(sum(1 for one in found if one.level == level), noun, plural) for level, noun, plural in _NOUNS]
    return (", ".join(show_plural(count, noun, plural) for count, noun, plural in counts if count) or "nothing found") + "\n"
