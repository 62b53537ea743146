"""Macros and calls as Python's functions."""

from __future__ import annotations

import ast

from jinja2 import nodes
from jinja2.compiler import find_undeclared
from jinja2.idtracking import VAR_LOAD_PARAMETER, Symbols

from promptc.template.count_nodes import count_nodes
from promptc.template.lower import pyast as py
from promptc.template.lower.scopes import LowerFault, Writer
from promptc.template.lowering.frame import Frame, iter_loads


class MacroStatements(Writer):
    """A macro is a function inside the function it stands in: it sees what that sees, as it is when it is called."""

    def lower_macro(self, node: nodes.Macro, frame: Frame) -> None:
        """`macro`."""
        at = node.lineno
        made = self._macro_value(node, frame, node.name)
        self.open.append(py.assign(frame.symbols.ref(node.name), made, at))
        if frame.toplevel:
            self.publish(node.name, frame, at, exported=not node.name.startswith("_"))

    def lower_call_block(self, node: nodes.CallBlock, frame: Frame) -> None:
        """`call`."""
        at, caller = node.lineno, self.expressions.find_temporary("caller")
        self.open.append(py.assign(caller, self._macro_value(node, frame, None), at))
        handed: ast.keyword = py.placed(ast.keyword, at, arg="caller", value=py.name(caller, at))
        text = self.expressions.lower_call(node.call, frame, [handed])
        self.open.append(self.put(frame, [py.call("need_text", at, text)], at))

    def _macro_value(self, node: nodes.Macro | nodes.CallBlock, frame: Frame, name: str | None) -> ast.expr:
        """Write the function; the `Macro` around it."""
        at, function, buffer = node.lineno, self.expressions.find_temporary("macro"), self.find_buffer()
        inner = frame.inner(buffer)
        inner.guarded = False
        inner.symbols.analyze_node(node)
        special = self._find_special(node, inner.symbols)
        inner.symbols.analyze_node(node)
        parameters = [inner.symbols.ref(arg.name) for arg in node.args] + [inner.symbols.ref(one) for one in special]
        body = self.collect(lambda: self._macro_body(node, inner, at))
        self.open.append(py.function(function, parameters, body, at))
        flags = [
            py.constant(one in special or (one == "caller" and self._takes_caller(node)), at) for one in ("kwargs", "varargs", "caller")
        ]
        arguments = py.constant(tuple(arg.name for arg in node.args), at)
        weight = py.constant(count_nodes(node), at)
        return py.call("Macro", at, py.name("run", at), py.name(function, at), py.constant(name, at), arguments, weight, *flags)

    def _takes_caller(self, node: nodes.Macro | nodes.CallBlock) -> bool:
        return "caller" in find_undeclared(node.body, ("caller",))

    def _find_special(self, node: nodes.Macro | nodes.CallBlock, symbols: Symbols) -> list[str]:
        """Which of `caller`, `kwargs`, `varargs` the macro is given because its body mentions them."""
        mentioned = find_undeclared(node.body, ("caller", "kwargs", "varargs"))
        written = [arg.name for arg in node.args]
        found = []
        if "caller" in mentioned and "caller" in written:
            if len(node.args) - written.index("caller") > len(node.defaults):
                raise LowerFault("the argument `caller` of a macro needs a default", node.lineno)
        elif "caller" in mentioned:
            found.append("caller")
        found += [name for name in ("kwargs", "varargs") if name in mentioned and name not in written]
        for name in found:
            symbols.declare_parameter(name)
        return found

    def _macro_body(self, node: nodes.Macro | nodes.CallBlock, inner: Frame, at: int) -> None:
        self.begin(inner.buffer, at)
        self.enter(inner, at)
        unset = {ident for ident, kind, _ in iter_loads(inner.symbols) if kind == VAR_LOAD_PARAMETER}
        outer, self.expressions.unset = self.expressions.unset, unset
        first = len(node.args) - len(node.defaults)
        for place, arg in enumerate(node.args):
            default = node.defaults[place - first] if place >= first else None
            self._default(arg, default, inner, node.lineno)
        self.expressions.unset = outer
        self.lower_all(node.body, inner)
        self.open.append(py.return_(self.joined(inner.buffer, at), at))

    def _default(self, arg: nodes.Name, default: nodes.Expr | None, inner: Frame, at: int) -> None:
        ident = inner.symbols.ref(arg.name)
        value = py.call("unfilled", at, py.constant(arg.name, at)) if default is None else self.expressions.lower(default, inner)
        absent = py.compared(py.name(ident, at), ast.Is(), py.name("missing", at), at)
        self.open.append(py.when(absent, [py.assign(ident, value, at)], [], at))
        self.expressions.unset.discard(ident)

    def lower_filter_block(self, node: nodes.FilterBlock, frame: Frame) -> None:
        """`filter`."""
        at, buffer = node.lineno, self.find_buffer()
        inner = frame.inner(buffer)
        inner.symbols.analyze_node(node)
        self.enter(inner, at)
        self.begin(buffer, at)
        self.lower_all(node.body, inner)
        text = self.expressions.lower_chain(node.filter, self.joined(buffer, at), inner)
        self.open.append(self.put(frame, [py.call("need_text", node.filter.lineno, text)], at))
        self.leave(inner, at)
