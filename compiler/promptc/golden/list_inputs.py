"""The files that a case names."""

import os
from collections.abc import Iterator

from promptc.golden.cases.case import Case
from promptc.golden.list_files import list_files, list_stores

_MOST = 10_000
"""Files of a folder that are listed; more than a store of segments has."""


def list_inputs(case: Case) -> list[str]:
    """Every file that the case's file names besides its pack, absolute, each once: states, answers, queries, the files of stores and the
    arguments of a command line that are files. Whether they are there is not asked, but of what stands for several.
    """
    return list(dict.fromkeys(_iter_files(case)))


def _iter_files(case: Case) -> Iterator[str]:
    yield from list_files(case)
    for path in list_stores(case):
        yield from _walk(path)
    if case.kind == "run":
        found = (os.path.normpath(os.path.join(case.root, argument)) for argument in case.asked if not argument.startswith("-"))
        yield from (path for path in found if path.startswith(f"{case.root}{os.sep}") and os.path.isfile(path))


def _walk(path: str) -> Iterator[str]:
    """The file, or the files in a folder, sorted; links are not followed."""
    if not os.path.isdir(path):
        yield path
        return
    left = _MOST
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names)[:left]:
            left -= 1
            yield os.path.normpath(os.path.join(folder, name))
