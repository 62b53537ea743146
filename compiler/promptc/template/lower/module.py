"""From a checked tree to a code object of Python: functions that make text, or one that gives a value."""

from __future__ import annotations

import ast
import marshal
from collections.abc import Callable
from types import CodeType

from jinja2 import nodes
from jinja2.compiler import find_undeclared
from jinja2.idtracking import Symbols

from promptc.template.count_nodes import count_nodes
from promptc.template.lower import pyast as py
from promptc.template.lower.expressions import Expressions, name_filter, name_test
from promptc.template.lower.scopes import PARENT, LowerFault
from promptc.template.lowering.frame import Frame
from promptc.template.lowering.statements import Statements
from promptc.template.runtime.lowered import LoweredFile
from promptc.template.runtime.objects import TEMPLATE

_PARAMETERS = ("run", "names")


def lower_template(tree: nodes.Template, name: str, text: str, stored: frozenset[str], *, expression: bool = False) -> LoweredFile:
    """The code of one file. Its functions: `root(run, names)`, and `block_x(run, names)` for each block `x`.

    `stored`: every name the file sets anywhere. The line of every instruction is a place in `text`: characters before it, plus 1.
    Raises `LowerFault`, `SyntaxError` (with such a line), `RecursionError`.
    """
    module, expressions, blocks = lower_module(tree, stored, expression=expression)
    code: CodeType = compile(module, f"{TEMPLATE}{name}>", "exec", dont_inherit=True)
    filters = tuple((name_filter(used), used) for used in sorted(expressions.filters))
    tests = tuple((name_test(used), used) for used in sorted(expressions.tests))
    return LoweredFile(name, text, count_nodes(tree), marshal.dumps(code), blocks, filters, tests)


Module = tuple[ast.Module, Expressions, tuple[str, ...]]


def lower_module(tree: nodes.Template, stored: frozenset[str], *, expression: bool = False) -> Module:
    """The functions as Python's own syntax, with the filters and tests they use, and the names of the blocks."""
    expressions = Expressions(stored)
    blocks = _find_blocks(tree)
    if expression:
        functions = [_lower_value(tree, expressions)]
    else:
        functions = [_lower_root(tree, expressions), *(_lower_block(block, expressions) for block in blocks.values())]
    return ast.Module(body=functions, type_ignores=[]), expressions, tuple(blocks)


def _find_blocks(tree: nodes.Template) -> dict[str, nodes.Block]:
    blocks: dict[str, nodes.Block] = {}
    for block in tree.find_all(nodes.Block):
        if block.name in blocks:
            raise LowerFault(f"the block `{block.name}` is defined twice", block.lineno)
        blocks[block.name] = block
    return blocks


def _lower_value(tree: nodes.Template, expressions: Expressions) -> ast.stmt:
    statements = Statements(expressions)
    frame = Frame(Symbols(), statements.find_buffer())
    frame.symbols.analyze_node(tree)
    value = tree.body[0].nodes[0]  # type: ignore[attr-defined]

    def write() -> None:
        statements.open.append(py.return_(expressions.lower(value, frame), value.lineno))

    return _function("root", statements, write, 1)


def _lower_root(tree: nodes.Template, expressions: Expressions) -> ast.stmt:
    statements = Statements(expressions)
    statements.extends = tree.find(nodes.Extends) is not None
    frame = Frame(Symbols(), statements.find_buffer())
    own = "self" in find_undeclared(tree.body, ("self",))
    if own:
        frame.symbols.declare_parameter("self")
    frame.symbols.analyze_node(tree)
    frame.toplevel = frame.rootlevel = True
    frame.guarded = statements.extends

    def write() -> None:
        statements.begin(frame.buffer, 1)
        if own:
            statements.open.append(py.assign(frame.symbols.ref("self"), py.call("TemplateBlocks", 1, py.name("names", 1)), 1))
        if statements.extends:
            statements.open.append(py.assign(PARENT, py.constant(None, 1), 1))
        statements.enter(frame, 1)
        statements.lower_all(tree.body, frame)
        if statements.extends:
            statements.open.append(_render_parent(frame))
        statements.open.append(py.return_(statements.joined(frame.buffer, 1), 1))

    return _function("root", statements, write, 1)


def _render_parent(frame: Frame) -> ast.stmt:
    """What the template extends, after what it set."""
    text = py.call(py.attribute(py.name("names", 1), "render_parent", 1), 1, py.name(PARENT, 1))
    put = py.run(py.call(py.attribute(py.name(frame.buffer.out, 1), "append", 1), 1, text), 1)
    known = py.compared(py.name(PARENT, 1), ast.IsNot(), py.constant(None, 1), 1)
    return py.when(known, [put], [], 1)


def _lower_block(block: nodes.Block, expressions: Expressions) -> ast.stmt:
    statements, at = Statements(expressions), block.lineno
    frame = Frame(Symbols(), statements.find_buffer())
    special = find_undeclared(block.body, ("self", "super"))
    for name in sorted(special):
        frame.symbols.declare_parameter(name)
    frame.symbols.analyze_node(block)

    def write() -> None:
        statements.take(count_nodes(block), at)
        statements.begin(frame.buffer, at)
        if "self" in special:
            statements.open.append(py.assign(frame.symbols.ref("self"), py.call("TemplateBlocks", at, py.name("names", at)), at))
        if "super" in special:
            above = py.attribute(py.name("names", at), "find_super", at)
            own = py.name(f"block_{block.name}", at)
            statements.open.append(py.assign(frame.symbols.ref("super"), py.call(above, at, py.constant(block.name, at), own), at))
        statements.enter(frame, at)
        statements.lower_all(block.body, frame)
        statements.open.append(py.return_(statements.joined(frame.buffer, at), at))

    return _function(f"block_{block.name}", statements, write, at)


def _function(name: str, statements: Statements, write: Callable[[], None], at: int) -> ast.stmt:
    """A function whose first lines look up the names the file never sets."""
    globals = statements.expressions.globals = {}
    body = statements.collect(write)
    find = [
        py.assign(ident, py.call(py.attribute(py.name("names", at), "find", at), at, py.constant(wanted, at)), at)
        for wanted, ident in sorted(globals.items())
    ]
    return py.function(name, _PARAMETERS, find + body, at)
