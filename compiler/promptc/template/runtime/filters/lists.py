"""Filters of lists and mappings (`FILTERS`), and all tests, which templates write after `is` (`TESTS`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from promptc.diag.findings import name_kind
from promptc.diag.typed import Any
from promptc.template.allow import COMPARING
from promptc.template.allow import FILTERS as FILTER_NAMES
from promptc.template.allow import TESTS as TEST_NAMES
from promptc.template.runtime.filters.table import Test, load_filter, load_test
from promptc.template.runtime.objects import Blank, Group, Missing, refuse
from promptc.template.runtime.run import (
    NUMBERS,
    SCALARS,
    UNDEFINED,
    Run,
    check_defined,
    is_large,
    list_values,
    pay_each,
    pay_keys,
    read_flag,
)
from promptc.template.runtime.values import Reader, add, bound_number, compare, contains, make_reader, make_readers, modulo, show

_SMALL = 255


def map_values(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Apply a filter to each element, `map('upper')`, or take a part of each, `map(attribute='name')`.
    An element without the part yields `default`.
    """
    if value:
        change = _make_change(run, args, kwargs)
        for element in pay_each(run, value, 3):
            yield change(element)


def _make_change(run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Reader:
    if not args and "attribute" in kwargs:
        return make_reader(run, kwargs["attribute"], kwargs.get("default"))
    change, rest = load_filter(args[0]), args[1:]
    return lambda element: change(run, element, *rest, **kwargs)


def select(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Keep the elements that pass a test. Without a test, keep those that are true."""
    return _choose(run, value, args, kwargs, by_part=False, wanted=True)


def reject(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Drop the elements that pass a test. Without a test, drop those that are true."""
    return _choose(run, value, args, kwargs, by_part=False, wanted=False)


def select_by_part(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Keep the elements whose part, such as `'age'`, passes a test. Without a test, keep those whose part is true."""
    return _choose(run, value, args, kwargs, by_part=True, wanted=True)


def reject_by_part(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Drop the elements whose part, such as `'age'`, passes a test. Without a test, drop those whose part is true."""
    return _choose(run, value, args, kwargs, by_part=True, wanted=False)


def _choose(run: Run, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, by_part: bool, wanted: bool) -> Iterator[Any]:
    if not value:
        return
    find = make_reader(run, args[0]) if by_part else None
    passes = _make_question(run, args[1:] if by_part else args, kwargs)
    for element in pay_each(run, value, 3):
        if passes(element if find is None else find(element)) is wanted:
            yield element


def _make_question(run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], bool]:
    if not args:
        return bool
    test, rest = load_test(args[0]), args[1:]
    if len(rest) == 1 and not kwargs:
        return _make_comparison(run, test, args[0], rest[0])
    return lambda value: test(run, value, *rest, **kwargs)


def _make_comparison(run: Run, test: Callable[..., bool], name: str, other: Any) -> Callable[[Any], bool]:
    """Return a test against one value. It compares numbers and short texts for equality directly."""
    if COMPARING.get(name) == "eq" and (other.__class__ in NUMBERS or (other.__class__ is str and len(other) < _SMALL)):
        return lambda value: value == other if value.__class__ in SCALARS else test(run, value, other)
    return lambda value: test(run, value, other)


def sort(run: Run, value: Any, reverse: Any = False, case_sensitive: bool = False, attribute: Any = None, times: bool = False) -> list[Any]:
    """Return the elements as a new sorted list. Equal elements keep their order.
    `attribute` names the part to sort by, or several parts with commas between them. Case matters only with `case_sensitive`. With `times`,
    the values are ISO 8601 texts, which sort as points in time.
    """
    values = list_values(run, value, 8)
    finds = make_readers(run, attribute)
    columns = [_list_stamps(run, values, find) if times else _list_keys(run, values, find, case_sensitive) for find in finds]
    keys = columns[0] if len(columns) == 1 and _is_simple(columns[0]) else [list(row) for row in zip(*columns, strict=True)]
    return [values[place] for place in sorted(range(len(values)), key=keys.__getitem__, reverse=read_flag(reverse))]


def _is_simple(keys: list[Any]) -> bool:
    """Return whether keys compare as one-element lists of them do.

    A comparison of lists does not order elements that are equal, so it also accepts equal elements that have no order.
    """
    kinds = {key.__class__ for key in keys}
    return kinds == {str} or kinds <= NUMBERS


def _list_keys(run: Run, values: Sequence[Any], find: Reader, case_sensitive: bool) -> list[Any]:
    keys = list(map(find, values))
    kinds = pay_keys(run, keys)
    if case_sensitive or str not in kinds:
        return keys
    return [key.lower() for key in keys] if len(kinds) == 1 else [key.lower() if key.__class__ is str else key for key in keys]


def _list_stamps(run: Run, values: Sequence[Any], find: Reader) -> list[Any]:
    from promptc.template.runtime.filters.values import count_stamp  # late: only `sort` with `times` needs that module

    return [count_stamp(run, find(value)) for value in values]


def sort_pairs(run: Run, value: Any, case_sensitive: bool = False, by: str = "key", reverse: Any = False) -> list[tuple[Any, Any]]:
    """Return the pairs of a mapping as a sorted list, by `'key'` or by `'value'`."""
    if value.__class__ is not dict:
        refuse("PC0414", f"`dictsort` takes a mapping, not {name_kind(value)}")
    run.take(1 + 8 * len(value))
    pairs = list(value.items())
    keys = _list_keys(run, pairs, (lambda pair: pair[0]) if by == "key" else (lambda pair: pair[1]), case_sensitive)
    return [pairs[place] for place in sorted(range(len(pairs)), key=keys.__getitem__, reverse=read_flag(reverse))]


def unique(run: Run, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Iterator[Any]:
    """Keep the first of several elements with the same value, or the same part `attribute`. Case matters only with `case_sensitive`."""
    find = make_reader(run, attribute)
    is_exact = bool(case_sensitive)  # an undefined value raises here even if there are no elements
    seen: set[Any] = set()
    for element in pay_each(run, value, 4):
        key = find(element)
        if key.__class__ is str:
            run.take(2 + (len(key) >> 3))
            key = key if is_exact else key.lower()
        else:
            pay_keys(run, (key,))
            if _may_collide(key):
                run.take(len(seen))
        if key not in seen:
            seen.add(key)
            yield element


def _may_collide(key: Any) -> bool:
    return any(map(_may_collide, key)) if isinstance(key, tuple) else is_large(key)


def choose_least(run: Run, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Any:
    """Return the smallest element, or with `attribute` the element whose part is the smallest. Of equal elements, return the first.
    The result is undefined if there are no elements.
    """
    return _choose_extreme(run, value, min, case_sensitive, attribute)


def choose_greatest(run: Run, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Any:
    """Return the largest element, or with `attribute` the element whose part is the largest. Of equal elements, return the first.
    The result is undefined if there are no elements.
    """
    return _choose_extreme(run, value, max, case_sensitive, attribute)


def _choose_extreme(run: Run, value: Any, choose: Callable[..., int], case_sensitive: bool, attribute: Any) -> Any:
    values = list_values(run, value, 8)
    if not values:
        name = choose.__name__
        return Missing(name, values, hint=f"what is empty has no `{name}`")
    keys = _list_keys(run, values, make_reader(run, attribute), case_sensitive)
    return values[choose(range(len(values)), key=keys.__getitem__)]


def group(run: Run, value: Any, attribute: Any, default: Any = None, case_sensitive: bool = False) -> list[Group]:
    """Group the elements by their part `attribute`, or by `default` if an element does not have the part.
    The result is a list of pairs, each a value of the part and the elements that share it, sorted by that value. Case matters only with
    `case_sensitive`.
    """
    values = list_values(run, value, 12)
    find = make_reader(run, attribute, default)
    keys = _list_keys(run, values, find, case_sensitive)
    groups: list[list[int]] = []
    for place in sorted(range(len(values)), key=keys.__getitem__):
        if groups and _is_same(keys[groups[-1][0]], keys[place]):
            groups[-1].append(place)
        else:
            groups.append([place])
    return [Group((find(values[places[0]]), [values[place] for place in places])) for places in groups]


def _is_same(left: Any, right: Any) -> bool:
    return left is right or bool(left == right)


def default(run: Run, value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    """Return the value, or `default_value` if the value is undefined. With `boolean`, also replace what is false, empty, zero or none."""
    if value.__class__ in UNDEFINED or (boolean and not value):
        return default_value
    return value


def first(run: Run, seq: Any) -> Any:
    """Return the first element. The result is undefined if there are no elements."""
    for value in seq:
        return value
    return Missing("first", seq, hint="what is empty has no first element")


def last(run: Run, seq: Any) -> Any:
    """Return the last element. The result is undefined if there are no elements."""
    if not hasattr(seq, "__len__"):
        refuse("PC0414", f"`last` takes a list, not {name_kind(seq)}", "add `| list`" if hasattr(seq, "__iter__") else "")
    for value in reversed(seq):
        return value
    return Missing("last", seq, hint="what is empty has no last element")


def count(run: Run, value: Any) -> int:
    """Count the elements of a list, the keys of a mapping or the characters of a text."""
    return len(value)


def to_list(run: Run, value: Any) -> list[Any]:
    """Return the elements, keys or characters as a new list."""
    return list(pay_each(run, value, 4))


def reverse(run: Run, value: Any) -> Any:
    """Reverse a text or a list. A reversed list makes its elements when they are read: add `| list` to print it."""
    if value.__class__ is str:
        run.make(len(value))
        return value[::-1]
    if hasattr(value, "__len__"):
        run.take(1)
        return reversed(value)
    if not hasattr(value, "__iter__"):
        refuse("PC0414", f"`reverse` takes a string or a list, not {name_kind(value)}")
    made = list(pay_each(run, value, 2))
    made.reverse()
    return made


def join(run: Run, value: Any, d: Any = "", attribute: Any = None) -> str:
    """Join the texts of the elements, with `d` between them. With `attribute`, join that part of each element."""
    values = pay_each(run, value, 2)
    if attribute is not None:
        values = map(make_reader(run, attribute), values)
    between = show(run, d)
    parts = [part if part.__class__ is str else show(run, part) for part in values]
    run.make(sum(map(len, parts)) + len(between) * len(parts))
    return between.join(parts)


def iter_pairs(run: Run, value: Any) -> Iterator[tuple[Any, Any]]:
    """Return the pairs of a mapping, for a loop. An undefined value has no pairs."""
    if value.__class__ is dict:
        return iter(value.items())
    if value.__class__ not in UNDEFINED:
        refuse("PC0414", f"`items` takes a mapping, not {name_kind(value)}")
    return iter(())


def batch(run: Run, value: Any, linecount: Any, fill_with: Any = None) -> Iterator[list[Any]]:
    """Split the elements into lists of `linecount` elements. The last list is filled up with `fill_with`, unless that is none."""
    held: list[Any] = []
    for element in pay_each(run, value, 3):
        if len(held) == linecount:
            yield held
            held = []
        held.append(element)
    if held:
        if fill_with is not None and len(held) < linecount:
            run.make(linecount - len(held))
            run.take(linecount - len(held) >> 1)
            held += [fill_with] * (linecount - len(held))
        yield held


def split_evenly(run: Run, value: Any, slices: Any, fill_with: Any = None) -> Iterator[list[Any]]:
    """Split the elements into `slices` lists. The first lists may have one element more than the others.
    Unless `fill_with` is none, it is appended to the others.
    """
    values = list_values(run, value, 2)
    size, longer = divmod(len(values), slices)
    start = 0
    for number in range(slices):
        stop = start + size + (number < longer)
        run.take(8 + (stop - start >> 1))
        part = list(values[start:stop])
        if fill_with is not None and number >= longer:
            part.append(fill_with)
        yield part
        start = stop


def sum_up(run: Run, iterable: Any, attribute: Any = None, start: Any = 0) -> Any:
    """Add the elements to `start`, one after the other. With `attribute`, add that part of each. The sum is the same on every machine."""
    values = pay_each(run, iterable, 1)
    if attribute is not None:
        values = map(make_reader(run, attribute), values)
    total = start
    for value in values:
        first, second = total.__class__, value.__class__
        total = total + value if first in NUMBERS and second in NUMBERS else add(run, total, value)
    return bound_number(run, total)


def is_odd(run: Run, value: Any) -> bool:
    """Return whether a number is odd."""
    return bool(modulo(run, value, 2) == 1)


def is_even(run: Run, value: Any) -> bool:
    """Return whether a number is even."""
    return bool(modulo(run, value, 2) == 0)


def is_divisible(run: Run, value: Any, num: Any) -> bool:
    """Return whether a number is divisible by `num`."""
    return bool(modulo(run, value, num) == 0)


def is_lower(run: Run, value: Any) -> bool:
    """Return whether a text has letters, and none of them is a capital."""
    text = show(run, value)
    run.take(1 + (len(text) >> 4))
    return text.islower()


def is_upper(run: Run, value: Any) -> bool:
    """Return whether a text has letters, and all of them are capitals."""
    text = show(run, value)
    run.take(1 + (len(text) >> 4))
    return text.isupper()


def is_sequence(run: Run, value: Any) -> bool:
    """Return whether the value has a length, and indexes or keys: a list, a text, a mapping or a range.

    As in Jinja, so does the result of an `if` without `else`.
    """
    kind = value.__class__
    return kind is Blank or (kind is not Missing and hasattr(value, "__len__") and hasattr(value, "__getitem__"))


def is_iterable(run: Run, value: Any) -> bool:
    """Return whether a `for` can iterate over the value."""
    try:
        iter(value)
    except TypeError:
        return False
    return True


def is_callable(run: Run, value: Any) -> bool:
    """Return whether the value can be called: a macro, a function, a joiner, but no value of the state.

    An undefined value passes, since it could have been any of these.
    """
    return callable(value) or value.__class__.__name__ in ("Macro", "BlockCall", "Clock", "HeldMethod")


def is_filter(run: Run, value: Any) -> bool:
    """Return whether the value is the name of a filter."""
    return _is_name(value, FILTER_NAMES)


def is_test(run: Run, value: Any) -> bool:
    """Return whether the value is the name of a test."""
    return _is_name(value, TEST_NAMES)


def _is_name(value: Any, names: frozenset[str]) -> bool:
    check_defined(value)
    return value.__class__ is str and value in names


def is_in(run: Run, value: Any, seq: Any) -> bool:
    """Return whether `seq` contains the value."""
    return contains(run, seq, value)


def _comparing(name: str) -> Test:
    def compares(run: Run, value: Any, other: Any, /) -> bool:
        return compare(run, name, value, other)

    return compares


def _of_kinds(*kinds: type | None) -> Test:
    known = frozenset(kinds)

    def is_of_kind(run: Run, value: Any) -> bool:
        return value.__class__ in known

    return is_of_kind


def _same(*values: bool | None) -> Test:
    def is_same(run: Run, value: Any) -> bool:
        return any(value is one for one in values)

    return is_same


TESTS: dict[str, Test] = {
    "odd": is_odd,
    "even": is_even,
    "divisibleby": is_divisible,
    "defined": lambda run, value: value.__class__ not in UNDEFINED,
    "undefined": _of_kinds(*UNDEFINED),
    "none": _same(None),
    "boolean": _of_kinds(bool),
    "true": _same(True),
    "false": _same(False),
    "integer": _of_kinds(int),
    "float": _of_kinds(float),
    "number": _of_kinds(*NUMBERS),
    "string": _of_kinds(str),
    "mapping": _of_kinds(dict),
    "lower": is_lower,
    "upper": is_upper,
    "sequence": is_sequence,
    "iterable": is_iterable,
    "callable": is_callable,
    "filter": is_filter,
    "test": is_test,
    **{name: _comparing(operator) for name, operator in COMPARING.items()},
    "in": is_in,
}
FILTERS: dict[str, Callable[..., Any]] = {
    "map": map_values,
    "select": select,
    "reject": reject,
    "selectattr": select_by_part,
    "rejectattr": reject_by_part,
    "sort": sort,
    "dictsort": sort_pairs,
    "unique": unique,
    "min": choose_least,
    "max": choose_greatest,
    "groupby": group,
    "default": default,
    "d": default,
    "first": first,
    "last": last,
    "length": count,
    "count": count,
    "list": to_list,
    "reverse": reverse,
    "join": join,
    "items": iter_pairs,
    "batch": batch,
    "slice": split_evenly,
    "sum": sum_up,
}
