"""Jinja's code generator, told to count and to fold nothing."""

from collections.abc import Iterable, Mapping
from io import StringIO
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.visitor import NodeTransformer

from promptc.template.count_nodes import count_nodes


class Generator(CodeGenerator):
    """Python for a template; the differences to Jinja's own change no output inside the subset."""

    def write_commons(self) -> None:
        """As Jinja, but texts are joined by the context, which counts."""
        self.writeline("resolve = context.resolve_or_missing")
        self.writeline("undefined = environment.undefined")
        self.writeline("concat = context.join_parts")
        self.writeline("cond_expr_undefined = Undefined")
        self.writeline("if 0: yield None")

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if isinstance(node, nodes.TemplateData):
            return node.data
        raise nodes.Impossible

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self._shown = self.temporary_identifier()
        self.write(f"({self._shown} if ({self._shown} := (")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(f")).__class__ is str else context.show({self._shown}))")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """`a ~ b`."""
        self.write("context.join_values((")
        self._visit_list(node.nodes, frame)
        self.write("))")

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:
        """`a.b`, and the `a.b` of `a.b()`."""
        self.write("environment.find_method(" if node.ctx == "call" else "environment.getattr(")
        self.visit(node.node, frame)
        self.write(f", {node.attr!r})")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        """`a[b]`; a slice is paid for."""
        cut = node.arg
        if not isinstance(cut, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("context.slice(")
        self._visit_list((node.node, cut.start, cut.stop, cut.step), frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        """`{a: b}`; keys that are not written out are looked at first."""
        self.write("{")
        for pair in node.items:
            fixed = isinstance(pair.key, nodes.Const)
            self.write("" if fixed else "context.key(")
            self.visit(pair.key, frame)
            self.write(": " if fixed else "): ")
            self.visit(pair.value, frame)
            self.write(", ")
        self.write("}")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        """`a == b`; paid for, unless one side is a constant."""
        if len(node.ops) == 1 and node.ops[0].op not in ("in", "notin") and isinstance(node.ops[0].expr, nodes.Const):
            super().visit_Compare(node, frame)
            return
        self.write("(")
        left = ""
        for turn, operand in enumerate(node.ops):
            self.write(" and " if turn else "")
            self.write(f"context.compare({operand.op!r}, ")
            self.write(left) if turn else self.visit(node.expr, frame)
            left = self.temporary_identifier() if turn + 1 < len(node.ops) else ""
            self.write(f", ({left} := (" if left else ", (")
            self.visit(operand.expr, frame)
            self.write(")))" if left else "))")
        self.write(")")

    def _visit_list(self, parts: Iterable[nodes.Expr | None], frame: Frame) -> None:
        for part in parts:
            if part is None:
                self.write("None")
            else:
                self.visit(part, frame)
            self.write(", ")

    def visit_Assign(self, node: nodes.Assign, frame: Frame) -> None:
        """`set`; what it checks of a namespace has its line too."""
        self.writeline("pass", node)
        super().visit_Assign(node, frame)

    def visit_Include(self, node: nodes.Include, frame: Frame) -> None:
        """As Jinja, and without its bug (`without context` inside a macro printed a generator)."""
        self.writeline("for event in context.include(", node)
        self.visit(node.template, frame)
        self.write(f", {self._locals(node.with_context, frame)}):")
        self.indent()
        self.simple_write("event", frame)
        self.outdent()

    def _import_common(self, node: nodes.Import | nodes.FromImport, frame: Frame) -> None:
        self.write("context.load_module(")
        self.visit(node.template, frame)
        self.write(f", {self._locals(node.with_context, frame)})")

    def _locals(self, with_context: bool, frame: Frame) -> str:
        return self.dump_local_context(frame) if with_context else "None"


class ExpressionGenerator(Generator):
    """Python for a single expression: its value is yielded as it is."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(")")


class Counting(NodeTransformer):
    """Put the counting into a checked tree: in front of every loop, macro and block, and mark what is called."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        """A loop pays for all its turns when it begins."""
        weight = count_nodes(node)
        self.generic_visit(node)
        node.iter = _filter(_expression(node.iter), "@each", weight)
        return node

    def visit_Call(self, node: nodes.Call) -> nodes.Node:
        """Only what is called at once may be a method."""
        if isinstance(node.node, nodes.Getattr):
            node.node.ctx = "call"
        return self.generic_visit(node)

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:
        """A macro pays when it is called."""
        return self._pay(node)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:
        """So does the text of a `call`."""
        return self._pay(node)

    def visit_Block(self, node: nodes.Block) -> nodes.Node:
        """And a block."""
        return self._pay(node)

    def _pay(self, node: nodes.Macro | nodes.CallBlock | nodes.Block) -> nodes.Node:
        weight = count_nodes(node)
        self.generic_visit(node)
        charge = _filter(nodes.Const(None, lineno=node.lineno), "@charge", weight)
        node.body.insert(0, nodes.ExprStmt(charge, lineno=node.lineno))
        return node


def _expression(node: nodes.Node) -> nodes.Expr:
    assert isinstance(node, nodes.Expr)
    return node


def _filter(node: nodes.Expr, name: str, weight: int) -> nodes.Expr:
    args: list[nodes.Expr] = [nodes.Const(weight, lineno=node.lineno)]
    return nodes.Filter(node, name, args, [], None, None, lineno=node.lineno)


def generate_source(tree: nodes.Template, environment: Any, name: str, kind: type[Generator]) -> tuple[str, Mapping[int, int]]:
    """The Python of a checked, counted tree, and the template's line for each of its lines that begins one."""
    stream = StringIO()
    generator = kind(environment, name, None, stream, optimized=False)
    generator.visit(tree)
    return stream.getvalue(), {code: line for line, code in generator.debug_info}
