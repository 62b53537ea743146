"""Files of a command line, as bytes."""

from collections.abc import Callable

from promptc.cli.terminal import read_stdin
from promptc.diag.findings import Diagnostic, DiskError
from promptc.files.reading import read_beginning, read_given

_STDIN = "-"


def read_bytes(name: str, what: str, *, limit: int) -> bytes:
    """The bytes of the file `name`, or of standard input for `-`. `DiskError` (PC0724) when it cannot be read or has more than `limit`.
    `what` says what it is for, such as `the state`.
    """
    return _read(name, what, limit, read_given)


def read_first(name: str, what: str, *, size: int) -> bytes:
    """The same, but at most the first `size` bytes of a file, and never too many."""
    return _read(name, what, size, read_beginning)


def _read(name: str, what: str, bound: int, read: Callable[[str, int], bytes]) -> bytes:
    if name == _STDIN:
        return read_stdin()
    try:
        return read(name, bound)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        help = "name a file that is there, or `-` for standard input"
        raise DiskError([Diagnostic("PC0724", f"cannot read {what} {name}: {reason}", help=help)]) from wrong
