"""Statements of Jinja as statements of Python. The rules of scope are Jinja's: its own analysis (`idtracking`) names every variable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jinja2 import nodes

from promptc.template.lower import pyast as py
from promptc.template.lower.expressions import Expressions
from promptc.template.lower.statements import LoopStatements
from promptc.template.lowering.file_statements import FileStatements
from promptc.template.lowering.frame import Frame
from promptc.template.lowering.macro_statements import MacroStatements


class Statements(LoopStatements, MacroStatements, FileStatements):
    """Lowers the statements of one file."""

    def __init__(self, expressions: Expressions) -> None:
        super().__init__(expressions)
        self._by_kind: dict[str, Callable[[Any, Frame], None]] = {
            "Output": self._output,
            "If": self._if,
            "For": self.lower_for,
            "Assign": self._assign,
            "AssignBlock": self._assign_block,
            "With": self._with,
            "Scope": self._scope,
            "Macro": self.lower_macro,
            "CallBlock": self.lower_call_block,
            "FilterBlock": self.lower_filter_block,
            "Block": self.lower_block,
            "Extends": self.lower_extends,
            "Include": self.lower_include,
            "Import": self.lower_import,
            "FromImport": self.lower_from_import,
        }

    def lower_all(self, body: Sequence[nodes.Node], frame: Frame) -> None:
        """Each statement, in order."""
        for node in body:
            self._by_kind[type(node).__name__](node, frame)

    def _body(self, body: Sequence[nodes.Node], frame: Frame) -> py.Statements:
        return self.collect(lambda: self.lower_all(body, frame))

    def _output(self, node: nodes.Output, frame: Frame) -> None:
        if frame.guarded and self.extended:
            return
        at = node.nodes[0].lineno
        put = self.put(frame, [self.expressions.shown(part, frame) for part in node.nodes], at)
        self.open.append(self.guard(put, at) if frame.guarded else put)

    def _if(self, node: nodes.If, frame: Frame) -> None:
        soft = frame.soft()
        orelse = self._body(node.else_, soft)
        for branch in reversed(node.elif_):
            body = self._body(branch.body, soft)
            orelse = [py.when(self.expressions.lower(branch.test, soft), body, orelse, branch.lineno)]
        body = self._body(node.body, soft)
        self.open.append(py.when(self.expressions.lower(node.test, soft), body, orelse, node.lineno))

    def _assign(self, node: nodes.Assign, frame: Frame) -> None:
        at = node.lineno
        for space in {found.name: found for found in node.find_all(nodes.NSRef)}.values():
            known = self.expressions.lower(nodes.Name(space.name, "load", lineno=space.lineno), frame)
            self.open.append(py.run(py.call("check_namespace", space.lineno, known), space.lineno))
        self.store(node.target, self.expressions.lower(node.node, frame), frame, at)

    def _assign_block(self, node: nodes.AssignBlock, frame: Frame) -> None:
        at, buffer = node.lineno, self.find_buffer()
        inner = frame.inner(buffer)
        inner.guarded = False
        inner.symbols.analyze_node(node)
        self.enter(inner, at)
        self.begin(buffer, at)
        self.lower_all(node.body, inner)
        text = self.joined(buffer, at)
        value = text if node.filter is None else self.expressions.lower_chain(node.filter, text, inner)
        self.store(node.target, value, frame, at)
        self.leave(inner, at)

    def _with(self, node: nodes.With, frame: Frame) -> None:
        inner = frame.inner()
        inner.symbols.analyze_node(node)
        self.enter(inner, node.lineno)
        for target, value in zip(node.targets, node.values, strict=True):
            self.open.append(py.assign_to(self.target(target, inner), self.expressions.lower(value, frame), target.lineno))
        self.lower_all(node.body, inner)
        self.leave(inner, node.lineno)

    def _scope(self, node: nodes.Scope, frame: Frame) -> None:
        inner = frame.inner()
        inner.symbols.analyze_node(node)
        self.enter(inner, node.lineno)
        self.lower_all(node.body, inner)
        self.leave(inner, node.lineno)
