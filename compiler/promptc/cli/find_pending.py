"""The pending goldens that a command line names."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from promptc.cli.escape import escape_controls
from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.golden.cases.case import PENDING
from promptc.golden.cases.confine import find_root, show_path
from promptc.golden.cases.discover import CASE
from promptc.golden.pending import PendingGolden, list_pending

_HERE = "."
ONLY = ("new", "changed")


def find_pending(patterns: Sequence[str], *, folder: str | None, only: str | None) -> list[PendingGolden]:
    """Those that a pattern means (all without patterns), in order; `only` those that are `new`, or `changed`.

    A pattern is a path (a folder: all under it; a golden), else the name of a case or of a golden in one, else a pattern of either.
    `UsageError` (PC0943) for one that means none, and for a name that is that of cases in several folders.
    """
    found = _list(folder or _HERE, only)
    if not patterns:
        return found
    chosen = dict.fromkeys(one for pattern in patterns for one in _choose(pattern, found, _list_at(pattern, folder, only)))
    return [*(one for one in found if one in chosen), *(one for one in chosen if one not in found)]


def find_named(patterns: Sequence[str], *, is_all: bool, folder: str | None, only: str | None) -> list[PendingGolden]:
    """The same where nothing may be meant that was not named: without patterns all have to be asked for. `UsageError` (PC0943)."""
    if not patterns and not is_all:
        raise UsageError([Diagnostic("PC0943", "no pending golden is named", help="name cases, such as `tavern/*`, or say `--all`")])
    return find_pending(patterns, folder=folder, only=only)


def _list(folder: str, only: str | None) -> list[PendingGolden]:
    return [one for one in list_pending([folder]) if only is None or one.status == only]


def _list_at(pattern: str, folder: str | None, only: str | None) -> list[PendingGolden]:
    """Those at a path or under it, if it is one; of `folder` alone where that is given."""
    path = Path(pattern)
    place = path if path.is_dir() else path.parent
    if not pattern or not any(os.path.lexists(one) for one in (path, f"{path}{PENDING}")) or not place.is_dir():
        return []
    paths = {str(path.resolve()), str(place.resolve() / path.name) if place != path else str(place.resolve())}
    within = Path(folder or place).resolve()
    return [
        one for one in _list(str(place), only) if Path(one.folder).is_relative_to(within) and any(_is_at(one, found) for found in paths)
    ]


def _is_at(one: PendingGolden, path: str) -> bool:
    """Whether it is at that path, absolute, or under it; the case's file stands for its folder."""
    golden = str(Path(one.folder, one.name))
    return path in (golden, golden + PENDING, str(Path(one.folder, CASE))) or Path(golden).is_relative_to(path)


def _choose(pattern: str, found: Sequence[PendingGolden], at_path: Sequence[PendingGolden]) -> Sequence[PendingGolden]:
    if at_path:
        return at_path
    named = [one for one in found if pattern in _list_names(one)]
    folders = sorted({one.folder for one in named})
    if len(folders) > 1:
        raise _refuse_several(pattern, folders)
    plain = os.path.normpath(pattern)
    matching = named or [one for one in found if any(fnmatchcase(name, plain) for name in (*_list_names(one), *_list_paths(one)))]
    if not matching:
        raise _refuse_none(pattern, found)
    return matching


def _list_names(one: PendingGolden) -> tuple[str, ...]:
    """What it is called wherever the work is done: its case, its name in it, and its path from the case's root, as of `promptc test`."""
    return one.case, f"{one.case}/{one.name}", show_path(str(Path(one.folder, one.name)), find_root(one.folder))


def _list_paths(one: PendingGolden) -> tuple[str, ...]:
    return one.path, one.path.rpartition("/")[0]


def _refuse_several(name: str, folders: Sequence[str]) -> UsageError:
    here = str(Path.cwd().resolve())
    listed = ", ".join(f"`{escape_controls(show_path(folder, here))}`" for folder in folders)
    return UsageError(
        [Diagnostic("PC0943", f"`{name}` is the name of cases in {len(folders)} folders", help=f"name one by its path: {listed}")]
    )


def _refuse_none(pattern: str, found: Sequence[PendingGolden]) -> UsageError:
    near = suggest(pattern, sorted({one.case for one in found})) or "`promptc pending` lists them"
    help = near if found else "nothing is pending: `promptc test` writes what differs"
    return UsageError([Diagnostic("PC0943", f"no pending golden is `{pattern}`", help=help)])


def refuse_in_ci() -> None:
    """Raises `UsageError` (PC0944) where `CI` is set to anything but nothing, `0` or `false`."""
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        help = "accept it where you work, read the difference, and commit it"
        raise UsageError([Diagnostic("PC0944", "goldens are accepted by people, and `CI` is set", help=help)])
