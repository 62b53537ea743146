"""Case folders under the paths that are asked for."""

import os
from collections.abc import Iterator, Sequence

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.frozen import frozen, replace
from promptc.golden.cases.case import PENDING, is_golden

CASE = "case.yaml"
_MEANT = "case."
_PASSED_OVER = frozenset(("__pycache__", "node_modules", "venv"))


@frozen
class CaseFolder:
    """A folder (absolute) with the goldens in it, pending ones too, by name. `is_case` tells whether it has a `case.yaml`; where it has
    none, `misnamed` is a file that may be meant as one (`case.yml`). Where `packs` are not empty, the case is meant only if its pack
    (absolute) is among them. `wrong` tells why the folder could not be looked into. `top` is the folder in which cases were looked for."""

    folder: str
    goldens: tuple[str, ...]
    is_case: bool
    misnamed: str = ""
    packs: tuple[str, ...] = ()
    wrong: str = ""
    top: str = ""


def find_cases(paths: Sequence[str]) -> Iterator[CaseFolder]:
    """Every case folder, and every folder that has goldens without being one, at or under `paths`, sorted by path and each once.

    A path may also be a `case.yaml`. Hidden folders, links to folders, `node_modules`, `venv` and `__pycache__` are not looked into.
    Lazily: one folder is listed at a time. One that cannot be listed is a place of its own, too. Raises `DiskError` (PC0903) for a folder
    that is not there.
    """
    last = ""
    for path in sorted(dict.fromkeys(_find_folder(path) for path in paths), key=_sort_key):
        if not last or not f"{path}{os.sep}".startswith(f"{last}{os.sep}"):
            yield from (replace(place, top=path) for place in _walk(path))
            last = path


def is_pending(name: str) -> bool:
    """Whether a golden of that name is a pending one."""
    return name.endswith(PENDING)


def _find_folder(path: str) -> str:
    absolute = os.path.realpath(path)
    if os.path.isdir(absolute):
        return absolute
    if os.path.basename(absolute) == CASE and os.path.lexists(absolute):
        return os.path.dirname(absolute)
    raise DiskError([Diagnostic("PC0903", f"there is no folder `{path}`", help="name a pack, a folder with cases, or a case")])


def _sort_key(path: str) -> list[str]:
    return path.split(os.sep)


def _walk(folder: str) -> Iterator[CaseFolder]:
    inner: list[str] = []
    goldens: list[str] = []
    misnamed: list[str] = []
    is_case = False
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name == CASE:
                    is_case = True
                elif is_golden(name):
                    goldens.append(name)
                elif name.lower().startswith(_MEANT):
                    misnamed.append(name)
                elif not name.startswith(".") and name not in _PASSED_OVER and entry.is_dir(follow_symlinks=False):
                    inner.append(name)
    except OSError as wrong:
        yield CaseFolder(folder, (), is_case=False, wrong=wrong.strerror or str(wrong))
        return
    if is_case or goldens:
        yield CaseFolder(folder, tuple(sorted(goldens)), is_case, min(misnamed, default=""))
    for name in sorted(inner):
        yield from _walk(f"{folder}{os.sep}{name}")
