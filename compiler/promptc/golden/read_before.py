"""The files of a case as they were when its goldens were accepted."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from promptc.compare import read_json
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.files.reading import read_file
from promptc.golden.cases.case import INPUTS, Case
from promptc.golden.cases.confine import find_fault
from promptc.golden.describe_inputs import identify
from promptc.golden.history.git import GitError
from promptc.golden.read_plain import MAX_PLAIN_BYTES
from promptc.golden.run_git import TreeEntry, is_blob, list_entries, read_blobs, run_git

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
    committed = _list_entries(case, "HEAD", *_list_goldens(case))
    return next((path for path, entry in sorted(committed.items()) if not _is_still(case, path, entry)), "")


def _is_still(case: Case, path: str, entry: TreeEntry) -> bool:
    try:
        return is_blob(read_file(os.path.join(case.root, path), MAX_PLAIN_BYTES), entry.identity)
    except (OSError, ValueError):
        return False


def _compare(case: Case, files: Mapping[str, str], now: Mapping[str, Any], counter: str = "", version: str = "") -> Before:
    """What was read then is looked up where it was, whether it is still read or not."""
    here = {path: _identify(case, path) for path in files} | now["files"]
    changed = sorted(path for path in {*files, *here} if files.get(path) != here.get(path))
    contents = {path: _read_blob(case.root, files[path]) if path in files else None for path in changed}
    lost = tuple(path for path, content in contents.items() if content is None and path in files)
    return Before({path: content for path, content in contents.items() if path not in lost}, lost, counter, version)


def _identify(case: Case, path: str) -> str | None:
    try:
        return identify(read_file(os.path.join(case.root, path), MAX_PLAIN_BYTES))
    except OSError:
        return None


def _read_noted(case: Case) -> dict[str, Any] | None:
    """The note, if it is one, with what can be trusted of its files."""
    try:
        noted = read_json(read_file(os.path.join(case.folder, INPUTS), MAX_PLAIN_BYTES))
    except OSError:
        return None
    files = noted.get("files") if isinstance(noted, dict) else None
    if not isinstance(files, dict):
        return None
    kept = {path: name for path, name in files.items() if isinstance(name, str) and _IDENTITY.fullmatch(name) and _is_readable(case, path)}
    return {**noted, "files": kept}


def _is_readable(case: Case, path: str) -> bool:
    """Whether a path from the root, of a note or of git, leads to a file of the repository, here and now."""
    return is_inside(path) and not find_fault(path, case.root, case.fence)


def is_inside(path: str) -> bool:
    """Whether a path from a root stays in it, by its text."""
    pure = PurePosixPath(path)
    return bool(path) and not pure.is_absolute() and not _UNFIT.search(path) and ".." not in pure.parts


def _list_goldens(case: Case) -> list[str]:
    return [os.path.relpath(os.path.join(case.folder, name), case.root) for _, _, name in case.list_goldens()]


def _list_revisions(case: Case) -> list[str]:
    """The last commit, from which uncommitted edits are told, and the one that last touched a golden of the case."""
    asked = (("rev-parse", "--verify", "HEAD"), ("rev-list", "-1", "HEAD", "--", *_list_goldens(case)))
    found = (_ask_git(case, *arguments) for arguments in asked)
    return list(dict.fromkeys(one for one in found if _IDENTITY.fullmatch(one)))


def _ask_git(case: Case, *arguments: str) -> str:
    try:
        return run_git(case.root, *arguments).decode("utf-8", "replace").strip()
    except GitError:
        return ""


def _list_entries(case: Case, revision: str, *paths: str) -> dict[str, TreeEntry]:
    try:
        return list_entries(case.root, revision, *paths)
    except GitError:
        return {}


def _list_committed(case: Case, revision: str, files: Mapping[str, str]) -> dict[str, str] | None:
    """What a commit has of these files, and of those beside and below them that are gone; what it does not know is as it is now. None
    where it does not know the case.
    """
    folders = sorted({os.path.dirname(path) or "." for path in files})
    entries = _list_entries(case, revision, *(f"{folder}/" for folder in folders))
    committed = {path: one.identity for path, one in entries.items() if _is_readable(case, path)}
    if case.file not in committed:
        return None
    gone = {path: name for path, name in committed.items() if _is_gone(case, path)}
    return {**gone, **{path: committed.get(path, identity) for path, identity in files.items()}}


def _is_gone(case: Case, path: str) -> bool:
    return not os.path.basename(path).startswith(_GOLDEN) and not os.path.lexists(os.path.join(case.root, path))


def _read_blob(root: str, identity: str) -> str | None:
    try:
        content = next(read_blobs(root, [identity]), None)
    except GitError:
        return None
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n") if content is not None else None
