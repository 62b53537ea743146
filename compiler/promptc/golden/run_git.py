"""Git, asked in the one way in which nothing that a repository says is run (docs/trust.md, "Processes")."""

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from promptc.diag.frozen import frozen
from promptc.files.reading import read_opened
from promptc.golden.history.git import GitError, check_repository, find_repository

# Commands that look at objects and names. None of them reads a file of the work tree through a filter, shows a page, or calls a driver.
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
# What is missing is not fetched: neither by a lazy fetch, nor by a protocol that the repository allows itself.
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
_MOST = 1 << 28
_PART = 1 << 20
_LINE = 200
_SECONDS = 20
"""Seconds that one call of git may take."""

_LONG_NAME = 64
"""Digits of an identity in a repository of the kind `sha256`."""


@frozen
class TreeEntry:
    """A file of a revision: its mode and the name of its blob, as git writes them; bytes, -1 where git does not have the blob."""

    mode: str
    identity: str
    size: int


def run_git(folder: str, *arguments: str, given: bytes = b"") -> bytes:
    """What `git ARGUMENTS` prints in `folder`, with `given` on its standard input; 256 MB at most. Raises `GitError`.

    Whatever the repository's configuration and attributes say, git starts no program, asks nobody and connects to nothing. Where git is
    looked for is `PATH` alone, and only folders that are absolute.
    """
    assert arguments[0] in _PLUMBING
    root = find_repository(os.path.realpath(folder))
    if root is not None:
        check_repository(root)
    settings = [part for one in _SETTINGS for part in ("-c", one)]
    try:
        return _run([find_git(os.environ.get("PATH", "")), "--no-pager", *settings, *arguments], folder, given)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        raise GitError(f"git cannot be run: {reason}", is_missing=isinstance(wrong, FileNotFoundError)) from wrong


def _run(command: Sequence[str], folder: str, given: bytes) -> bytes:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as told:
        asked.write(given)
        asked.seek(0)
        with subprocess.Popen(
            command, cwd=folder, env={**variables, **_VARIABLES, **_find_tree(folder)}, stdin=asked, stdout=subprocess.PIPE, stderr=told
        ) as process:
            assert process.stdout is not None
            late = threading.Event()

            def stop() -> None:
                late.set()
                process.kill()

            timer = threading.Timer(_SECONDS, stop)
            timer.start()
            try:
                printed = read_opened(process.stdout.fileno(), _MOST + 1)
                if len(printed) > _MOST:
                    process.kill()
                    raise GitError(f"git prints more than {_MOST} bytes")
                process.wait()
            finally:
                timer.cancel()
        if late.is_set():
            raise GitError(f"git takes more than {_SECONDS} seconds")
        if process.returncode:
            told.seek(0)
            raise GitError(told.read(_PART).decode("utf-8", "replace").strip().split("\n")[0][:_LINE])
    return printed


def _find_tree(folder: str) -> dict[str, str]:
    """The work tree is where `.git` is, and not where the repository's configuration says."""
    root = find_repository(os.path.realpath(folder))
    return {"GIT_WORK_TREE": root} if root is not None else {}


@cache
def find_git(path: str) -> str:
    """The program `git` in the folders that `path` (as in `PATH`) names absolutely: never one in the working folder, which a stranger may
    have filled. Raises `FileNotFoundError`.
    """
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in path.split(os.pathsep):
        found = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(found) and os.access(found, os.X_OK):
            return found
    raise FileNotFoundError(2, "there is no git in an absolute folder of PATH")


def list_entries(folder: str, revision: str, *paths: str) -> dict[str, TreeEntry]:
    """The files of a commit or tree, links too, by their paths: without `paths` all of them, from the repository's root; else those at and
    below these, from `folder`, as they are. Raises `GitError`.
    """
    listed = run_git(folder, "ls-tree", "-r", "-l", "-z", *([] if paths else ["--full-tree"]), revision, *(["--", *paths] if paths else []))
    found: dict[str, TreeEntry] = {}
    for one in listed.split(b"\0"):
        about, tab, path = one.partition(b"\t")
        mode, kind, identity, size = about.split() if tab else (b"",) * 4
        if kind == b"blob":
            found[os.fsdecode(path)] = TreeEntry(mode.decode(), identity.decode(), int(size) if size.isdigit() else -1)
    return found


def read_blobs(folder: str, identities: Iterable[str]) -> Iterator[bytes | None]:
    """The contents of these blobs, in order, as they were committed; None for one that git does not have. Raises `GitError`."""
    printed = run_git(folder, "cat-file", "--batch", given="".join(f"{one}\n" for one in identities).encode())
    at = 0
    while at < len(printed):
        line, _, _ = printed[at : at + _LINE].partition(b"\n")
        at += len(line) + 1
        words = line.split()
        if len(words) == 3 and words[2].isdigit():
            size = int(words[2])
            yield printed[at : at + size] if words[1] == b"blob" else None
            at += size + 1
        else:
            yield None


def is_blob(content: bytes, identity: str) -> bool:
    """Whether that is the name git has for the content, to the byte."""
    make = hashlib.sha256 if len(identity) == _LONG_NAME else hashlib.sha1
    return make(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest() == identity
