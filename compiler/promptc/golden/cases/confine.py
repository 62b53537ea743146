"""The place of a case, and the paths that it may name: none that leads out of its fence (docs/explanation/trust.md, "Files").

`choose_root` returns the folder in which a case is run, `choose_fence` the one that it must not leave. `confine` checks one path against
the fence, `confine_case` all paths that a case names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath, PureWindowsPath

from promptc.diag.findings import Span
from promptc.golden.cases.case import Case, CaseError, fail_case
from promptc.golden.git import find_repository
from promptc.model.pack import MANIFEST
from promptc.model.state import Node

_MADE = ("large", "database", "held", "locked")
"""The keys of `given` that name files in the case's folder."""

_HELP = "paths in a case lead to files of the same repository: `state.json`, `../base/state.json`, `packs/lighthouse`"
_REPOSITORY = "the repository"
_OWN_ROOT = "what the case may read"
_IN_HOME = (
    "the repository is your home folder (`HOME`), or holds it, and much else may lie there: a case stays in its own folder, or in the "
    "folder that is tested. Name one that holds all it needs (`promptc test .`), or set `HOME` to another folder, as a container may"
)
PACKS = "packs"
_REPOSITORY_MARK = ".git"
_SHORTENED = ("fixtures", PACKS)
_UNFIT = re.compile(r"[\x00\\:]")


@lru_cache(maxsize=4096)
def choose_root(folder: str) -> str:
    """Return the folder in which the cases of `folder` (absolute) are run, and to which all paths that they show are relative.

    It is the nearest folder above the case with a folder `packs`, or else the nearest above it with a `pack.yaml`, or else the repository
    (`.git`), or else the case's own folder.
    """
    above = _list_above(folder)
    for is_root in (_has_packs, _has_manifest, _is_repository):
        found = next((one for one in above if is_root(one)), None)
        if found is not None:
            return found
    return folder


def _list_above(folder: str) -> tuple[str, ...]:
    """Return every folder above a folder, the nearest first."""
    return _list_up(os.path.dirname(folder)) if os.path.dirname(folder) != folder else ()


@lru_cache(maxsize=4096)
def _list_up(folder: str) -> tuple[str, ...]:
    """Return a folder and every folder above it."""
    return folder, *_list_above(folder)


@lru_cache(maxsize=4096)
def _has_packs(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, PACKS))


@lru_cache(maxsize=4096)
def _has_manifest(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, MANIFEST))


@lru_cache(maxsize=4096)
def _is_repository(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, _REPOSITORY_MARK))


def locate_pack(pack: str, root: str = "") -> str:
    """Return the real path of a pack, relative to `root` or to the working folder: its folder, or its file if that is not a `pack.yaml`."""
    return os.path.realpath(os.path.join(root, pack)).removesuffix(f"{os.sep}{MANIFEST}")


def choose_pack(folder: str, root: str) -> str:
    """Return the pack of the case in `folder`, if its file names none, as a path from `root`.

    It is the pack next to the case, or else the nearest above it, up to the root (`packs/lighthouse/cases/foggy`), or else the pack in
    `packs/` with the name of the folder above the case (`fixtures/lighthouse/foggy`), whether or not that exists.
    """
    for one in (folder, *_list_above(folder)):
        if os.path.isfile(f"{one}{os.sep}{MANIFEST}"):
            return show_path(one, root)
        if one == root:
            break
    return f"{PACKS}/{os.path.basename(os.path.dirname(folder))}"


def name_case(folder: str, root: str) -> str:
    """Return the name of the case: its folder from the root, without a leading `fixtures/` or `packs/`."""
    shown = show_path(folder, root)
    first, slash, rest = shown.partition("/")
    return rest if slash and first in _SHORTENED else shown


def show_path(path: str, root: str) -> str:
    """Return an absolute path as a path from the root, with `/` between its parts."""
    if path.startswith(f"{root}{os.sep}"):
        return path[len(root) + 1 :].replace(os.sep, "/")
    return os.path.relpath(path, root).replace(os.sep, "/")


def choose_fence(folder: str, top: str = "") -> str:
    """Return the folder (absolute, real) outside which the case in `folder` (absolute, real) must not name anything.

    It is the nearest folder at or above the case that contains `.git`. Without one it is the case's root, or `top`, the folder in which
    cases were searched, if that is further up. A home folder, or a folder above one, is never chosen as a repository or a root: its folders
    belong to many.
    """
    repository = find_repository(folder)
    if repository is not None and not _is_home(repository):
        return repository
    root = os.path.realpath(choose_root(folder))
    found = folder if _is_home(root) or not is_under(folder, root) else root
    return top if top and is_under(found, top) else found


def _is_home(folder: str) -> bool:
    """Return whether a folder is the user's home folder or above it."""
    return is_under(os.path.realpath(os.path.expanduser("~")), folder)


def confine(path: str, folder: str, fence: str, span: Span | None = None) -> str:
    """Return the absolute path of `path`, relative to `folder` (absolute), without resolving links.

    Raises `CaseError` (PC0750) if it leads out of `fence`, by `..` or by a link on the way, whether or not anything is there, and for a
    path that other systems read differently.
    """
    why = find_fault(path, folder, fence)
    if why:
        repository = find_repository(folder)
        is_home = repository is not None and repository != fence and _is_home(repository)
        raise refuse_path(path, why.replace(_REPOSITORY, _OWN_ROOT) if is_home else why, span, help=_IN_HOME if is_home else _HELP)
    return os.path.normpath(os.path.join(folder, path))


def find_fault(path: str, folder: str, fence: str) -> str | None:
    """Return what is wrong with a path that a case names, as the rest of a sentence about it, or None if the path stays in `fence`."""
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
        return None
    is_link = is_under(plain, fence)
    return f"is or goes through a link that leads out of {_REPOSITORY}" if is_link else f"leads out of {_REPOSITORY}"


def confine_case(case: Case) -> None:
    """Raise `CaseError` (PC0750) for the first path of the case that leads out of its fence.

    A command line (`run`) is checked when it is parsed as a command line.
    """
    confine_pack(case, case.root, case.fence)
    for path, span in (*_iter_states(case), *_iter_asked(case), *_iter_given(case)):
        confine(path, case.folder, case.fence, span)


def _iter_states(case: Case) -> Iterator[tuple[str, Span]]:
    nodes = {"render": ("state",), "session": ("states",), "apply": ("apply", "state"), "recall": ("recall", "state")}
    node: Node | None = case.node if case.kind in nodes else None
    for key in nodes.get(case.kind, ()):
        node = node.get(key) if node is not None else None
    for one in () if node is None else node.value if case.kind == "session" else (node,):
        base = one.get("base") if isinstance(one.value, dict) else one
        if base is not None:
            yield str(base.value), base.span


def _iter_asked(case: Case) -> Iterator[tuple[str, Span]]:
    if case.kind == "recall":
        queries = case.node.value["recall"].value["queries"]
        yield str(queries.value), queries.span
    answers = case.node.value["apply"].get("answers") if case.kind == "apply" else None
    for one in answers.value.values() if answers is not None else ():
        yield str(one.value), one.span


def _iter_given(case: Case) -> Iterator[tuple[str, Span]]:
    wanted = case.node.get("given")
    for kind, node in wanted.value.items() if wanted is not None else ():
        if kind == "stores":
            yield from _iter_stores(node)
        elif kind in (*_MADE, "link", "built"):
            names = node.value if isinstance(node.value, dict) else [one.value for one in node.value]
            yield from ((str(name), node.span) for name in names)


def _iter_stores(stores: Node) -> Iterator[tuple[str, Span]]:
    for one in stores.value.values():
        files = one.value["from"] if isinstance(one.value, dict) else one
        yield str(files.value), files.span


def confine_pack(case: Case, root: str, fence: str) -> None:
    """Raise `CaseError` (PC0750) if the folder of the case's pack, relative to `root`, or the manifest in it is outside `fence`."""
    named = case.node.get("pack")
    span = named.span if named is not None else case.node.span
    found = confine(case.pack, root, fence, span)
    confine(MANIFEST, found, fence, span)


def confine_copy(case: Case, root: str) -> None:
    """Check that no link in a copy of the case, under `root`, leads out of it.

    A link that the case asks for is refused (PC0750); any other is removed.
    """
    for name, target in case.given.get("link", {}).items():
        path = os.path.join(root, os.path.relpath(case.folder, case.root), name)
        if os.path.isabs(target) or not is_under(os.path.realpath(path), root):
            span = case.node.value["given"].value["link"].value[name].span
            raise refuse_path(target, "leads out of the case's copy", span)
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            if os.path.islink(path) and not is_under(os.path.realpath(path), root):
                os.unlink(path)


def refuse_path(path: str, why: str, span: Span | None = None, *, help: str = _HELP) -> CaseError:
    """Return the error for a path that is not allowed."""
    return fail_case("PC0750", f"`{path}` {why}", span, help=help)


def is_under(path: str, folder: str) -> bool:
    """Return whether an absolute path is the folder or under it, as both are written."""
    return path == folder or path.startswith(folder if folder.endswith(os.sep) else f"{folder}{os.sep}")


def is_inside(path: str) -> bool:
    """Return whether a path from a root stays in it, by its text."""
    pure = PurePosixPath(path)
    return bool(path) and not pure.is_absolute() and not _UNFIT.search(path) and ".." not in pure.parts
