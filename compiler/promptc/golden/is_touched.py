"""Whether a case is made of files that have changed."""

import os
from collections.abc import Iterator

from promptc.diag.errors import PromptcError
from promptc.golden.case import Case
from promptc.golden.list_inputs import list_inputs
from promptc.golden.shelf import Shelf, work_in


def is_touched(case: Case, shelf: Shelf, touched: frozenset[str]) -> bool:
    """Whether one of the files `touched` (absolute) lies in the case's folder or its pack's, is a state of it, a file its pack is made of,
    or one of those its stores are made of.
    """
    folders = (case.folder, os.path.join(case.root, case.pack), *_list_stores(case))
    if any(_is_inside(path, os.path.normpath(folder)) for path in touched for folder in folders):
        return True
    return not touched.isdisjoint(list_inputs(case)) or not touched.isdisjoint(_list_files(case, shelf))


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}{os.sep}")


def _list_stores(case: Case) -> Iterator[str]:
    for wanted in case.given.get("stores", {}).values():
        yield os.path.join(case.folder, wanted if isinstance(wanted, str) else wanted["from"])


def _list_files(case: Case, shelf: Shelf) -> list[str]:
    """Of a pack that cannot be loaded none is known but those in its folder."""
    try:
        with work_in(case.root):
            files = shelf.load_pack(case.root, case.pack).inputs.files
    except PromptcError:
        return []
    return [os.path.normpath(os.path.join(case.root, one.folder, one.path)) for one in files]
