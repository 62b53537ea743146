"""The cause of a moved golden: the fewest edits that, when put back in a copy, make the case hold again.

`CauseFinder` explains the failures of a run. `find_cause` explains one: it learns the earlier inputs from git and from the note next to the
goldens. `KnownCause` tests whether the same edits moved other cases.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from promptc.api import Pack
from promptc.cache import Cache
from promptc.diag.findings import PromptcError, Span
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any, Self
from promptc.files.paths import resolve_path
from promptc.files.reading import read_file
from promptc.frontend.yaml import MAX_BYTES
from promptc.golden.cases.case import INPUTS, MAX_PLAIN_BYTES, Case
from promptc.golden.cases.confine import choose_root, find_fault, is_inside
from promptc.golden.cases.discover import load_case
from promptc.golden.edits import FileChange, ValueUndo, list_changes, list_line_changes, put_back
from promptc.golden.git import GitError, TreeEntry, is_blob, list_entries, read_blobs, run_git
from promptc.golden.inputs import describe_inputs, identify, identify_file, list_packs, make_plain, read_inputs
from promptc.golden.running.environment import add_case
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.golden.running.run import Shell, run_case
from promptc.golden.verdicts.expect import check_expect
from promptc.golden.verdicts.verdict import Mover, Verdict, compare_goldens, render_goldens
from promptc.model.sources import CorpusIndex

_MOST = 60
"""The most runs of the case for one account of its earlier inputs."""

_MOST_RENDERS = 600
"""The most renders in these runs: a run of a session has one render a turn, a run of a `recall` one a query."""

_LEAST = 8
"""Runs that are always allowed, however many renders each takes."""

_MOST_CHARACTERS = 100_000_000
"""The most characters of earlier files in one account. Files beyond them count as lost, since a note may name one file many times."""

_MOST_SEARCHES = 20
"""The most failures whose cause is searched among all edits, the first ones.

Each search takes some runs. Every failure, though, is tested against the edits that moved an earlier one.
"""

_LINE_ENDS = "only the line ends differ: the golden has CRLF. Write `golden.* -text` into .gitattributes, and check the goldens out again"
_NOT_LOOKED_FOR = f"not looked for: no edit that moved the {_MOST_SEARCHES} before it explains it, and each search takes some runs"
_UNKNOWN = "no edit of its files: the golden, promptc, or what it runs on is another"
_SHOWN = 5
"""The most edits of one cause that are shown. A cause with more edits is not tested on other failures."""

_PENDING = "PC0923"
_STALE = "PC0192"
_NONE: Mapping[str, str] = {}
_GOLDEN = "golden."
_IDENTITY = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


@frozen
class Cause:
    """Why a case no longer holds.

    `changes` are the edits that caused it: the fewest whose undoing makes the case hold. `what` says it in a line if no edit can be put
    back. `before` maps the files of the changes to their earlier content (None: the file did not exist).
    """

    changes: tuple[FileChange, ...] = field(default_factory=tuple)
    what: str = ""
    before: Mapping[str, str | None] = field(default_factory=dict, repr=False)


@frozen(eq=False)
class Before:
    """One account of the earlier inputs.

    `files` are those that differ from now, with their earlier content (None: the file did not exist). `lost` are the paths of those that
    differ and whose content nobody has. `counter`, `models` and `version` are the earlier counter, table of models and promptc, if they are
    recorded and differ from now.
    """

    files: Mapping[str, str | None] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    counter: str = ""
    models: str = ""
    version: str = ""


class CauseFinder:
    """Explains the failures of a run. Use it in a `with` block.

    Pass verdicts in the order in which they are reported, so that the same failures are explained each time.
    """

    def __init__(self, shell: Shell, cache: Cache | None = None) -> None:
        self._shell = shell
        self._resources = SuiteResources(cache)
        self._left = _MOST_SEARCHES
        self._known: list[tuple[KnownCause, tuple[Mover, ...]]] = []

    def __enter__(self) -> Self:
        self._resources.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for known, _reasons in self._known:
            known.close()
        self._resources.__exit__()

    def explain(self, verdict: Verdict) -> Verdict:
        """Return the verdict with its cause, or with the reason why no cause was searched. Several edits of a cause caused it together."""
        if verdict.status != "failed" or all(one.code == _PENDING for one in verdict.findings):
            return verdict
        try:
            case = load_case(verdict.folder)
            with work_in(case.root):
                return self._explain(verdict, case)
        except PromptcError:
            return verdict

    def _explain(self, verdict: Verdict, case: Case) -> Verdict:
        if _has_other_line_ends(verdict):
            return replace(verdict, cause=(Mover(_LINE_ENDS),), moved_by=_LINE_ENDS)
        pack = self._find_pack(case)
        documents = _list_documents(case, pack) if verdict.refusal is not None and verdict.refusal.code == _STALE else {}
        for at, (known, reasons) in enumerate(self._known):
            if known.explains(case, pack, documents):
                self._known.insert(0, self._known.pop(at))  # neighbouring cases mostly have the same cause
                return replace(verdict, cause=reasons, moved_by=_name_mover(case, reasons))
        if not self._left:
            return replace(verdict, cause=(Mover(_NOT_LOOKED_FOR),))
        self._left -= 1
        cause = find_cause(case, pack, self._shell, documents)
        if verdict.refusal is not None and (cause is None or cause.what == _UNKNOWN):
            return replace(verdict, moved_by=_name_mover(case, (Mover(verdict.refusal.message, verdict.refusal.span),)))
        if cause is None:
            return verdict
        reasons = _describe(cause)
        if 0 < len(cause.changes) <= _SHOWN:
            self._known.insert(0, (KnownCause(cause, case.root, self._shell), reasons))
        return replace(verdict, cause=reasons, moved_by=_name_mover(case, reasons))

    def _find_pack(self, case: Case) -> Pack | None:
        try:
            return self._resources.load_pack(case.root, case.pack)
        except PromptcError:
            return None


def _has_other_line_ends(verdict: Verdict) -> bool:
    """Return whether the goldens differ only in line ends, as after a checkout that converts them.

    No edit and no input of the case shows this.
    """
    return bool(verdict.differences) and all(
        one.old is not None and b"\r\n" in one.old and one.old.replace(b"\r\n", b"\n") == one.new for one in verdict.differences
    )


def _name_mover(case: Case, reasons: tuple[Mover, ...]) -> str:
    """Return a key for what moved the case, distinct for cases of different roots."""
    return "\n".join((case.root, *map(str, reasons)))


def _describe(cause: Cause) -> tuple[Mover, ...]:
    edits = [Mover(one.what, Span(one.path, one.line, one.column)) for one in cause.changes]
    more = [Mover(f"and {len(edits) - _SHOWN} more edits")] if len(edits) > _SHOWN else []
    return (*edits[:_SHOWN], *more, *([Mover(cause.what)] if cause.what else []))


def find_cause(case: Case, pack: Pack | None, shell: Shell, documents: Mapping[str, str] = _NONE) -> Cause | None:
    """Find the cause by running the case in a copy with changes put back. Return None if nothing that is known explains it.

    `documents` are the files that a stale index should be built from, with their identities.
    """
    now = describe_inputs(case, pack)
    accounts = list(_read_before(case, now, dict(_iter_folder(case)) if pack is None else {}, documents))
    with _Trial(shell) as trial:
        try:
            trial.add(case, _list_files(case, pack, documents))
        except OSError:
            return _tell_else(case, accounts, now)
        for before in accounts:
            cause = _find_in(case, before, trial)
            if cause is not None:
                return cause
    return _tell_else(case, accounts, now)


def _list_documents(case: Case, pack: Pack | None) -> dict[str, str]:
    """Return the files that the pack's indexes should be built from, by their paths from the root, with their identities."""
    from promptc.frontend.corpus import iter_parts

    found: dict[str, str | None] = {}
    with contextlib.suppress(PromptcError):
        for index in pack.model.indexes if pack is not None else ():
            if isinstance(index, CorpusIndex):
                files = [Path(index.folder, one.file) for part in iter_parts(index) for one in part.files]
                paths = (os.path.normpath(os.path.join(case.root, one)) for one in files)
                found |= {os.path.relpath(path, case.root): identify_file(path) for path in paths}
    return {path: identity for path, identity in sorted(found.items()) if identity is not None}


def _read_before(case: Case, now: Mapping[str, Any], around: Mapping[str, str], documents: Mapping[str, str]) -> Iterator[Before]:
    """Yield accounts of the inputs when the goldens were accepted, the best first. Never raises; yields nothing if nothing is known.

    The first account is the note next to the goldens, the second the last commit, the third the commit that last touched a golden. Contents
    come from git. `around` are further possible inputs with their identities: the files of a pack that cannot be loaded, which may name any
    of them. `documents` are those of an index; a document that git does not know is new.

    The note is not trusted: only its paths inside the root count, and only identities in git's form.
    """
    noted = _read_noted(case)
    if noted is not None:
        counter, version = noted.get("counter"), noted.get("promptc")
        yield _compare(
            case,
            noted["files"],
            now,
            _show_other(counter, now.get("counter")),
            _show_other(noted.get("models"), now.get("models")),
            version if isinstance(version, str) and version != now["promptc"] else "",
        )
    for revision in _list_revisions(case):
        files = {**around, **documents, **now["files"]}
        committed = _list_committed(case, revision, files)
        if committed is not None:
            new = documents.keys() - committed.keys() - now["files"].keys()
            known = {path: identity for path, identity in files.items() if path not in new}
            yield _compare(case, {**known, **committed}, {**now, "files": files})


def _read_noted(case: Case) -> dict[str, Any] | None:
    """Return the note with the files that can be trusted, or None if there is no valid note."""
    noted = read_inputs(os.path.join(case.folder, INPUTS))
    if noted is None:
        return None
    kept = {
        path: name
        for path, name in noted["files"].items()
        if isinstance(name, str) and _IDENTITY.fullmatch(name) and _is_readable(case, path)
    }
    return {**noted, "files": kept}


def _is_readable(case: Case, path: str) -> bool:
    """Return whether a path from the root, taken from a note or from git, now leads to a file of the repository."""
    return is_inside(path) and not find_fault(path, case.root, case.fence)


def _compare(
    case: Case, files: Mapping[str, str], now: Mapping[str, Any], counter: str = "", models: str = "", version: str = ""
) -> Before:
    """Compare earlier files with those of now. A file of an earlier input is looked up even if it is no longer an input."""
    here = {path: identify_file(os.path.join(case.root, path)) for path in files} | now["files"]
    changed = sorted(path for path in {*files, *here} if files.get(path) != here.get(path) and not _is_held(case, path, files.get(path)))
    known = _read_earlier(case.root, dict.fromkeys(files[path] for path in changed if path in files))
    contents, left = dict[str, str | None](), _MOST_CHARACTERS
    for path in changed:
        text = known.get(files.get(path, ""))
        left -= len(text or "")
        contents[path] = text if left >= 0 else None
    lost = tuple(path for path, content in contents.items() if content is None and path in files)
    return Before({path: content for path, content in contents.items() if path not in lost}, lost, counter, models, version)


def _is_held(case: Case, path: str, identity: str | None) -> bool:
    """Return whether a file is still what git's name in a repository of the kind `sha256` says."""
    try:
        return identity is not None and is_blob(make_plain(read_file(os.path.join(case.root, path), MAX_PLAIN_BYTES)), identity)
    except (OSError, ValueError):
        return False


def _read_earlier(root: str, identities: Collection[str]) -> dict[str, str]:
    """Return the texts of these blobs, by their names. Git is asked once for all of them; those that it does not have are left out."""
    try:
        found = dict(zip(identities, read_blobs(root, identities), strict=False)) if identities else {}
    except GitError:
        return {}
    return {
        name: content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        for name, content in found.items()
        if content is not None
    }


def _show_other(noted: Any, now: Any) -> str:
    """Return what counted then, if something else counts now; empty if either is unknown."""
    if not isinstance(noted, dict) or not now or noted == now:
        return ""
    return _show_noted(noted)


def _show_noted(noted: Mapping[str, Any]) -> str:
    """Return a counter, or a table of models, as a cause names it."""
    return f"{noted.get('name')} {str(noted.get('digest', '')).removeprefix('sha256:')[:8]}"


def _list_revisions(case: Case) -> list[str]:
    """Return the last commit, which reveals uncommitted edits, and the commit that last touched a golden of the case."""
    asked = (("rev-parse", "--verify", "HEAD"), ("rev-list", "-1", "HEAD", "--", *_list_goldens(case)))
    found = (_ask_git(case, *arguments) for arguments in asked)
    return list(dict.fromkeys(one for one in found if _IDENTITY.fullmatch(one)))


def _list_goldens(case: Case) -> list[str]:
    return [os.path.relpath(os.path.join(case.folder, name), case.root) for _, _, name in case.list_goldens()]


def _ask_git(case: Case, *arguments: str) -> str:
    try:
        return run_git(case.root, *arguments).decode("utf-8", "replace").strip()
    except GitError:
        return ""


def _list_committed(case: Case, revision: str, files: Mapping[str, str]) -> dict[str, str] | None:
    """Return the identities of these files in a commit, or None if the commit does not have the case.

    The result also has the files of the same folders and below that no longer exist.
    """
    folders = sorted({os.path.dirname(path) or "." for path in files})
    entries = _list_entries(case, revision, *(f"{folder}/" for folder in folders))
    committed = {path: one.identity for path, one in entries.items() if _is_readable(case, path)}
    if case.file not in committed:
        return None
    gone = {path: name for path, name in committed.items() if _is_gone(case, path)}
    return {**gone, **{path: committed[path] for path in files if path in committed}}


def _list_entries(case: Case, revision: str, *paths: str) -> dict[str, TreeEntry]:
    try:
        return list_entries(case.root, revision, *paths)
    except GitError:
        return {}


def _is_gone(case: Case, path: str) -> bool:
    return not os.path.basename(path).startswith(_GOLDEN) and not os.path.lexists(os.path.join(case.root, path))


def _iter_folder(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the files of a pack that cannot be loaded, with their identities: it may name any of them."""
    for path in _iter_files(Path(case.root, case.pack)):
        with contextlib.suppress(OSError):
            yield path.relative_to(case.root).as_posix(), identify(read_file(path, MAX_BYTES))


def _iter_files(pack: Path) -> Iterator[Path]:
    for path in sorted(pack.rglob("*")) if pack.is_dir() else [pack]:
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_BYTES:
            yield path


class _Trial:
    """A temporary copy of cases of one root, in which they are run. Use it in a `with` block, which removes the copy."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._touched: set[str] = set()
        self._stack = contextlib.ExitStack()
        self._root = os.path.realpath(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="promptc-")))
        Path(self._root, ".git").mkdir()  # makes the copy a root, like the original

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, case: Case, files: Iterable[str]) -> None:
        """Copy the case with its pack, and files by their paths from the root. Existing files of the copy are kept. Raises `OSError`."""
        add_case(case, self._root)
        choose_root.cache_clear()
        for path in files:
            target = self._find_target(path)
            if target is not None and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(read_file(os.path.join(case.root, path), MAX_PLAIN_BYTES))

    def put_back(self, case: Case, before: Mapping[str, str | None], changes: Sequence[FileChange]) -> None:
        """Write the present files with `changes` undone, and all files of earlier calls without their undoing.

        `before` maps the changed files to their earlier content (None: the file did not exist).
        """
        by_path: dict[str, list[FileChange]] = {}
        for one in changes:
            by_path.setdefault(one.path, []).append(one)
        self._touched.update(before)
        for path in self._touched:
            some = by_path.get(path, [])
            self._write(Path(case.root, path), path, some, is_new=bool(some) and before[path] is None)

    def holds(self, case: Case, resources: SuiteResources) -> bool:
        """Return whether the case passes in the present copy. The resources must not know other contents of its files."""
        try:
            return self._run(case, resources)
        except (PromptcError, OSError):
            return False

    def _find_target(self, path: str) -> Path | None:
        """Return the place of a file in the copy, or None if it would be outside, or behind a link."""
        target = Path(self._root, path)
        is_in = is_inside(path) and resolve_path(target.parent).is_relative_to(self._root)
        return target if is_in and not target.is_symlink() else None

    def _write(self, source: Path, path: str, changes: Sequence[FileChange], *, is_new: bool) -> None:
        target = self._find_target(path)
        if target is None:
            return
        with contextlib.suppress(OSError):
            if is_new:
                target.unlink(missing_ok=True)
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(put_back(_read_now(source), changes), encoding="utf-8", newline="\n")

    def _run(self, case: Case, resources: SuiteResources) -> bool:
        copied = load_case(os.path.join(self._root, os.path.relpath(case.folder, case.root)))
        ran = run_case(copied, resources, self._shell)
        with work_in(copied.root):
            broken = check_expect(copied, ran)
            return not broken and not compare_goldens(copied, render_goldens(copied, ran, self._shell.render_diagnostics))


def _read_now(path: Path) -> str:
    """Return the text of a file as changes count it, with line ends as `\\n`; empty if it cannot be read."""
    try:
        content = read_file(path, MAX_PLAIN_BYTES)
    except OSError:
        return ""
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _list_files(case: Case, pack: Pack | None, documents: Collection[str]) -> list[str]:
    """Return every file that a run of the case may read, by paths from the root."""
    around = [path for path, _ in _iter_folder(case)] if pack is None else []
    return [*describe_inputs(case, pack)["files"], *around, *documents, *_iter_asked(case)]


def _iter_asked(case: Case) -> Iterator[str]:
    """Yield the files next to the packs of the case's questions: no run of the case holds without them."""
    with SuiteResources() as resources:
        packs = list_packs(case, resources)[1:]
    for pack in packs:
        yield from (path.relative_to(case.root).as_posix() for path in _iter_files(Path(case.root, pack).parent))


def _tell_else(case: Case, accounts: Sequence[Before], now: Mapping[str, Any]) -> Cause | None:
    """Return what can be said without putting anything back."""
    for before in accounts:
        if before.counter:
            return Cause(what=f"the vocabulary: {before.counter} → {_show_noted(now['counter'])}")
        if before.models:
            return Cause(what=f"the table of models: {before.models} → {_show_noted(now['models'])}")
        if before.version:
            return Cause(what=f"promptc {before.version} → {now['promptc']}")
        if before.lost:
            paths = sorted({*before.lost, *before.files})
            return Cause(what=f"changed since the golden was accepted: {', '.join(paths)}")
    edited = _find_edited_golden(case) if _list_goldens(case) else None
    if edited:
        return Cause(what=f"{edited} is not what the last commit has: the golden itself was edited")
    if not accounts:
        return None
    if not _list_goldens(case):
        return Cause(what="no edit of its files since the last commit: the committed case fails, too")
    return Cause(what=_UNKNOWN)


def _find_edited_golden(case: Case) -> str | None:
    """Return a golden of the case that differs from the last commit, or None if there is none or git does not know."""
    committed = _list_entries(case, "HEAD", *_list_goldens(case))
    return next((path for path, entry in sorted(committed.items()) if not _is_still(case, path, entry)), None)


def _is_still(case: Case, path: str, entry: TreeEntry) -> bool:
    try:
        return is_blob(read_file(os.path.join(case.root, path), MAX_PLAIN_BYTES), entry.identity)
    except (OSError, ValueError):
        return False


def _find_in(case: Case, before: Before, trial: _Trial) -> Cause | None:
    """Return the cause by one account, or None if the case does not hold even with all changes put back."""
    runs, most = [0], max(_LEAST, min(_MOST, _MOST_RENDERS // _count_renders(case)))

    def holds(some: Sequence[FileChange]) -> bool:
        runs[0] += 1
        if runs[0] > most:
            return False
        trial.put_back(case, before.files, some)
        with SuiteResources() as resources:
            return trial.holds(case, resources)

    changes = next((found for found in _iter_accounts(case, before) if found and holds(found)), None)
    if changes is None or holds(()):
        return None
    fewest = tuple(_choose_fewest((), changes, holds, is_new=False))
    if runs[0] > most:
        paths = ", ".join(sorted({one.path for one in fewest}))
        return Cause(what=f"some of {len(fewest)} edits of {paths}: {most} runs of the case did not show which, and no more are made")
    needed = set(map(id, fewest))
    found = tuple(one for one in changes if id(one) in needed)
    return Cause(found, before={one.path: before.files[one.path] for one in found})


def _count_renders(case: Case) -> int:
    """Return the number of renders in a run of the case, at least 1."""
    if case.kind != "recall":
        return max(len(case.states), 1)
    try:
        queries = read_file(os.path.join(case.folder, case.asked["queries"]), MAX_PLAIN_BYTES)
    except OSError:
        return 1
    return max(len(queries.splitlines()), 1)


def _iter_accounts(case: Case, before: Before) -> Iterator[tuple[FileChange, ...]]:
    """Yield all changes and then, if some are JSON values, all changes by lines, since a golden may contain the text of a JSON file."""
    texts = [(path, old or "", _read_now(Path(case.root, path))) for path, old in before.files.items()]
    changes = tuple(change for text in texts for change in list_changes(*text))
    yield changes
    if any(isinstance(one.undo, ValueUndo) for one in changes):
        yield tuple(change for text in texts for change in list_line_changes(*text))


def _choose_fewest(
    base: Sequence[FileChange], changes: Sequence[FileChange], holds: Callable[[Sequence[FileChange]], bool], *, is_new: bool
) -> Sequence[FileChange]:
    """Return the fewest of `changes` that suffice together with `base`, if all of them do (QuickXplain: Junker 2004).

    `is_new` says that `base` has grown, so it may suffice alone.
    """
    if is_new and holds(base):
        return ()
    if len(changes) == 1:
        return changes
    half = len(changes) // 2
    first, second = changes[:half], changes[half:]
    later = _choose_fewest((*base, *first), second, holds, is_new=True)
    earlier = _choose_fewest((*base, *later), first, holds, is_new=bool(later))
    return (*earlier, *later)


class KnownCause:
    """The edits that moved one case, tested on others. Cases are added to the same copies, so each test costs little more than its runs.

    Call `close` at the end.
    """

    def __init__(self, cause: Cause, root: str, shell: Shell) -> None:
        self._cause = cause
        self._root = root
        self._shell = shell
        self._stack = contextlib.ExitStack()
        self._copies: dict[tuple[FileChange, ...], tuple[_Trial, SuiteResources]] = {}

    def close(self) -> None:
        """Remove the copies."""
        self._stack.close()

    def explains(self, case: Case, pack: Pack | None, documents: Collection[str]) -> bool:
        """Return whether the case holds with these edits put back, and needs all of them."""
        changes = self._cause.changes
        files = _list_files(case, pack, documents)
        if case.root != self._root or not any(one.path in files or not Path(case.root, one.path).exists() for one in changes):
            return False
        fewer = ((*changes[:at], *changes[at + 1 :]) for at in range(len(changes)))
        return self._holds(case, files, changes) and not any(self._holds(case, files, some) for some in fewer)

    def _holds(self, case: Case, files: Collection[str], changes: tuple[FileChange, ...]) -> bool:
        if changes not in self._copies:
            self._copies[changes] = (self._stack.enter_context(_Trial(self._shell)), self._stack.enter_context(SuiteResources()))
        trial, resources = self._copies[changes]
        try:
            trial.add(case, files)
        except OSError:
            return False
        trial.put_back(case, self._cause.before, changes)
        return trial.holds(case, resources)
