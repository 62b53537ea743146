"""The new state, in place of the one that was read."""

from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError
from promptc.files.atomic import replace_file
from promptc.files.reading import read_file
from promptc.frontend.json import MAX_STATE_BYTES


def write_state(path: Path, data: bytes, *, read: bytes, shown: str) -> None:
    """Replaces the state's file, whose lock is held, in one step: whoever reads it, whenever this process is killed, has the old state or
    the new one.

    `read` is what was read there. `DiskError`: PC0821 where the file is no longer that, PC0823 where it cannot be written; the state is
    then as it was. `shown` is what messages call it.
    """

    def check() -> None:
        if read_file(path, MAX_STATE_BYTES) != read:
            raise _conflict(shown)

    try:
        replace_file(path, data, like=path, check=check)
    except OSError as wrong:
        message = f"cannot write the state `{shown}`: {wrong.strerror or wrong}"
        help = "nothing is lost: make room, or a folder that can be written to, and repeat the operation"
        raise DiskError([Diagnostic("PC0823", message, help=help)]) from wrong


def _conflict(shown: str) -> DiskError:
    message = f"`{shown}` was changed by something that takes no lock while the operation ran; it was not written"
    return DiskError([Diagnostic("PC0821", message, help="repeat the operation")])
