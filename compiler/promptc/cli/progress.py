"""How far a long task is, on standard error."""

from __future__ import annotations

import sys
from time import monotonic

from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stderr
from promptc.cli.views.bar import render_bar

_WIDTH = 24
_FIRST = 0.5
_ON_TERMINAL = 0.1
_ELSEWHERE = 5.0


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

    def note(self, done: int, total: int) -> None:
        """`done` of `total` are done."""
        now = monotonic()
        gap = _ON_TERMINAL if self._is_terminal and self._is_drawn else _FIRST if self._is_terminal else _ELSEWHERE
        if not self._is_shown or now - self._drawn < gap:
            return
        self._drawn = now
        left = int((now - self._started) * (total - done) / max(done, 1))
        told = f"{self._label}  {done:,} of {total:,}, about {left // 60}:{left % 60:02} left"
        if self._is_terminal:
            bar = render_bar(done, 0, total, _WIDTH)
            write_stderr(f"\r\x1b[K{bar}{' ' * (_WIDTH - len(bar))}  {told}")
            self._is_drawn = True
        else:
            write_stderr(f"{told}\n")

    def close(self) -> None:
        """Clears the line."""
        if self._is_drawn:
            write_stderr("\r\x1b[K")
            self._is_drawn = False
