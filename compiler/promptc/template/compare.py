"""Comparing, paid for before it is done."""

import operator
from collections.abc import Callable
from typing import Any

from promptc.template.payments import pay_pair, pay_search
from promptc.template.run import Run


def compare(run: Run, name: str, left: Any, right: Any) -> Any:
    """`left` and `right` by one of Jinja's operators: eq ne lt lteq gt gteq in notin."""
    if name in _SEARCHES:
        pay_search(run, left, right)
        return (left in right) is _SEARCHES[name]
    pay_pair(run, left, right)
    return _OPERATORS[name](left, right)


_SEARCHES = {"in": True, "notin": False}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lteq": operator.le,
    "gt": operator.gt,
    "gteq": operator.ge,
}
