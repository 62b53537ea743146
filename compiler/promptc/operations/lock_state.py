"""The lock of a state's file."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError
from promptc.files.lock import hold_lock


@contextmanager
def lock_state(name: str, *, wait: float, purpose: str) -> Iterator[Path]:
    """Holds the lock of the state's file `name` and gives the path of the file itself: a link is followed, so that all its names share one.

    The lock is a file beside it, `state.json.lock`. `DiskError`: PC0724 where there is no such file, PC0823 where it is none that can be
    replaced, and those of `hold_lock`.
    """
    path = Path(os.path.realpath(name))
    _check(name, path)
    with hold_lock(path.with_name(f"{path.name}.lock"), wait=wait, purpose=purpose, shown=name):
        yield path


def _check(name: str, path: Path) -> None:
    """Before a lock file is left beside it."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        help = "name a JSON file, or `-` for standard input"
        raise DiskError([Diagnostic("PC0724", f"cannot read the state `{name}`: {reason}", help=help)]) from wrong
    if stat.S_ISDIR(mode):
        raise DiskError([Diagnostic("PC0724", f"cannot read the state `{name}`: it is a folder", help="name the JSON file in it")])
    if not stat.S_ISREG(mode):
        help = "`-` reads it from standard input and prints the new one; `-o FILE` writes that to a file"
        raise DiskError([Diagnostic("PC0823", f"`{name}` is no regular file and cannot be replaced", help=help)])
    if not os.access(path, os.W_OK):
        help = "make it writable, or write the new state elsewhere: `-o FILE`"
        raise DiskError([Diagnostic("PC0823", f"`{name}` is read-only", help=help)])
