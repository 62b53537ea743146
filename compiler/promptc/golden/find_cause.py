"""Which edit moved a golden: each change since it was accepted is put back alone, and the one that brings it back is the cause."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from promptc.api import Pack
from promptc.diag.errors import PromptcError
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.frontend.yaml_io import MAX_BYTES
from promptc.golden.case import Case
from promptc.golden.compare_goldens import compare_goldens
from promptc.golden.copy_case import copy_case
from promptc.golden.describe_inputs import describe_inputs, identify
from promptc.golden.find_home import find_root
from promptc.golden.list_changes import Change, list_changes, put_back
from promptc.golden.load_case import load_case
from promptc.golden.name_key import name_key
from promptc.golden.read_before import Before, read_before
from promptc.golden.run_case import run_case
from promptc.golden.shelf import Shelf, work_in
from promptc.golden.shell import Shell

_MOVING = ("digests", "at")
_MOST = 40
"""More changes than these are looked at file by file."""


@frozen
class Cause:
    """Why a golden no longer holds. `changes` are the edits that brought it about: one, or the fewest that do together; `what` says it in
    a line where it is no edit that can be put back.
    """

    changes: tuple[Change, ...] = field(default_factory=tuple)
    what: str = ""


def find_cause(case: Case, pack: Pack | None, shell: Shell) -> Cause | None:
    """The cause, None where nothing that is known explains it. The case is run again for each change that is put back, in a copy.

    Digests and places in the report are left aside: they change with every edit.
    """
    now = describe_inputs(case, pack)
    if pack is None:
        now = {**now, "files": dict(_iter_folder(case)) | now["files"]}
    before = read_before(case, now)
    changes = _list_all(case, before)
    with contextlib.ExitStack() as stack:
        try:
            copy = _Copy(case, stack.enter_context(copy_case(case)), shell)
        except OSError:
            return _tell_else(case, before, now)
        if not changes or not copy.holds(before, changes):
            return _tell_else(case, before, now)
        if copy.holds(before, ()):
            return Cause(what=f"only digests and places: {', '.join(sorted({one.path for one in changes}))}")
        return Cause(_find_fewest(changes, lambda some: copy.holds(before, some)))


def _iter_folder(case: Case) -> Iterator[tuple[str, str]]:
    """The files of a pack that cannot be loaded, with their identities: nobody knows which of them it names."""
    pack = Path(case.root, case.pack)
    for path in sorted(pack.rglob("*")) if pack.is_dir() else [pack]:
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_BYTES:
            yield path.relative_to(case.root).as_posix(), identify(path.read_bytes())


def _list_all(case: Case, before: Before) -> tuple[Change, ...]:
    return tuple(change for path, old in before.files.items() for change in _list_of(case, path, old))


def _list_of(case: Case, path: str, old: str | None) -> tuple[Change, ...]:
    new = _read(Path(case.root, path))
    found = list_changes(path, old or "", new)
    return tuple(name_key(change, new) for change in found)


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError:
        return ""
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _find_fewest(changes: Sequence[Change], holds: Callable[[Sequence[Change]], bool]) -> tuple[Change, ...]:
    """One that does alone, else the fewest that are left when each that is not needed is taken away in turn."""
    if len(changes) > _MOST:
        changes = _find_files(changes, holds)
    if len(changes) <= _MOST:
        alone = next((one for one in changes if holds([one])), None)
        if alone is not None:
            return (alone,)
        for one in tuple(changes):
            fewer = [other for other in changes if other is not one]
            changes = fewer if holds(fewer) else changes
    return tuple(changes)


def _find_files(changes: Sequence[Change], holds: Callable[[Sequence[Change]], bool]) -> Sequence[Change]:
    """The changes of the fewest files."""
    for path in sorted({one.path for one in changes}):
        fewer = [one for one in changes if one.path != path]
        changes = fewer if fewer and holds(fewer) else changes
    return changes


def _tell_else(case: Case, before: Before, now: Mapping[str, Any]) -> Cause | None:
    """What can be said without putting anything back."""
    counter = now.get("counter") or {}
    if before.counter:
        digest = str(counter.get("digest", "")).removeprefix("sha256:")[:8]
        return Cause(what=f"the vocabulary: {before.counter} → {counter.get('name')} {digest}")
    if before.version:
        return Cause(what=f"promptc {before.version} → {now['promptc']}")
    if before.lost:
        return Cause(what=f"changed since the golden was accepted: {', '.join(before.lost)}")
    return Cause(what="no edit of its files: promptc, or what it runs on, is another") if before.is_known else None


class _Copy:
    """A copy of the case, in which files are put back."""

    def __init__(self, case: Case, root: str, shell: Shell) -> None:
        self._case = case
        self._root = root
        self._shell = shell
        self._written: dict[str, str | None] = {}
        Path(root, ".git").mkdir(exist_ok=True)  # so that the copy is as much of a root as the original
        find_root.cache_clear()

    def holds(self, before: Before, changes: Sequence[Change]) -> bool:
        """Whether the goldens hold with these changes put back."""
        by_path: dict[str, list[Change]] = {}
        for one in changes:
            by_path.setdefault(one.path, []).append(one)
        for path in before.files:
            self._write(path, before, by_path.get(path, []))
        try:
            return self._run()
        except (PromptcError, OSError):
            return False

    def _write(self, path: str, before: Before, changes: Sequence[Change]) -> None:
        target = Path(self._root, path)
        is_gone = before.files[path] is None and len(changes) > 0
        with contextlib.suppress(OSError):
            if is_gone:
                target.unlink(missing_ok=True)
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(put_back(_read(Path(self._case.root, path)), changes), encoding="utf-8", newline="\n")

    def _run(self) -> bool:
        case = load_case(os.path.join(self._root, os.path.relpath(self._case.folder, self._case.root)))
        with Shelf() as shelf:
            ran = run_case(case, shelf, self._shell)
            with work_in(case.root):
                different = compare_goldens(case, ran, self._shell.render_diagnostics)
        return all(one.kind == "report" and _leave_places(one.old) == _leave_places(one.new) for one in different)


def _leave_places(report: bytes | None) -> Any:
    try:
        return _leave(json.loads(report or b""))
    except ValueError:
        return report


def _leave(value: Any) -> Any:
    if isinstance(value, list):
        return [_leave(one) for one in value]
    return {key: _leave(inner) for key, inner in value.items() if key not in _MOVING} if isinstance(value, dict) else value
