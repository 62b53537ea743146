"""How long SQLite may work for a stranger: a view is a program, and so is the SQL of a case."""

import time

TURN = 100
"""Steps of SQLite's machine between two looks. One step may make four million bytes, so there are few."""
SECONDS = 5
"""Seconds of the processor."""


class SqlWatch:
    """For `set_progress_handler`: stops SQLite after so many turns, and once it has used so many seconds of the processor (None: however
    many). What else the process does between `resume` and the next look counts too.
    """

    def __init__(self, most_turns: int, seconds: float | None) -> None:
        self._turns = most_turns
        self._left = seconds
        self.resume()

    def resume(self) -> None:
        """SQLite goes on from here."""
        self._last = time.process_time()

    def __call__(self) -> bool:
        """Whether it is over."""
        self._turns -= 1
        if self._left is not None:
            now = time.process_time()
            self._left -= now - self._last
            self._last = now
        return self._turns < 0 or (self._left is not None and self._left < 0)
