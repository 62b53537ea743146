"""What a case asks to be different in its copy: files filled up to a size, links, databases (language.md §14)."""

import os
import sqlite3
from pathlib import Path

from promptc.golden.case_error import fail_case
from promptc.golden.cases.case import Case
from promptc.golden.open_database import open_database

_BLOCK = 1 << 20
_MOST = 200_000_000


def change_copy(case: Case, root: str) -> None:
    """Makes the files of `given: {large, link, database}` in the case's folder under `root`, which is that of a copy.

    Raises `CaseError` (PC0905) for one that would be outside the copy, and for SQL that cannot be run.
    """
    folder = Path(root, os.path.relpath(case.folder, case.root))
    wanted = case.given.get("large", {})
    if sum(wanted.values()) > _MOST:
        span = case.node.value["given"].key_span("large")
        raise fail_case("PC0905", f"the `large` files are {sum(wanted.values())} bytes together; {_MOST} is the most", span)
    for name, size in wanted.items():
        _fill(_find(case, root, folder, "large", name), size)
    for name, target in case.given.get("link", {}).items():
        path = _find(case, root, folder, "link", name)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
    for name, script in case.given.get("database", {}).items():
        _make_database(case, _find(case, root, folder, "database", name), name, script)


def _find(case: Case, root: str, folder: Path, kind: str, name: str) -> Path:
    """Where a file of that name is made. A link on the way is followed first, so that nothing is written through it."""
    path = folder / name
    parent = path.parent.resolve()
    if path.is_symlink() or path.is_dir() or not parent.is_relative_to(root) or not parent.is_dir():
        span = case.node.value["given"].value[kind].key_span(name)
        raise fail_case("PC0905", f"`{name}` cannot be made in the copy of the case", span, help="name a file in a folder of the case")
    return parent / path.name


def _fill(path: Path, size: int) -> None:
    """A file that is longer already stays as it is."""
    missing = size - (path.stat().st_size if path.exists() else 0)
    with path.open("ab") as file:
        while missing > 1:
            missing -= file.write(b"#" * min(missing - 1, _BLOCK))
        file.write(b"\n" * missing)


def _make_database(case: Case, path: Path, name: str, script: str) -> None:
    span = case.node.value["given"].value["database"].key_span(name)
    try:
        with open_database(path) as made:
            made.executescript(script)
    except sqlite3.Error as wrong:
        raise fail_case("PC0905", f"the SQL of `{name}` cannot be run: {wrong}", span) from wrong
