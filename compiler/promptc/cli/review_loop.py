"""A review: keys in, goldens accepted, rejected, or left."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from promptc.cli.paint import Paint
from promptc.cli.streams import write_stdout
from promptc.cli.views.difference import STYLES
from promptc.cli.views.review_page import HELP, Place, Screen, count_screens, render_page
from promptc.compare.compare_sides import Difference
from promptc.diag.errors import DiskError
from promptc.diag.frozen import replace
from promptc.golden.case import PENDING
from promptc.golden.pending import Pending
from promptc.golden.read_pending import read_pending
from promptc.golden.settle import Settled, accept_golden, reject_golden, undo_settled

_EDITOR = "vi"
_ENDED = ("q", "")


class Review:
    """Walks through pending goldens. Nothing is accepted by any key but `a`, and by `g` once it is confirmed; each can be taken back."""

    def __init__(self, pending: Sequence[Pending], read_key: Callable[[], str], paint: Paint) -> None:
        self._pending = list(pending)
        self._read_key = read_key
        self._paint = paint
        self._settled: list[list[Settled]] = []
        self._verdicts: dict[Pending, str] = {}
        self._place = Place(1, len(pending))
        self._found: dict[Pending, Difference] = {}
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
            self._draw()
            key = self._read_key()
            if key in _ENDED:
                break
            self._say("")
            try:
                self._actions.get(key, lambda: self._say("no such key; ? tells which there are"))()
            except DiskError as error:
                self._say("\n".join(one.message for one in error.diagnostics))
        return self.count()

    def count(self) -> dict[str, int]:
        """How many were accepted and rejected, and are left."""
        verdicts = list(self._verdicts.values())
        counts = {verdict: verdicts.count(verdict) for verdict in ("accepted", "rejected")}
        return counts | {"left": len(self._pending) - len(verdicts)}

    # --- what is shown ---

    @property
    def _now(self) -> Pending:
        return self._pending[self._place.at - 1]

    def _draw(self) -> None:
        verdict = self._verdicts.get(self._now)
        place = replace(self._place, said=f"{verdict}; u takes it back") if verdict and not self._place.said else self._place
        write_stdout(render_page(self._now, self._read(self._now), place, self._screen()).encode("utf-8", "backslashreplace"))

    def _screen(self) -> Screen:
        columns, rows = shutil.get_terminal_size()
        return Screen(columns, rows, self._paint)

    def _read(self, pending: Pending) -> Difference:
        """What differs, as it was before it was settled."""
        if pending not in self._found:
            self._found[pending] = read_pending(pending)
        return self._found[pending]

    def _say(self, text: str) -> None:
        self._place = replace(self._place, said=text.rstrip("\n"))

    def _go(self, at: int) -> None:
        self._place = replace(self._place, at=max(1, at), line=0)

    def _go_on(self) -> None:
        self._go(self._place.at + 1)

    def _scroll(self, step: int) -> None:
        lines, room = count_screens(self._read(self._now), self._place, self._screen())
        line = min(max(0, self._place.line + step * room), max(0, lines - 1))
        self._place = replace(self._place, line=line)

    def _change_style(self) -> None:
        style = STYLES[(STYLES.index(self._place.style) + 1) % len(STYLES)]
        self._place = replace(self._place, style=style, line=0)

    # --- what is done ---

    def _settle(self, act: Callable[[Pending], Settled], verdict: str) -> None:
        one = self._now
        if one in self._verdicts:
            self._say(f"it is {self._verdicts[one]} already; u takes it back")
            return
        self._read(one)
        self._settled.append([act(one)])
        self._verdicts[one] = verdict
        self._go_on()

    def _undo(self) -> None:
        if not self._settled:
            self._say("nothing to take back")
            return
        for one in reversed(self._settled.pop()):
            undo_settled(one)
            del self._verdicts[one.pending]
            self._go(self._pending.index(one.pending) + 1)

    def _accept_alike(self) -> None:
        wanted = _find_change(self._read(self._now))
        alike = [one for one in self._pending if one not in self._verdicts and _find_change(self._read(one)) == wanted]
        names = "".join(f"  {one.path}\n" for one in alike[:10]) + (f"  and {len(alike) - 10} more\n" if len(alike) > 10 else "")
        self._say(f"{len(alike)} with this same change:\n{names}accept all of them? y/n")
        self._draw()
        if self._read_key() != "y":
            self._say("none accepted")
            return
        done: list[Settled] = []
        self._settled.append(done)
        for one in alike:
            done.append(accept_golden(one))
            self._verdicts[one] = "accepted"
        self._say(f"accepted {len(alike)}")
        while self._place.at <= len(self._pending) and self._now in self._verdicts:
            self._go_on()

    def _edit(self) -> None:
        if self._now in self._verdicts:
            self._say(f"it is {self._verdicts[self._now]}; u takes it back")
            return
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _EDITOR
        try:
            subprocess.run([*shlex.split(editor), str(Path(self._now.folder, self._now.name + PENDING))], check=False)
        except (OSError, ValueError) as wrong:
            self._say(f"cannot run the editor `{editor}`: {wrong}; VISUAL or EDITOR names another")
        self._found.pop(self._now, None)


def _find_change(found: Difference) -> tuple[tuple[str, str], ...]:
    """What went and came, wherever it did."""
    return tuple((run.kind, run.text) for section in found.sections for run in section.runs if run.kind != "same")
