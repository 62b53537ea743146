"""The goldens that wait for someone's word."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from promptc.golden.cases.case import GOLDENS, INPUTS, PENDING
from promptc.golden.find_cases import find_cases, is_pending
from promptc.golden.find_home import find_root, name_case, show_path
from promptc.golden.find_kind import find_kind
from promptc.golden.pending import PendingGolden, Status


def list_pending(paths: Sequence[str]) -> Iterator[PendingGolden]:
    """Every pending golden at or under `paths`, by folder, turn and kind: a prompt before its report. Lazily. Raises `DiskError` as
    `find_cases` does.
    """
    here = os.path.realpath(os.getcwd())
    for place in find_cases(paths):
        case = name_case(place.folder, find_root(place.folder))
        for name in sorted((name.removesuffix(PENDING) for name in place.goldens if is_pending(name)), key=_rank):
            if name != INPUTS:
                path = Path(place.folder, name)
                status: Status = "changed" if path.is_symlink() or path.exists() else "new"
                yield PendingGolden(case, place.folder, name, show_path(str(path), here), status)


def _rank(name: str) -> tuple[int, int, str]:
    kind, turn = find_kind(name)
    return turn, list(GOLDENS).index(kind) if kind else len(GOLDENS), name
