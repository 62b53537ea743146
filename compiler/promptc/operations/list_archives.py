"""The archives of a state in a folder."""

import os
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError


def list_archives(folder: Path) -> tuple[Path, ...]:
    """The paths of the archive files in the folder, the newest first (by the system's time of writing, then by name); none where there is
    no folder. `DiskError` (PC0724) when it cannot be read.
    """
    try:
        with os.scandir(folder) as found:
            named = [one for one in found if one.name.endswith(".jsonl")]
            files = [(-one.stat(follow_symlinks=False).st_mtime_ns, Path(one.path)) for one in named]
    except FileNotFoundError:
        return ()
    except OSError as wrong:
        message = f"cannot read the archives in {folder}: {wrong.strerror or wrong}"
        raise DiskError([Diagnostic("PC0724", message, help="name the folder: `--archive DIR`")]) from wrong
    return tuple([path for _, path in sorted(files)])
