"""Filters that go over a sequence with another filter or a test. All make their elements only when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from promptc.diag.typed import Any
from promptc.template.runtime.access_path import Find, build_find
from promptc.template.runtime.payments import NUMBERS, SCALARS, pay_each
from promptc.template.runtime.run import Run


def map_values(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """`map('upper')`: each element by a filter; `map(attribute='name')`: that part of each, or `default` where there is none."""
    if value:
        change = _find_change(run, args, kwargs)
        for element in pay_each(run, value, 3):
            yield change(element)


def _find_change(run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Find:
    if not args and "attribute" in kwargs:
        return build_find(run, kwargs["attribute"], kwargs.get("default"))
    from promptc.template.runtime.filters.table import find_filter

    change, rest = find_filter(args[0]), args[1:]
    return lambda element: change(run, element, *rest, **kwargs)


def select(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """The elements that pass a test, or that are true."""
    return _choose(run, value, args, kwargs, by_part=False, wanted=True)


def reject(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """The elements that do not."""
    return _choose(run, value, args, kwargs, by_part=False, wanted=False)


def select_by_part(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """The elements of which a part passes a test, or is true."""
    return _choose(run, value, args, kwargs, by_part=True, wanted=True)


def reject_by_part(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """The elements of which it does not."""
    return _choose(run, value, args, kwargs, by_part=True, wanted=False)


def _choose(run: Run, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, by_part: bool, wanted: bool) -> Iterator[Any]:
    if not value:
        return
    find = build_find(run, args[0]) if by_part else None
    passes = _find_question(run, args[1:] if by_part else args, kwargs)
    for element in pay_each(run, value, 3):
        if passes(element if find is None else find(element)) is wanted:
            yield element


def _find_question(run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], bool]:
    if not args:
        return bool
    from promptc.template.runtime.filters.table import find_test

    test, rest = find_test(args[0]), args[1:]
    if len(rest) == 1 and not kwargs:
        return _find_comparison(run, test, args[0], rest[0])
    return lambda value: test(run, value, *rest, **kwargs)


def _find_comparison(run: Run, test: Callable[..., bool], name: str, other: Any) -> Callable[[Any], bool]:
    """A test against one value. Equality of what is small is asked for at once."""
    if name in _EQUALITIES and (other.__class__ in NUMBERS or (other.__class__ is str and len(other) < _SMALL)):
        return lambda value: value == other if value.__class__ in SCALARS else test(run, value, other)
    return lambda value: test(run, value, other)


_EQUALITIES = frozenset({"eq", "==", "equalto"})
_SMALL = 255


FILTERS: dict[str, Callable[..., Any]] = {
    "map": map_values,
    "select": select,
    "reject": reject,
    "selectattr": select_by_part,
    "rejectattr": reject_by_part,
}
