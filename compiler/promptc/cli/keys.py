"""One key of a terminal, without waiting for the line to end."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator

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
_RESIZED = "resized"


@contextlib.contextmanager
def raw_keys() -> Iterator[Callable[[], str]]:
    """`read_key`, with keys that come one by one and are not shown, and `resized` when the terminal gets another size; afterwards the
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
    import signal

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
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, _: object) -> None:
    raise SystemExit(128 + number)
