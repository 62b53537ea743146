"""A copy of cases in which files are put back as they were, to see whether the cases hold then."""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from promptc.diag.findings import PromptcError
from promptc.diag.typed import Self
from promptc.files.reading import read_file
from promptc.golden.cases.case import Case
from promptc.golden.change import FileChange
from promptc.golden.copy_case import add_case
from promptc.golden.find_home import find_root
from promptc.golden.judging.compare import compare_goldens, render_goldens
from promptc.golden.judging.expect import check_expect
from promptc.golden.list_changes import put_back
from promptc.golden.load_case import load_case
from promptc.golden.read_before import is_inside
from promptc.golden.read_plain import MAX_PLAIN_BYTES
from promptc.golden.run_case import run_case
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.golden.shell import Shell


class Trial:
    """To be used in a `with`: the copy is gone afterwards. All its cases are of one root."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._touched: set[str] = set()
        self._stack = contextlib.ExitStack()
        self._root = os.path.realpath(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="promptc-")))
        Path(self._root, ".git").mkdir()  # so that the copy is as much of a root as the original

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, case: Case, files: Iterable[str]) -> None:
        """Copies the case with its pack, and files by their paths from the root; what is there already stays as it is. Raises `OSError`."""
        add_case(case, self._root)
        find_root.cache_clear()
        for path in files:
            target = self._find_target(path)
            if target is not None and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(read_file(os.path.join(case.root, path), MAX_PLAIN_BYTES))

    def put_back(self, case: Case, before: Mapping[str, str | None], changes: Sequence[FileChange]) -> None:
        """Makes the files that were other `before` (None: not there) what they are now less the changes, and with them all that were put
        back earlier."""
        by_path: dict[str, list[FileChange]] = {}
        for one in changes:
            by_path.setdefault(one.path, []).append(one)
        self._touched.update(before)
        for path in self._touched:
            some = by_path.get(path, [])
            self._write(Path(case.root, path), path, some, is_new=bool(some) and before[path] is None)

    def holds(self, case: Case, shelf: SuiteResources) -> bool:
        """Whether the case passes in the copy as it is. The shelf must not know other contents of its files."""
        try:
            return self._run(case, shelf)
        except (PromptcError, OSError):
            return False

    def _find_target(self, path: str) -> Path | None:
        """Where a file stands in the copy; None for a place outside it, or one that a link leads to."""
        target = Path(self._root, path)
        is_in = is_inside(path) and target.parent.resolve().is_relative_to(self._root)
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
            target.write_text(put_back(read_now(source), changes), encoding="utf-8", newline="\n")

    def _run(self, case: Case, shelf: SuiteResources) -> bool:
        copied = load_case(os.path.join(self._root, os.path.relpath(case.folder, case.root)))
        ran = run_case(copied, shelf, self._shell)
        with work_in(copied.root):
            broken = check_expect(copied, ran)
            return not broken and not compare_goldens(copied, ran, render_goldens(copied, ran, self._shell.render_diagnostics))


def read_now(path: Path) -> str:
    """The text of a file as changes count it, with line ends as `\\n`; empty where it cannot be read."""
    try:
        content = read_file(path, MAX_PLAIN_BYTES)
    except OSError:
        return ""
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
