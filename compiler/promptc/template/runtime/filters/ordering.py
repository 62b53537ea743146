"""Filters that sort, group and compare the elements of a sequence, without regard to case where nothing else is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.access_path import Find, build_find, build_find_all
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.group import Group
from promptc.template.runtime.objects import Missing
from promptc.template.runtime.payments import NUMBERS, is_large, list_values, pay_each, pay_keys
from promptc.template.runtime.run import Run


def sort(run: Run, value: Any, reverse: Any = False, case_sensitive: bool = False, attribute: Any = None, times: bool = False) -> list[Any]:
    """A new list in order, equals as they stood; by what `attribute` names: one part, or several with commas between them.

    With `times`, all these are ISO 8601 texts and sort as the moments they tell.
    """
    values = list_values(run, value, 8)
    finds = build_find_all(run, attribute)
    columns = [_find_stamps(run, values, find) if times else _find_keys(run, values, find, case_sensitive) for find in finds]
    keys = columns[0] if len(columns) == 1 and _is_simple(columns[0]) else [list(row) for row in zip(*columns, strict=True)]
    return [values[place] for place in sorted(range(len(values)), key=keys.__getitem__, reverse=reverse)]


def _is_simple(keys: list[Any]) -> bool:
    """Whether keys compare as one-element lists of them would: Python compares lists whose elements have no order, if they are equal."""
    kinds = {key.__class__ for key in keys}
    return kinds == {str} or kinds <= NUMBERS


def _find_keys(run: Run, values: Sequence[Any], find: Find, case_sensitive: bool) -> list[Any]:
    keys = list(map(find, values))
    kinds = pay_keys(run, keys)
    if case_sensitive or str not in kinds:
        return keys
    return [key.lower() for key in keys] if len(kinds) == 1 else [_fold(key) for key in keys]


def _find_stamps(run: Run, values: Sequence[Any], find: Find) -> list[Any]:
    from promptc.template.runtime.filters.since import count_stamp

    return [count_stamp(run, find(value)) for value in values]


def _fold(key: Any) -> Any:
    return key.lower() if key.__class__ is str else key


def sort_pairs(run: Run, value: Any, case_sensitive: bool = False, by: str = "key", reverse: Any = False) -> list[tuple[Any, Any]]:
    """The pairs of a mapping in order, by "key" or by "value"."""
    if value.__class__ is not dict:
        refuse("PC0414", f"`dictsort` takes a mapping, not {name_kind(value)}")
    run.take(1 + 8 * len(value))
    pairs = list(value.items())
    keys = _find_keys(run, pairs, (lambda pair: pair[0]) if by == "key" else (lambda pair: pair[1]), case_sensitive)
    return [pairs[place] for place in sorted(range(len(pairs)), key=keys.__getitem__, reverse=reverse)]


def unique(run: Run, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Iterator[Any]:
    """The elements whose value, or part `attribute`, is met for the first time, when asked."""
    find = build_find(run, attribute)
    seen: set[Any] = set()
    for element in pay_each(run, value, 4):
        key = find(element)
        if key.__class__ is str:
            run.take(2 + (len(key) >> 3))
            key = key if case_sensitive else key.lower()
        else:
            pay_keys(run, (key,))
            if _may_collide(key):
                run.take(len(seen))
        if key not in seen:
            seen.add(key)
            yield element


def _may_collide(key: Any) -> bool:
    return any(map(_may_collide, key)) if isinstance(key, tuple) else is_large(key)


def find_least(run: Run, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Any:
    """The first of the smallest elements; undefined where there is none."""
    return _find_extreme(run, value, min, case_sensitive, attribute)


def find_greatest(run: Run, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Any:
    """The first of the largest elements; undefined where there is none."""
    return _find_extreme(run, value, max, case_sensitive, attribute)


def _find_extreme(run: Run, value: Any, choose: Callable[..., int], case_sensitive: bool, attribute: Any) -> Any:
    values = list_values(run, value, 8)
    if not values:
        name = choose.__name__
        return Missing(name, values, hint=f"what is empty has no `{name}`")
    keys = _find_keys(run, values, build_find(run, attribute), case_sensitive)
    return values[choose(range(len(values)), key=keys.__getitem__)]


def group(run: Run, value: Any, attribute: Any, default: Any = None, case_sensitive: bool = False) -> list[Group]:
    """The elements with the same part `attribute` (or `default`, where there is none) together: pairs of it and them, in its order."""
    values = list_values(run, value, 12)
    find = build_find(run, attribute, default)
    keys = _find_keys(run, values, find, case_sensitive)
    groups: list[list[int]] = []
    for place in sorted(range(len(values)), key=keys.__getitem__):
        if groups and _is_same(keys[groups[-1][0]], keys[place]):
            groups[-1].append(place)
        else:
            groups.append([place])
    return [Group((find(values[places[0]]), [values[place] for place in places])) for places in groups]


def _is_same(left: Any, right: Any) -> bool:
    return left is right or bool(left == right)


FILTERS: dict[str, Callable[..., Any]] = {
    "sort": sort,
    "dictsort": sort_pairs,
    "unique": unique,
    "min": find_least,
    "max": find_greatest,
    "groupby": group,
}
