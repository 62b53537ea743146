"""Files, written whole or not at all."""

import os
from pathlib import Path

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.findings import DiskError
from promptc.files.atomic import replace_file


def write_file(name: str, data: bytes) -> None:
    """Writes `data` to the file `name`, replacing it in one step: a reader sees the old file or the new one.

    A link is followed. What is no regular file, such as a pipe or `/dev/null`, is written to. `DiskError` (PC0725) when it cannot be.
    """
    given = Path(name)
    try:
        if given.exists() and not given.is_file() and not given.is_dir():
            given.write_bytes(data)
            return
        path = Path(os.path.realpath(given))
        replace_file(path, data, like=path if path.exists() else None)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        raise DiskError([Diagnostic("PC0725", f"cannot write `{name}`: {reason}", help="name a file in a folder that is there")]) from wrong
