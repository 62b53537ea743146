"""What one template has to do with others."""

from __future__ import annotations

import ast

from jinja2 import nodes

from promptc.template.lower import pyast as py
from promptc.template.lower.scopes import PARENT, LowerFault, Writer
from promptc.template.lowering.frame import Frame, find_stores


class FileStatements(Writer):
    """Blocks, and files that are extended, included or imported."""

    def lower_block(self, node: nodes.Block, frame: Frame) -> None:
        """`block`: run where it stands, unless a template that extends this one has its own."""
        if frame.toplevel and self.extended:
            return
        at = node.lineno
        names = self._derived(frame, at) if node.scoped else py.name("names", at)
        method = py.attribute(names, "call_required" if node.required else "call_block", at)
        put = self.put(frame, [py.call(method, at, py.constant(node.name, at))], at)
        self.open.append(self.guard(put, at) if frame.toplevel and self.extends else put)

    def lower_extends(self, node: nodes.Extends, frame: Frame) -> None:
        """`extends`: the other template is run at the end, with the blocks of this one."""
        at = node.lineno
        if not frame.toplevel:
            raise LowerFault("`extends` stands at the top of a template, in no other statement but `if`", at)
        if self.extended:
            raise LowerFault("a template extends one other, once", at)
        extend = py.attribute(py.name("names", at), "extend", at)
        self.open.append(py.assign(PARENT, py.call(extend, at, self.expressions.lower(node.template, frame), py.name(PARENT, at)), at))
        self.extended = frame.rootlevel

    def _locals(self, node: nodes.Include | nodes.Import | nodes.FromImport, frame: Frame) -> ast.expr:
        return self._dump(frame, node.lineno) if node.with_context else py.constant(None, node.lineno)

    def _dump(self, frame: Frame, at: int) -> ast.expr:
        stores = find_stores(frame.symbols)
        return py.mapping([py.constant(name, at) for name, _ in stores], [py.name(ident, at) for _, ident in stores], at)

    def _derived(self, frame: Frame, at: int) -> ast.expr:
        return py.call(py.attribute(py.name("names", at), "derive", at), at, self._dump(frame, at))

    def lower_include(self, node: nodes.Include, frame: Frame) -> None:
        """`include`."""
        at = node.lineno
        include = py.attribute(py.name("names", at), "include", at)
        template = self.expressions.lower(node.template, frame)
        self.open.append(self.put(frame, [py.call(include, at, template, self._locals(node, frame))], at))

    def _module(self, node: nodes.Import | nodes.FromImport, frame: Frame) -> ast.expr:
        load = py.attribute(py.name("names", node.lineno), "load_module", node.lineno)
        return py.call(load, node.lineno, self.expressions.lower(node.template, frame), self._locals(node, frame))

    def lower_import(self, node: nodes.Import, frame: Frame) -> None:
        """`import`."""
        self.open.append(py.assign(frame.symbols.ref(node.target), self._module(node, frame), node.lineno))
        if frame.toplevel:
            self.publish(node.target, frame, node.lineno, exported=False)

    def lower_from_import(self, node: nodes.FromImport, frame: Frame) -> None:
        """`from ... import`."""
        at, module = node.lineno, self.expressions.find_temporary("module")
        self.open.append(py.assign(module, self._module(node, frame), at))
        for pair in node.names:
            name, alias = (pair, pair) if isinstance(pair, str) else pair
            found = py.call("find_export", at, py.name(module, at), py.constant(name, at))
            self.open.append(py.assign(frame.symbols.ref(alias), found, at))
            if frame.toplevel:
                self.publish(alias, frame, at, exported=False)
