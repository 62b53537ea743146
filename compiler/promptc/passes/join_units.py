"""Tool uses and their results: one unit for every stage and step (language.md §8)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain

from promptc.diag.frozen import replace
from promptc.model.stages import Item


def join_units(items: Sequence[Item], read: Callable[[], Iterable[Item]]) -> list[Item]:
    """`items` with a tool use and its results sharing a unit, and without those whose other half was left out by a stage.

    `read` gives all items the section looked at; it is asked only when a use stands without its result. A use that has no result
    anywhere is a turn in progress and stays.
    """
    if not any(item.content for item in items):
        return list(items)
    return list(_iter_joined(_drop_halves(items, read)))


def _drop_halves(items: Sequence[Item], read: Callable[[], Iterable[Item]]) -> list[Item]:
    """Without the items whose other half is not there, and then without those that lose theirs by it; each is looked at once."""
    uses = [frozenset(_iter_ids(item, "id")) for item in items]
    results = [frozenset(_iter_ids(item, "tool_use_id")) for item in items]
    used, answered = Counter(chain(*uses)), Counter(chain(*results))
    holders: dict[str, list[int]] = {}
    for place in range(len(items)):
        for name in uses[place] | results[place]:
            holders.setdefault(name, []).append(place)

    @cache
    def find_answered() -> frozenset[str]:
        return frozenset(name for item in read() for name in _iter_ids(item, "tool_use_id"))

    def is_half(name: str) -> bool:
        return bool(answered[name]) if not used[name] else not answered[name] and name in find_answered()

    gone: set[int] = set()
    pending = list(holders)
    while pending:
        name = pending.pop()
        for place in holders[name] if is_half(name) else ():
            if place not in gone:
                gone.add(place)
                used.subtract(uses[place])
                answered.subtract(results[place])
                pending += uses[place] | results[place]
    return [item for place, item in enumerate(items) if place not in gone]


def _iter_ids(item: Item, key: str) -> Iterator[str]:
    kind = "tool_use" if key == "id" else "tool_result"
    return (str(part[key]) for part in item.content or () if part.get("type") == kind and part.get(key) is not None)


def _iter_joined(items: Sequence[Item]) -> Iterator[Item]:
    """Items that share an id, directly or through others, get the unit of the first of them."""
    unit_of: dict[str, int] = {}
    alias: dict[int, int] = {}

    def find(unit: int) -> int:
        while unit in alias:
            alias[unit] = alias.get(alias[unit], alias[unit])  # path halving
            unit = alias[unit]
        return unit

    for item in items:
        for name in (*_iter_ids(item, "id"), *_iter_ids(item, "tool_use_id")):
            one, other = find(unit_of.setdefault(name, item.unit)), find(item.unit)
            if one != other:
                alias[max(one, other)] = min(one, other)
    for item in items:
        yield replace(item, unit=find(item.unit)) if item.content else item
