"""`dedupe`, `sort`, `limit_per`, `limit` and `group`, in that order, over what was read (language.md §4)."""

from collections.abc import Callable, Mapping, Sequence

from promptc.diag.findings import fail
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.section import Dedupe, Items, Limit, LimitPer, SortKey, spell_key
from promptc.passes.items.read import Read
from promptc.passes.scope import evaluate_key, pay_text, type_key
from promptc.template.compile import Expression
from promptc.text.guard import normalize

Bind = Callable[[Read], Mapping[str, Any]]


@frozen(eq=False)
class Arranged:
    """The elements that remain, in order, their group keys, and what each stage left out."""

    items: tuple[Read, ...]
    keys: tuple[Any, ...]
    left_out: Mapping[str, int]


def arrange_items(items: Items, read: Sequence[Read], bind: Bind, against: Mapping[str, Sequence[Any]], section: str) -> Arranged:
    """`read` after the stages the section declares. `against` holds the author's data that earlier sections selected, by section."""
    left_out: dict[str, int] = {}
    kept = list(read)
    if items.dedupe is not None:
        kept = _count("dedupe", kept, _dedupe(items.dedupe, kept, bind, against, section), left_out)
    if items.sort:
        kept = _sort(items.sort, kept, bind, section)
    if items.limit_per is not None:
        kept = _count("limit_per", kept, _limit_per(items.limit_per, kept, bind, section), left_out)
    if items.limit is not None:
        kept = _count("limit", kept, _limit(items.limit, kept), left_out)
    if items.group is None:
        return Arranged(tuple(kept), (None,) * len(kept), left_out)
    return _group(items.group.by, kept, bind, section, left_out)


def find_dedupe_key(dedupe: Dedupe, names: Mapping[str, Any], section: str) -> str:
    """The text by which an element is held equal to others."""
    value = evaluate_key(dedupe.by, names, f"`dedupe.by` of `{section}`")
    text = "" if value is None else str(value)
    pay_text(names, text, dedupe.by.span, f"`dedupe` of `{section}`")
    return text if dedupe.exact else normalize(text)


def find_cap_name(limit: LimitPer, names: Mapping[str, Any], section: str) -> str:
    """The name of an element among `caps`."""
    return spell_key(evaluate_key(limit.by, names, f"`limit_per.by` of `{section}`"))


def _count(stage: str, before: list[Read], after: list[Read], left_out: dict[str, int]) -> list[Read]:
    if len(after) < len(before):
        left_out[stage] = len(before) - len(after)
    return after


def _dedupe(dedupe: Dedupe, read: list[Read], bind: Bind, against: Mapping[str, Sequence[Any]], section: str) -> list[Read]:
    met = {find_dedupe_key(dedupe, bind(Read(-1, -1, value)), section) for name in dedupe.against for value in against[name]}
    remaining: list[Read] = []
    for one in reversed(read) if dedupe.keep == "last" else read:
        text = find_dedupe_key(dedupe, bind(one), section)
        if text not in met:
            met.add(text)
            remaining.append(one)
    return remaining[::-1] if dedupe.keep == "last" else remaining


def _sort(keys: Sequence[SortKey], read: list[Read], bind: Bind, section: str) -> list[Read]:
    """By the last key first. Each sort is stable, the other way round as well."""
    ordered = read
    for key in reversed(keys):
        ranks = {one.place: _rank(key.by, bind(one), section) for one in ordered}
        kinds: tuple[list[Read], ...] = ([], [], [])
        for one in ordered:
            kinds[ranks[one.place][0]].append(one)
        ordered = [one for kind in kinds for one in sorted(kind, key=lambda one: ranks[one.place][1], reverse=key.desc)]
    return ordered


def _rank(by: Expression, names: Mapping[str, Any], section: str) -> tuple[int, Any]:
    """Numbers before text, none last; another kind is an error."""
    value = by.evaluate(names)
    if value is None:
        return 2, 0
    if isinstance(value, str):
        return 1, value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0, value
    raise fail("PC0513", f"`{section}` cannot sort by {show_value(value)}", by.span, help="sort by a number or a text")


def _limit_per(limit: LimitPer, read: list[Read], bind: Bind, section: str) -> list[Read]:
    room = dict(limit.caps)
    passing: list[Read] = []
    for one in read:
        name = find_cap_name(limit, bind(one), section)
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
