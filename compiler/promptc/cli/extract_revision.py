"""Files of a git revision, for as long as they are looked at."""

import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError


@contextmanager
def extract_revision(revision: str) -> Iterator[Path]:
    """A folder with the files that the repository around the working folder has at `revision`, gone afterwards.

    Links that lead out of the repository are left out. `DiskError` (PC0742) where git, the repository or the revision is not there.
    """
    root = _run_git(revision, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")
    content = _run_git(revision, "archive", "--format=tar", f"{revision}^{{tree}}", cwd=root)
    with tempfile.TemporaryDirectory(prefix="promptc-") as folder:
        with tarfile.open(fileobj=BytesIO(content)) as archive:
            archive.extractall(folder, filter=_pass_inside)
        yield Path(folder)


def _pass_inside(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    try:
        return tarfile.data_filter(member, folder)
    except tarfile.FilterError:
        return None


def _run_git(revision: str, *arguments: str, cwd: str | None = None) -> bytes:
    try:
        return subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.CalledProcessError, ValueError) as wrong:
        help = "run it inside the repository; `git log` lists its revisions" if not isinstance(wrong, OSError) else "install git"
        raise DiskError([Diagnostic("PC0742", f"git knows no revision `{revision}` here", help=help)]) from wrong
