"""`promptc prune`."""

from pathlib import Path

import click

from promptc.cli.find_pending import refuse_in_ci
from promptc.cli.group import Command
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.views.figures import show_plural
from promptc.diag.findings import Diagnostic, DiskError, PromptcError
from promptc.golden.cases.confine import show_path
from promptc.golden.cases.discover import CaseFolder, find_places, load_case
from promptc.golden.judging.compare import Verdict
from promptc.golden.judging.expect import find_idle
from promptc.golden.running.run import break_unread, find_obsolete


@click.command(
    "prune",
    cls=Command,
    examples=[
        ("what would be removed", "promptc prune --dry-run"),
        ("the goldens of one folder that no case asks for", "promptc prune fixtures/tavern"),
    ],
)
@click.argument("cases", nargs=-1, type=click.Path())
@click.option("--dry-run", is_flag=True, help="Only print what would be removed.")
@click.pass_obj
def command(reporter: Reporter, cases: tuple[str, ...], dry_run: bool) -> int:
    """Remove the goldens that no case asks for, and print each.

    Nothing is removed beside a case that cannot be read: what it asks for is not known. Exit code 3 where there is one.
    """
    refuse_in_ci()
    found: list[Verdict] = []
    refused: list[Diagnostic] = []
    for place in find_places(cases).places:
        try:
            found += find_obsolete(place, _list_asked(place), "write")
        except PromptcError as error:
            refused += error.diagnostics
    removed = [one for one in found if dry_run or _remove(one, refused)]
    write_stdout("".join(f"{_show(one)}\n" for one in removed).encode("utf-8", "backslashreplace"))
    reporter.report(refused)
    reporter.say(f"{'would remove' if dry_run else 'removed'} {show_plural(len(removed), 'golden')}\n")
    if any(one.code == "PC0945" for one in refused):
        return DiskError.exit_code
    return PromptcError.exit_code if refused else 0


def _list_asked(place: CaseFolder) -> list[str]:
    """The goldens that the folder's case asks for. `PromptcError` where its file cannot be read, holds nothing, or is called otherwise."""
    if place.is_case:
        case = load_case(place.folder, place.top)
        idle = find_idle(case)
        if idle is not None:
            raise PromptcError([idle])
        return [name for _, _, name in case.list_goldens()]
    unread = break_unread(place) if place.misnamed else None
    if unread is not None:
        raise PromptcError(unread.findings)
    return []


def _show(one: Verdict) -> str:
    """Its path from the working folder."""
    return show_path(str(Path(one.root, one.file)), str(Path.cwd().resolve()))


def _remove(one: Verdict, refused: list[Diagnostic]) -> bool:
    """Whether it could be; a link goes, not what it leads to."""
    try:
        Path(one.root, one.file).unlink()
    except OSError as wrong:
        refused.append(Diagnostic("PC0945", f"cannot remove {_show(one)}: {wrong.strerror or wrong}"))
        return False
    return True
