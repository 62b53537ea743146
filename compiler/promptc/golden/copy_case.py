"""A case in a folder of its own, to be changed there."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from promptc.golden.case_error import fail_case
from promptc.golden.cases.case import Case
from promptc.golden.cases.confine import is_under
from promptc.golden.find_cases import CASE

_GIT = ".git"


@contextlib.contextmanager
def copy_case(case: Case) -> Iterator[str]:
    """The pack, and the folder that the case stands in without its other cases, at the same places under another root; gone afterwards.

    Links are copied as links; what is neither file nor folder, and `.git`, is left out. Raises `CaseError` (PC0905) for a pack outside the
    root, which has no place in a copy.
    """
    with tempfile.TemporaryDirectory(prefix="promptc-") as made:
        root = os.path.realpath(made)
        add_case(case, root)
        yield root


def add_case(case: Case, root: str) -> None:
    """Copies the same to where other cases may have been copied to before: a file that is there stays as it is. Raises `CaseError` as
    `copy_case` does, and `OSError`.
    """
    pack = Path(os.path.normpath(os.path.join(case.root, case.pack)))
    if not is_under(str(pack), case.root):
        raise fail_case("PC0905", f"the case cannot be copied: its pack `{case.pack}` is outside `{case.root}`", case.node.span)
    beside = Path(case.folder).parent if case.folder != case.root else Path(case.folder)
    folders = {beside, *([pack if pack.is_dir() else pack.parent] if pack.exists() else [])}
    for folder in sorted(folders):
        inside = folder.relative_to(case.root)
        if not any(other != folder and other in folder.parents for other in folders):
            shutil.copytree(folder, Path(root, inside), ignore=_leave_out(case, root), dirs_exist_ok=True, symlinks=True)


def _leave_out(case: Case, root: str) -> Callable[[str, Sequence[str]], list[str]]:
    def is_there(path: Path) -> bool:
        return (path.is_symlink() or not path.is_dir()) and os.path.lexists(Path(root, path.relative_to(case.root)))

    def list_others(folder: str, names: Sequence[str]) -> list[str]:
        paths = (Path(folder, name) for name in names)
        return [one.name for one in paths if one.name == _GIT or _is_special(one) or _is_other(one, Path(case.folder)) or is_there(one)]

    return list_others


def _is_special(path: Path) -> bool:
    return not path.is_symlink() and not path.is_file() and not path.is_dir()


def _is_other(path: Path, case: Path) -> bool:
    return (path / CASE).is_file() and path != case and path not in case.parents
