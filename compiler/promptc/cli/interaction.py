"""Keys, signals and progress at a terminal while a command runs.

`open_keys` reads single keys. `hold_interrupts` and `leave_interrupts` control what interrupts and requests to end do in a block.
`Progress` shows a line of progress.
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

from promptc.cli.terminal import CLEAR, Reporter, escape_controls, read_width, show_text, write_stderr
from promptc.cli.views.drawing import render_bar
from promptc.diag.findings import Diagnostic, UsageError, join_some, show_plural
from promptc.diag.typed import Any
from promptc.files.paths import resolve_path
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
"""The most bytes read for one key."""

_RESIZED = "resized"

_BAR = 24
"""The cells of a progress bar."""

_FIRST_PAUSE = 0.5
"""Seconds before the first line of progress on a terminal."""

_PAUSE = 0.1
"""Seconds between two redraws of the line on a terminal."""

_NAMED_FILES = 3
"""The most changed files that are listed by name."""

_PAUSE_ELSEWHERE = 5.0
"""Seconds between two lines of progress without a terminal."""


@contextlib.contextmanager
def open_keys() -> Iterator[Callable[[], str]]:
    """Yield a `read_key` that returns keys one by one without echo, and `resized` when the terminal changes its size.

    The terminal's mode is restored afterwards, also after SIGTERM. On Windows, `resized` never comes.
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
        with _resizes() as resizes:
            yield lambda: read_key(resizes)
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _resizes() -> Iterator[int]:
    """Yield a file descriptor that becomes readable after every change of the terminal's size."""
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
    """Return the next key: its character, or `enter`, `space` (also for page down and down), or `back` (page up and up).

    Ctrl-D is `q`. Returns an empty string if the terminal has closed, and `resized` if the file `resizes` is readable. Raises
    `KeyboardInterrupt` for Ctrl-C.
    """
    if resizes is not None and _is_resized(resizes):
        return _RESIZED
    read = _read_windows() if sys.platform == "win32" else os.read(sys.stdin.fileno(), _LONGEST).decode("utf-8", "replace")
    if read == _CTRL_C:
        raise KeyboardInterrupt
    return _NAMED.get(read, read[:1])


def _is_resized(resizes: int) -> bool:
    """Wait for a key or a new size, and return whether the size changed. The key stays in the input."""
    from select import select

    ready, _, _ = select([sys.stdin, resizes], [], [])
    return resizes in ready and bool(os.read(resizes, _LONGEST))


def _read_windows() -> str:
    from importlib import import_module

    read: str = import_module("msvcrt").getwch()
    return read


@contextlib.contextmanager
def hold_interrupts() -> Iterator[list[int]]:
    """Collect interrupts and requests to end in the list that is yielded, so that the caller can act on them between two steps."""
    held: list[int] = []
    heeded = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]
    with _catch_signals(lambda number, _: held.append(number), *heeded):
        yield held


@contextlib.contextmanager
def leave_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C inside the block: it is meant for the program that runs there and for that program's children."""
    with _catch_signals(lambda *_: None, signal.SIGINT):
        yield


@contextlib.contextmanager
def _catch_signals(act: Callable[[int, Any], None], *numbers: int) -> Iterator[None]:
    """Call `act` for these signals inside the block, and restore their handlers afterwards.

    Only the main thread can set handlers; in another thread the block changes nothing.
    """
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, act) for number in numbers} if is_main else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def watch_runs(reporter: Reporter, run: Callable[[Sequence[str]], int], written: Sequence[str]) -> int:
    """Call `run` now, and again whenever a file changes that the last run looked at. Ctrl-C ends the loop, which returns 0.

    `run` receives the changed paths. The files of `written`, and those of standard output and error, may change. A first run that ends with
    2 is the last, because no file can mend its command line; so is a run that looked at nothing. Their exit code is returned. Raises
    `UsageError` (PC0739) if watchfiles is not installed.
    """
    try:
        from promptc.workshop.watch import list_watched, wait_for_change
    except ImportError:
        message = "`--watch` needs a package of the extra `serve`, which is not installed"
        raise UsageError([Diagnostic("PC0739", message, help=render_install(["serve"]))]) from None
    changed: list[str] = []
    is_own = _describe_own(written)
    try:
        while True:
            code, looks = note_looks(partial(run, changed))
            if not looks or (code == UsageError.exit_code and not changed):
                return code
            reporter.say(f"watching {show_plural(len(list_watched(looks)), 'file')}; Ctrl-C ends\n")
            changed = wait_for_change(looks, is_own)
            _part_runs(reporter, changed)
    except KeyboardInterrupt:
        return 0


def _describe_own(written: Sequence[str]) -> Callable[[Path], bool]:
    """Return a function that says whether a file is one of `written`, or one to which the output of this process is redirected."""
    named, streams = set(map(resolve_path, written)), []
    for number in (1, 2):
        with contextlib.suppress(OSError):
            streams.append(os.fstat(number))

    def is_own(path: Path) -> bool:
        try:
            return resolve_path(path) in named or any(os.path.samestat(path.stat(), one) for one in streams)
        except OSError:
            return False

    return is_own


def _part_runs(reporter: Reporter, changed: Sequence[str]) -> None:
    """Clear the screen of a terminal, and print a separator with the changed files to standard error."""
    if sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        show_text(CLEAR)
    here = f"{Path.cwd()}{os.sep}"
    names = [one.removeprefix(here) for one in changed]
    reporter.say(f"{f'── {escape_controls(join_some(names, _NAMED_FILES))} changed ':─<{read_width()}}\n")


class Progress:
    """Shows `label` with a bar: on a terminal in one line that is redrawn and finally cleared, elsewhere a line every five seconds.

    Shows nothing with `--quiet`, if findings are JSON, or for work that takes less than half a second.
    """

    def __init__(self, reporter: Reporter, label: str) -> None:
        self._is_shown = not reporter.settings.is_quiet and reporter.settings.diagnostics == "text"
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._label = label
        self._started = self._drawn = monotonic()
        self._is_drawn = False

    def note(self, done: int, total: int, rows: int | None = None) -> None:
        """Show that `done` of `total` are done; `total` is 0 if it is unknown.

        If `rows` is given, the line shows this number of rows and their rate instead.
        """
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
        """Return the seconds from the last line, or the start, to the next line."""
        if not self._is_terminal:
            return _PAUSE_ELSEWHERE
        return _PAUSE if self._is_drawn else _FIRST_PAUSE

    def close(self) -> None:
        """Clear the line."""
        if self._is_drawn:
            write_stderr("\r\x1b[K")
            self._is_drawn = False
