"""`promptc pending`, `accept`, `reject`, `prune` and `review`: select pending goldens by patterns, and accept or reject them.

`review` shows them one by one on a terminal, and accepts or rejects each by a key.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import click

from promptc.cli.group import Command, complete
from promptc.cli.interaction import hold_interrupts, leave_interrupts, open_keys
from promptc.cli.options import is_in_ci
from promptc.cli.terminal import Paint, Reporter, escape_controls, show_json, show_text, write_stdout
from promptc.cli.views.difference import STYLES
from promptc.cli.views.drawing import render_table
from promptc.cli.views.verdict import HELP, ReviewPlace, Screen, lay_out, name_alike, render_page
from promptc.diag.findings import Diagnostic, DiskError, PromptcError, UsageError, fail, show_plural, show_reason, suggest
from promptc.diag.frozen import replace
from promptc.files.paths import resolve_path
from promptc.golden.cases.case import PENDING
from promptc.golden.cases.confine import choose_root, show_path
from promptc.golden.cases.discover import CASE, CaseFolder, choose_places, load_case
from promptc.golden.verdicts.judge import break_place, break_unread, find_idle, list_obsolete
from promptc.golden.verdicts.pending import (
    PendingGolden,
    Seen,
    SettledGolden,
    accept_golden,
    list_pending,
    list_stale,
    read_cause,
    read_pending,
    reject_golden,
    undo_settled,
)
from promptc.golden.verdicts.verdict import Mover, Verdict, rebase_verdict

PATTERNS = click.argument("patterns", shell_complete=complete, metavar="[PATTERN]...", nargs=-1)
ALL = click.option("--all", "is_all", is_flag=True, help="Take all pending goldens.")
DIR = click.option("--dir", "folder", metavar="DIR", type=click.Path(), help="The folder to look in. [the current folder]")
_HERE = "."
ONLY = ("new", "changed")
_STALE = 1
_ENTER, _LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
_TWINS = "without one, list them with `promptc pending`, and settle them with `promptc accept PATTERN` or `promptc reject PATTERN`"
_EDITOR = "vi"
_ENDED = ("q", "")
_RESIZED = "resized"
_CHANGED = "it has changed meanwhile: look again"
_OUTDATED = "it is made of files as they were: run `promptc test`, or accept it alone"
ONLY_OPTION = click.option("--only", type=click.Choice(ONLY), help="Take only new goldens, or only changed ones.")


@click.command(
    "pending",
    cls=Command,
    examples=[
        ("List all of them", "promptc pending"),
        ("List those of some cases, for a program", "promptc pending 'tavern/*' --format json"),
    ],
)
@PATTERNS
@ONLY_OPTION
@DIR
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="How to print the list. [text]")
@click.pass_obj
def pending_command(reporter: Reporter, patterns: tuple[str, ...], only: str | None, folder: str | None, format: str) -> int:
    """List the goldens that wait for review.

    When a result differs from its golden, `promptc test` writes the result beside it, for example `golden.txt.new`. That file is a pending
    golden.
    """
    found = choose_pending(patterns, folder=folder, only=only)
    if format == "json":
        listed = [
            {
                "case": one.case,
                "golden": one.path,
                "pending": one.path + PENDING,
                "status": one.status,
                "bytes": Path(one.folder, one.name + PENDING).lstat().st_size,
            }
            for one in found
        ]
        write_stdout(show_json(listed).encode())
        return 0
    show_text(render_table([[one.status, escape_controls(name), one.name] for one, name in _iter_named(found)], most=60))
    reporter.say(f"{show_plural(len(found), 'golden')} pending" + ("; `promptc review` shows them one by one\n" if found else "\n"))
    return 0


def _iter_named(found: Sequence[PendingGolden]) -> Iterator[tuple[PendingGolden, str]]:
    """Yield each golden with the name of its case, or with its path if another case has the same name.

    `promptc accept` understands both.
    """
    folders: dict[str, set[str]] = {}
    for one in found:
        folders.setdefault(one.case, set()).add(one.folder)
    for one in found:
        yield one, one.case if len(folders[one.case]) == 1 else one.path.rpartition("/")[0] or "."


@click.command(
    "accept",
    cls=Command,
    examples=[
        ("Accept the changes of one case", "promptc accept tavern/dragon"),
        ("Accept new goldens of some cases, but no changed ones", "promptc accept 'tavern/*' --only new"),
    ],
)
@PATTERNS
@ALL
@ONLY_OPTION
@DIR
@click.option("--stale", is_flag=True, help="Also accept goldens whose pack or state has changed since the test.")
@click.pass_obj
def accept_command(reporter: Reporter, patterns: tuple[str, ...], is_all: bool, only: str | None, folder: str | None, stale: bool) -> int:
    """Accept pending goldens: the new result replaces the golden.

    PATTERN is the name of a case, a file or a folder. `*` and `?` match any characters. promptc refuses to accept anything where the
    variable `CI` is set.

    Exit codes: 0 done, 1 a golden is older than its pack or state (see `--stale`), 4 a golden cannot be written.
    """
    refuse_in_ci()
    pending = choose_named(patterns, is_all=is_all, folder=folder, only=only)
    return resolve_pending(reporter, pending, accept_golden if stale else _accept_fresh, "accepted")


def _accept_fresh(pending: PendingGolden) -> SettledGolden:
    """Accept a golden. Raises `PromptcError` (PC0947) if `promptc test` would now write something else."""
    stale = list_stale(pending)
    if stale:
        made = escape_controls(stale[0]) + (f" and {len(stale) - 1} more" if len(stale) > 1 else "")
        raise fail(
            "PC0947",
            f"{pending.path} is out of date: {made} has changed since",
            help="run `promptc test` to renew it, or accept it as it is with `--stale`",
        )
    return accept_golden(pending)


@click.command(
    "prune",
    cls=Command,
    examples=[
        ("See what would be deleted", "promptc prune --dry-run"),
        ("Delete the unused goldens of one folder", "promptc prune fixtures/tavern"),
    ],
)
@click.argument("cases", shell_complete=complete, nargs=-1, type=click.Path())
@click.option("--dry-run", is_flag=True, help="Print what would be deleted, and delete nothing.")
@click.pass_obj
def prune_command(reporter: Reporter, cases: tuple[str, ...], dry_run: bool) -> int:
    """Delete the goldens that no case uses any more, and print each name.

    promptc deletes nothing beside a case that it cannot read. It then exits with 3.
    """
    refuse_in_ci()
    found: list[Verdict] = []
    refused: list[Diagnostic] = []
    for place in choose_places(cases).places:
        try:
            found += list_obsolete(place, _list_asked(place), "write")
        except PromptcError as error:
            refused += rebase_verdict(break_place(place, error.diagnostics), str(Path.cwd())).findings
    removed = [one for one in found if dry_run or _remove(one, refused)]
    show_text("".join(f"{_show(one)}\n" for one in removed))
    reporter.report(refused)
    reporter.say(f"{'would remove' if dry_run else 'removed'} {show_plural(len(removed), 'golden')}\n")
    if any(one.code == "PC0945" for one in refused):
        return DiskError.exit_code
    return PromptcError.exit_code if refused else 0


def _list_asked(place: CaseFolder) -> list[str]:
    """Return the goldens that the folder's case uses.

    Raises `PromptcError` if the file of the case cannot be read, has the wrong name, or describes a case that checks nothing.
    """
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
    """Return the path relative to the working folder."""
    return show_path(str(Path(one.root, one.file)), str(resolve_path(Path.cwd())))


def _remove(one: Verdict, refused: list[Diagnostic]) -> bool:
    """Delete the golden and return whether that worked. A link is deleted, not its target."""
    try:
        Path(one.root, one.file).unlink()
    except OSError as wrong:
        refused.append(Diagnostic("PC0945", f"cannot remove {_show(one)}: {show_reason(wrong)}"))
        return False
    return True


@click.command(
    "reject",
    cls=Command,
    examples=[
        ("Discard the changes of one case", "promptc reject tavern/dragon"),
        ("Discard everything that is pending", "promptc reject --all"),
    ],
)
@PATTERNS
@ALL
@ONLY_OPTION
@DIR
@click.pass_obj
def reject_command(reporter: Reporter, patterns: tuple[str, ...], is_all: bool, only: str | None, folder: str | None) -> int:
    """Discard pending goldens: the new result is deleted, and the golden stays.

    PATTERN is the name of a case, a file or a folder. `*` and `?` match any characters.
    """
    return resolve_pending(reporter, choose_named(patterns, is_all=is_all, folder=folder, only=only), reject_golden, "rejected")


def choose_pending(patterns: Sequence[str], *, folder: str | None, only: str | None) -> list[PendingGolden]:
    """Return the pending goldens that the patterns select, in order; all without patterns.

    `only` keeps those that are `new` or `changed`. A pattern is a path of a golden or of a folder with goldens, or else the name of a
    case or of a golden in a case, or else a glob for either. Raises `UsageError` (PC0943) for a pattern that selects nothing, and for a
    name that cases in several folders have.
    """
    found = _list(folder or _HERE, only)
    if not patterns:
        return found
    chosen = dict.fromkeys(one for pattern in patterns for one in _choose(pattern, found, _list_at(pattern, folder, only)))
    return [*(one for one in found if one in chosen), *(one for one in chosen if one not in found)]


def choose_named(patterns: Sequence[str], *, is_all: bool, folder: str | None, only: str | None) -> list[PendingGolden]:
    """Return the selected goldens like `choose_pending`, but require `is_all` to select all.

    Raises `UsageError` (PC0943) if there are neither patterns nor `is_all`.
    """
    if not patterns and not is_all:
        raise UsageError([Diagnostic("PC0943", "no pending golden is named", help="name cases, such as `tavern/*`, or say `--all`")])
    return choose_pending(patterns, folder=folder, only=only)


def _list(folder: str, only: str | None) -> list[PendingGolden]:
    return [one for one in list_pending([folder]) if only is None or one.status == only]


def _list_at(pattern: str, folder: str | None, only: str | None) -> list[PendingGolden]:
    """Return the goldens at a path or under it, or only those of them in `folder` if it is given; none if there is no such path."""
    path = Path(pattern)
    place = path if path.is_dir() else path.parent
    if not pattern or not any(os.path.lexists(one) for one in (path, f"{path}{PENDING}")) or not place.is_dir():
        return []
    paths = {str(resolve_path(path)), str(resolve_path(place) / path.name) if place != path else str(resolve_path(place))}
    within = resolve_path(folder or place)
    return [
        one for one in _list(str(place), only) if Path(one.folder).is_relative_to(within) and any(_is_at(one, found) for found in paths)
    ]


def _is_at(one: PendingGolden, path: str) -> bool:
    """Return whether the golden is at this absolute path or under it. The file of a case stands for its folder."""
    golden = str(Path(one.folder, one.name))
    return path in (golden, golden + PENDING, str(Path(one.folder, CASE))) or Path(golden).is_relative_to(path)


def _choose(pattern: str, found: Sequence[PendingGolden], at_path: Sequence[PendingGolden]) -> Sequence[PendingGolden]:
    if at_path:
        return at_path
    named = [one for one in found if pattern in _list_names(one)]
    folders = sorted({one.folder for one in named})
    if len(folders) > 1:
        raise _refuse_several(pattern, folders)
    plain = os.path.normpath(pattern)
    matching = named or [
        one for one in found if any(fnmatchcase(name, plain) for name in (*_list_names(one), *(one.path, one.path.rpartition("/")[0])))
    ]
    if not matching:
        raise _refuse_none(pattern, found)
    return matching


def _list_names(one: PendingGolden) -> tuple[str, ...]:
    """Return the names that do not depend on the working folder: its case, its name in the case, and its path from the case's root."""
    return one.case, f"{one.case}/{one.name}", show_path(str(Path(one.folder, one.name)), choose_root(one.folder))


def _refuse_several(name: str, folders: Sequence[str]) -> UsageError:
    here = str(resolve_path(Path.cwd()))
    listed = ", ".join(f"`{escape_controls(show_path(folder, here))}`" for folder in folders)
    return UsageError([Diagnostic("PC0943", f"`{name}` names cases in {len(folders)} folders", help=f"name one by its path: {listed}")])


def _refuse_none(pattern: str, found: Sequence[PendingGolden]) -> UsageError:
    near = suggest(pattern, sorted({one.case for one in found})) or "`promptc pending` lists them"
    help = near if found else "run `promptc test` to write what differs: nothing is pending"
    return UsageError([Diagnostic("PC0943", f"no pending golden is `{pattern}`", help=help)])


def refuse_in_ci() -> None:
    """Raise `UsageError` (PC0944) in CI."""
    if is_in_ci():
        help = "accept it on your own machine: read the difference, accept it, and commit it"
        raise UsageError([Diagnostic("PC0944", "promptc accepts no goldens where `CI` is set: a person has to read them", help=help)])


def resolve_pending(
    reporter: Reporter, chosen: Sequence[PendingGolden], settle: Callable[[PendingGolden], SettledGolden], done: str
) -> int:
    """Settle each golden, report the outcome, and return the exit code.

    A golden that cannot be settled stays pending, and does not keep the others from being settled. After an interrupt, the rest stay
    pending, too, and the interrupt is raised again. All that stay pending are named. The code is 4 if a file could not be read or
    written, or else 1 if a golden is stale.
    """
    failed: list[PendingGolden] = []
    found: list[Diagnostic] = []
    settled, code = 0, 0
    with hold_interrupts() as interrupts:  # so that each golden is either settled and counted, or left alone
        for one in chosen:
            if interrupts:
                break
            try:
                settle(one)
                settled += 1
            except PromptcError as error:
                failed.append(one)
                found += error.diagnostics
                code = max(code, error.exit_code if isinstance(error, DiskError) else _STALE)
    reporter.report(found)
    _tell(reporter, done, settled, [*failed, *chosen[settled + len(failed) :]])
    if signal.SIGTERM in interrupts:
        raise SystemExit(128 + signal.SIGTERM)
    if interrupts:
        raise KeyboardInterrupt
    return code


def _tell(reporter: Reporter, done: str, count: int, left: Sequence[PendingGolden]) -> None:
    reporter.say(f"{done} {show_plural(count, 'golden')}\n")
    if left:
        reporter.say(f"not {done}, and still pending:\n" + "".join(f"    {escape_controls(one.path)}\n" for one in left))


# --- one by one ---


@click.command(
    "review",
    cls=Command,
    examples=[
        ("Review everything that `promptc test` found different", "promptc review"),
        ("Review some cases", "promptc review 'tavern/*'"),
    ],
)
@PATTERNS
@ONLY_OPTION
@DIR
@click.pass_obj
def review_command(reporter: Reporter, patterns: tuple[str, ...], only: str | None, folder: str | None) -> int:
    """Step through the pending goldens. Each screen shows what changed; you accept or reject it.

    Keys: a accept, r reject, s or Enter skip, g accept every golden with the same change, u undo, b back, d words or lines, e open an
    editor, space scroll, ? help, q quit. Enter never accepts.
    """
    refuse_in_ci()
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        raise UsageError([Diagnostic("PC0946", "a review needs a terminal", help=_TWINS)])
    pending = choose_pending(patterns, folder=folder, only=only)
    if not pending:
        reporter.say("nothing is pending\n")
        return 0
    counts = {"accepted": 0, "rejected": 0, "left": len(pending)}
    write_stdout(_ENTER)
    try:
        with open_keys() as read_key:
            review = Review(pending, read_key, reporter.choose_paint(sys.stdout))
            try:
                review.run()
            finally:
                counts = review.count()
    finally:
        write_stdout(_LEAVE)
        reporter.say(
            f"accepted {counts['accepted']}, rejected {counts['rejected']}, {show_plural(counts['left'], 'golden')} still pending\n"
        )
    return 0


class Review:
    """An interactive review of pending goldens.

    Only `a`, and `g` after a confirmation, accept goldens. Every decision can be undone.
    """

    def __init__(self, pending: Sequence[PendingGolden], read_key: Callable[[], str], paint: Paint) -> None:
        self._causes = {one: read_cause(one) for one in pending}
        self._pending = _group(pending, self._causes)
        self._read_key = read_key
        self._paint = paint
        self._settled: list[list[SettledGolden]] = []
        self._verdicts: dict[PendingGolden, str] = {}
        self._place = ReviewPlace(1, len(pending))
        self._seen: dict[PendingGolden, Seen] = {}
        self._actions: dict[str, Callable[[], None]] = {
            "a": lambda: self._settle(accept_golden, "accepted"),
            "r": lambda: self._settle(reject_golden, "rejected"),
            "s": self._go_on,
            "enter": self._go_on,
            "b": lambda: self._go(self._place.at - 1),
            "u": self._undo,
            "d": self._change_style,
            "g": self._accept_alike,
            "e": self._edit,
            "space": lambda: self._scroll(1),
            "back": lambda: self._scroll(-1),
            "?": lambda: self._say(HELP),
        }

    def run(self) -> dict[str, int]:
        """Run until `q` or the end of the list, and return how many were accepted, rejected and left."""
        while self._place.at <= len(self._pending):
            key = self._ask()
            if key in _ENDED:
                break
            self._say("")
            self._act(self._actions.get(key, lambda: self._say("no such key; ? lists the keys")))
        return self.count()

    def count(self) -> dict[str, int]:
        """Return how many were accepted, rejected and left."""
        verdicts = list(self._verdicts.values())
        counts = {verdict: verdicts.count(verdict) for verdict in ("accepted", "rejected")}
        return counts | {"left": sum(one not in self._verdicts and os.path.lexists(_name_file(one)) for one in self._pending)}

    # --- the page ---

    @property
    def _now(self) -> PendingGolden:
        return self._pending[self._place.at - 1]

    def _act(self, action: Callable[[], None]) -> None:
        try:
            action()
        except DiskError as error:
            self._say(_list_messages(error))

    def _ask(self) -> str:
        """Draw the page and return a key. The page is drawn again when the terminal changes its size."""
        key = _RESIZED
        while key == _RESIZED:
            self._draw()
            key = self._read_key()
        return key

    def _draw(self) -> None:
        self._place = replace(self._place, alike=self._name_alike())
        show_text(render_page(self._now, self._show(), self._place, self._screen()))

    def _name_alike(self) -> str:
        cause = self._causes[self._now]
        others = dict.fromkeys(one.case for one, other in self._causes.items() if cause and other == cause)
        return name_alike([one for one in others if one != self._now.case])

    def _show(self) -> Seen | str:
        """Return what to show of the current golden, or the reason why it cannot be read."""
        verdict = self._verdicts.get(self._now)
        if verdict and not self._place.said:
            self._say(f"{verdict}; u takes it back")
        try:
            return self._read(self._now)
        except DiskError as error:
            return _list_messages(error)

    def _screen(self) -> Screen:
        columns, rows = shutil.get_terminal_size()
        return Screen(columns, rows, self._paint)

    def _read(self, pending: PendingGolden) -> Seen:
        """Return the difference of a golden, as it was before the golden was settled."""
        if pending not in self._seen:
            self._seen[pending] = read_pending(pending)
        return self._seen[pending]

    def _is_as_seen(self, pending: PendingGolden) -> bool:
        """Read the golden again, and return whether it is unchanged since it was shown."""
        shown = self._read(pending)
        self._seen.pop(pending)
        return self._read(pending).is_as(shown)

    def _say(self, text: str) -> None:
        self._place = replace(self._place, said=text.rstrip("\n"))

    def _go(self, at: int) -> None:
        self._place = replace(self._place, at=max(1, at), line=0)

    def _go_on(self) -> None:
        self._go(self._place.at + 1)

    def _scroll(self, step: int) -> None:
        lines, room = lay_out(self._now, self._show(), self._place, self._screen()).measure()
        line = min(max(0, self._place.line + step * room), max(0, lines - 1))
        self._place = replace(self._place, line=line)

    def _change_style(self) -> None:
        style = STYLES[(STYLES.index(self._place.style) + 1) % len(STYLES)]
        self._place = replace(self._place, style=style, line=0)

    # --- the actions ---

    def _settle(self, act: Callable[[PendingGolden, bytes], SettledGolden], verdict: str) -> None:
        one = self._now
        if one in self._verdicts:
            self._say(f"it is {self._verdicts[one]} already; u takes it back")
        elif not self._is_as_seen(one):
            self._say(_CHANGED)
        else:
            self._settled.append([act(one, self._read(one).new)])
            self._verdicts[one] = verdict
            self._go_on()

    def _undo(self) -> None:
        if not self._settled:
            self._say("nothing to take back")
            return
        refused: list[str] = []
        for one in reversed(self._settled.pop()):
            try:
                undo_settled(one)
            except DiskError as error:
                refused.append(_list_messages(error))
                continue
            del self._verdicts[one.pending]
            self._go(self._pending.index(one.pending) + 1)
        self._say("\n".join(refused))

    def _accept_alike(self) -> None:
        if not self._is_as_seen(self._now) or self._read(self._now).stale:
            self._say(_OUTDATED if self._read(self._now).stale else _CHANGED)
            return
        alike = [one for one in self._pending if one not in self._verdicts and self._is_alike(one)]
        names = "".join(f"  {one.path}\n" for one in alike[:10])
        names += f"  and {len(alike) - 10} more\n" if len(alike) > 10 else ""
        self._say(f"{len(alike)} with this same change:\n{names}accept all of them? y/n")
        if self._ask() != "y":
            self._say("none accepted")
            return
        self._accept_all(alike)
        while self._place.at <= len(self._pending) and self._now in self._verdicts:
            self._go_on()

    def _is_alike(self, other: PendingGolden) -> bool:
        """Return whether it is the current golden, or is up to date and has the same change.

        A golden that cannot be read is not alike.
        """
        wanted = _list_changes(self._read(self._now))
        try:
            return other == self._now or (bool(wanted) and not self._read(other).stale and _list_changes(self._read(other)) == wanted)
        except DiskError:
            return False

    def _accept_all(self, alike: Sequence[PendingGolden]) -> None:
        done: list[SettledGolden] = []
        refused: list[str] = []
        self._settled.append(done)
        for one in alike:
            try:
                if not self._is_as_seen(one):
                    refused.append(f"{one.path}: {_CHANGED}")
                    continue
                done.append(accept_golden(one, self._read(one).new))
                self._verdicts[one] = "accepted"
            except DiskError as error:
                refused.append(_list_messages(error))
        self._say("\n".join([f"accepted {len(done)}", *refused]))

    def _edit(self) -> None:
        if self._now in self._verdicts:
            self._say(f"it is {self._verdicts[self._now]}; u takes it back")
            return
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _EDITOR
        try:
            with leave_interrupts():
                done = subprocess.run([*shlex.split(editor), str(_name_file(self._now))], check=False)
            if done.returncode:
                self._say(f"the editor `{editor}` ended with {done.returncode}")
        except (OSError, ValueError) as wrong:
            self._say(f"cannot run the editor `{editor}`: {wrong}; VISUAL or EDITOR names another")
        self._seen.pop(self._now, None)


def _group(pending: Sequence[PendingGolden], causes: Mapping[PendingGolden, tuple[Mover, ...]]) -> list[PendingGolden]:
    """Return the goldens with those that one edit moved next to each other, in the order of the first golden of each group."""
    first: dict[tuple[Mover, ...], int] = {}
    for at, one in enumerate(pending):
        first.setdefault(causes[one], at)
    places = {one: first[causes[one]] if causes[one] else at for at, one in enumerate(pending)}
    return sorted(pending, key=lambda one: places[one])


def _name_file(pending: PendingGolden) -> Path:
    return Path(pending.folder, pending.name + PENDING)


def _list_changes(seen: Seen) -> tuple[tuple[str, str], ...]:
    """Return the removed, added and moved parts, without their places."""
    sections = seen.found.sections
    moved = [("moved", f"{one.id} {item.id}") for one in sections for item in one.items if item.change == "moved"]
    moved += [("moved", one.id) for one in sections if one.is_moved]
    return (*((run.kind, run.text) for section in sections for run in section.runs if run.kind != "same"), *moved)


def _list_messages(error: DiskError) -> str:
    return "\n".join(one.message for one in error.diagnostics)
