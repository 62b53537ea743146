"""Where a section's list comes from, when that can be told."""

import re

from promptc.check.state_shape import StateShape
from promptc.model.pack import Pack
from promptc.model.section import Section
from promptc.template.load_expression import Expression

_PLAIN = re.compile(r"\s*state((?:\.[A-Za-z_]\w*)+)\s*")
_SLICE = re.compile(r"\[(?:\d*:\d+|-\d+:)\]")


def find_source(section: Section) -> tuple[str, ...] | None:
    """The path under the state whose list the section's items are (`state.a.b` alone), or None."""
    found = _PLAIN.fullmatch(section.items.source.text) if section.items is not None else None
    return tuple(found[1].split(".")[1:]) if found is not None else None


def is_bounded(source: Expression, pack: Pack) -> bool:
    """True when the list is cut to a number of elements, or the state's schema bounds everything it is made of."""
    if _SLICE.fullmatch("".join(source.text[source.text.rfind("[") :].split())):
        return True
    shape = StateShape(pack.schema) if pack.schema is not None else None
    lets = {let.name: let.value for let in pack.lets}
    for path in source.reads:
        value = lets.get(path[0])
        if isinstance(value, Expression) and is_bounded(value, pack):
            continue
        if path[0] in ("variant", "strain", "section", "selected"):
            continue
        if path[0] != "state" or len(path) < 2 or shape is None or not shape.is_bounded(path[1:]):
            return False
    return True
