"""The packs that a case is made of."""

import os

from promptc.diag.findings import PromptcError
from promptc.golden.cases.case import Case
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.model.messages import Ask

_ASKING = ("apply", "check")


def list_packs(case: Case, shelf: SuiteResources) -> tuple[str, ...]:
    """Its pack, and of a case that may ask them the packs of its operations' questions, as paths from the root, whether they can be
    loaded or not.
    """
    if case.kind not in _ASKING:
        return (case.pack,)
    with work_in(case.root):
        try:
            model = shelf.load_pack(case.root, case.pack).model
        except PromptcError:
            return (case.pack,)
        asks = [ask for one in model.list_operations() for ask in one.asks]
        return tuple(dict.fromkeys((case.pack, *(_find_file(ask, model.file) for ask in asks))))


def _find_file(ask: Ask, manifest: str) -> str:
    try:
        return ask.find_pack().file
    except PromptcError:
        return os.path.join(os.path.dirname(manifest), ask.pack)
