"""Statements of Jinja as statements of Python, with a class for each family: files and blocks, macros, loops, and all others.

`Writer` has what all of them are written with: the list of statements that is open, scopes, buffers, and where a value is stored.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jinja2 import nodes
from jinja2.compiler import find_undeclared
from jinja2.idtracking import VAR_LOAD_PARAMETER, Symbols

from promptc.template.lower import pyast as py
from promptc.template.lower.expressions import Buffer, Counted, Expressions, Frame, iter_loads, list_stores, list_targets
from promptc.template.parse import count_nodes

PARENT = "parent"
"""The variable that holds what a template extends."""

COUNTS = frozenset("index index0 first last length revindex revindex0 depth depth0".split())
"""What plain counters can tell."""
NEEDS_LENGTH = frozenset("last length revindex revindex0".split())


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

    def make_buffer(self) -> Buffer:
        """A new list of output parts."""
        return Buffer(self.expressions.make_temporary("out"))

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
                "resolve": lambda source=source: py.call(py.attribute(py.name("names", at), "read", at), at, py.constant(source, at)),
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
            for name in list_targets(target):
                self.publish(name, frame, at, exported=not name.startswith("_"))

    def publish(self, name: str, frame: Frame, at: int, *, exported: bool) -> None:
        """What is set at the top is seen by blocks and includes, and `exported` to importers."""
        method = py.attribute(py.name("names", at), "export" if exported else "keep", at)
        self.open.append(py.run(py.call(method, at, py.constant(name, at), py.name(frame.symbols.ref(name), at)), at))


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
        stores = list_stores(frame.symbols)
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
        at, module = node.lineno, self.expressions.make_temporary("module")
        self.open.append(py.assign(module, self._module(node, frame), at))
        for pair in node.names:
            name, alias = (pair, pair) if isinstance(pair, str) else pair
            found = py.call("read_export", at, py.name(module, at), py.constant(name, at))
            self.open.append(py.assign(frame.symbols.ref(alias), found, at))
            if frame.toplevel:
                self.publish(alias, frame, at, exported=False)


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
        at, caller = node.lineno, self.expressions.make_temporary("caller")
        self.open.append(py.assign(caller, self._macro_value(node, frame, None), at))
        handed: ast.keyword = py.placed(ast.keyword, at, arg="caller", value=py.name(caller, at))
        text = self.expressions.lower_call(node.call, frame, [handed])
        self.open.append(self.put(frame, [py.call("need_text", at, text)], at))

    def _macro_value(self, node: nodes.Macro | nodes.CallBlock, frame: Frame, name: str | None) -> ast.expr:
        """Write the function; the `Macro` around it."""
        at, function, buffer = node.lineno, self.expressions.make_temporary("macro"), self.make_buffer()
        inner = frame.inner(buffer)
        inner.guarded = False
        inner.symbols.analyze_node(node)
        special = self._list_special(node, inner.symbols)
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

    def _list_special(self, node: nodes.Macro | nodes.CallBlock, symbols: Symbols) -> list[str]:
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
        at, buffer = node.lineno, self.make_buffer()
        inner = frame.inner(buffer)
        inner.symbols.analyze_node(node)
        self.enter(inner, at)
        self.begin(buffer, at)
        self.lower_all(node.body, inner)
        text = self.expressions.lower_chain(node.filter, self.joined(buffer, at), inner)
        self.open.append(self.put(frame, [py.call("need_text", node.filter.lineno, text)], at))
        self.leave(inner, at)


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
        ran = self.expressions.make_temporary("ran") if node.else_ else ""
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
            self.lower_all(node.body, inner)
            if ran:  # last, as in Jinja: a turn that is left early does not keep `else` from running
                self.open.append(py.assign(ran, py.constant(True, node.lineno), node.lineno))

        return self.collect(write)

    def _plain_loop(self, node: nodes.For, frame: Frame, inner: Frame, values: ast.expr, ran: str) -> None:
        at, target = node.lineno, self.target(node.target, inner)
        body = self._turn(node, inner, ran)
        if node.test is not None:
            tested, refused = self._tested(node, frame)
            body = [*tested, py.when(py.not_(refused, at), [py.next_turn(at)], [], at), *body]
        self.open.append(py.loop(target, values, body, at))

    def _tested(self, node: nodes.For, frame: Frame) -> tuple[py.Statements, ast.expr]:
        assert node.test is not None
        test_frame = frame.inner()
        test_frame.symbols.analyze_node(node, for_branch="test")
        entered = self.collect(lambda: self.enter(test_frame, node.lineno))
        return entered, self.expressions.lower(node.test, test_frame)

    def _counted_loop(self, node: nodes.For, inner: Frame, values: ast.expr, ran: str, loop: str, counts: frozenset[str]) -> None:
        at, index = node.lineno, self.expressions.make_temporary("i")
        length = ""
        if counts & NEEDS_LENGTH:
            length, sized = self.expressions.make_temporary("n"), self.expressions.make_temporary("all")
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
        at, sieve, element = node.lineno, self.expressions.make_temporary("sieve"), self.expressions.make_temporary()
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
            "Break": lambda node, frame: self.open.append(py.leave_loop(node.lineno)),
            "Continue": lambda node, frame: self.open.append(py.next_turn(node.lineno)),
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
        at, buffer = node.lineno, self.make_buffer()
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


def uses_loop(node: nodes.For) -> bool:
    """Whether the body knows `loop` (Jinja's rule)."""
    return "loop" in find_undeclared(node.iter_child_nodes(only=("body",)), ("loop",)) or any(
        block.scoped for block in node.find_all(nodes.Block)
    )


def find_counts(node: nodes.For) -> frozenset[str] | None:
    """What the body asks of `loop`, if plain counters can answer it all; else None."""
    found: set[str] = set()
    if any(node.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Block))):
        return None
    if any(name.name == "loop" and name.ctx != "load" for name in node.find_all(nodes.Name)):
        return None
    for use in _iter_uses(node.body):
        if use not in COUNTS:
            return None
        found.add(use)
    return frozenset(found)


def _iter_uses(body: list[nodes.Node]) -> Iterator[str]:
    """The attribute each read of `loop` asks for; `?` where `loop` itself is a value. A loop inside has its own in its body."""
    for node in body:
        yield from _iter_node(node)


def _iter_node(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name == "loop":
        yield node.attr if node.ctx == "load" else "?"
    elif (isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr) and _is_loop(node.node.node)) or _is_loop(node):
        yield "?"
    elif isinstance(node, nodes.For):
        yield from _iter_node(node.iter)
        yield from _iter_uses(node.else_)
        if node.test is not None:
            yield from _iter_node(node.test)
    else:
        yield from _iter_uses(list(node.iter_child_nodes()))


def _is_loop(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "loop"
