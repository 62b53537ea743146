"""`promptc review`: pending goldens on a terminal, one by one, each accepted or rejected by a key."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from promptc.cli.commands.pending import DIR, ONLY_OPTION, PATTERNS, choose_pending, refuse_in_ci
from promptc.cli.findings import Reporter
from promptc.cli.group import Command
from promptc.cli.interaction import leave_interrupts, open_keys
from promptc.cli.terminal import Paint, show_text, write_stdout
from promptc.cli.views.difference import STYLES
from promptc.cli.views.drawing import show_plural
from promptc.cli.views.verdict import HELP, ReviewPlace, Screen, lay_out, name_alike, render_page
from promptc.diag.findings import Diagnostic, DiskError, UsageError
from promptc.diag.frozen import replace
from promptc.golden.cases.case import PENDING
from promptc.golden.verdicts.pending import (
    PendingGolden,
    Seen,
    SettledGolden,
    accept_golden,
    read_cause,
    read_pending,
    reject_golden,
    undo_settled,
)
from promptc.golden.verdicts.verdict import Mover

_ENTER, _LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
_TWINS = "without one, list them with `promptc pending`, and settle them with `promptc accept PATTERN` or `promptc reject PATTERN`"
_EDITOR = "vi"
_ENDED = ("q", "")
_RESIZED = "resized"
_CHANGED = "it has changed meanwhile: look again"
_STALE = "it is made of files as they were: run `promptc test`, or accept it alone"


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
    """Walks through pending goldens. Nothing is accepted by any key but `a`, and by `g` once it is confirmed; each can be taken back."""

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
        """Until `q`, or the last one is passed: how many were accepted and rejected, and are left."""
        while self._place.at <= len(self._pending):
            key = self._ask()
            if key in _ENDED:
                break
            self._say("")
            self._act(self._actions.get(key, lambda: self._say("no such key; ? tells which there are")))
        return self.count()

    def count(self) -> dict[str, int]:
        """How many were accepted and rejected, and are left."""
        verdicts = list(self._verdicts.values())
        counts = {verdict: verdicts.count(verdict) for verdict in ("accepted", "rejected")}
        return counts | {"left": sum(one not in self._verdicts and os.path.lexists(_name_file(one)) for one in self._pending)}

    # --- what is shown ---

    @property
    def _now(self) -> PendingGolden:
        return self._pending[self._place.at - 1]

    def _act(self, action: Callable[[], None]) -> None:
        try:
            action()
        except DiskError as error:
            self._say(_list_messages(error))

    def _ask(self) -> str:
        """A key, with the page as it is; drawn anew where the terminal gets another size."""
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
        """What is shown of this one, or why it cannot be."""
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
        """What differs, as it was before it was settled."""
        if pending not in self._seen:
            self._seen[pending] = read_pending(pending)
        return self._seen[pending]

    def _is_as_seen(self, pending: PendingGolden) -> bool:
        """Whether it still is what was shown; else it is read anew."""
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

    # --- what is done ---

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
            self._say(_STALE if self._read(self._now).stale else _CHANGED)
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
        """Whether it is this one, or has the same change and is made of what is there now. One that cannot be read has none."""
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
    """What one edit moved stands together, in the order of the first of each."""
    first: dict[tuple[Mover, ...], int] = {}
    for at, one in enumerate(pending):
        first.setdefault(causes[one], at)
    places = {one: first[causes[one]] if causes[one] else at for at, one in enumerate(pending)}
    return sorted(pending, key=lambda one: places[one])


def _name_file(pending: PendingGolden) -> Path:
    return Path(pending.folder, pending.name + PENDING)


def _list_changes(seen: Seen) -> tuple[tuple[str, str], ...]:
    """What went, came and moved, wherever it did."""
    sections = seen.found.sections
    moved = [("moved", f"{one.id} {item.id}") for one in sections for item in one.items if item.change == "moved"]
    moved += [("moved", one.id) for one in sections if one.is_moved]
    return (*((run.kind, run.text) for section in sections for run in section.runs if run.kind != "same"), *moved)


def _list_messages(error: DiskError) -> str:
    return "\n".join(one.message for one in error.diagnostics)
