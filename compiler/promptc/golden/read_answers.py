"""The answers that a case gives to what an operation asks."""

import os
from collections.abc import Mapping

from promptc.files.reading import decode_text
from promptc.golden.cases.case import Case
from promptc.golden.find_home import show_path
from promptc.golden.read_plain import read_plain

_LONGEST = 1_000_000


def read_answers(case: Case) -> Mapping[str, str]:
    """The texts of the files that `apply: {answers}` names, by name. Raises `PromptcError` (PC0902, PC0903) for one that cannot be read."""
    answers: dict[str, str] = {}
    for name, file in case.asked.get("answers", {}).items():
        path = os.path.normpath(os.path.join(case.folder, file))
        shown = show_path(path, case.root)
        span = case.node.value["apply"].value["answers"].value[name].span
        answers[name] = decode_text(read_plain(path, shown, _LONGEST, span), shown)
    return answers
