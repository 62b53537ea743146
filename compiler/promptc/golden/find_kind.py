"""From the file name of a golden to what it is of."""

import re

from promptc.golden.cases.case import GOLDENS

_TURN = re.compile(r"golden\.([1-9][0-9]*)\.")
_KINDS = {name: kind for kind, name in GOLDENS.items()}


def find_kind(name: str) -> tuple[str, int]:
    """The kind and the turn (0 but of a session's) of the golden with that file name; the opposite of `name_golden`. An empty kind where no
    golden is called so.
    """
    turn = _TURN.match(name)
    return _KINDS.get(_TURN.sub("golden.", name), ""), int(turn[1]) if turn is not None else 0
