"""Builds pieces of Python syntax trees. The line of every node is a position in the template (`at`), which tracebacks then report."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

Statements = list[ast.stmt]
_LOAD, _STORE = ast.Load(), ast.Store()


def placed(kind: Callable[..., ast.AST], at: int, **fields: Any) -> Any:
    """Build a node at a position."""
    return kind(**fields, lineno=at, col_offset=0, end_lineno=at, end_col_offset=0)


def name(id: str, at: int) -> ast.expr:
    """Build a read of a variable."""
    return placed(ast.Name, at, id=id, ctx=_LOAD)  # type: ignore[no-any-return]


def target(id: str, at: int) -> ast.expr:
    """Build a variable as an assignment target."""
    return placed(ast.Name, at, id=id, ctx=_STORE)  # type: ignore[no-any-return]


def constant(value: object, at: int) -> ast.expr:
    """Build a constant: a text, number, true, false, none, or a tuple of these."""
    return placed(ast.Constant, at, value=value)  # type: ignore[no-any-return]


def call(function: str | ast.expr, at: int, *args: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.expr:
    """Build a call of a function, given by name or as an expression."""
    callee = name(function, at) if isinstance(function, str) else function
    return placed(ast.Call, at, func=callee, args=list(args), keywords=list(keywords))  # type: ignore[no-any-return]


def attribute(value: ast.expr, attr: str, at: int) -> ast.expr:
    """Build `value.attr`, for the runtime's own objects."""
    return placed(ast.Attribute, at, value=value, attr=attr, ctx=_LOAD)  # type: ignore[no-any-return]


def subscript(value: ast.expr, key: ast.expr, at: int) -> ast.expr:
    """Build `value[key]`."""
    return placed(ast.Subscript, at, value=value, slice=key, ctx=_LOAD)  # type: ignore[no-any-return]


def tuple_(items: Sequence[ast.expr], at: int, *, store: bool = False) -> ast.expr:
    """Build a tuple: a value or, with `store`, an assignment target."""
    return placed(ast.Tuple, at, elts=list(items), ctx=_STORE if store else _LOAD)  # type: ignore[no-any-return]


def sequence(items: Sequence[ast.expr], at: int) -> ast.expr:
    """Build a list."""
    return placed(ast.List, at, elts=list(items), ctx=_LOAD)  # type: ignore[no-any-return]


def mapping(keys: Sequence[ast.expr], values: Sequence[ast.expr], at: int) -> ast.expr:
    """Build a dict."""
    return placed(ast.Dict, at, keys=list(keys), values=list(values))  # type: ignore[no-any-return]


def named(id: str, value: ast.expr, at: int) -> ast.expr:
    """Build `(id := value)`."""
    return placed(ast.NamedExpr, at, target=target(id, at), value=value)  # type: ignore[no-any-return]


def if_exp(test: ast.expr, yes: ast.expr, no: ast.expr, at: int) -> ast.expr:
    """Build `yes if test else no`."""
    return placed(ast.IfExp, at, test=test, body=yes, orelse=no)  # type: ignore[no-any-return]


def and_(parts: Sequence[ast.expr], at: int) -> ast.expr:
    """Build `a and b and ...`."""
    return placed(ast.BoolOp, at, op=ast.And(), values=list(parts))  # type: ignore[no-any-return]


def or_(parts: Sequence[ast.expr], at: int) -> ast.expr:
    """Build `a or b or ...`."""
    return placed(ast.BoolOp, at, op=ast.Or(), values=list(parts))  # type: ignore[no-any-return]


def not_(value: ast.expr, at: int) -> ast.expr:
    """Build `not value`."""
    return placed(ast.UnaryOp, at, op=ast.Not(), operand=value)  # type: ignore[no-any-return]


def compared(left: ast.expr, operator: ast.cmpop, right: ast.expr, at: int) -> ast.expr:
    """Build `left operator right` for a comparison."""
    return placed(ast.Compare, at, left=left, ops=[operator], comparators=[right])  # type: ignore[no-any-return]


def assign(id: str, value: ast.expr, at: int) -> ast.stmt:
    """Build `id = value`."""
    return assign_to(target(id, at), value, at)


def assign_to(where: ast.expr, value: ast.expr, at: int) -> ast.stmt:
    """Build `where = value`."""
    return placed(ast.Assign, at, targets=[where], value=value)  # type: ignore[no-any-return]


def run(value: ast.expr, at: int) -> ast.stmt:
    """Build an expression statement."""
    return placed(ast.Expr, at, value=value)  # type: ignore[no-any-return]


def when(test: ast.expr, body: Statements, orelse: Statements, at: int) -> ast.stmt:
    """Build `if test: body else: orelse`."""
    return placed(ast.If, at, test=test, body=filled(body, at), orelse=orelse)  # type: ignore[no-any-return]


def loop(where: ast.expr, values: ast.expr, body: Statements, at: int) -> ast.stmt:
    """Build `for where in values: body`."""
    return placed(ast.For, at, target=where, iter=values, body=filled(body, at), orelse=[])  # type: ignore[no-any-return]


def leave_loop(at: int) -> ast.stmt:
    """Build `break`."""
    return placed(ast.Break, at)  # type: ignore[no-any-return]


def next_turn(at: int) -> ast.stmt:
    """Build `continue`."""
    return placed(ast.Continue, at)  # type: ignore[no-any-return]


def return_(value: ast.expr, at: int) -> ast.stmt:
    """Build `return value`."""
    return placed(ast.Return, at, value=value)  # type: ignore[no-any-return]


def read(target: ast.expr) -> ast.expr:
    """Turn an assignment target, in place, into a read of the same variables; return it."""
    for part in ast.walk(target):
        if isinstance(part, ast.Name | ast.Tuple):
            part.ctx = ast.Load()
    return target


def yield_(value: ast.expr, at: int) -> ast.stmt:
    """Build `yield value`."""
    return run(placed(ast.Yield, at, value=value), at)


def function(id: str, parameters: Sequence[str], body: Statements, at: int) -> ast.stmt:
    """Build `def id(parameters): body`."""
    parsed = [placed(ast.arg, at, arg=parameter) for parameter in parameters]
    arguments = ast.arguments(posonlyargs=[], args=parsed, kwonlyargs=[], kw_defaults=[], defaults=[])
    kinds: dict[str, Any] = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}
    return placed(ast.FunctionDef, at, name=id, args=arguments, body=filled(body, at), decorator_list=[], **kinds)  # type: ignore[no-any-return]


def filled(body: Statements, at: int) -> Statements:
    """Return the body, or `pass` if it is empty."""
    return body or [placed(ast.Pass, at)]
