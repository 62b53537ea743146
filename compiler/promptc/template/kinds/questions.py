"""Tests (`is ...`): what each of them takes."""

from jinja2 import nodes

from promptc.template.kinds.compare import compare
from promptc.template.kinds.take import ANY, ASKED, NUMBERS, Usage
from promptc.template.types.scope import Scope, Value
from promptc.template.types.types import NoneType, UndefinedType, is_sure, list_members
from promptc.template.types.walk import WalkRun

COMPARING = {
    "eq": "eq", "==": "eq", "equalto": "eq", "ne": "ne", "!=": "ne", "lt": "lt", "<": "lt", "lessthan": "lt", "le": "lteq", "<=": "lteq",
    "gt": "gt", ">": "gt", "greaterthan": "gt", "ge": "gteq", ">=": "gteq", "in": "in",
}  # fmt: skip
LENIENT = frozenset("none string number mapping boolean integer float true false".split())
"""Tests that undefined and none simply fail, and that never stop the run."""
NUMERIC = frozenset("odd even divisibleby".split())
"""Tests of numbers."""


def ask(walk: WalkRun, node: nodes.Test, value: Value, args: list[Value], scope: Scope) -> None:
    """Judge `value is name(args)`."""
    name = node.name
    if name in ("defined", "undefined"):
        walk.take(value, ANY, f"`is {name}`", node, scope)
        report_always(walk, node, value, f"`is {name}`", scope)
    elif name in COMPARING:
        if len(args) == 1:
            compare(walk, COMPARING[name], value, args[0], node, scope)
    elif name in NUMERIC:
        walk.take(value, NUMBERS, f"`is {name}`", node, scope)
    else:
        walk.take(value, ANY if name in LENIENT else Usage("a value", ASKED.good, none=True), f"`is {name}`", node, scope)


def report_always(walk: WalkRun, node: nodes.Node, value: Value, by: str, scope: Scope) -> None:
    """Whether it is there is asked of what reads as none where it is left out."""
    members = list_members(value.kind)
    absent = next((one for one in members if isinstance(one, NoneType) and one.absent), None)
    if absent is not None and is_sure(value.kind) and not any(isinstance(one, UndefinedType) for one in members):
        walk.report("always", node, value, absent, scope, wants=by)
