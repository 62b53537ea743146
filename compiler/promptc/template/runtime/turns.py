"""What a `for` goes over, paid for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.group import Group
from promptc.template.runtime.objects import Blank, Missing
from promptc.template.runtime.payments import VIEWS
from promptc.template.runtime.run import Run

_MADE: frozenset[Any] = frozenset({str, list, tuple, dict, range, Group}) | VIEWS


def each(run: Run, values: Any, weight: int) -> Iterable[Any]:
    """The elements: a list pays for all its turns at once, what is made on the way pays as it goes."""
    if values.__class__ in _MADE:
        run.take(len(values) * weight)
        return values  # type: ignore[no-any-return]
    if hasattr(values, "__next__"):
        return _pay_as_you_go(run, values, weight)
    if values.__class__ is Missing:
        values.fail()
    if values.__class__ is Blank:
        return ()
    hint = "ask for none first, or give a list: `default([], true)`" if values is None else "loop over a list, a mapping or a text"
    return refuse("PC0414", f"{name_kind(values)} is no list", hint)


def _pay_as_you_go(run: Run, values: Iterator[Any], weight: int) -> Iterator[Any]:
    for value in values:
        run.take(weight)
        yield value


def sized(values: Any) -> Sized:
    """The elements where their number is known."""
    return values if values.__class__ in _MADE else list(values)
