"""Ending in order when it is asked for."""

import contextlib
import signal
import threading
from collections.abc import Iterator


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
