"""Tool uses and their results: one unit for every stage and step (language.md §8)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from promptc.model.stages import Item


def join_units(items: Sequence[Item], read: Callable[[], Iterable[Item]]) -> list[Item]:
    """`items` with a tool use and its results sharing a unit, and without those whose other half was left out by a stage.

    `read` gives all items the section looked at; it is asked only when a use stands without its result. A use that has no result
    anywhere is a turn in progress and stays.
    """
    if not any(item.content for item in items):
        return list(items)
    answered: set[str] | None = None
    kept = list(items)
    while True:
        uses = {name for item in kept for name in _iter_ids(item, "id")}
        results = {name for item in kept for name in _iter_ids(item, "tool_use_id")}
        if uses - results and answered is None:
            answered = {name for item in read() for name in _iter_ids(item, "tool_use_id")}
        orphans = (results - uses) | ((uses - results) & (answered or set()))
        if not orphans:
            return list(_iter_joined(kept))
        kept = [item for item in kept if orphans.isdisjoint((*_iter_ids(item, "id"), *_iter_ids(item, "tool_use_id")))]


def _iter_ids(item: Item, key: str) -> Iterator[str]:
    kind = "tool_use" if key == "id" else "tool_result"
    return (str(part[key]) for part in item.content or () if part.get("type") == kind and part.get(key) is not None)


def _iter_joined(items: Sequence[Item]) -> Iterator[Item]:
    """Items that share an id, directly or through others, get the unit of the first of them."""
    unit_of: dict[str, int] = {}
    alias: dict[int, int] = {}

    def find(unit: int) -> int:
        while unit in alias:
            unit = alias[unit]
        return unit

    for item in items:
        for name in (*_iter_ids(item, "id"), *_iter_ids(item, "tool_use_id")):
            first = find(unit_of.setdefault(name, item.unit))
            if first != find(item.unit):
                alias[find(item.unit)] = first
    for item in items:
        yield replace(item, unit=find(item.unit)) if item.content else item
