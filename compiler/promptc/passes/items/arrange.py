"""The stages between reading items and rendering them (contract.md §4).

`arrange_items` drops duplicates, sorts, limits and groups; `name_items` assigns each item a unique id. `join_units` joins a tool's use and
its results to one unit, for every later step (contract.md §8).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

from promptc.diag.findings import fail, show_value
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.model.media import split_counted
from promptc.model.section import Dedupe, Items, Limit, LimitPer, SortKey, spell_key
from promptc.model.stages import Item
from promptc.passes.bind import evaluate_key, pay_text, type_key
from promptc.passes.items.read import Read
from promptc.passes.items.render import SIGNED, count_beyond, render_part
from promptc.template.compile import Expression
from promptc.text.characters import normalize
from promptc.text.counters.counter import Meter

_Call = tuple[str, int]
"""A call: an id, and how many calls with that id came before it."""

_Calls = tuple[frozenset[_Call], frozenset[_Call]]
"""The calls that an item makes, and those that it has results of."""

_KEYS = {"tool_use": "id", "tool_result": "tool_use_id"}
Bind = Callable[[Read], Mapping[str, Any]]


@frozen(eq=False)
class Arranged:
    """The elements that remain, in order, their group keys, and how many each stage left out."""

    items: tuple[Read, ...]
    keys: tuple[Any, ...]
    left_out: Mapping[str, int]


def arrange_items(
    items: Items,
    read: Sequence[Read],
    bind: Bind,
    against: Mapping[str, Sequence[Any]],
    section: str,
    standing: Sequence[Read] = (),
) -> Arranged:
    """Return the elements of `read` after the stages that the section declares.

    `against` has, by section, the author's data that earlier sections selected. `standing` are the elements kept in place by `freeze`: no
    stage removes them, and they come first, in this order.
    """
    left_out: dict[str, int] = {}
    lost: dict[int, str] = {}
    stands = {one.place for one in standing}
    kept = list(read)

    def pass_on(stage: str, after: list[Read]) -> list[Read]:
        if len(after) < len(kept):
            remaining = {one.place for one in after}
            lost.update((one.place, stage) for one in kept if one.place not in remaining)
            count = sum(1 for one in kept if one.place not in remaining and one.place not in stands)
            left_out.update({stage: count} if count else {})
        return after

    late = items.freeze.late if items.freeze is not None else None
    if late is not None and stands:
        kept = pass_on("freeze", [one for one in kept if one.place > max(stands) or one.place in stands or late.evaluate(bind(one))])
    if items.dedupe is not None:
        kept = pass_on("dedupe", _dedupe(items.dedupe, kept, bind, against, section, standing))
    if items.sort:
        kept = _sort(items.sort, kept, bind, section)
    if items.limit_per is not None:
        kept = pass_on("limit_per", _limit_per(items.limit_per, kept, bind, section))
    if items.limit is not None:
        kept = pass_on("limit", _limit(items.limit, kept))
    if items.freeze is not None:
        held = [replace(one, held=lost[one.place]) if one.place in lost else one for one in standing]
        kept = [*held, *(one for one in kept if one.place not in stands)]
    if items.group is None:
        return Arranged(tuple(kept), (None,) * len(kept), left_out)
    return _group(items.group.by, kept, bind, section, left_out)


def _dedupe(
    dedupe: Dedupe, read: list[Read], bind: Bind, against: Mapping[str, Sequence[Any]], section: str, standing: Sequence[Read]
) -> list[Read]:
    met = {make_dedupe_key(dedupe, bind(Read(-1, -1, value)), section) for name in dedupe.against for value in against[name]}
    met.update(make_dedupe_key(dedupe, bind(one), section) for one in standing)
    stands = {one.place for one in standing}
    remaining: list[Read] = []
    for one in reversed(read) if dedupe.keep == "last" else read:
        if one.place in stands:
            remaining.append(one)
            continue
        text = make_dedupe_key(dedupe, bind(one), section)
        if text not in met:
            met.add(text)
            remaining.append(one)
    return remaining[::-1] if dedupe.keep == "last" else remaining


def _sort(keys: Sequence[SortKey], read: list[Read], bind: Bind, section: str) -> list[Read]:
    """Sort by the last key first. Every sort is stable, also a descending one."""
    ordered = read
    for key in reversed(keys):
        ranks = {one.place: _rank(key.by, bind(one), section) for one in ordered}
        kinds: tuple[list[Read], ...] = ([], [], [])
        for one in ordered:
            kinds[ranks[one.place][0]].append(one)
        ordered = [one for kind in kinds for one in sorted(kind, key=lambda one: ranks[one.place][1], reverse=key.desc)]
    return ordered


def _rank(by: Expression, names: Mapping[str, Any], section: str) -> tuple[int, Any]:
    """Return a sort key that orders numbers before text and None last. Raises PC0513 for any other kind."""
    value = by.evaluate(names)
    if value is None:
        return 2, 0
    if isinstance(value, str):
        return 1, value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0, value
    raise fail("PC0513", f"`{section}` cannot sort by {show_value(value)}", by.span, help="sort by a number or a string")


def _limit_per(limit: LimitPer, read: list[Read], bind: Bind, section: str) -> list[Read]:
    room = dict(limit.caps)
    passing: list[Read] = []
    for one in read:
        name = make_cap_name(limit, bind(one), section)
        if one.kept or name not in room:
            passing.append(one)
        elif room[name] > 0:
            room[name] -= 1
            passing.append(one)
    return passing


def _limit(limit: Limit, read: list[Read]) -> list[Read]:
    ordinary = [one for one in read if not one.kept]
    chosen = ordinary[: limit.count] if limit.side == "first" else ordinary[max(0, len(ordinary) - limit.count) :]
    places = {one.place for one in chosen}
    return [one for one in read if one.kept or one.place in places]


def _group(by: Expression, read: list[Read], bind: Bind, section: str, left_out: Mapping[str, int]) -> Arranged:
    groups: dict[Any, list[Read]] = {}
    for one in read:
        groups.setdefault(type_key(evaluate_key(by, bind(one), f"`group.by` of `{section}`")), []).append(one)
    return Arranged(
        items=tuple(one for members in groups.values() for one in members),
        keys=tuple(key[1] for key, members in groups.items() for _ in members),
        left_out=left_out,
    )


def make_dedupe_key(dedupe: Dedupe, names: Mapping[str, Any], section: str) -> str:
    """Return the text by which an element counts as equal to others."""
    value = evaluate_key(dedupe.by, names, f"`dedupe.by` of `{section}`")
    text = "" if value is None else str(value)
    pay_text(names, text, dedupe.by.span, f"`dedupe` of `{section}`")
    return text if dedupe.exact else normalize(text)


def make_cap_name(limit: LimitPer, names: Mapping[str, Any], section: str) -> str:
    """Return the name of an element among the `caps` of `limit_per`."""
    return spell_key(evaluate_key(limit.by, names, f"`limit_per.by` of `{section}`"))


def make_id(items: Items, read: Read, bind: Bind, section: str) -> str:
    """Return the id of an item before it is compared with others: its `id` expression, or else its number."""
    value = evaluate_key(items.id, bind(read), f"`id` of `{section}`") if items.id is not None else None
    return str(read.number) if value is None else spell_key(value)


def name_items(pairs: Iterable[tuple[Read, str]]) -> tuple[dict[int, str], dict[str, str]]:
    """Return unique ids by place, and for every repeated name the id of its second item, in the source's order.

    The first item of a name keeps it. Later ones get `#2`, `#3` and so on, skipping names that other items already have.
    """
    ordered = sorted(pairs, key=lambda pair: pair[0].place)
    taken = {name for _, name in ordered}
    met: dict[str, int] = {}
    again: dict[str, str] = {}
    ids: dict[int, str] = {}
    for read, name in ordered:
        if name not in met:
            met[name], ids[read.place] = 1, name
            continue
        met[name] += 1
        while f"{name}#{met[name]}" in taken:
            met[name] += 1
        ids[read.place] = f"{name}#{met[name]}"
        taken.add(ids[read.place])
        again.setdefault(name, ids[read.place])
    return ids, again


def join_units(items: Sequence[Item], read: Callable[[], Iterable[Item]], *, is_whole: bool) -> list[Item]:
    """Return `items` with a tool use and its results sharing a unit, without items whose other half was left out by a stage.

    `read` returns all items the section looked at, in that order. It is called only if a use is without its result, or if an id has more
    than one use or result. A use that has no result anywhere is a turn in progress and stays. A result that has no use anywhere also stays
    if `is_whole`, that is, if the section looked at everything. If not, its use is assumed to be an item that was not looked at, and the
    result is dropped.
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
    """Drop the items whose other half is missing, then those that lose theirs as a consequence. Each item is visited once."""
    uses, results = ([calls[item.id][kind] for item in items] for kind in (0, 1))
    used, answered = Counter(chain(*uses)), Counter(chain(*results))
    holders: dict[_Call, list[int]] = {}
    for place in range(len(items)):
        for call in uses[place] | results[place]:
            holders.setdefault(call, []).append(place)

    @cache
    def list_answered() -> frozenset[tuple[str, str]]:
        """Return the item id and call id of every use that has a result among all items."""
        known = frozenset(chain(*(found for _, found in look().values())))
        return frozenset((name, call[0]) for name, (own, _) in look().items() for call in own & known)

    @cache
    def list_used() -> frozenset[str]:
        return frozenset(call[0] for own, _ in look().values() for call in own)

    def is_half(call: _Call) -> bool:
        if not used[call]:
            return bool(answered[call]) and (not is_whole or call[0] in list_used())
        return not answered[call] and any((items[place].id, call[0]) in list_answered() for place in holders[call])

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
    """Return the calls of each item, by its id.

    An id may be reused once it was answered: a result then belongs to the last use before it, or to a use that a window left out. An id
    without a second use is one call, in whatever order.
    """
    again = _list_again(chain(*(_iter_halves(item) for item in items)))
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


def _list_again(halves: Iterable[tuple[str, int]]) -> set[str]:
    """Return the ids that have two uses, or a use between results."""
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
    """Return whether an id has anything but one use and one result after it, in which case only all items show which belong together."""
    halves = list(chain(*(_iter_halves(item) for item in items)))
    used: set[str] = set()
    for name, kind in halves:
        if kind and name not in used:
            return True
        if not kind:
            used.add(name)
    return len(halves) > len(set(halves))


def _iter_halves(item: Item) -> Iterator[tuple[str, int]]:
    """Yield the call id of each part, in order, with 0 for a use and 1 for a result."""
    yield from filter(None, map(_find_half, item.content or ()))


def _find_half(part: Mapping[str, Any]) -> tuple[str, int] | None:
    key = _KEYS.get(part.get("type", ""))
    return (str(part[key]), int(key == "tool_use_id")) if key is not None and part.get(key) is not None else None


def list_calls(items: Sequence[Item]) -> list[str]:
    """Return the ids of a unit's tool calls, in order, if each may be removed without the others; else an empty list.

    Each use must have one result after it, and the messages must contain no thinking, which a provider signed in its place before these
    uses.
    """
    halves = list(chain(*(_iter_halves(item) for item in items)))
    used, answered = ([name for name, kind in halves if kind == half] for half in (0, 1))
    is_signed = any(part.get("type") in SIGNED for item in items for part in item.content or ())
    return [] if is_signed or _is_doubtful(items) or len(used) != len(answered) else used


def has_call(item: Item, id: str) -> bool:
    """Return whether the message has the use or the result of that id."""
    return any(name == id for name, _ in _iter_halves(item))


def leave_out_call(item: Item, id: str, meter: Meter) -> Item | None:
    """Return the message without the use or the result of that id, or None if nothing is left of it."""
    content = item.content or ()
    left = [pair for pair in zip(content, split_counted(content, item.media), strict=True) if _find_half(pair[0]) not in ((id, 0), (id, 1))]
    if not left:
        return None
    parts, media = tuple(part for part, _ in left), tuple(chain(*(counted for _, counted in left)))
    text = "\n".join(map(render_part, parts))
    return replace(item, raw=text, text=text, content=parts, media=media, beyond=count_beyond(parts, media, text, meter))


def _iter_joined(items: Sequence[Item], calls: Mapping[str, _Calls]) -> Iterator[Item]:
    """Yield the items; those that share a call, directly or through others, get the unit of the first of them."""
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
