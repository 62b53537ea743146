"""`for` as Python's loops."""

from __future__ import annotations

import ast

from jinja2 import nodes

from promptc.template.count_nodes import count_nodes
from promptc.template.lower import pyast as py
from promptc.template.lower.expressions import Counted
from promptc.template.lower.scopes import LowerFault, Writer
from promptc.template.lowering.frame import Frame
from promptc.template.lowering.loops import NEEDS_LENGTH, find_counts, uses_loop


class LoopStatements(Writer):
    """A loop that does not ask for `loop`, one that only counts, or one that makes the value `loop`."""

    def lower_for(self, node: nodes.For, frame: Frame) -> None:
        """A loop, with its filter and its `else`."""
        at = node.lineno
        for name in node.find_all(nodes.Name):
            if name.ctx == "store" and name.name == "loop":
                raise LowerFault("`loop` cannot be set inside a `for`", name.lineno)
        inner = frame.inner()
        counts = find_counts(node) if node.test is None else None
        known = uses_loop(node)
        loop = inner.symbols.declare_parameter("loop") if known else ""
        inner.symbols.analyze_node(node, for_branch="body")
        values = self._each(node, frame)
        ran = self.expressions.find_temporary("ran") if node.else_ else ""
        if ran:
            self.open.append(py.assign(ran, py.constant(False, at), at))
        if not known:
            self._plain_loop(node, frame, inner, values, ran)
        elif counts is not None:
            self._counted_loop(node, inner, values, ran, loop, counts)
        else:
            self._wrapped_loop(node, frame, inner, values, ran, loop)
        self.leave(inner, at)
        if ran:
            self._else(node, frame, ran)

    def _each(self, node: nodes.For, frame: Frame) -> ast.expr:
        at = node.iter.lineno
        weight = py.constant(count_nodes(node), at)
        return py.call("each", at, py.name("run", at), self.expressions.lower(node.iter, frame), weight)

    def _turn(self, node: nodes.For, inner: Frame, ran: str) -> py.Statements:
        def write() -> None:
            self.enter(inner, node.lineno)
            if ran:
                self.open.append(py.assign(ran, py.constant(True, node.lineno), node.lineno))
            self.lower_all(node.body, inner)

        return self.collect(write)

    def _plain_loop(self, node: nodes.For, frame: Frame, inner: Frame, values: ast.expr, ran: str) -> None:
        at, target = node.lineno, self.target(node.target, inner)
        body = self._turn(node, inner, ran)
        if node.test is not None:
            tested, refused = self._tested(node, frame)
            skip: ast.stmt = py.placed(ast.Continue, at)
            body = [*tested, py.when(py.not_(refused, at), [skip], [], at), *body]
        self.open.append(py.loop(target, values, body, at))

    def _tested(self, node: nodes.For, frame: Frame) -> tuple[py.Statements, ast.expr]:
        assert node.test is not None
        test_frame = frame.inner()
        test_frame.symbols.analyze_node(node, for_branch="test")
        entered = self.collect(lambda: self.enter(test_frame, node.lineno))
        return entered, self.expressions.lower(node.test, test_frame)

    def _counted_loop(self, node: nodes.For, inner: Frame, values: ast.expr, ran: str, loop: str, counts: frozenset[str]) -> None:
        at, index = node.lineno, self.expressions.find_temporary("i")
        length = ""
        if counts & NEEDS_LENGTH:
            length, sized = self.expressions.find_temporary("n"), self.expressions.find_temporary("all")
            self.open.append(py.assign(sized, py.call("sized", at, values), at))
            self.open.append(py.assign(length, py.call("len", at, py.name(sized, at)), at))
            values = py.name(sized, at)
        outer = self.expressions.counted.get(loop)
        self.expressions.counted[loop] = Counted(index, length)
        body = self._turn(node, inner, ran)
        if outer is None:
            del self.expressions.counted[loop]
        else:
            self.expressions.counted[loop] = outer
        pair = py.tuple_([py.target(index, at), self.target(node.target, inner)], at, store=True)
        self.open.append(py.loop(pair, py.call("enumerate", at, values), body, at))

    def _wrapped_loop(self, node: nodes.For, frame: Frame, inner: Frame, values: ast.expr, ran: str, loop: str) -> None:
        at = node.lineno
        if node.test is not None:
            values = py.call(self._sieve(node, frame, inner), at, values)
        pair = py.tuple_([self.target(node.target, inner), py.target(loop, at)], at, store=True)
        self.open.append(py.assign(loop, py.name("missing", at), at))
        body = self._turn(node, inner, ran)
        self.open.append(py.loop(pair, py.call("Loop", at, values), body, at))

    def _sieve(self, node: nodes.For, frame: Frame, inner: Frame) -> str:
        """A generator of what passes the test, so that `loop` counts only that. What is taken apart is put together again, as a tuple:
        that is what `loop.previtem` gives in Jinja."""
        at, sieve, element = node.lineno, self.expressions.find_temporary("sieve"), self.expressions.find_temporary()
        tested, passes = self._tested(node, frame)
        unpack = py.assign_to(self.target(node.target, inner), py.name(element, at), at)
        apart = isinstance(node.target, nodes.Tuple)
        passed = py.read(self.target(node.target, inner)) if apart else py.name(element, at)
        turn = [unpack, *tested, py.when(passes, [py.yield_(passed, at)], [], at)]
        body = [py.loop(py.target(element, at), py.name("values", at), turn, at)]
        self.open.append(py.function(sieve, ["values"], body, at))
        return sieve

    def _else(self, node: nodes.For, frame: Frame, ran: str) -> None:
        at, other = node.lineno, frame.inner()
        other.symbols.analyze_node(node, for_branch="else")

        def write() -> None:
            self.enter(other, at)
            self.lower_all(node.else_, other)
            self.leave(other, at)

        self.open.append(py.when(py.not_(py.name(ran, at), at), self.collect(write), [], at))
