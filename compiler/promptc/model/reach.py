"""Reach: a list whose oldest items go first is read only as far as the budget can hold (language.md §5).

Grants never exceed the total, so what lies beyond is removed in any case. That holds only while nothing but the eviction
of the oldest looks at the list; every other use is found here and the list is then read whole.
"""

from collections.abc import Iterable

from promptc.model.pack import Pack, Plan
from promptc.model.section import Section
from promptc.model.step import Continue, Drop, Evict, Step


def has_reach(section: Section, plan: Plan, pack: Pack) -> bool:
    """True when reading from the newest end up to the budget cannot change the prompt."""
    items = section.items
    if items is None or section.pinned or not section.overflow or not _is_plain_evict(section.overflow[0]):
        return False
    if items.sort or items.dedupe or items.limit_per or items.limit or items.group or items.message:
        return False
    if items.id is not None and any(("this", "id") in form.reads for form in items.forms):
        return False
    others: Iterable[Step] = (*plan.truncate, *(step for tier in (pack.strain.tiers if pack.strain else ()) for step in tier.do or ()))
    if any(step.section == section.id and not _is_harmless(step) for step in others):
        return False
    return not any(_looks_at(other, section.id) for other in plan.sections)


def _is_plain_evict(step: Step) -> bool:
    return isinstance(step, Evict) and not step.order and step.by is None and step.whole == "item" and step.marker is None


def _is_harmless(step: Step) -> bool:
    return isinstance(step, Continue | Drop) or _is_plain_evict(step)


def _looks_at(section: Section, name: str) -> bool:
    if any(path[:2] == ("selected", name) or path == ("selected",) for path in section.reads):
        return True
    dedupe = section.items.dedupe if section.items is not None else None
    return dedupe is not None and name in dedupe.against
