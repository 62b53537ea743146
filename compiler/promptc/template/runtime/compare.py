"""Comparing, paid for before it is done."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.objects import Blank, Missing
from promptc.template.runtime.payments import SCALARS, pay_pair, pay_search
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import refuse_part


def compare(run: Run, name: str, left: Any, right: Any) -> bool:
    """`left` and `right` by one of Jinja's operators: eq ne lt lteq gt gteq in notin."""
    if name in _SEARCHES:
        return contains(run, right, left) is _SEARCHES[name]
    first, second = left.__class__, right.__class__
    if first not in SCALARS or second not in SCALARS or (first is str and second is str):
        if second is Missing:
            right.fail()
        pay_pair(run, left, right)
    return _OPERATORS[name](left, right)


def contains(run: Run, holder: Any, sought: Any) -> bool:
    """`sought in holder`."""
    if holder.__class__ in SCALARS and holder.__class__ is not str:
        refuse("PC0414", f"nothing can be in {name_kind(holder)}", "look in a list, a mapping or a text")
    if holder.__class__ is Blank:
        return False
    if hasattr(holder, "__len__"):
        pay_search(run, sought, holder)
        return sought in holder
    return _is_among(run, sought, holder)


def _is_among(run: Run, sought: Any, values: Any) -> bool:
    if not hasattr(values, "__iter__"):
        refuse_part(values)
    for value in values:
        run.take(2)
        pay_pair(run, sought, value)
        if value is sought or value == sought:
            return True
    return False


_SEARCHES = {"in": True, "notin": False}
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {"eq": eq, "ne": ne, "lt": lt, "lteq": le, "gt": gt, "gteq": ge}
