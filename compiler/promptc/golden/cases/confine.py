"""The folder that a case may not leave, and whether a path stays in it (docs/trust.md, "Files")."""

import os
from pathlib import PureWindowsPath

from promptc.diag.findings import Span
from promptc.golden.case_error import CaseError, fail_case
from promptc.golden.find_home import find_root
from promptc.golden.history.git import find_repository

_HELP = "paths in a case lead to files of the same repository: `state.json`, `../base/state.json`, `packs/lighthouse`"

_REPOSITORY = "the repository"
_OWN_ROOT = "what the case may read"
_IN_HOME = (
    "the repository is your home folder (`HOME`), or holds it, and much else may lie there: a case stays in its own folder, or in the "
    "folder that is tested. Name one that holds all it needs (`promptc test .`), or set `HOME` to another folder, as a container may"
)


def find_fence(folder: str, top: str = "") -> str:
    """The folder (absolute, real) outside which the case in `folder` (absolute, real) names nothing: the nearest one at or above it that
    holds `.git`. Where none does, the case's root, or `top`, the folder in which cases were looked for, if that is further up.

    A home folder, and what is above one, is never found so: what lies side by side there belongs to many.
    """
    repository = find_repository(folder)
    if repository is not None and not _is_home(repository):
        return repository
    root = os.path.realpath(find_root(folder))
    found = folder if _is_home(root) or not is_under(folder, root) else root
    return top if top and is_under(found, top) else found


def confine(path: str, folder: str, fence: str, span: Span | None = None) -> str:
    """Where `path`, from `folder` (absolute), leads: absolute, as it is written. Raises `CaseError` (PC0750) where that is outside `fence`,
    by `..` or by a link on the way, whether there is anything or not; and for a path that other systems read otherwise.
    """
    why = find_fault(path, folder, fence)
    if why:
        repository = find_repository(folder)
        is_home = repository is not None and repository != fence and _is_home(repository)
        raise refuse_path(path, why.replace(_REPOSITORY, _OWN_ROOT) if is_home else why, span, help=_IN_HOME if is_home else _HELP)
    return os.path.normpath(os.path.join(folder, path))


def refuse_path(path: str, why: str, span: Span | None = None, *, help: str = _HELP) -> CaseError:
    """The error of a path that leads elsewhere."""
    return fail_case("PC0750", f"`{path}` {why}", span, help=help)


def find_fault(path: str, folder: str, fence: str) -> str:
    """What is wrong with a path that a case names, as the rest of a sentence about it; empty where it stays in `fence`."""
    if "\0" in path:
        return "holds a NUL character"
    if "\\" in path:
        return "has a backslash: write `/`"
    if path.startswith("/") or PureWindowsPath(path).drive:
        return "is not relative"
    written = os.path.join(folder, path)
    plain = os.path.normpath(written)
    try:
        reals = [os.path.realpath(one) for one in (written, plain)]  # they differ where `..` follows a link
    except (OSError, ValueError):
        return "is no path"
    if all(is_under(real, fence) for real in reals):
        return ""
    is_link = is_under(plain, fence)
    return f"is a link, or behind one, that leads out of {_REPOSITORY}" if is_link else f"leads out of {_REPOSITORY}"


def is_under(path: str, folder: str) -> bool:
    """Whether an absolute path is the folder or under it, as both are written."""
    return path == folder or path.startswith(folder if folder.endswith(os.sep) else f"{folder}{os.sep}")


def _is_home(folder: str) -> bool:
    """Whether it is the user's home folder or above it."""
    return is_under(os.path.realpath(os.path.expanduser("~")), folder)
