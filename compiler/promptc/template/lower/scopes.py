"""What all statements are written with: the list that is open, scopes, buffers, and where a value is stored."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Sequence

from jinja2 import nodes

from promptc.template.lower import pyast as py
from promptc.template.lower.expressions import Buffer, Expressions, Frame, find_targets, iter_loads

PARENT = "parent"
"""The variable that holds what a template extends."""


class LowerFault(Exception):
    """A template Jinja's compiler would refuse: a sentence and its place."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class Writer:
    """Writes the statements of one file into the list that is open."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.open: py.Statements = []
        self.extends = False
        self.extended = False

    @abstractmethod
    def lower_all(self, body: Sequence[nodes.Node], frame: Frame) -> None:
        """Each statement, in order."""

    def collect(self, write: Callable[[], None]) -> py.Statements:
        """The statements `write` makes."""
        outer, self.open = self.open, []
        write()
        made, self.open = self.open, outer
        return made

    def find_buffer(self) -> Buffer:
        """A new list of output parts."""
        return Buffer(self.expressions.find_temporary("out"))

    def begin(self, buffer: Buffer, at: int) -> None:
        """Make the list."""
        self.open.append(py.assign(buffer.out, py.call(py.attribute(py.name("run", at), "begin", at), at), at))

    def joined(self, buffer: Buffer, at: int) -> ast.expr:
        """The text of the list, paid for."""
        return py.call(py.attribute(py.name("run", at), "join", at), at, py.name(buffer.out, at))

    def take(self, weight: int, at: int) -> None:
        """Pay for so many steps."""
        self.open.append(py.run(py.call(py.attribute(py.name("run", at), "take", at), at, py.constant(weight, at)), at))

    def enter(self, frame: Frame, at: int) -> None:
        """Give the scope's variables what they begin with."""
        for ident, kind, source in iter_loads(frame.symbols):
            if kind == "resolve" and source not in self.expressions.stored:
                continue
            value = {
                "resolve": lambda source=source: py.call(py.attribute(py.name("names", at), "find", at), at, py.constant(source, at)),
                "alias": lambda source=source: py.name(source, at),
                "undefined": lambda source=source: py.name("missing", at),
            }.get(kind)
            if value is not None:
                self.open.append(py.assign(ident, value(), at))

    def leave(self, frame: Frame, at: int) -> None:
        """Forget the scope's variables."""
        for ident, kind, source in iter_loads(frame.symbols):
            if kind != "resolve" or source in self.expressions.stored:
                self.open.append(py.assign(ident, py.name("missing", at), at))

    def put(self, frame: Frame, parts: Sequence[ast.expr], at: int) -> ast.stmt:
        """Add parts to the output."""
        out = py.name(frame.buffer.out, at)
        if len(parts) == 1:
            return py.run(py.call(py.attribute(out, "append", at), at, parts[0]), at)
        return py.run(py.call(py.attribute(out, "extend", at), at, py.tuple_(parts, at)), at)

    def guard(self, statement: ast.stmt, at: int) -> ast.stmt:
        """Only if the template extends nothing."""
        free = py.compared(py.name(PARENT, at), ast.Is(), py.constant(None, at), at)
        return py.when(free, [statement], [], at)

    def target(self, node: nodes.Node, frame: Frame) -> ast.expr:
        """Where a value is stored: a variable, a part of a namespace, or several."""
        at = node.lineno
        if isinstance(node, nodes.Tuple):
            return py.tuple_([self.target(item, frame) for item in node.items], at, store=True)
        if isinstance(node, nodes.NSRef):
            holder = py.attribute(py.name(frame.symbols.ref(node.name), at), "values", at)
            return py.placed(ast.Subscript, at, value=holder, slice=py.constant(node.attr, at), ctx=ast.Store())  # type: ignore[no-any-return]
        assert isinstance(node, nodes.Name)
        return py.target(frame.symbols.ref(node.name), at)

    def store(self, target: nodes.Node, value: ast.expr, frame: Frame, at: int) -> None:
        """Set what the target names."""
        self.open.append(py.assign_to(self.target(target, frame), value, at))
        if frame.toplevel:
            for name in find_targets(target):
                self.publish(name, frame, at, exported=not name.startswith("_"))

    def publish(self, name: str, frame: Frame, at: int, *, exported: bool) -> None:
        """What is set at the top is seen by blocks and includes, and `exported` to importers."""
        method = py.attribute(py.name("names", at), "export" if exported else "keep", at)
        self.open.append(py.run(py.call(method, at, py.constant(name, at), py.name(frame.symbols.ref(name), at)), at))
