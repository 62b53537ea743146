"""The parts of a pack that `check` runs: expressions that read nothing, and operators on samples of the values that they read.

An operator that fails on every sample fails in every render.
"""

from collections.abc import Container, Sequence
from itertools import product

from jinja2 import nodes

from promptc.diag.findings import Diagnostic, PromptcError, Span
from promptc.diag.frozen import replace
from promptc.template.allow import LIMITS, Limits
from promptc.template.compile import Program
from promptc.template.lower.module import lower_template
from promptc.template.place import Place
from promptc.template.runtime.run import RUN, Run
from promptc.template.types.types import BoolType, ListType, NoneType, NumberType, TextType, Type, list_members

_MOST = 30_000
"""The most nodes that one check runs, in all expressions together.

Each expression counts `_EACH` more, because it is compiled by itself.
"""
_EACH = 10
_WORKS = (
    nodes.BinExpr, nodes.UnaryExpr, nodes.Compare, nodes.Concat, nodes.Filter, nodes.Test, nodes.Call, nodes.Getattr, nodes.Getitem,
)  # fmt: skip
_COUNTING = frozenset({"tokens", "truncate_at"})
"""Filters that use the pack's counter."""
_MAKERS = frozenset({"range", "dict"})
"""Functions that return data; the others return objects of the template language."""
_UNDEFINED = frozenset({"PC0411", "PC0421"})
"""Codes of undefined values and of an `if` without `else`.

Such a value stops a run only where it is used, and that may be outside of the expression.
"""
_BOUNDS = replace(LIMITS, steps=1_000_000, memory=20_000_000)
"""The limits of all that one check runs, together: a fraction of a render."""
_PLACE = Place(Span("", 1, 1), inline=False)


class Many:
    """The type of `MANY`: no single value is known."""


MANY = Many()


class Trials:
    """The account of what one check may still run. Expressions with the same spelling run once."""

    def __init__(self) -> None:
        self._left = _MOST
        self._run = _Account(_BOUNDS)
        self._found: dict[tuple[str, Limits], tuple[object, Diagnostic | None]] = {}

    def find_fault(self, node: nodes.Expr, limits: Limits) -> Diagnostic | None:
        """Return what the expression fails with.

        None means that it does not fail, fails only for something undefined, or did not run because too much had run before.
        """
        return self._find(node, limits)[1]

    def try_shared(self, ways: Sequence[nodes.Expr], limits: Limits) -> object:
        """Return the value of the expressions if they all have the same one; else, or if one fails, `MANY`."""
        found = [self._find(node, limits) for node in ways]
        (value, fault), *others = found or [(MANY, None)]
        return value if fault is None and all(other == (value, None) for other in others) else MANY

    def find_shared_fault(self, ways: Sequence[nodes.Expr], limits: Limits) -> Diagnostic | None:
        """Return what the first of several expressions fails with, if they all fail; else None."""
        fault = None
        for node in ways:
            found = self.find_fault(node, limits)
            if found is None:
                return None
            fault = fault or found
        return fault

    def _find(self, node: nodes.Expr, limits: Limits) -> tuple[object, Diagnostic | None]:
        key = (repr(node), limits)
        if key not in self._found:
            self._found[key] = self._try(node, limits)
        return self._found[key]

    def _try(self, node: nodes.Expr, limits: Limits) -> tuple[object, Diagnostic | None]:
        self._left -= _EACH + sum(1 for _ in node.find_all(nodes.Node))
        if self._left < 0:
            return MANY, None
        tree = nodes.Template([nodes.Output([node], lineno=1)], lineno=1)
        lowered = lower_template(tree, "", "", frozenset(), expression=True)
        self._run.limits = replace(limits, steps=_BOUNDS.steps, memory=_BOUNDS.memory)
        try:
            return Program((lowered,), _PLACE, limits=limits).evaluate({RUN: self._run}), None
        except PromptcError as wrong:
            return MANY, next((one for one in wrong.diagnostics if one.code not in _UNDEFINED), None)
        except _Spent:
            self._left = 0
        return MANY, None


class _Spent(Exception):
    """The account of a check is used up. Nothing is known of the expression that ran then, nor of later ones."""


class _Account(Run):
    """One account for all that a check runs. A value that is too large by itself is refused, as in a render."""

    __slots__ = ()

    def __init__(self, limits: Limits) -> None:
        super().__init__(None, limits)

    def take(self, steps: int) -> None:
        if steps > self.left:
            raise _Spent
        self.left -= steps

    def hold(self, size: int) -> None:
        if size > self.memory:
            raise _Spent
        self.memory -= size


def is_trial(node: nodes.Node, bound: Container[str], known: dict[int, bool | None]) -> bool:
    """Return whether an expression reads nothing, so that its value is the same in every state, and contains an operation that may fail.

    `bound`: the names that do not have Jinja's own meaning in this place. `known`: the results for nodes of the same scope so far.
    """
    return _ask(node, bound, known) is True


def _ask(node: nodes.Node, bound: Container[str], known: dict[int, bool | None]) -> bool | None:
    """Return None if the expression reads something, else whether it may fail."""
    if id(node) not in known:
        known[id(node)] = _ask_parts(node, bound, known)
    return known[id(node)]


def _ask_parts(node: nodes.Node, bound: Container[str], known: dict[int, bool | None]) -> bool | None:
    if isinstance(node, nodes.Name):
        return False if node.name in _MAKERS and node.name not in bound else None
    if isinstance(node, nodes.Filter) and (node.node is None or node.name in _COUNTING):
        return None
    if isinstance(node, nodes.Dict) and not all(isinstance(pair.key, nodes.Const) for pair in node.items):
        return True if all(_ask(part, bound, known) is not None for part in node.iter_child_nodes()) else None
    parts = [_ask(part, bound, known) for part in node.iter_child_nodes()]
    return None if None in parts else isinstance(node, _WORKS) or any(parts)


_WAYS = 16
"""The most combinations of samples that are tried for one operator. One that passes is enough."""
_MOST_VALUES = 4


def list_ways(kinds: Sequence[Type], *, exact: bool = False) -> list[list[nodes.Expr]]:
    """Return samples for several values, in all combinations.

    The list is empty if some value may be of a type without a sample, or if there are more than 16 combinations.
    `exact`: use only known values, so that the combinations are complete.
    """
    samples = [_sample(kind, exact) for kind in kinds]
    total = 1
    for one in samples:
        total *= len(one)
    return [list(way) for way in product(*samples)] if 0 < total <= _WAYS else []


def _sample(kind: Type, exact: bool) -> list[nodes.Expr]:
    found = [_sample_one(member, exact) for member in list_members(kind)]
    return [one for some in found for one in some] if all(found) else []


def _sample_one(kind: Type, exact: bool) -> list[nodes.Expr]:
    """Return each value if they are known, else one sample of each sort that an operator or a format may tell apart."""
    values = _list_values(kind)
    if values or exact:
        return [_write(value) for value in values]
    if isinstance(kind, TextType):
        return [_write("x")]
    if isinstance(kind, NumberType):
        return [_write(1)] if kind.whole else [_write(1), _write(1.5)]
    if isinstance(kind, ListType) and kind.shape == "list":
        return [_write([])]
    if isinstance(kind, ListType) and kind.shape == "tuple" and kind.least == kind.most == len(kind.first):
        return [nodes.Tuple(way, "load", lineno=1) for way in list_ways(kind.first)]
    return []


def _list_values(kind: Type) -> list[object]:
    """Return all values of a type if they are known and few, else an empty list."""
    if isinstance(kind, TextType | NumberType) and kind.values is not None:
        values = sorted(kind.values, key=lambda value: (str(type(value)), value))
        return list(values) if len(values) <= _MOST_VALUES else []
    if isinstance(kind, NumberType) and kind.least is not None and kind.least == kind.most:
        return [kind.least]
    if isinstance(kind, BoolType):
        return [kind.value] if kind.value is not None else [True, False]
    if isinstance(kind, NoneType):
        return [None]
    if isinstance(kind, ListType) and kind.shape in ("list", "tuple") and kind.least == kind.most == len(kind.first):
        parts = [_list_values(part) for part in kind.first]
        if all(len(part) == 1 for part in parts):
            known = [part[0] for part in parts]
            return [tuple(known) if kind.shape == "tuple" else known]
    return []


def _write(value: object) -> nodes.Expr:
    """Return the expression for a constant value."""
    if isinstance(value, tuple):
        return nodes.Tuple([_write(one) for one in value], "load", lineno=1)
    return nodes.List([_write(one) for one in value], lineno=1) if isinstance(value, list) else nodes.Const(value, lineno=1)
