"""Whether one of two sections leaves out what the other has."""

from promptc.model.section import Section


def is_deduped(first: Section, second: Section) -> bool:
    """True where a `dedupe.against` of one names the other."""
    pairs = ((first, second), (second, first))
    return any(one.items is not None and one.items.dedupe is not None and other.id in one.items.dedupe.against for one, other in pairs)
