"""Reading git repositories, without running anything but git, without prompts, and without reading objects from elsewhere.

`run_git` runs one command after `check_repository` has checked that git would read the folder's own repository. An unpacked archive may
contain a `.git` that leads to another repository of the user, whose files would then be shown as earlier ones. `list_entries` and
`read_blobs` read a revision, `find_repository` finds the repository of a folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from promptc.diag.findings import show_reason
from promptc.diag.frozen import frozen
from promptc.files.reading import read_file, read_mode, read_opened

# Commands that read objects and refs. None of them passes a file of the work tree through a filter, opens a pager, or calls a driver.
_PLUMBING = frozenset(("cat-file", "ls-files", "ls-tree", "rev-list", "rev-parse"))
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.alternateRefsCommand=",
    "core.sshCommand=false",
    "core.askPass=",
    "core.untrackedCache=false",
    "credential.helper=",
    "diff.external=",
    "gpg.program=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
)
# Missing objects are not fetched: neither by a lazy fetch, nor by a protocol that the repository allows.
_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
_KEPT = ("GIT_CONFIG", "GIT_EXEC_PATH")
_MOST_OUTPUT = 1 << 28
_PART = 1 << 20
_LONGEST_LINE = 200

_SECONDS = 20
"""Seconds that one call of git may take, with the checks before it."""

_BRISK = 1
_MOST_SECONDS = 40
"""Seconds that the calls for one repository may take together, without those that take less than _BRISK seconds."""

_MOST_FILES = 100_000
"""The most files of a revision. A few objects of git can name any number of files."""

_LONG_NAME = 64
"""Digits of an identity in a repository of the kind `sha256`."""

_FILES = ("HEAD", "commondir", "config", "config.worktree", "index", "info/grafts", "objects/info/alternates", "packed-refs", "shallow")
"""The files of `.git` that git reads before it looks for an object."""

_FOLDERS = ("logs", "objects", "refs", "reftable", "worktrees")
_NAMES = ("refs", "reftable")

_MOST = 100_000
"""The most files with names of commits that are checked."""

_LINE = 8192
_CONFIG = 1 << 20
_CONFIGS = ("config", "config.worktree")
_INCLUDE = re.compile(rb"\[include", re.IGNORECASE)
_MOST_INCLUDED = 100
"""The most files that the configuration of a repository may include."""

_HEAD = re.compile(rb"ref:\s*refs/|[0-9a-f]{40}")
_SHOWN = 200
_BACK = (
    "it may be another repository, so git is not asked; where it is this one's, `git worktree repair` mends a worktree that was moved, and "
    "`git config core.worktree FOLDER`, run there, names this folder"
)
_SLOW = "`git gc` makes a large repository faster; if its settings make it slow, work in a clone"
_FEWER = "name a revision with fewer files, or unpack the pack of it by hand: `git archive`"
_ABSENT = "remove it, or make one with `git init`"
PARTIAL = "this clone is partial, and promptc fetches nothing; fetch the rest: `git fetch --refetch --no-filter`"
"""What to do if git lacks files of a revision."""

_KNOWN = {
    "dubious ownership": "somebody else owns it; if you trust it, name it: `git config --global --add safe.directory FOLDER`",
    "promisor": PARTIAL,
}
"""What to do about an error of git, by what its line says."""

_OWN = "replace it with a copy: git would read the file there, whoever owns it"
_INCLUDED = "remove the `include`, or write it in your own configuration, in your home folder"

_stuck: set[str | None] = set()
"""The repositories in which git took too long, in one call or in several. In this process git is not asked about them again."""

_slow: Counter[str | None] = Counter()
"""The seconds of slow calls, by repository."""


@frozen
class TreeEntry:
    """A file of a revision: its mode, the name of its blob, and its size in bytes (-1 if git does not have the blob)."""

    mode: str
    identity: str
    size: int


class GitError(Exception):
    """Git did not answer; the message is one line.

    `is_missing` says that git is not installed. `help` says what to do if git was not run because of what the repository contains.
    """

    def __init__(self, why: str, *, is_missing: bool = False, help: str = "") -> None:
        super().__init__(why)
        self.is_missing = is_missing
        self.help = help


def find_repository(folder: str) -> str | None:
    """Return the nearest folder with a `.git`, at or above `folder` (absolute), or None. The repository's own settings are ignored."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def run_git(folder: str, *arguments: str, given: bytes = b"") -> bytes:
    """Return the output of `git ARGUMENTS` in `folder`, with `given` on its standard input; 256 MB at most. Raises `GitError`.

    Whatever the configuration and attributes of the repository say, git starts no program, prompts nobody and connects to nothing. Git
    itself is searched only in the absolute folders of `PATH`.
    """
    assert arguments[0] in _PLUMBING
    root = find_repository(os.path.realpath(folder))
    if root in _stuck:
        raise GitError("git took too long here before", help=_SLOW)
    settings = [part for one in _SETTINGS for part in ("-c", one)]
    begun = time.monotonic()
    until = begun + _SECONDS
    try:
        if root is not None:
            check_repository(root, until)
        return _run([choose_git(os.environ.get("PATH", "")), "--no-pager", *settings, *arguments], folder, given, until)
    except TimeoutError as wrong:
        _stuck.add(root)
        raise GitError(str(wrong), help=_SLOW) from wrong
    except (OSError, ValueError) as wrong:
        reason = show_reason(wrong)
        raise GitError(f"git cannot be run: {reason}", is_missing=isinstance(wrong, FileNotFoundError)) from wrong
    finally:
        taken = time.monotonic() - begun
        _slow[root] += int(taken) if taken > _BRISK else 0
        if _slow[root] > _MOST_SECONDS:
            _stuck.add(root)


def _run(command: Sequence[str], folder: str, given: bytes, until: float) -> bytes:
    """Return the output of a command. Raises `TimeoutError` if it does not end until this time of the monotonic clock."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as told:
        asked.write(given)
        asked.seek(0)
        with subprocess.Popen(
            command,
            cwd=folder,
            env={**variables, **_VARIABLES, **_make_variables(folder)},
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=told,
        ) as process:
            assert process.stdout is not None
            late = threading.Event()

            def stop() -> None:
                late.set()
                process.kill()

            timer = threading.Timer(max(until - time.monotonic(), 0), stop)
            timer.start()
            try:
                printed = read_opened(process.stdout.fileno(), _MOST_OUTPUT + 1)
                if len(printed) > _MOST_OUTPUT:
                    process.kill()
                    raise GitError(f"git prints more than {_MOST_OUTPUT} bytes")
                process.wait()
            finally:
                timer.cancel()
        if late.is_set():
            raise TimeoutError(f"git takes more than {_SECONDS} seconds")
        if process.returncode:
            told.seek(0)
            raise _explain(told.read(_PART).decode("utf-8", "replace").strip().split("\n"))
    return printed


def _explain(lines: Sequence[str]) -> GitError:
    """Return the error for what git printed: the line that says why git ended, and what to do if that is known."""
    why = next((one for one in lines if one.startswith("fatal:")), lines[0])
    return GitError(why[:_LONGEST_LINE], help=next((help for mark, help in _KNOWN.items() if mark in why), ""))


def _make_variables(folder: str) -> dict[str, str]:
    """Return the variable that makes the folder of `.git` the work tree, whatever the repository's configuration says."""
    root = find_repository(os.path.realpath(folder))
    return {"GIT_WORK_TREE": root} if root is not None else {}


def read_tree(folder: str, revision: str) -> str:
    """Return the name of the tree of a revision. Raises `GitError`."""
    name = run_git(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{tree}}").decode().strip()
    if not name.isalnum():  # `^HEAD` stands for all but the revision, and is read without complaint
        raise GitError("it is not a single revision")
    return name


def list_entries(folder: str, revision: str, *paths: str) -> dict[str, TreeEntry]:
    """Return the files of a commit or tree, including links, by their paths. Raises `GitError`.

    Without `paths` these are all files, with paths from the repository's root. With `paths`, which are taken literally, they are the files
    at and below these, from `folder`. In a partial clone that lacks one of them, no file has a size.
    """
    asked = ("-r", "-z", *([] if paths else ["--full-tree"]), revision, *(["--", *paths] if paths else []))
    try:
        listed = run_git(folder, "ls-tree", "-l", *asked)
    except GitError as wrong:
        if wrong.help != PARTIAL:
            raise
        listed = run_git(folder, "ls-tree", *asked)  # of a partial clone: without sizes, git needs no files
    if listed.count(b"\0") > _MOST_FILES:
        raise GitError(f"the revision has more than {_MOST_FILES} files", help=_FEWER)
    found: dict[str, TreeEntry] = {}
    for one in listed.split(b"\0"):
        about, tab, path = one.partition(b"\t")
        mode, kind, identity, size = [*about.split(), b"", b""][:4] if tab else (b"",) * 4
        if kind == b"blob":
            found[os.fsdecode(path)] = TreeEntry(mode.decode(), identity.decode(), int(size) if size.isdigit() else -1)
    return found


def read_blobs(folder: str, identities: Iterable[str]) -> Iterator[bytes | None]:
    """Yield the contents of these blobs, in order, as they were committed; None for a blob that git does not have. Raises `GitError`."""
    printed = run_git(folder, "cat-file", "--batch", given="".join(f"{one}\n" for one in identities).encode())
    at = 0
    while at < len(printed):
        line, _, _ = printed[at : at + _LONGEST_LINE].partition(b"\n")
        at += len(line) + 1
        words = line.split()
        if len(words) == 3 and words[2].isdigit():
            size = int(words[2])
            yield printed[at : at + size] if words[1] == b"blob" else None
            at += size + 1
        else:
            yield None


def is_blob(content: bytes, identity: str) -> bool:
    """Return whether git's name for exactly these bytes is `identity`."""
    make = hashlib.sha256 if len(identity) == _LONG_NAME else hashlib.sha1
    return make(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest() == identity


def check_repository(root: str, until: float) -> None:
    """Raise `GitError` if git, run in `root` (absolute, without links, with a `.git`), would read another repository or would block.

    Raises `TimeoutError` if this is not clear until that time of the monotonic clock.

    `.git` must be a folder, or a file that leads to the folder of a worktree or a submodule, which leads back to it. No link may lead out
    of either, since git opens what links lead to.
    """
    for name, place in _list_folders(root).items():
        _check_files(name, place)
        _check_includes(name, place, until)
        _check_names(name, place)


def _list_folders(root: str) -> dict[str, str]:
    """Return the folders that git reads, by their names in messages: that of HEAD and the index, and that of objects and refs."""
    path = os.path.join(root, ".git")
    mode = read_mode(path)
    own = path if stat.S_ISDIR(mode) else _follow(path, mode)
    _check_head(own)
    common = _read_line(os.path.join(own, "commondir"))
    if own != path and common is not None and _is_worktree(own, common, path):
        found = {".git": own, "the folder of its repository": os.path.realpath(os.path.join(own, common))}
    elif common is None and (
        own == path or any(_is_same(os.path.join(own, tree), root) for name in _CONFIGS for tree in _iter_trees(own, name))
    ):
        found = {".git": own}
    else:
        raise GitError(f"`.git` leads to `{(common or own)[:_SHOWN]}`, which does not lead back to this folder", help=_BACK)
    shared = list(found.values())[-1]
    if not all(os.path.isdir(one) and os.access(one, os.X_OK) for one in (f"{shared}/objects", f"{shared}/refs")):
        raise GitError("`.git` is not a repository: its objects or its branches are not there", help=_ABSENT)
    return found


def _follow(path: str, mode: int) -> str:
    """Return the folder that a `.git` file names."""
    if not stat.S_ISREG(mode):
        raise GitError("`.git` is neither a folder nor a regular file", help=_OWN)
    line = _read_line(path)
    if line is None or not line.startswith("gitdir: "):
        raise GitError("`.git` is a file that names no folder", help=_ABSENT)
    return os.path.realpath(os.path.join(os.path.dirname(path), line.removeprefix("gitdir: ")))


def _read_line(path: str) -> str | None:
    """Return the single line of a file, or None if there is no file. Raises `GitError` for anything else."""
    if not read_mode(path):
        return None
    try:
        line = os.fsdecode(read_file(path, _LINE)).rstrip("\r\n")
    except OSError as wrong:
        raise GitError(f"`{os.path.basename(path)}` cannot be read: {show_reason(wrong)}", help=_OWN) from wrong
    if "\0" in line:
        raise GitError(f"`{os.path.basename(path)}` holds a NUL character, which is in no path", help=_ABSENT)
    return line


def _check_head(own: str) -> None:
    """Check that git takes the folder for a repository. If not, git would go on to the folders above."""
    try:
        head = read_file(os.path.join(own, "HEAD"), _LINE)
    except OSError as wrong:
        raise GitError(f"`.git/HEAD` is not a regular file: {show_reason(wrong)}", help=_ABSENT) from wrong
    if not _HEAD.match(head):
        raise GitError("`.git` is not a repository: its `HEAD` names no branch and no commit", help=_ABSENT)


def _is_worktree(own: str, common: str, path: str) -> bool:
    """Return whether the repository knows this worktree, at this place."""
    back = _read_line(os.path.join(own, "gitdir"))
    is_known = _is_same(os.path.join(own, common, "worktrees"), os.path.dirname(own))
    return back is not None and _is_same(os.path.join(own, back), path) and is_known


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def _iter_trees(own: str, name: str) -> Iterator[str]:
    """Yield the values of `core.worktree`, as git writes them."""
    try:
        lines = read_file(os.path.join(own, name), _CONFIG).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return
    section = ""
    for line in map(str.strip, lines):
        key, _, value = line.partition("=")
        if line.startswith("["):
            section = line.lower()
        elif section == "[core]" and key.strip().lower() == "worktree":
            value = value.strip()
            whole = value[1:-1] if value[:1] == value[-1:] == '"' else value
            yield re.sub(r"\\(.)", r"\1", whole)


def _check_files(name: str, place: str) -> None:
    """Check that git would open only regular files and folders: a pipe would block, a device has no end, a link leads anywhere."""
    for file in _FILES:
        mode = read_mode(place, file)
        if mode and not stat.S_ISREG(mode):
            raise GitError(f"`{file}` of {_spell(name)} is not a regular file", help=_OWN)
    for folder in _FOLDERS:
        mode = read_mode(place, folder)
        if mode and not stat.S_ISDIR(mode):
            raise GitError(f"`{folder}` of {_spell(name)} is not a folder", help=_OWN)


def _check_includes(name: str, place: str, until: float) -> None:
    """Check that the files that the configuration includes, and those that these include, are regular files or are not there."""
    pending = [path for one in _CONFIGS if os.path.lexists(path := os.path.join(place, one))]
    seen = set(pending)
    while pending:
        path = pending.pop()
        try:
            written = read_file(os.path.realpath(path), _CONFIG)
        except (FileNotFoundError, NotADirectoryError):
            continue  # git goes on without it
        except (OSError, ValueError) as wrong:
            reason = show_reason(wrong)
            why = f"the configuration of {_spell(name)} includes `{path[:_SHOWN]}`, which cannot be read: {reason}"
            raise GitError(why, help=_INCLUDED) from wrong
        found = _list_included(path, until) if _INCLUDE.search(written) else []
        pending += sorted(set(found) - seen)
        seen.update(found)
        if len(seen) > _MOST_INCLUDED:
            raise GitError(f"the configuration of {_spell(name)} includes more than {_MOST_INCLUDED} files", help=_INCLUDED)


def _list_included(path: str, until: float) -> list[str]:
    """Return the files that a file of settings includes on any condition, as git reads it."""
    asked = ("--git-dir=/dev/null", "config", "--file", os.path.realpath(path), "--no-includes", "--null", "--list")
    printed = _run([choose_git(os.environ.get("PATH", "")), "--no-pager", *asked], "/", b"", until)
    found: list[str] = []
    for setting in printed.split(b"\0"):
        key, _, value = os.fsdecode(setting).partition("\n")
        if not value or not key.startswith(("include.", "includeif.")) or not key.endswith(".path"):
            continue
        if value.startswith(("%(", ":(")):
            raise GitError(f"the configuration of the repository includes `{value[:_SHOWN]}`, which promptc cannot follow", help=_INCLUDED)
        found.append(os.path.join(os.path.dirname(path), os.path.expanduser(value)))
    return found


def _spell(name: str) -> str:
    return f"`{name}`" if name == ".git" else name


def _check_names(name: str, place: str) -> None:
    """Check that no ref is a link, which git would follow."""
    pending, seen = [os.path.join(place, one) for one in _NAMES], 0
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif not entry.is_file(follow_symlinks=False):
                        raise GitError(f"`{os.path.relpath(entry.path, place)}` of {_spell(name)} is not a regular file", help=_OWN)
        except OSError:
            continue
        if seen > _MOST:
            why = f"{_spell(name)} has more than {_MOST} branches and tags as files"
            raise GitError(why, help="`git pack-refs --all` makes them one file")


@cache
def choose_git(path: str) -> str:
    """Return the program `git` in the absolute folders of `path` (as in `PATH`). Raises `FileNotFoundError`.

    A relative folder is never searched: a stranger may have filled the working folder.
    """
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in path.split(os.pathsep):
        found = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(found) and os.access(found, os.X_OK):
            return found
    raise FileNotFoundError(2, "there is no git in an absolute folder of PATH")
