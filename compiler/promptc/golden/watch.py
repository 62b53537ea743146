"""Whether a case's files stayed as they were while it was run."""

import os

from promptc.golden.cases.case import Case
from promptc.golden.find_cases import CASE
from promptc.golden.list_files import list_files

_Stamp = tuple[int, int, int, int] | None


class InputWatch:
    """Of a case in `folder`, to be made before its file is read: what is noted of a run must be what the run has seen."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._stamps: dict[str, _Stamp] = {}
        self._look(f"{folder}{os.sep}{CASE}")

    def begin(self, case: Case) -> None:
        """Looks at what the case names, before it is run."""
        for path in (*list_files(case), *(f"{case.folder}{os.sep}{name}" for _, _, name in case.list_goldens())):
            self._look(path)

    def is_still(self) -> bool:
        """Whether nobody has written to any of them since, as their times and sizes tell."""
        return all(_stamp(path) == stamp for path, stamp in self._stamps.items())

    def _look(self, path: str) -> None:
        self._stamps[path] = _stamp(path)


def _stamp(path: str) -> _Stamp:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
