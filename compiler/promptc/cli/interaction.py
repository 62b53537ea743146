"""What happens at a terminal while a command runs.

`open_keys` gives keys one by one. `end_in_order`, `hold_interrupts` and `leave_interrupts` say what interrupts and requests to end do
meanwhile. `Progress` shows a line of progress.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import monotonic

from promptc.cli.findings import Reporter
from promptc.cli.terminal import CLEAR, escape_controls, read_width, show_text, write_stderr
from promptc.cli.views.drawing import render_bar, show_plural
from promptc.diag.findings import Diagnostic, UsageError, join_some
from promptc.diag.typed import Any
from promptc.files.reading import note_looks
from promptc.golden.running.environment import render_install

_CTRL_C = "\x03"

_NAMED = {
    "\x04": "q",
    "\r": "enter",
    "\n": "enter",
    " ": "space",
    "\x1b[6~": "space",
    "\x1b[B": "space",
    "\x1b[5~": "back",
    "\x1b[A": "back",
}
_LONGEST = 16
"""Bytes that are read of a key at most."""

_RESIZED = "resized"

_BAR = 24
"""Cells of a bar."""

_FIRST_PAUSE = 0.5
"""Seconds before a line of progress is drawn on a terminal."""

_PAUSE = 0.1
"""Seconds from there to the next time it is drawn."""

_NAMED_FILES = 3
"""Changed files that are named."""

_PAUSE_ELSEWHERE = 5.0
"""Seconds between two lines of progress where there is no terminal."""


@contextlib.contextmanager
def open_keys() -> Iterator[Callable[[], str]]:
    """Gives `read_key`: keys come one by one and are not shown, and `resized` comes when the terminal gets another size. Afterwards the
    terminal is as it was, also after SIGTERM.
    """
    if sys.platform == "win32":
        yield read_key
        return
    import termios
    import tty

    stream = sys.stdin.fileno()
    before = termios.tcgetattr(stream)
    try:
        tty.setcbreak(stream)
        with end_in_order(), _resizes() as resizes:
            yield lambda: read_key(resizes)
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _resizes() -> Iterator[int]:
    """A file that has something to read after every change of the terminal's size."""
    reading, writing = os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    before = signal.signal(signal.SIGWINCH, lambda *_: None)
    woken = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield reading
    finally:
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGWINCH, before)
        os.close(reading)
        os.close(writing)


def read_key(resizes: int | None = None) -> str:
    """The key: its character, or `enter`, `space` (also page down and down) and `back` (page up and up), `q` for Ctrl-D too; empty where
    there is no terminal any more; `resized` where the file `resizes` has something to read. Raises `KeyboardInterrupt` for Ctrl-C.
    """
    if resizes is not None and _is_resized(resizes):
        return _RESIZED
    read = _read_windows() if sys.platform == "win32" else os.read(sys.stdin.fileno(), _LONGEST).decode("utf-8", "replace")
    if read == _CTRL_C:
        raise KeyboardInterrupt
    return _NAMED.get(read, read[:1])


def _is_resized(resizes: int) -> bool:
    """Waits for a key or for another size, and tells whether it was that. A key is not taken."""
    from select import select

    ready, _, _ = select([sys.stdin, resizes], [], [])
    return resizes in ready and bool(os.read(resizes, _LONGEST))


def _read_windows() -> str:
    from importlib import import_module

    read: str = import_module("msvcrt").getwch()
    return read


@contextlib.contextmanager
def end_in_order() -> Iterator[None]:
    """In here SIGTERM is a `SystemExit` with 143: what was opened is closed and what was begun is taken away by way of every `finally`."""
    with _catch_signals(_leave, signal.SIGTERM):
        yield


def _leave(number: int, _: object) -> None:
    raise SystemExit(128 + number)


@contextlib.contextmanager
def hold_interrupts() -> Iterator[list[int]]:
    """In here interrupts and requests to end wait in the list that is given, for the caller to act upon between two steps."""
    held: list[int] = []
    heeded = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]
    with _catch_signals(lambda number, _: held.append(number), *heeded):
        yield held


@contextlib.contextmanager
def leave_interrupts() -> Iterator[None]:
    """In here Ctrl-C does nothing: it is for the program that is run meanwhile, and for whatever that starts."""
    with _catch_signals(lambda *_: None, signal.SIGINT):
        yield


@contextlib.contextmanager
def _catch_signals(act: Callable[[int, Any], None], *numbers: int) -> Iterator[None]:
    """In here these signals call `act`, afterwards what they called before. Only the main thread may set that: in others nothing is."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, act) for number in numbers} if is_main else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def watch_runs(reporter: Reporter, run: Callable[[Sequence[str]], int]) -> int:
    """Runs now, and again whenever something has changed that the last run looked at; `run` is given the paths. Ctrl-C ends it, with 0.

    A first run that ends with 2 is the last: no file mends its command line. Raises `UsageError` (PC0739) where watchfiles is not
    installed, and what `wait_for_change` raises.
    """
    try:
        from promptc.workshop.watch import list_watched, wait_for_change
    except ImportError:
        message = "`--watch` needs a package of the extra `serve`, which is not installed"
        raise UsageError([Diagnostic("PC0739", message, help=render_install(["serve"]))]) from None
    changed: list[str] = []
    try:
        while True:
            code, looks = note_looks(partial(run, changed))
            if not looks or (code == UsageError.exit_code and not changed):
                return code
            reporter.say(f"watching {show_plural(len(list_watched(looks)), 'file')}; Ctrl-C ends\n")
            changed = wait_for_change(looks)
            _part_runs(reporter, changed)
    except KeyboardInterrupt:
        return 0


def _part_runs(reporter: Reporter, changed: Sequence[str]) -> None:
    """A clear screen, elsewhere a line across; and what has changed."""
    if sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        show_text(CLEAR)
    here = f"{Path.cwd()}{os.sep}"
    names = [one.removeprefix(here) for one in changed]
    reporter.say(f"{f'── {escape_controls(join_some(names, _NAMED_FILES))} changed ':─<{read_width()}}\n")


class Progress:
    """Shows `label` with a bar: on a terminal in one line that is drawn again and cleared at the end, elsewhere a line every five seconds.
    Nothing with `--quiet` or where findings are JSON, and nothing for what takes less than half a second.
    """

    def __init__(self, reporter: Reporter, label: str) -> None:
        self._is_shown = not reporter.settings.is_quiet and reporter.settings.diagnostics == "text"
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._label = label
        self._started = self._drawn = monotonic()
        self._is_drawn = False

    def note(self, done: int, total: int, rows: int | None = None) -> None:
        """`done` of `total` are done; 0 in all where nobody knows. `rows`, where it is given, is how many were made meanwhile."""
        now = monotonic()
        if not self._is_shown or now - self._drawn < self._choose_pause():
            return
        self._drawn = now
        seconds = now - self._started
        left = int(seconds * (total - done) / max(done, 1))
        told = f"{done:,} of {total:,}" if rows is None else f"{rows:,} ({rows / max(seconds, _PAUSE):,.0f} a second)"
        told = f"{self._label}  {told}" + (f", about {left // 60}:{left % 60:02} left" if total else "")
        if self._is_terminal:
            bar = render_bar(done, 0, total, _BAR) if total else ""
            write_stderr(f"\r\x1b[K{bar}{' ' * (_BAR - len(bar) if total else 0)}{'  ' if total else ''}{told}")
            self._is_drawn = True
        else:
            write_stderr(f"{told}\n")

    def _choose_pause(self) -> float:
        """Seconds from what was shown last, or the start, to what is shown next."""
        if not self._is_terminal:
            return _PAUSE_ELSEWHERE
        return _PAUSE if self._is_drawn else _FIRST_PAUSE

    def close(self) -> None:
        """Clears the line."""
        if self._is_drawn:
            write_stderr("\r\x1b[K")
            self._is_drawn = False
