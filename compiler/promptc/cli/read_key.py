"""One key of a terminal, without waiting for the line to end."""

import contextlib
import os
import sys
from collections.abc import Iterator

_CTRL_C = "\x03"
_NAMED = {"\r": "enter", "\n": "enter", " ": "space", "\x1b[6~": "space", "\x1b[B": "space", "\x1b[5~": "back", "\x1b[A": "back"}
_LONGEST = 16


@contextlib.contextmanager
def raw_keys() -> Iterator[None]:
    """Keys come one by one and are not shown; afterwards the terminal is as it was."""
    if sys.platform == "win32":
        yield
        return
    import termios
    import tty

    stream = sys.stdin.fileno()
    before = termios.tcgetattr(stream)
    try:
        tty.setcbreak(stream)
        yield
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)


def read_key() -> str:
    """The key: its character, or `enter`, `space` (also page down and down) and `back` (page up and up); empty where there is no terminal
    any more. Raises `KeyboardInterrupt` for Ctrl-C.
    """
    read = _read_windows() if sys.platform == "win32" else os.read(sys.stdin.fileno(), _LONGEST).decode("utf-8", "replace")
    if read == _CTRL_C:
        raise KeyboardInterrupt
    return _NAMED.get(read, read[:1])


def _read_windows() -> str:
    from importlib import import_module

    read: str = import_module("msvcrt").getwch()
    return read
