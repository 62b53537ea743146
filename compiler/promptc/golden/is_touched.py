"""Whether a case is made of files that have changed."""

import os

from promptc.diag.findings import PromptcError
from promptc.golden.cases.case import Case
from promptc.golden.find_touched import Touched
from promptc.golden.list_files import list_files, list_stores, names_all
from promptc.golden.list_packs import list_packs
from promptc.golden.running.resources import SuiteResources, work_in


def is_touched(case: Case, shelf: SuiteResources, touched: Touched) -> bool:
    """Whether one of the files that are `touched` lies in the case's folder or its pack's, is one it names (a state, an answer, queries),
    one its stores are made of, or one its pack or the pack of a question is made of.

    A case that may be made of more than it names (a command line, circumstances) always counts as touched.
    """
    if not names_all(case):
        return True
    folders = (case.folder, *(os.path.realpath(one) for one in (os.path.join(case.root, case.pack), *list_stores(case))))
    return any(map(touched.has, (*folders, *map(os.path.realpath, list_files(case)), *_list_inputs(case, shelf))))


def _list_inputs(case: Case, shelf: SuiteResources) -> list[str]:
    """Of a pack that cannot be loaded none is known but those in its folder."""
    found: list[str] = []
    with work_in(case.root):
        for pack in list_packs(case, shelf):
            try:
                files = shelf.load_pack(case.root, pack).inputs.files
            except PromptcError:
                continue
            found += [os.path.realpath(os.path.join(case.root, one.folder, one.path)) for one in files]
    return found
