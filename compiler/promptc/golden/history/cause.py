"""Which edit moved a golden: each change since it was accepted is put back alone, and the one that brings it back is the cause."""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from promptc.api import Pack
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.files.reading import read_file
from promptc.frontend.yaml import MAX_BYTES
from promptc.golden.cases.case import Case
from promptc.golden.change import FileChange, ValueUndo
from promptc.golden.describe_inputs import describe_inputs, identify
from promptc.golden.list_changes import list_changes
from promptc.golden.list_line_changes import list_line_changes
from promptc.golden.list_packs import list_packs
from promptc.golden.read_before import Before, find_golden_edited, read_before
from promptc.golden.running.resources import SuiteResources
from promptc.golden.shell import Shell
from promptc.golden.trial import Trial, read_now

_MOST = 60
"""Runs of the case for one account of what its inputs were."""


@frozen
class Cause:
    """Why a case no longer holds. `changes` are the edits that brought it about: the fewest whose putting back makes it hold; `what` says
    it in a line where it is no edit that can be put back. `before` has what the files of the changes held then (None: not there).
    """

    changes: tuple[FileChange, ...] = field(default_factory=tuple)
    what: str = ""
    before: Mapping[str, str | None] = field(default_factory=dict, repr=False)


class KnownCause:
    """The edits that moved one case, asked of others: put back in copies to which the others are added, so that each takes little more than
    its own runs. To be closed.
    """

    def __init__(self, cause: Cause, root: str, shell: Shell) -> None:
        self._cause = cause
        self._root = root
        self._shell = shell
        self._stack = contextlib.ExitStack()
        self._copies: dict[tuple[FileChange, ...], tuple[Trial, SuiteResources]] = {}

    def close(self) -> None:
        """Removes the copies."""
        self._stack.close()

    def explains(self, case: Case, pack: Pack | None) -> bool:
        """Whether the case holds with these edits put back, and does not with all but one."""
        changes = self._cause.changes
        files = _list_files(case, pack)
        if case.root != self._root or not any(one.path in files or not Path(case.root, one.path).exists() for one in changes):
            return False
        fewer = ((*changes[:at], *changes[at + 1 :]) for at in range(len(changes)))
        return self._holds(case, files, changes) and not any(self._holds(case, files, some) for some in fewer)

    def _holds(self, case: Case, files: Collection[str], changes: tuple[FileChange, ...]) -> bool:
        if changes not in self._copies:
            self._copies[changes] = (self._stack.enter_context(Trial(self._shell)), self._stack.enter_context(SuiteResources()))
        trial, shelf = self._copies[changes]
        try:
            trial.add(case, files)
        except OSError:
            return False
        trial.put_back(case, self._cause.before, changes)
        return trial.holds(case, shelf)


def find_cause(case: Case, pack: Pack | None, shell: Shell) -> Cause | None:
    """The cause, None where nothing that is known explains it. The case is run again with changes put back, in a copy."""
    now = describe_inputs(case, pack)
    accounts = list(read_before(case, now, dict(_iter_folder(case)) if pack is None else {}))
    with Trial(shell) as trial:
        try:
            trial.add(case, _list_files(case, pack))
        except OSError:
            return _tell_else(case, accounts, now)
        for before in accounts:
            cause = _find_in(case, before, trial)
            if cause is not None:
                return cause
    return _tell_else(case, accounts, now)


def _list_files(case: Case, pack: Pack | None) -> list[str]:
    """Whatever a run of the case may read, by paths from the root."""
    around = [path for path, _ in _iter_folder(case)] if pack is None else []
    return [*describe_inputs(case, pack)["files"], *around, *_iter_asked(case)]


def _find_in(case: Case, before: Before, trial: Trial) -> Cause | None:
    """The cause by one account; None where putting everything back does not make the case hold."""
    runs = [0]

    def holds(some: Sequence[FileChange]) -> bool:
        runs[0] += 1
        if runs[0] > _MOST:
            return False
        trial.put_back(case, before.files, some)
        with SuiteResources() as shelf:
            return trial.holds(case, shelf)

    changes = next((found for found in _iter_accounts(case, before) if found and holds(found)), None)
    if changes is None or holds(()):
        return None
    fewest = tuple(_find_fewest((), changes, holds, is_new=False))
    if runs[0] > _MOST:
        return Cause(what=f"some of {len(changes)} edits of {', '.join(sorted({one.path for one in changes}))}")
    found = tuple(one for one in changes if one in fewest)
    return Cause(found, before={one.path: before.files[one.path] for one in found})


def _iter_folder(case: Case) -> Iterator[tuple[str, str]]:
    """The files of a pack that cannot be loaded, with their identities: nobody knows which of them it names."""
    for path in _iter_files(Path(case.root, case.pack)):
        with contextlib.suppress(OSError):
            yield path.relative_to(case.root).as_posix(), identify(read_file(path, MAX_BYTES))


def _iter_asked(case: Case) -> Iterator[str]:
    """The files beside the packs of the questions that a case may ask: without them none of its runs holds."""
    with SuiteResources() as shelf:
        packs = list_packs(case, shelf)[1:]
    for pack in packs:
        yield from (path.relative_to(case.root).as_posix() for path in _iter_files(Path(case.root, pack).parent))


def _iter_files(pack: Path) -> Iterator[Path]:
    for path in sorted(pack.rglob("*")) if pack.is_dir() else [pack]:
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_BYTES:
            yield path


def _iter_accounts(case: Case, before: Before) -> Iterator[tuple[FileChange, ...]]:
    """All changes; where values are among them also by lines alone, as the text of a JSON file may itself stand in a golden."""
    texts = [(path, old or "", read_now(Path(case.root, path))) for path, old in before.files.items()]
    changes = tuple(change for text in texts for change in list_changes(*text))
    yield changes
    if any(isinstance(one.undo, ValueUndo) for one in changes):
        yield tuple(change for text in texts for change in list_line_changes(*text))


def _find_fewest(
    base: Sequence[FileChange], changes: Sequence[FileChange], holds: Callable[[Sequence[FileChange]], bool], *, is_new: bool
) -> Sequence[FileChange]:
    """Of `changes` as few as will do together with `base`, where all of them do (QuickXplain: Junker 2004). `is_new` tells that `base` has
    grown, so that it may do alone.
    """
    if is_new and holds(base):
        return ()
    if len(changes) == 1:
        return changes
    half = len(changes) // 2
    first, second = changes[:half], changes[half:]
    later = _find_fewest((*base, *first), second, holds, is_new=True)
    earlier = _find_fewest((*base, *later), first, holds, is_new=bool(later))
    return (*earlier, *later)


def _tell_else(case: Case, accounts: Sequence[Before], now: Mapping[str, Any]) -> Cause | None:
    """What can be said without putting anything back."""
    for before in accounts:
        if before.counter:
            digest = str(now["counter"].get("digest", "")).removeprefix("sha256:")[:8]
            return Cause(what=f"the vocabulary: {before.counter} → {now['counter'].get('name')} {digest}")
        if before.version:
            return Cause(what=f"promptc {before.version} → {now['promptc']}")
        if before.lost:
            paths = sorted({*before.lost, *before.files})
            return Cause(what=f"changed since the golden was accepted: {', '.join(paths)}")
    edited = find_golden_edited(case)
    if edited:
        return Cause(what=f"{edited} is not what the last commit has: the golden itself was edited")
    return Cause(what="no edit of its files: the golden, promptc, or what it runs on is another") if accounts else None
