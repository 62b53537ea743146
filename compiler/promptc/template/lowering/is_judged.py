"""Whether a call of a filter or a test can be known to have the arguments it takes before it runs."""

from __future__ import annotations

from typing import Any

from jinja2 import nodes

from promptc.template.limits import LIMITS
from promptc.template.signature_table import find_wrong_filter, find_wrong_test, iter_taken, iter_taken_by_test
from promptc.template.signatures import ANY, UNKNOWN


def is_judged(node: nodes.Filter | nodes.Test) -> bool:
    """True when no run has to look at the arguments: they are constants and right, or of parameters that take any value.

    A pack may only raise the limits, so what keeps the least of them keeps those of the pack.
    """
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return False
    args = [find_constant(arg) for arg in node.args]
    named = {str(word.key): find_constant(word.value) for word in node.kwargs}
    is_filter = isinstance(node, nodes.Filter)
    if (find_wrong_filter if is_filter else find_wrong_test)(node.name, args, named, LIMITS) is not None:
        return False
    taken = (iter_taken if is_filter else iter_taken_by_test)(node.name, args, named)
    return all(value is not UNKNOWN or parameter.sort is ANY for _, parameter, value, _ in taken)


def find_constant(node: nodes.Expr) -> Any:
    """The value of an expression that is written out; `UNKNOWN` where it is computed."""
    if isinstance(node, nodes.Const):
        return node.value
    if isinstance(node, nodes.Neg) and isinstance(node.node, nodes.Const) and node.node.value.__class__ in (int, float):
        return -node.node.value
    if isinstance(node, nodes.List | nodes.Tuple):
        items = [find_constant(item) for item in node.items]
        return UNKNOWN if any(item is UNKNOWN for item in items) else (items if isinstance(node, nodes.List) else tuple(items))
    return UNKNOWN
