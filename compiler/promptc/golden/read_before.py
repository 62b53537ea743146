"""The files of a case as they were when its goldens were accepted."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.golden.case import INPUTS, Case

_BLOB = "blob"


@frozen(eq=False)
class Before:
    """What is known of the inputs that differ from those of now: `files` with their content then (None: there was none), the paths of
    those that differ and whose content is `lost`, and what counted and rendered (empty: the same, or not noted). `is_known` is False
    where neither a note nor git tells anything.
    """

    files: Mapping[str, str | None] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    counter: str = ""
    version: str = ""
    is_known: bool = True


def read_before(case: Case, now: Mapping[str, Any]) -> Before:
    """Compares `now` (see `describe_inputs`) with what was noted beside the goldens, and asks git for what the files were.

    Where nothing was noted, the files as they were committed with the goldens stand for it. Never raises: where git knows nothing, files
    are `lost`.
    """
    noted = _read_noted(case)
    files: Mapping[str, str] = noted["files"] if noted is not None else _list_committed(case, now["files"])
    changed = sorted(path for path in {*files, *now["files"]} if files.get(path) != now["files"].get(path))
    contents = {path: _read_blob(case.root, files[path]) if path in files else None for path in changed}
    lost = tuple(path for path, content in contents.items() if content is None and path in files)
    known = {path: content for path, content in contents.items() if path not in lost}
    if noted is None:
        return Before(known, lost, is_known=_run_git(case.root, "rev-parse", "HEAD") is not None)
    counter, version = noted.get("counter") or {}, str(noted.get("promptc", ""))
    is_other = counter != (now.get("counter") or {})
    name = f"{counter.get('name')} {str(counter.get('digest', '')).removeprefix('sha256:')[:8]}" if is_other else ""
    return Before(known, lost, name, version if version != now["promptc"] else "")


def _read_noted(case: Case) -> dict[str, Any] | None:
    try:
        noted = json.loads(Path(case.folder, INPUTS).read_bytes())
    except (OSError, ValueError):
        return None
    is_whole = isinstance(noted, dict) and isinstance(noted.get("files"), dict)
    return noted if is_whole else None


def _list_committed(case: Case, files: Mapping[str, str]) -> dict[str, str]:
    """What the commit that last touched a golden of the case has of these files; those that it does not know are as they are now."""
    goldens = [os.path.relpath(os.path.join(case.folder, name), case.root) for _, _, name in case.list_goldens()]
    revision = (_run_git(case.root, "log", "-1", "--format=%H", "--", *goldens) or b"").decode().strip() or "HEAD"
    folders = sorted({os.path.dirname(path) or "." for path in files})
    listed = _run_git(case.root, "ls-tree", "-z", revision, "--", *(f"{folder}/" for folder in folders))
    if listed is None:
        return dict(files)
    committed: dict[str, str] = {}
    for entry in listed.decode("utf-8", "surrogateescape").split("\0"):
        kind, _, path = entry.partition("\t")
        if kind.split()[1:2] == [_BLOB]:
            committed[path] = kind.split()[2]
    return {path: committed.get(path, identity) for path, identity in files.items()}


def _read_blob(root: str, identity: str) -> str | None:
    content = _run_git(root, "cat-file", _BLOB, identity)
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n") if content is not None else None


def _run_git(root: str, *arguments: str) -> bytes | None:
    """None where git, a repository or what was asked for is not there."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None
    return done.stdout
