"""Files of a git revision, for as long as they are looked at."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.golden.history.cause import is_inside
from promptc.golden.history.git import GitError, TreeEntry, list_entries, read_blobs, run_git

_LINK = "120000"


@contextmanager
def extract_revision(revision: str) -> Iterator[Path]:
    """A folder with the files that the repository around the working folder has at `revision`, as they were committed, gone afterwards.

    Left out are links that lead out of the repository, files that are longer than any that promptc reads, and those git does not have:
    nothing is fetched. `DiskError` (PC0742) where git, the repository or the revision is not there.
    """
    with tempfile.TemporaryDirectory(prefix="promptc-") as folder:
        try:
            here = os.getcwd()  # noqa: PTH109
            tree = run_git(here, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{tree}}").decode().strip()
            found = list_entries(here, tree)
            kept = {path: one for path, one in found.items() if is_inside(path) and 0 <= one.size <= MAX_STATE_BYTES}
            _write_files(Path(folder), kept, read_blobs(here, [one.identity for one in kept.values()]))
        except GitError as wrong:
            why = f"git is not asked for the revision `{revision}`: {wrong}" if wrong.help else f"git knows no revision `{revision}` here"
            help = "install git" if wrong.is_missing else wrong.help or "run it inside the repository; `git log` lists its revisions"
            raise DiskError([Diagnostic("PC0742", why, help=help)]) from wrong
        except (OSError, ValueError) as wrong:
            why = getattr(wrong, "strerror", None) or str(wrong)
            raise DiskError([Diagnostic("PC0742", f"the files of the revision `{revision}` cannot be written out: {why}")]) from wrong
        yield Path(folder)


def _write_files(root: Path, entries: dict[str, TreeEntry], contents: Iterator[bytes | None]) -> None:
    """Links last, so that nothing is written through one."""
    links: dict[Path, bytes] = {}
    for (path, entry), content in zip(entries.items(), contents, strict=True):
        target = root / path
        if content is None:
            continue
        if entry.mode == _LINK:
            links[target] = content
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    for target, content in links.items():
        to = os.fsdecode(content)
        is_in = not Path(to).is_absolute() and os.path.normpath(target.parent / to).startswith(f"{root}{os.sep}")
        if is_in and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(to)
