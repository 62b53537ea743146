"""Tool uses and their results: one unit for every stage and step (language.md §8)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

from promptc.diag.frozen import replace
from promptc.model.stages import Item

_Call = tuple[str, int]
"""An id, and how many calls of that id there were before."""

_Calls = tuple[frozenset[_Call], frozenset[_Call]]
"""What an item uses a tool for, and what it has results of."""

_KEYS = {"tool_use": "id", "tool_result": "tool_use_id"}


def join_units(items: Sequence[Item], read: Callable[[], Iterable[Item]], *, is_whole: bool) -> list[Item]:
    """`items` with a tool use and its results sharing a unit, and without those whose other half was left out by a stage.

    `read` gives all items the section looked at, in the order it looked; it is asked only when a use stands without its result, or an id
    stands for more than one of each. A use that has no result anywhere is a turn in progress and stays. So does a result that has no use
    anywhere, where `is_whole`: the section looked at all there is. Else its use is taken for one that was not looked at.
    """
    if not any(item.content for item in items):
        return list(items)
    look = cache(lambda: _look(list(read())))
    calls = _look(items)
    if _is_doubtful(items):
        calls = {item.id: look()[item.id] for item in items}
    kept = _drop_halves(items, calls, look, is_whole=is_whole)
    return list(_iter_joined(kept, calls))


def _drop_halves(
    items: Sequence[Item], calls: Mapping[str, _Calls], look: Callable[[], Mapping[str, _Calls]], *, is_whole: bool
) -> list[Item]:
    """Without the items whose other half is not there, and then without those that lose theirs by it; each is looked at once."""
    uses, results = ([calls[item.id][kind] for item in items] for kind in (0, 1))
    used, answered = Counter(chain(*uses)), Counter(chain(*results))
    holders: dict[_Call, list[int]] = {}
    for place in range(len(items)):
        for call in uses[place] | results[place]:
            holders.setdefault(call, []).append(place)

    @cache
    def find_answered() -> frozenset[tuple[str, str]]:
        """Item and id of every use that has a result among all items."""
        known = frozenset(chain(*(found for _, found in look().values())))
        return frozenset((name, call[0]) for name, (own, _) in look().items() for call in own & known)

    @cache
    def find_used() -> frozenset[str]:
        return frozenset(call[0] for own, _ in look().values() for call in own)

    def is_half(call: _Call) -> bool:
        if not used[call]:
            return bool(answered[call]) and (not is_whole or call[0] in find_used())
        return not answered[call] and any((items[place].id, call[0]) in find_answered() for place in holders[call])

    gone: set[int] = set()
    pending = list(holders)
    while pending:
        call = pending.pop()
        for place in holders[call] if is_half(call) else ():
            if place not in gone:
                gone.add(place)
                used.subtract(uses[place])
                answered.subtract(results[place])
                pending += uses[place] | results[place]
    return [item for place, item in enumerate(items) if place not in gone]


def _look(items: Sequence[Item]) -> dict[str, _Calls]:
    """The calls of each item, by its id. An id may begin anew once it was answered: then a result is of the last use before it, or of one
    that a window left out. An id that no second use has is one call, in whatever order.
    """
    again = _find_again(chain(*(_iter_halves(item) for item in items)))
    number: dict[str, int] = {}
    closed: set[str] = set()
    found: dict[str, _Calls] = {}
    for item in items:
        calls: tuple[set[_Call], set[_Call]] = (set(), set())
        for name, kind in _iter_halves(item):
            if kind:
                closed.add(name)
            elif name in closed and name in again:
                number[name] = number.get(name, 0) + 1
                closed.discard(name)
            calls[kind].add((name, number.get(name, 0)))
        found[item.id] = frozenset(calls[0]), frozenset(calls[1])
    return found


def _find_again(halves: Iterable[tuple[str, int]]) -> set[str]:
    """The ids that have two uses, or one between results."""
    uses: Counter[str] = Counter()
    early: set[str] = set()
    again: set[str] = set()
    for name, kind in halves:
        uses[name] += not kind
        if kind and not uses[name]:
            early.add(name)
        if uses[name] > 1 or (kind and uses[name] and name in early):
            again.add(name)
    return again


def _is_doubtful(items: Sequence[Item]) -> bool:
    """Whether an id has another use or result than one of each, a result after its use: which are of one call, all items tell."""
    halves = list(chain(*(_iter_halves(item) for item in items)))
    used: set[str] = set()
    for name, kind in halves:
        if kind and name not in used:
            return True
        if not kind:
            used.add(name)
    return len(halves) > len(set(halves))


def _iter_halves(item: Item) -> Iterator[tuple[str, int]]:
    """The ids of an item's parts, in order: 0 for those of uses, 1 for those of results."""
    for part in item.content or ():
        key = _KEYS.get(part.get("type", ""))
        if key is not None and part.get(key) is not None:
            yield str(part[key]), int(key == "tool_use_id")


def _iter_joined(items: Sequence[Item], calls: Mapping[str, _Calls]) -> Iterator[Item]:
    """Items that share a call, directly or through others, get the unit of the first of them."""
    unit_of: dict[_Call, int] = {}
    alias: dict[int, int] = {}

    def find(unit: int) -> int:
        while unit in alias:
            alias[unit] = alias.get(alias[unit], alias[unit])  # path halving
            unit = alias[unit]
        return unit

    for item in items:
        for call in sorted(frozenset.union(*calls[item.id])):
            one, other = find(unit_of.setdefault(call, item.unit)), find(item.unit)
            if one != other:
                alias[max(one, other)] = min(one, other)
    for item in items:
        yield replace(item, unit=find(item.unit)) if item.content else item
