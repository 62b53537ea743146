"""Files that differ from a git revision."""

import os
from bisect import bisect_left
from collections.abc import Mapping

from promptc.diag.findings import Diagnostic, DiskError, UsageError
from promptc.files.reading import read_file
from promptc.golden.history.git import GitError, find_repository
from promptc.golden.read_plain import MAX_PLAIN_BYTES
from promptc.golden.run_git import TreeEntry, is_blob, list_entries, run_git


class Touched:
    """The files of a repository that are not what they were in a revision: changed, added, removed. Looked at when they are asked for.

    What a file holds is compared as it lies there, line ends aside: where git keeps another text for it (a filter, such as that of large
    files), it counts as changed.
    """

    def __init__(self, root: str, committed: Mapping[str, TreeEntry], added: frozenset[str]) -> None:
        """`root` is the repository's folder (absolute, real); `committed` are paths from there, `added` the files git does not know yet."""
        self._root = root
        self._committed = committed
        self._paths = sorted(committed)
        self._added = sorted(added)
        self._known: dict[str, bool] = {}

    def has(self, path: str) -> bool:
        """Whether the file (absolute, real) is another, or is under `path`, where that is a folder."""
        inside = os.path.relpath(path, self._root)
        if inside == ".":
            inside = ""
        return any(map(self._differs, _find_under(self._paths, inside))) or bool(_find_under(self._added, inside))

    def _differs(self, path: str) -> bool:
        if path not in self._known:
            self._known[path] = not self._is_still(path)
        return self._known[path]

    def _is_still(self, path: str) -> bool:
        found = os.path.join(self._root, path)
        entry = self._committed[path]
        try:
            content = os.fsencode(os.readlink(found)) if os.path.islink(found) else read_file(found, MAX_PLAIN_BYTES)
        except (OSError, ValueError):
            return False
        return is_blob(content, entry.identity) or is_blob(content.replace(b"\r\n", b"\n"), entry.identity)


def _find_under(paths: list[str], inside: str) -> list[str]:
    """Of sorted paths the one that is meant, and those under it."""
    if not inside:
        return paths
    under = f"{inside.replace(os.sep, '/')}/"
    is_there = paths[bisect_left(paths, under[:-1]) :][:1] == [under[:-1]]
    return [*([under[:-1]] if is_there else []), *paths[bisect_left(paths, under) : bisect_left(paths, f"{under[:-1]}0")]]


def find_touched(revision: str, folder: str) -> Touched:
    """What differs from `revision` in the repository around `folder`. `UsageError` (PC0910) for a revision git does not know,
    or a folder in no repository; `DiskError` (PC0910) where git cannot be run.
    """
    if revision.startswith("-"):
        raise _refuse(revision, "it begins with a dash")
    root = find_repository(os.path.realpath(folder))
    if root is None:
        raise _refuse(revision, "there is no git repository here")
    try:
        tree = run_git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{tree}}").decode().strip()
        added = run_git(root, "ls-files", "--others", "--exclude-standard", "-z")
        return Touched(root, list_entries(root, tree), frozenset(os.fsdecode(one) for one in added.split(b"\0") if one))
    except GitError as wrong:
        if wrong.is_missing:
            raise DiskError([Diagnostic("PC0910", str(wrong), help="`--changed` needs no git")]) from wrong
        raise _refuse(revision, str(wrong), wrong.help) from wrong


def _refuse(revision: str, why: str, help: str = "") -> UsageError:
    help = help or "name a commit, a branch or a tag of the repository"
    return UsageError([Diagnostic("PC0910", f"`--since {revision}`: {why}", help=help)])
