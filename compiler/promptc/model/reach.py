"""Reach: a list whose oldest items go first is read only as far as the budget can hold (language.md §5).

Grants never exceed the total, so what lies beyond is removed in any case. That holds only while nothing but the eviction
of the oldest looks at the list; every other use is found here and the list is then read whole.
"""

from collections.abc import Iterable, Iterator

from promptc.model.pack import PackModel, Plan
from promptc.model.section import Items, Section
from promptc.model.step import Continue, Drop, Evict, Step, iter_code


def has_reach(section: Section, plan: Plan, pack: PackModel) -> bool:
    """True when reading from the newest end up to the budget cannot change the prompt."""
    items = section.items
    if items is None or section.pinned or not section.overflow or not _is_plain_evict(section.overflow[0]):
        return False
    if items.sort or items.dedupe or items.limit_per or items.limit or items.group or items.message or _shows_ids(items):
        return False
    others = [step for step in _iter_shared_steps(plan, pack) if step.section == section.id]
    if not all(map(_is_harmless, others)) or any(_counts_removed(step) for step in section.overflow):
        return False
    if pack.strain is not None and section.id in (name for name, _ in pack.strain.watch):
        return False
    against = (name for other in plan.sections if other.items and other.items.dedupe for name in other.items.dedupe.against)
    return section.id not in against and not _is_counted(section.id, plan, pack)


def _is_plain_evict(step: Step) -> bool:
    return isinstance(step, Evict) and not step.order and step.by is None and step.whole == "item" and step.marker is None


def _is_harmless(step: Step) -> bool:
    return isinstance(step, Continue | Drop) or _is_plain_evict(step)


def _counts_removed(step: Step) -> bool:
    return isinstance(step, Evict) and step.marker is not None


def _shows_ids(items: Items) -> bool:
    """True when an item's text holds its id, which may end in `#2` because of an older item."""
    texts = (*items.forms, *((items.fence.open, items.fence.close) if items.fence else ()))
    return (items.id is not None or items.number is not None) and any({("this",), ("this", "id")} & text.reads for text in texts)


def _iter_shared_steps(plan: Plan, pack: PackModel) -> Iterator[Step]:
    yield from plan.truncate
    for tier in pack.strain.tiers if pack.strain else ():
        yield from tier.do or ()


def _is_counted(name: str, plan: Plan, pack: PackModel) -> bool:
    """True when anything reads how many items the section selected."""
    steps = (*_iter_shared_steps(plan, pack), *(step for section in plan.sections for step in section.overflow))
    reads: Iterable[frozenset[tuple[str, ...]]] = (
        *(section.reads for section in plan.sections),
        *(code.reads for step in steps for code in iter_code(step)),
    )
    return any(path == ("selected",) or path[:2] == ("selected", name) for paths in reads for path in paths)
