"""Which edit moved a golden: each change since it was accepted is put back alone, and the one that brings it back is the cause."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from promptc.api import Pack
from promptc.diag.errors import PromptcError
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.files.read_file import read_file
from promptc.frontend.yaml_io import MAX_BYTES
from promptc.golden.case import Case
from promptc.golden.change import Change, ValueUndo
from promptc.golden.check_expect import check_expect
from promptc.golden.compare_goldens import compare_goldens, render_goldens
from promptc.golden.copy_case import copy_case
from promptc.golden.describe_inputs import describe_inputs, identify
from promptc.golden.find_home import find_root
from promptc.golden.list_changes import list_changes, put_back
from promptc.golden.list_line_changes import list_line_changes
from promptc.golden.list_packs import list_packs
from promptc.golden.load_case import load_case
from promptc.golden.read_before import Before, find_golden_edited, is_inside, read_before
from promptc.golden.read_plain import MAX_BYTES as LONGEST
from promptc.golden.run_case import run_case
from promptc.golden.shelf import Shelf, work_in
from promptc.golden.shell import Shell

_MOST = 60
"""Runs of the case for one account of what its inputs were."""


@frozen
class Cause:
    """Why a case no longer holds. `changes` are the edits that brought it about: the fewest whose putting back makes it hold; `what` says
    it in a line where it is no edit that can be put back.
    """

    changes: tuple[Change, ...] = field(default_factory=tuple)
    what: str = ""


def find_cause(case: Case, pack: Pack | None, shell: Shell) -> Cause | None:
    """The cause, None where nothing that is known explains it. The case is run again with changes put back, in a copy."""
    now = describe_inputs(case, pack)
    around = dict(_iter_folder(case)) if pack is None else {}
    accounts = list(read_before(case, now, around))
    with contextlib.ExitStack() as stack:
        try:
            copy = _Copy(case, stack.enter_context(copy_case(case)), shell, [*now["files"], *around, *_iter_asked(case)])
        except OSError:
            return _tell_else(case, accounts, now)
        for before in accounts:
            cause = _find_in(case, before, copy)
            if cause is not None:
                return cause
    return _tell_else(case, accounts, now)


def _find_in(case: Case, before: Before, copy: "_Copy") -> Cause | None:
    """The cause by one account; None where putting everything back does not make the case hold."""
    runs = [0]

    def holds(some: Sequence[Change]) -> bool:
        runs[0] += 1
        return runs[0] <= _MOST and copy.holds(before, some)

    changes = next((found for found in _iter_accounts(case, before) if found and holds(found)), None)
    if changes is None:
        return None
    if holds(()):
        return None
    fewest = tuple(_find_fewest((), changes, holds, is_new=False))
    if runs[0] > _MOST:
        return Cause(what=f"some of {len(changes)} edits of {', '.join(sorted({one.path for one in changes}))}")
    return Cause(tuple(one for one in changes if one in fewest))


def _iter_folder(case: Case) -> Iterator[tuple[str, str]]:
    """The files of a pack that cannot be loaded, with their identities: nobody knows which of them it names."""
    for path in _iter_files(Path(case.root, case.pack)):
        with contextlib.suppress(OSError):
            yield path.relative_to(case.root).as_posix(), identify(read_file(path, MAX_BYTES))


def _iter_asked(case: Case) -> Iterator[str]:
    """The files beside the packs of the questions that a case may ask: without them none of its runs holds."""
    with Shelf() as shelf:
        packs = list_packs(case, shelf)[1:]
    for pack in packs:
        yield from (path.relative_to(case.root).as_posix() for path in _iter_files(Path(case.root, pack).parent))


def _iter_files(pack: Path) -> Iterator[Path]:
    for path in sorted(pack.rglob("*")) if pack.is_dir() else [pack]:
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_BYTES:
            yield path


def _iter_accounts(case: Case, before: Before) -> Iterator[tuple[Change, ...]]:
    """All changes; where values are among them also by lines alone, as the text of a JSON file may itself stand in a golden."""
    texts = [(path, old or "", _read(Path(case.root, path))) for path, old in before.files.items()]
    changes = tuple(change for text in texts for change in list_changes(*text))
    yield changes
    if any(isinstance(one.undo, ValueUndo) for one in changes):
        yield tuple(change for text in texts for change in list_line_changes(*text))


def _read(path: Path) -> str:
    try:
        content = read_file(path, LONGEST)
    except OSError:
        return ""
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _find_fewest(
    base: Sequence[Change], changes: Sequence[Change], holds: Callable[[Sequence[Change]], bool], *, is_new: bool
) -> Sequence[Change]:
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


class _Copy:
    """A copy of the case, in which files are put back."""

    def __init__(self, case: Case, root: str, shell: Shell, files: Iterable[str]) -> None:
        self._case = case
        self._root = root
        self._shell = shell
        self._touched: set[str] = set()
        Path(root, ".git").mkdir(exist_ok=True)  # so that the copy is as much of a root as the original
        find_root.cache_clear()
        for path in files:
            target = self._find_target(path)
            if target is not None and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(read_file(os.path.join(case.root, path), LONGEST))

    def _find_target(self, path: str) -> Path | None:
        """Where a file stands in the copy; None for a place outside it, or one that a link leads to."""
        target = Path(self._root, path)
        is_in = is_inside(path) and target.parent.resolve().is_relative_to(self._root)
        return target if is_in and not target.is_symlink() else None

    def holds(self, before: Before, changes: Sequence[Change]) -> bool:
        """Whether the goldens hold with these changes put back."""
        by_path: dict[str, list[Change]] = {}
        for one in changes:
            by_path.setdefault(one.path, []).append(one)
        self._touched.update(before.files)
        for path in self._touched:
            self._write(path, before, by_path.get(path, []))
        try:
            return self._run()
        except (PromptcError, OSError):
            return False

    def _write(self, path: str, before: Before, changes: Sequence[Change]) -> None:
        target = self._find_target(path)
        if target is None:
            return
        with contextlib.suppress(OSError):
            if changes and before.files[path] is None:
                target.unlink(missing_ok=True)
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(put_back(_read(Path(self._case.root, path)), changes), encoding="utf-8", newline="\n")

    def _run(self) -> bool:
        case = load_case(os.path.join(self._root, os.path.relpath(self._case.folder, self._case.root)))
        with Shelf() as shelf:
            ran = run_case(case, shelf, self._shell)
            with work_in(case.root):
                broken = check_expect(case, ran)
                return not broken and not compare_goldens(case, ran, render_goldens(case, ran, self._shell.render_diagnostics))
