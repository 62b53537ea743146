"""The files of a case as they were when its goldens were accepted."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.golden.case import INPUTS, Case
from promptc.golden.describe_inputs import identify
from promptc.golden.read_plain import read_regular

_BLOB = "blob"
_GOLDEN = "golden."
_IDENTITY = re.compile("[0-9a-f]{40}")
_UNFIT = re.compile(r"[\x00\\:]")


@frozen(eq=False)
class Before:
    """One account of what the inputs were: `files` are those that differ from now, with their content then (None: there was none), `lost`
    the paths of those that differ and whose content nobody has, `counter` and `version` what counted and rendered, where that is noted
    and is another now.
    """

    files: Mapping[str, str | None] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    counter: str = ""
    version: str = ""


def read_before(case: Case, now: Mapping[str, Any], around: Mapping[str, str]) -> Iterator[Before]:
    """What is known of the inputs when the goldens were accepted, the best account first: as it was noted beside them; as the last commit
    has them; as the commit has them that last touched a golden. Contents are asked of git. Never raises; nothing where nothing is known.

    `around` are files that may be inputs, too, with their identities: those of a pack that cannot be loaded, which names nobody knows what.

    A note is not trusted: of its paths only those inside the root count, and of its identities only git's.
    """
    noted = _read_noted(case)
    if noted is not None:
        counter, version = noted.get("counter"), noted.get("promptc")
        yield _compare(
            case,
            noted["files"],
            now,
            _show_other(counter, now.get("counter")),
            version if isinstance(version, str) and version != now["promptc"] else "",
        )
    for revision in _list_revisions(case):
        committed = _list_committed(case, revision, {**around, **now["files"]})
        if committed is not None:
            yield _compare(case, committed, {**now, "files": {**around, **now["files"]}})


def _show_other(noted: Any, now: Any) -> str:
    """What counted then, if something else does now; empty where either is not known."""
    if not isinstance(noted, dict) or not now or noted == now:
        return ""
    return f"{noted.get('name')} {str(noted.get('digest', '')).removeprefix('sha256:')[:8]}"


def find_golden_edited(case: Case) -> str:
    """A golden of the case that is not what the last commit has, empty where there is none or git does not know."""
    names = [os.path.relpath(os.path.join(case.folder, name), case.root) for _, _, name in case.list_goldens()]
    listed = _run_git(case.root, "diff", "--name-only", "-z", "--relative", "HEAD", "--", *names)
    return (listed or b"").decode("utf-8", "replace").split("\0")[0]


def _compare(case: Case, files: Mapping[str, str], now: Mapping[str, Any], counter: str = "", version: str = "") -> Before:
    """What was read then is looked up where it was, whether it is still read or not."""
    here = {path: _identify(case, path) for path in files} | now["files"]
    changed = sorted(path for path in {*files, *here} if files.get(path) != here.get(path))
    contents = {path: _read_blob(case.root, files[path]) if path in files else None for path in changed}
    lost = tuple(path for path, content in contents.items() if content is None and path in files)
    return Before({path: content for path, content in contents.items() if path not in lost}, lost, counter, version)


def _identify(case: Case, path: str) -> str | None:
    try:
        return identify(read_regular(os.path.join(case.root, path)))
    except OSError:
        return None


def _read_noted(case: Case) -> dict[str, Any] | None:
    """The note, if it is one, with what can be trusted of its files."""
    try:
        noted = json.loads(read_regular(os.path.join(case.folder, INPUTS), follow=False))
    except (OSError, ValueError, RecursionError):
        return None
    files = noted.get("files") if isinstance(noted, dict) else None
    if not isinstance(files, dict):
        return None
    kept = {path: name for path, name in files.items() if isinstance(name, str) and _IDENTITY.fullmatch(name) and is_inside(path)}
    return {**noted, "files": kept}


def is_inside(path: str) -> bool:
    """Whether a path from a root stays in it, by its text."""
    pure = PurePosixPath(path)
    return bool(path) and not pure.is_absolute() and not _UNFIT.search(path) and ".." not in pure.parts


def _list_revisions(case: Case) -> list[str]:
    """The last commit, from which uncommitted edits are told, and the one that last touched a golden of the case."""
    goldens = [os.path.relpath(os.path.join(case.folder, name), case.root) for _, _, name in case.list_goldens()]
    last = (_run_git(case.root, "log", "-1", "--format=%H", "--", *goldens) or b"").decode().strip()
    head = (_run_git(case.root, "rev-parse", "HEAD") or b"").decode().strip()
    return list(dict.fromkeys(one for one in (head, last) if _IDENTITY.fullmatch(one)))


def _list_committed(case: Case, revision: str, files: Mapping[str, str]) -> dict[str, str] | None:
    """What a commit has of these files, and of those beside and below them that are gone; what it does not know is as it is now. None
    where it does not know the case.
    """
    folders = sorted({os.path.dirname(path) or "." for path in files})
    listed = _run_git(case.root, "ls-tree", "-r", "-z", revision, "--", *(f"{folder}/" for folder in folders))
    if listed is None:
        return None
    committed: dict[str, str] = {}
    for entry in listed.decode("utf-8", "surrogateescape").split("\0"):
        kind, _, path = entry.partition("\t")
        if kind.split()[1:2] == [_BLOB]:
            committed[path] = kind.split()[2]
    if case.file not in committed:
        return None
    gone = {path: name for path, name in committed.items() if _is_gone(case, path)}
    return {**gone, **{path: committed.get(path, identity) for path, identity in files.items()}}


def _is_gone(case: Case, path: str) -> bool:
    return not os.path.basename(path).startswith(_GOLDEN) and not os.path.lexists(os.path.join(case.root, path))


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
