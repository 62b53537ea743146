"""Files of a command line, as bytes."""

from pathlib import Path

from promptc.cli.streams import read_stdin
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError

_STDIN = "-"


def read_bytes(name: str, what: str, *, limit: int) -> bytes:
    """The bytes of the file `name`, or of standard input for `-`. `DiskError` (PC0724) when it cannot be read or has more than `limit`.
    `what` says what it is for, such as `the state`.
    """
    data = read_first(name, what, size=limit + 1)
    if len(data) > limit and name != _STDIN:
        raise DiskError([Diagnostic("PC0724", f"cannot read {what} {name}: it has more than {limit:,} bytes")])
    return data


def read_first(name: str, what: str, *, size: int) -> bytes:
    """The same, but at most the first `size` bytes of a file, and never too many."""
    if name == _STDIN:
        return read_stdin()
    try:
        with Path(name).open("rb") as file:
            return file.read(size)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        help = "name a file that is there, or `-` for standard input"
        raise DiskError([Diagnostic("PC0724", f"cannot read {what} {name}: {reason}", help=help)]) from wrong
