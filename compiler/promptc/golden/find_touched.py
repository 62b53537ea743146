"""Files that differ from a git revision."""

import os
import subprocess

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError, UsageError

_LINE = 200


def find_touched(revision: str, folder: str) -> frozenset[str]:
    """The files (absolute) of the repository around `folder` that are not what they were in `revision`: changed, added, removed, and those
    that git does not know yet. `UsageError` (PC0910) for a revision it does not know, or a folder in no repository; `DiskError` (PC0910)
    where git cannot be run.
    """
    if revision.startswith("-"):
        raise _refuse(revision, "it begins with a dash")
    root = _run(["rev-parse", "--show-toplevel"], folder, revision).rstrip("\n")
    changed = _run(["diff", "--name-only", "--no-renames", "-z", revision, "--"], root, revision)
    added = _run(["ls-files", "--others", "--exclude-standard", "-z"], root, revision)
    return frozenset(os.path.realpath(os.path.join(root, name)) for name in (changed + added).split("\0") if name)


def _run(arguments: list[str], folder: str, revision: str) -> str:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=False)
    except OSError as wrong:
        raise DiskError([Diagnostic("PC0910", f"git cannot be run: {wrong.strerror or wrong}", help="`--changed` needs no git")]) from wrong
    if done.returncode:
        raise _refuse(revision, done.stderr.decode("utf-8", "replace").strip().split("\n")[0][:_LINE])
    return os.fsdecode(done.stdout)


def _refuse(revision: str, why: str) -> UsageError:
    return UsageError([Diagnostic("PC0910", f"`--since {revision}`: {why}", help="name a commit, a branch or a tag of the repository")])
