"""Where a case belongs: the folder it is run in, and its pack."""

import os
from functools import lru_cache

PACKS = "packs"
MANIFEST = "pack.yaml"
_REPOSITORY = ".git"
_SHORTENED = ("fixtures", PACKS)


@lru_cache(maxsize=4096)
def find_root(folder: str) -> str:
    """The folder in which the cases of `folder` (absolute) are run, and to which all that they show is relative.

    It is the nearest folder above the case that has a folder `packs`; where none has, the nearest above it with a `pack.yaml`, then the
    repository (`.git`), then the case's own folder.
    """
    above = _list_above(folder)
    for is_root in (_has_packs, _has_manifest, _is_repository):
        found = next((one for one in above if is_root(one)), None)
        if found is not None:
            return found
    return folder


def find_pack(folder: str, root: str) -> str:
    """The pack of the case in `folder`, where its file names none, as a path from `root`.

    It is the one beside the case; else the nearest above it, up to the root (`packs/lighthouse/cases/foggy`); else `packs/` with the name
    of the folder above the case (`fixtures/lighthouse/foggy`). Whether it is there is not asked.
    """
    for one in (folder, *_list_above(folder)):
        if os.path.isfile(f"{one}{os.sep}{MANIFEST}"):
            return show_path(one, root)
        if one == root:
            break
    return f"{PACKS}/{os.path.basename(os.path.dirname(folder))}"


def name_case(folder: str, root: str) -> str:
    """What the case is called: its folder from the root, without a leading `fixtures/` or `packs/`."""
    shown = show_path(folder, root)
    first, slash, rest = shown.partition("/")
    return rest if slash and first in _SHORTENED else shown


def show_path(path: str, root: str) -> str:
    """An absolute path as one from the root, with `/` between its parts."""
    if path.startswith(f"{root}{os.sep}"):
        return path[len(root) + 1 :].replace(os.sep, "/")
    return os.path.relpath(path, root).replace(os.sep, "/")


def _list_above(folder: str) -> tuple[str, ...]:
    """Every folder above it, the nearest first."""
    return _list_up(os.path.dirname(folder)) if os.path.dirname(folder) != folder else ()


@lru_cache(maxsize=4096)
def _list_up(folder: str) -> tuple[str, ...]:
    """The folder and every one above it."""
    return folder, *_list_above(folder)


@lru_cache(maxsize=4096)
def _has_packs(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, PACKS))


@lru_cache(maxsize=4096)
def _has_manifest(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, MANIFEST))


@lru_cache(maxsize=4096)
def _is_repository(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, _REPOSITORY))
