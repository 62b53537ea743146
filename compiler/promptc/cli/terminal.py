"""Standard input, output and error: bytes in, bytes out, UTF-8 whatever the locale says."""

import os
import sys

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.typed import TextIO

MAX_STDIN = 96_000_000
"""Bytes that are read of standard input: as many as of a state."""


def write_stdout(data: bytes) -> None:
    """What was asked for, all of it; a reader that has gone is no failure.

    `DiskError` (PC0725) when it cannot be written for another reason.
    """
    try:
        _write(sys.stdout, data)
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as wrong:
        _discard(sys.stdout)
        raise DiskError([Diagnostic("PC0725", f"cannot write to standard output: {wrong.strerror or wrong}")]) from wrong


def write_stderr(text: str) -> None:
    """What is said beside it. Where nobody listens, nothing is lost that was asked for."""
    try:
        _write(sys.stderr, text.encode("utf-8", "backslashreplace"))
    except OSError:
        _discard(sys.stderr)


def read_stdin() -> bytes:
    """All of standard input. `DiskError` (PC0724) when it cannot be read, or has more than MAX_STDIN bytes."""
    try:
        content = sys.stdin.buffer.read(MAX_STDIN + 1) if sys.stdin is not None else b""
        if len(content) > MAX_STDIN:
            raise OSError(0, f"it has more than {MAX_STDIN:,} bytes")
        return content
    except OSError as wrong:
        raise DiskError([Diagnostic("PC0724", f"cannot read standard input: {wrong.strerror or wrong}")]) from wrong


def discard_output() -> None:
    """What is still held back goes nowhere, or the interpreter would complain about it when it ends."""
    _discard(sys.stdout)


def _write(stream: TextIO | None, data: bytes) -> None:
    if stream is None:
        return
    stream.flush()
    stream.buffer.write(data)
    stream.buffer.flush()


def _discard(stream: TextIO | None) -> None:
    if stream is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
