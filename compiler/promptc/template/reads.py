"""Which names, and which of their parts, a template reads from what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jinja2 import nodes

from promptc.template.allow import GLOBALS, METHODS
from promptc.template.parse import iter_file_names

Path = tuple[str, ...]
_IN_MACROS = frozenset({"caller", "varargs", "kwargs"})
_IN_BLOCKS = frozenset({"super", "self"})
_PASSING = frozenset("select reject selectattr rejectattr sort first last default d list reverse unique min max".split())
_FRESH = (nodes.Const, nodes.Compare, nodes.Test, nodes.Not, nodes.Concat, nodes.Sub, nodes.Div, nodes.FloorDiv, nodes.Neg, nodes.Pos)


def list_reads(tree: nodes.Template, trees: Mapping[str, nodes.Template]) -> frozenset[Path]:
    """Static paths from a name: `("state", "player", "name")`, cut off where a part is computed.

    Names the template binds itself do not count while they are bound on every way that leads there.
    `trees`: the files it includes, by name.
    """
    reader = _Reader(trees, {})
    reader.read_all(tree.body, set(GLOBALS | {"self"}))
    return frozenset(reader.found)


class _Reader:
    def __init__(self, trees: Mapping[str, nodes.Template], files: dict[str, frozenset[Path]]) -> None:
        self.trees = trees
        self.files = files
        self.found: set[Path] = set()
        self.special: dict[type[nodes.Node], Callable[[Any, set[str]], None]] = {
            nodes.If: self._read_if,
            nodes.For: self._read_for,
            nodes.Macro: self._read_macro,
            nodes.CallBlock: self._read_call_block,
            nodes.With: self._read_with,
            nodes.Assign: self._read_assign,
            nodes.AssignBlock: self._read_assign_block,
            nodes.Block: self._read_block,
            nodes.FilterBlock: self._read_inner,
            nodes.Scope: self._read_inner,
            nodes.Include: self._read_include,
            nodes.Import: self._read_import,
            nodes.FromImport: self._read_from_import,
            nodes.Extends: self._read_extends,
            nodes.Name: self._read_path,
            nodes.Getattr: self._read_path,
            nodes.Getitem: self._read_path,
            nodes.Call: self._read_call,
            nodes.NSRef: self._read_nothing,
        }

    def read_all(self, body: Iterable[nodes.Node], bound: set[str]) -> None:
        """In order; what they bind is added to `bound`."""
        for node in body:
            self._read(node, bound)

    def _read(self, node: nodes.Node, bound: set[str]) -> None:
        read = self.special.get(type(node))
        if read is not None:
            read(node, bound)
        else:
            self.read_all(node.iter_child_nodes(), bound)

    def _read_nothing(self, node: nodes.Node, bound: set[str]) -> None:
        pass

    def _read_if(self, node: nodes.If, bound: set[str]) -> None:
        ways = []
        self._read(node.test, bound)
        for branch in (node, *node.elif_):
            self._read(branch.test, bound)
            ways.append(self._read_way(branch.body, bound))
        ways.append(self._read_way(node.else_, bound))
        bound |= set.intersection(*ways)

    def _read_way(self, body: Iterable[nodes.Node], bound: set[str]) -> set[str]:
        inner = set(bound)
        self.read_all(body, inner)
        return inner

    def _read_for(self, node: nodes.For, bound: set[str]) -> None:
        self._read(node.iter, bound)
        inner = bound | _list_targets(node.target) | {"loop"}
        if node.test is not None:
            self._read(node.test, inner)
        self.read_all(node.body, inner)
        self._read_way(node.else_, bound)

    def _read_macro(self, node: nodes.Macro, bound: set[str]) -> None:
        bound.add(node.name)
        self._read_body(node, bound)

    def _read_call_block(self, node: nodes.CallBlock, bound: set[str]) -> None:
        self._read(node.call, bound)
        self._read_body(node, bound)

    def _read_body(self, node: nodes.Macro | nodes.CallBlock, bound: set[str]) -> None:
        inner = bound | {name.name for name in node.args} | _IN_MACROS
        self.read_all(node.defaults, inner)
        self.read_all(node.body, inner)

    def _read_with(self, node: nodes.With, bound: set[str]) -> None:
        self.read_all(node.values, bound)
        self.read_all(node.body, bound.union(*map(_list_targets, node.targets)))

    def _read_assign(self, node: nodes.Assign, bound: set[str]) -> None:
        self._read(node.node, bound)
        bound |= _list_targets(node.target)

    def _read_assign_block(self, node: nodes.AssignBlock, bound: set[str]) -> None:
        if node.filter is not None:
            self._read(node.filter, bound)
        self._read_way(node.body, bound)
        bound |= _list_targets(node.target)

    def _read_block(self, node: nodes.Block, bound: set[str]) -> None:
        self._read_way(node.body, bound | _IN_BLOCKS)

    def _read_inner(self, node: nodes.Node, bound: set[str]) -> None:
        self._read_way(node.iter_child_nodes(), bound)

    def _read_include(self, node: nodes.Include, bound: set[str]) -> None:
        self._read(node.template, bound)
        if node.with_context:
            self._read_files(node.template, bound)

    def _read_import(self, node: nodes.Import, bound: set[str]) -> None:
        self._read_module(node, bound)
        bound.add(node.target)

    def _read_from_import(self, node: nodes.FromImport, bound: set[str]) -> None:
        self._read_module(node, bound)
        bound.update(pair if isinstance(pair, str) else pair[1] for pair in node.names)

    def _read_module(self, node: nodes.Import | nodes.FromImport, bound: set[str]) -> None:
        if node.with_context:
            self._read_files(node.template, bound)

    def _read_extends(self, node: nodes.Extends, bound: set[str]) -> None:
        self._read(node.template, bound)
        self._read_files(node.template, bound)

    def _read_files(self, template: nodes.Expr, bound: set[str]) -> None:
        for name in iter_file_names(template):
            self.found.update(path for path in self._list_file_reads(name) if path[0] not in bound)

    def _list_file_reads(self, name: str) -> frozenset[Path]:
        """Each file once, however often it is included."""
        if name not in self.files:
            reader = _Reader(self.trees, self.files)
            reader.read_all(self.trees[name].body, set(GLOBALS | {"self"}))
            self.files[name] = frozenset(reader.found)
        return self.files[name]

    def _read_call(self, node: nodes.Call, bound: set[str]) -> None:
        callee = node.node
        method = isinstance(callee, nodes.Getattr) and callee.attr in METHODS
        self._read(callee.node if method and isinstance(callee, nodes.Getattr) else callee, bound)
        self.read_all((child for child in node.iter_child_nodes() if child is not callee), bound)

    def _read_path(self, node: nodes.Expr, bound: set[str]) -> None:
        parts: list[str] = []
        while isinstance(node, nodes.Getattr | nodes.Getitem):
            part = _find_part(node)
            if part is None:
                parts.clear()
                if isinstance(node, nodes.Getitem):
                    self._read(node.arg, bound)
            else:
                parts.append(part)
            node = node.node
        if not isinstance(node, nodes.Name):
            self._read(node, bound)
        elif node.ctx == "load" and node.name not in bound:
            self.found.add((node.name, *reversed(parts)))


def _find_part(node: nodes.Getattr | nodes.Getitem) -> str | None:
    if isinstance(node, nodes.Getattr):
        return node.attr
    return node.arg.value if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str) else None


def _list_targets(target: nodes.Node) -> set[str]:
    names = [target] if isinstance(target, nodes.Name) else list(target.find_all(nodes.Name))
    return {name.name for name in names}


def is_settled(node: nodes.Node) -> bool:
    """True when the value can only be a scalar, a part of the names, or a sequence of such parts that is made on the way."""
    if isinstance(node, (nodes.Name, nodes.Getattr, *_FRESH)):
        return True
    if isinstance(node, nodes.List):
        return all(isinstance(item, nodes.Const) for item in node.items)
    if isinstance(node, nodes.Getitem):
        return is_settled(node.node)
    if isinstance(node, nodes.And | nodes.Or | nodes.Add | nodes.Mul):
        return is_settled(node.left) and is_settled(node.right)
    if isinstance(node, nodes.CondExpr):
        return is_settled(node.expr1) and (node.expr2 is None or is_settled(node.expr2))
    if isinstance(node, nodes.Filter) and node.name in _PASSING and node.node is not None:
        return is_settled(node.node) and all(map(is_settled, node.args))
    return False
