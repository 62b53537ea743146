"""Where the new state of `promptc apply` goes, and what is told of it."""

import os
from collections.abc import Callable
from pathlib import Path

from promptc.cli.apply_asked import STDIN, ApplyAsked
from promptc.cli.escape import escape_controls
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.views.changes import render_changes
from promptc.cli.views.figures import show_plural
from promptc.diag.findings import Diagnostic, DiskError, UsageError
from promptc.files.atomic import write_file
from promptc.operations.archive import Written, write_archive
from promptc.operations.results import StateDiff
from promptc.operations.state_file import Rewritten, find_archives, rewrite_state

Make = Callable[[bytes, str], StateDiff]
"""From a state's bytes, and the name of the file that will hold the new one (empty: none), to the change."""


def write_change(asked: ApplyAsked, raw: bytes, make: Make, *, purpose: str) -> Rewritten:
    """Makes the change and writes it, archives first: in place under the lock, of what the file holds then; else of `raw`, to the output.

    Nothing is written where only what would change is asked for. Raises what `make` and `rewrite_state` raise, `DiskError` (PC0725), and
    `UsageError` (PC0827) where there is nowhere to archive.
    """
    if asked.is_dry:
        change = make(raw, name_file(asked))
        if change.archived:
            _find_folder(asked)
        return Rewritten(change, ())
    if asked.is_in_place:
        return rewrite_state(asked.state, lambda read, path: make(read, path.name), folder=asked.archive, wait=asked.wait, purpose=purpose)
    return _write_elsewhere(asked, make(raw, name_file(asked)))


def tell_change(reporter: Reporter, asked: ApplyAsked, rewritten: Rewritten) -> None:
    """What was written, with counts; what would be, on standard output."""
    change = rewritten.change
    if asked.is_dry:
        shown = render_changes(change)
        write_stdout(shown.encode() if change.is_changed else f"{escape_controls(asked.state)} would stay as it is\n".encode())
        return
    goal = escape_controls(asked.output or asked.state)
    if not change.is_changed:
        reporter.say(f"{goal}: nothing to change\n" if asked.is_in_place else "")
        return
    reporter.say("" if goal == STDIN else f"{goal}\n{render_changes(change)}")
    for archive, archived in zip(rewritten.archives, change.archived, strict=True):
        was = "" if archive.is_new else "was archived before: "
        what = f"what stood at {archived.pointer}" if archived.replaced else show_plural(len(archived.elements), "element")
        reporter.say(f"{was}{what} in {show_path(archive.path)}\n")


def show_path(path: Path) -> str:
    """From the folder one is in, where it is below that."""
    here = Path.cwd()
    return escape_controls(str(path.relative_to(here) if path.is_relative_to(here) else path))


def name_file(asked: ApplyAsked) -> str:
    """The name of the file that will hold the new state; empty where it is none."""
    goal = asked.output if asked.output is not None else asked.state
    return "" if goal == STDIN else os.path.basename(os.path.realpath(goal))  # noqa: PTH119  as `rewrite_state` names it


def _write_elsewhere(asked: ApplyAsked, change: StateDiff) -> Rewritten:
    goal = asked.output if asked.output is not None else STDIN
    like = Path(asked.state) if asked.state != STDIN else None
    archives: list[Written] = []
    _check_folder(goal)
    if change.archived:
        folder = _find_folder(asked)
        archives = [write_archive(folder, one, like=like, wait=asked.wait) for one in change.archived]
    if goal == STDIN:
        write_stdout(change.data)
    else:
        write_file(goal, change.data)
    return Rewritten(change, tuple(archives))


def _check_folder(goal: str) -> None:
    """Before an archive makes the folder that the new state's file lacks."""
    if goal != STDIN and not Path(os.path.realpath(goal)).parent.is_dir():
        message = f"cannot write `{goal}`: there is no such folder"
        raise DiskError([Diagnostic("PC0725", message, help="name a file in a folder that is there")])


def _find_folder(asked: ApplyAsked) -> Path:
    """Of the archives: the one that was named, else beside the file."""
    if asked.archive is not None:
        return asked.archive
    goal = asked.output if asked.output is not None else asked.state
    if goal == STDIN:
        message = "the operation archives, and a state on standard output has no folder beside it"
        raise UsageError([Diagnostic("PC0827", message, help="name one: `--archive DIR`")])
    return find_archives(Path(os.path.realpath(goal)))
