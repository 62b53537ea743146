"""The goldens that wait for someone's word."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from promptc.golden.case import INPUTS, PENDING
from promptc.golden.find_cases import find_cases, is_pending
from promptc.golden.find_home import find_root, name_case, show_path
from promptc.golden.pending import Pending, Status


def list_pending(paths: Sequence[str]) -> Iterator[Pending]:
    """Every pending golden at or under `paths`, by folder and name. Lazily. Raises `DiskError` as `find_cases` does."""
    for place in find_cases(paths):
        for name in place.goldens:
            plain = name.removesuffix(PENDING)
            if is_pending(name) and plain != INPUTS:
                root = find_root(place.folder)
                path = Path(place.folder, plain)
                status: Status = "changed" if path.is_symlink() or path.exists() else "new"
                yield Pending(name_case(place.folder, root), place.folder, plain, show_path(str(path), root), status)


def matches(pending: Pending, patterns: Sequence[str]) -> bool:
    """True without patterns. Else whether one is the case's name or the golden's path, `*` and `?` standing for any characters."""
    shown = (pending.case, f"{pending.case}/{pending.name}", pending.path)
    return not patterns or any(fnmatchcase(one, pattern) for pattern in patterns for one in shown)
