"""Compiles templates and expressions: checks a text and the files it includes, and lowers them to Python code objects.

`load_template`, `load_chat_template` and `load_expression` do all of it. The code has functions that return a text, or one that returns a
value. Statements of Jinja become statements of Python (`Statements`), in one class for each family: files and blocks, macros, loops, and
all others. `_StatementWriter` has what they share: the list of statements under construction, scopes, output buffers, and assignment
targets.
"""

from __future__ import annotations

import ast
import marshal
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any

from jinja2 import nodes
from jinja2.compiler import find_undeclared
from jinja2.idtracking import VAR_LOAD_PARAMETER, Symbols

from promptc.diag.findings import Diagnostic, PromptcError, fail
from promptc.template.allow import CHAT, LIMITS, PACK, Dialect, Limits
from promptc.template.compile import Expression, LoweredFile, Program, Template
from promptc.template.define import check_bound, list_sites, read_tree
from promptc.template.lower import pyast as py
from promptc.template.lower.expressions import (
    Buffer,
    Expressions,
    Frame,
    iter_loads,
    list_marked,
    list_stores,
    list_targets,
    name_filter,
    name_test,
)
from promptc.template.parse import (
    PartsBudget,
    Path,
    check_tree,
    count_nodes,
    is_settled,
    iter_file_names,
    list_bound,
    list_reads,
    parse,
    verbatim,
    wrong_syntax,
)
from promptc.template.place import Place
from promptc.template.runtime.objects import TEMPLATE

LoadFile = Callable[[str], str]
_PARAMETERS = ("run", "names")
_PARENT = "parent"
"""The variable for the file that a template extends."""

Module = tuple[ast.Module, Expressions, tuple[str, ...]]

Compiled = tuple[frozenset[Path], Program, Mapping[str, str]]
"""The paths that a program reads from its names, the program, and the texts of the files it includes."""


def load_template(text: str, place: Place, *, load_file: LoadFile | None = None, limits: Limits = LIMITS) -> Template:
    """Check and compile a text and all files it includes, which `load_file` returns by name.

    Raises `PromptcError` with all findings of the first stage that fails.
    """
    return Template(text, place, *_compile(text, place, load_file, limits=limits))


def load_chat_template(text: str, place: Place, *, limits: Limits = LIMITS) -> Template:
    """Check and compile a model's chat template, to render it as inference servers do. Raises as `load_template` does."""
    return Template(text, place, *_compile(text, place, None, limits=limits, dialect=CHAT))


def load_expression(text: str, place: Place, *, limits: Limits = LIMITS) -> Expression:
    """Check and compile an expression. Raises as `load_template` does."""
    reads, program, _ = _compile(text, place, None, limits=limits, expression=True)
    return Expression(text, place.span, reads, program)


def list_literals(text: str, place: Place, *, limits: Limits = LIMITS) -> list[tuple[int, str]]:
    """Return the string literals that an expression may evaluate to: the whole expression, or a branch of an `if`.

    Each comes with its position (characters before it), in that order. Raises `PromptcError` with all findings.
    """
    pending: list[nodes.Node] = [parse(text, "", place, limits, expression=True).body[0].nodes[0]]  # type: ignore[attr-defined]
    found: list[tuple[int, str]] = []
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.CondExpr):
            pending += [one for one in (node.expr1, node.expr2) if one is not None]
        elif isinstance(node, nodes.Const) and isinstance(node.value, str):
            found.append((node.lineno - 1, node.value))
    return sorted(found)


def _compile(
    text: str, place: Place, load_file: LoadFile | None, *, limits: Limits, expression: bool = False, dialect: Dialect = PACK
) -> Compiled:
    try:
        return _compile_all(text.replace("\r\n", "\n").replace("\r", "\n"), place, load_file, expression, limits, dialect)
    except (RecursionError, MemoryError):
        help = "split it with `set`, macros or `include`"
        raise fail("PC0403", "the template is nested too deep", place.make_span("", text, 1), help=help) from None


def _compile_all(text: str, place: Place, load_file: LoadFile | None, expression: bool, limits: Limits, dialect: Dialect) -> Compiled:
    parts = PartsBudget(limits)
    tree = read_tree(text, "", place, limits, expression=expression, parts=parts, dialect=dialect)
    files = _Files(place, load_file, limits, parts)
    files.load_all(tree, "", text, ())
    texts = {"": text, **files.texts}
    trees = {"": tree, **files.trees}
    bound = frozenset().union(*map(list_bound, trees.values()))
    known = bound.union(one.name for one in place.definitions)
    findings = [
        found
        for name, file in trees.items()
        for found in (*check_tree(file, known, name, texts[name], place, dialect), *check_bound(file, bound, name, texts[name], place))
    ]
    if findings:
        raise PromptcError(findings)
    reads = list_reads(tree, files.trees)
    settled = expression and is_settled(tree.body[0].nodes[0])  # type: ignore[attr-defined]
    lowered = tuple(
        _lower(file, name, texts[name], place, expression=expression and not name, dialect=dialect) for name, file in trees.items()
    )
    return reads, Program(lowered, place, settled, limits, dialect.lenient), files.texts


def _lower(tree: nodes.Template, name: str, text: str, place: Place, *, expression: bool, dialect: Dialect) -> LoweredFile:
    try:
        return lower_template(tree, name, text, list_bound(tree), expression=expression, lenient=dialect.lenient)
    except LowerFault as wrong:
        raise PromptcError([wrong_syntax(wrong.message, name, text, wrong.at, place)]) from None
    except SyntaxError as wrong:
        raise PromptcError([wrong_syntax(wrong.msg, name, text, wrong.lineno or 1, place)]) from None


class _Files:
    """The files that a template includes, imports or extends, each loaded once. Cycles are refused."""

    def __init__(self, place: Place, load_file: LoadFile | None, limits: Limits, parts: PartsBudget) -> None:
        self.place = place
        self.load_file = load_file
        self.limits = limits
        self.parts = parts
        self.trees: dict[str, nodes.Template] = {}
        self.texts: dict[str, str] = {}

    def load_all(self, tree: nodes.Template, name: str, text: str, above: tuple[str, ...]) -> None:
        """Load the files that `tree` names, and the files that those name."""
        for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
            for wanted in _list_wanted(node):
                span = self.place.make_span(name, text, node.lineno)
                if wanted in above:
                    chain = " -> ".join((*above[above.index(wanted) :], wanted))
                    raise PromptcError(
                        [Diagnostic("PC0420", f"files include each other in a circle: {chain}", span, "remove one of the includes")]
                    )
                if wanted not in self.trees:
                    self._load(wanted, Diagnostic("PC0419", f"`{wanted}` cannot be included", span), (*above, wanted))

    def _load(self, name: str, failed: Diagnostic, above: tuple[str, ...]) -> None:
        if self.load_file is None:
            raise PromptcError([_because(failed, "there are no files here")])
        if len(self.trees) >= self.limits.files or len(above) > self.limits.depth:
            raise PromptcError([_because(failed, f"at most {self.limits.files} files, {self.limits.depth} deep")])
        try:
            text = self.load_file(name)
        except PromptcError as wrong:
            own = above[-2] if len(above) > 1 else self.place.span.file  # no file includes itself
            found = [_because(failed, one.message, "" if own.endswith(one.help[14:-2] or " ") else one.help) for one in wrong.diagnostics]
            raise type(wrong)(found) from None
        tree = read_tree(text, name, self.place, self.limits, parts=self.parts) if name.endswith(".j2") else verbatim(text)
        self.texts[name] = text
        self.trees[name] = tree
        self.load_all(tree, name, text, above)


def _list_wanted(node: nodes.Node) -> list[str]:
    """Return the files that a statement names; none if the statement will be refused anyway."""
    if isinstance(node, nodes.Include) and node.ignore_missing:
        return []
    return list(iter_file_names(node.template))  # type: ignore[attr-defined]


def _because(failed: Diagnostic, why: str, help: str = "") -> Diagnostic:
    return Diagnostic(failed.code, f"{failed.message}: {why}", failed.span, help or "name a file of the pack, by its path with `/`")


def lower_template(
    tree: nodes.Template, name: str, text: str, stored: frozenset[str], *, expression: bool = False, lenient: bool = False
) -> LoweredFile:
    """Compile one file to code with the functions `root(run, names)` and, for each block `x`, `block_x(run, names)`.

    `stored`: every name that the file sets anywhere. The line of every instruction is a position in `text`: characters before it, plus 1.
    Raises `LowerFault`, `SyntaxError` (with such a line) and `RecursionError`.
    """
    module, expressions, blocks = lower_module(tree, stored, expression=expression, lenient=lenient)
    code: CodeType = compile(module, f"{TEMPLATE}{name}>", "exec", dont_inherit=True)
    filters = tuple((name_filter(used), used) for used in sorted(expressions.filters))
    tests = tuple((name_test(used), used) for used in sorted(expressions.tests))
    return LoweredFile(name, text, count_nodes(tree), marshal.dumps(code), blocks, filters, tests, list_sites(tree))


def lower_module(tree: nodes.Template, stored: frozenset[str], *, expression: bool = False, lenient: bool = False) -> Module:
    """Return the functions as Python's syntax tree, the expressions with the filters and tests they use, and the names of the blocks."""
    expressions = Expressions(stored, lenient, list_marked(tree) if lenient else None)
    blocks = _list_blocks(tree)
    if expression:
        functions = [_lower_value(tree, expressions)]
    else:
        functions = [_lower_root(tree, expressions), *(_lower_block(block, expressions) for block in blocks.values())]
    return ast.Module(body=functions, type_ignores=[]), expressions, tuple(blocks)


def _list_blocks(tree: nodes.Template) -> dict[str, nodes.Block]:
    blocks: dict[str, nodes.Block] = {}
    for block in tree.find_all(nodes.Block):
        if block.name in blocks:
            raise LowerFault(f"the block `{block.name}` is defined twice", block.lineno)
        blocks[block.name] = block
    return blocks


def _lower_value(tree: nodes.Template, expressions: Expressions) -> ast.stmt:
    statements = Statements(expressions)
    frame = Frame(Symbols(), statements.make_buffer())
    frame.symbols.analyze_node(tree)
    value = tree.body[0].nodes[0]  # type: ignore[attr-defined]

    def write() -> None:
        statements.open.append(py.return_(expressions.lower(value, frame), value.lineno))

    return _function("root", statements, write, 1)


def _lower_root(tree: nodes.Template, expressions: Expressions) -> ast.stmt:
    statements = Statements(expressions)
    statements.extends = tree.find(nodes.Extends) is not None
    frame = Frame(Symbols(), statements.make_buffer())
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
            statements.open.append(py.assign(_PARENT, py.constant(None, 1), 1))
        statements.enter(frame, 1)
        statements.lower_all(tree.body, frame)
        if statements.extends:
            statements.open.append(_render_parent(frame))
        statements.open.append(py.return_(statements.joined(frame.buffer, 1), 1))

    return _function("root", statements, write, 1)


def _render_parent(frame: Frame) -> ast.stmt:
    """Return the statement that prints the extended file, after all that the template sets."""
    text = py.call(py.attribute(py.name("names", 1), "render_parent", 1), 1, py.name(_PARENT, 1))
    put = py.run(py.call(py.attribute(py.name(frame.buffer.out, 1), "append", 1), 1, text), 1)
    known = py.compared(py.name(_PARENT, 1), ast.IsNot(), py.constant(None, 1), 1)
    return py.when(known, [put], [], 1)


def _lower_block(block: nodes.Block, expressions: Expressions) -> ast.stmt:
    statements, at = Statements(expressions), block.lineno
    frame = Frame(Symbols(), statements.make_buffer())
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
            above = py.attribute(py.name("names", at), "read_super", at)
            own = py.name(f"block_{block.name}", at)
            statements.open.append(py.assign(frame.symbols.ref("super"), py.call(above, at, py.constant(block.name, at), own), at))
        statements.enter(frame, at)
        statements.lower_all(block.body, frame)
        statements.open.append(py.return_(statements.joined(frame.buffer, at), at))

    return _function(f"block_{block.name}", statements, write, at)


def _function(name: str, statements: Statements, write: Callable[[], None], at: int) -> ast.stmt:
    """Return a function that first looks up the names that the file never sets."""
    globals = statements.expressions.globals = {}
    body = statements.collect(write)
    find = [
        py.assign(ident, py.call(py.attribute(py.name("names", at), "read", at), at, py.constant(wanted, at)), at)
        for wanted, ident in sorted(globals.items())
    ]
    return py.function(name, _PARAMETERS, find + body, at)


class LowerFault(Exception):
    """A template that Jinja's compiler would refuse: a sentence and a position."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class _StatementWriter:
    """Appends the statements of one file to `open`, the list under construction."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.open: py.Statements = []
        self.extends = False
        self.extended = False

    @abstractmethod
    def lower_all(self, body: Sequence[nodes.Node], frame: Frame) -> None:
        """Lower each statement, in order."""

    def collect(self, write: Callable[[], None]) -> py.Statements:
        """Return the statements that `write` appends."""
        outer, self.open = self.open, []
        write()
        made, self.open = self.open, outer
        return made

    def make_buffer(self) -> Buffer:
        """Return a buffer for output parts, with a new variable."""
        return Buffer(self.expressions.make_temporary("out"))

    def begin(self, buffer: Buffer, at: int) -> None:
        """Assign a new list to the buffer's variable."""
        self.open.append(py.assign(buffer.out, py.call(py.attribute(py.name("run", at), "begin", at), at), at))

    def joined(self, buffer: Buffer, at: int) -> ast.expr:
        """Return the expression that joins the buffer to a text and charges for it."""
        return py.call(py.attribute(py.name("run", at), "join", at), at, py.name(buffer.out, at))

    def take(self, weight: int, at: int) -> None:
        """Charge `weight` steps."""
        self.open.append(py.run(py.call(py.attribute(py.name("run", at), "take", at), at, py.constant(weight, at)), at))

    def enter(self, frame: Frame, at: int) -> None:
        """Initialize the scope's variables."""
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
        """Reset the scope's variables to `missing`."""
        for ident, kind, source in iter_loads(frame.symbols):
            if kind != "resolve" or source in self.expressions.stored:
                self.open.append(py.assign(ident, py.name("missing", at), at))

    def put(self, frame: Frame, parts: Sequence[ast.expr], at: int) -> ast.stmt:
        """Return the statement that adds parts to the output."""
        out = py.name(frame.buffer.out, at)
        if len(parts) == 1:
            return py.run(py.call(py.attribute(out, "append", at), at, parts[0]), at)
        return py.run(py.call(py.attribute(out, "extend", at), at, py.tuple_(parts, at)), at)

    def guard(self, statement: ast.stmt, at: int) -> ast.stmt:
        """Return a statement that runs only while the template extends nothing."""
        free = py.compared(py.name(_PARENT, at), ast.Is(), py.constant(None, at), at)
        return py.when(free, [statement], [], at)

    def target(self, node: nodes.Node, frame: Frame) -> ast.expr:
        """Return where a value is stored: a variable, a part of a namespace, or a tuple of these."""
        at = node.lineno
        if isinstance(node, nodes.Tuple):
            return py.tuple_([self.target(item, frame) for item in node.items], at, store=True)
        if isinstance(node, nodes.NSRef):
            space = self.expressions.lower(nodes.Name(node.name, "load", lineno=at), frame)
            holder = py.call("need_namespace", at, space)
            return py.placed(ast.Subscript, at, value=holder, slice=py.constant(node.attr, at), ctx=ast.Store())  # type: ignore[no-any-return]
        assert isinstance(node, nodes.Name)
        return py.target(frame.symbols.ref(node.name), at)

    def store(self, target: nodes.Node, value: ast.expr, frame: Frame, at: int) -> None:
        """Assign `value` to the target, and publish the target's names if the scope is the top level."""
        self.open.append(py.assign_to(self.target(target, frame), value, at))
        if frame.toplevel:
            for name in list_targets(target):
                self.publish(name, frame, at, exported=not name.startswith("_"))

    def publish(self, name: str, frame: Frame, at: int, *, exported: bool) -> None:
        """Make a name of the top level visible to blocks and includes and, if `exported`, to importers."""
        method = py.attribute(py.name("names", at), "export" if exported else "keep", at)
        self.open.append(py.run(py.call(method, at, py.constant(name, at), py.name(frame.symbols.ref(name), at)), at))


class _FileStatements(_StatementWriter):
    """Lowers blocks, and the statements that extend, include or import files."""

    def lower_block(self, node: nodes.Block, frame: Frame) -> None:
        """Lower `block`: print it here, unless an extending template replaces it."""
        if frame.toplevel and self.extended:
            return
        at = node.lineno
        names = self._derived(frame, at) if node.scoped else py.name("names", at)
        method = py.attribute(names, "call_required" if node.required else "call_block", at)
        put = self.put(frame, [py.call(method, at, py.constant(node.name, at))], at)
        self.open.append(self.guard(put, at) if frame.toplevel and self.extends else put)

    def lower_extends(self, node: nodes.Extends, frame: Frame) -> None:
        """Lower `extends`: the extended file runs at the end, with the blocks of this one."""
        at = node.lineno
        if not frame.toplevel:
            raise LowerFault("`extends` must be at the top of a template, inside no statement but `if`", at)
        if self.extended:
            raise LowerFault("a template extends one other, once", at)
        extend = py.attribute(py.name("names", at), "extend", at)
        self.open.append(py.assign(_PARENT, py.call(extend, at, self.expressions.lower(node.template, frame), py.name(_PARENT, at)), at))
        self.extended = frame.rootlevel

    def _locals(self, node: nodes.Include | nodes.Import | nodes.FromImport, frame: Frame) -> ast.expr:
        return self._dump(frame, node.lineno) if node.with_context else py.constant(None, node.lineno)

    def _dump(self, frame: Frame, at: int) -> ast.expr:
        stores = list_stores(frame.symbols)
        return py.mapping([py.constant(name, at) for name, _ in stores], [py.name(ident, at) for _, ident in stores], at)

    def _derived(self, frame: Frame, at: int) -> ast.expr:
        return py.call(py.attribute(py.name("names", at), "derive", at), at, self._dump(frame, at))

    def lower_include(self, node: nodes.Include, frame: Frame) -> None:
        """Lower `include`."""
        at = node.lineno
        include = py.attribute(py.name("names", at), "include", at)
        template = self.expressions.lower(node.template, frame)
        self.open.append(self.put(frame, [py.call(include, at, template, self._locals(node, frame))], at))

    def _module(self, node: nodes.Import | nodes.FromImport, frame: Frame) -> ast.expr:
        load = py.attribute(py.name("names", node.lineno), "load_module", node.lineno)
        return py.call(load, node.lineno, self.expressions.lower(node.template, frame), self._locals(node, frame))

    def lower_import(self, node: nodes.Import, frame: Frame) -> None:
        """Lower `import`."""
        self.open.append(py.assign(frame.symbols.ref(node.target), self._module(node, frame), node.lineno))
        if frame.toplevel:
            self.publish(node.target, frame, node.lineno, exported=False)

    def lower_from_import(self, node: nodes.FromImport, frame: Frame) -> None:
        """Lower `from ... import`."""
        at, module = node.lineno, self.expressions.make_temporary("module")
        self.open.append(py.assign(module, self._module(node, frame), at))
        for pair in node.names:
            name, alias = (pair, pair) if isinstance(pair, str) else pair
            found = py.call("read_export", at, py.name(module, at), py.constant(name, at))
            self.open.append(py.assign(frame.symbols.ref(alias), found, at))
            if frame.toplevel:
                self.publish(alias, frame, at, exported=False)


class _MacroStatements(_StatementWriter):
    """Lowers macros. A macro becomes a nested function: it sees the variables of the enclosing function as they are when it is called."""

    def lower_macro(self, node: nodes.Macro, frame: Frame) -> None:
        """Lower `macro`."""
        at = node.lineno
        made = self._macro_value(node, frame, node.name)
        self.open.append(py.assign(frame.symbols.ref(node.name), made, at))
        if frame.toplevel:
            self.publish(node.name, frame, at, exported=not node.name.startswith("_"))

    def lower_call_block(self, node: nodes.CallBlock, frame: Frame) -> None:
        """Lower `call`."""
        at, caller = node.lineno, self.expressions.make_temporary("caller")
        self.open.append(py.assign(caller, self._macro_value(node, frame, None), at))
        handed: ast.keyword = py.placed(ast.keyword, at, arg="caller", value=py.name(caller, at))
        text = self.expressions.lower_call(node.call, frame, [handed])
        self.open.append(self.put(frame, [py.call("need_text", at, text)], at))

    def _macro_value(self, node: nodes.Macro | nodes.CallBlock, frame: Frame, name: str | None) -> ast.expr:
        """Write the macro's function; return the expression that wraps it in a `Macro`."""
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
        """Return which of `caller`, `kwargs` and `varargs` become parameters because the body mentions them."""
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
        """Lower `filter`."""
        at, buffer = node.lineno, self.make_buffer()
        inner = frame.inner(buffer)
        inner.symbols.analyze_node(node)
        self.enter(inner, at)
        self.begin(buffer, at)
        self.lower_all(node.body, inner)
        text = self.expressions.lower_chain(node.filter, self.joined(buffer, at), inner)
        self.open.append(self.put(frame, [py.call("need_text", node.filter.lineno, text)], at))
        self.leave(inner, at)


class _LoopStatements(_StatementWriter):
    """Lowers loops: those that never mention `loop`, and those that need the object `loop`."""

    def lower_for(self, node: nodes.For, frame: Frame) -> None:
        """Lower a loop with its filter and its `else`."""
        at = node.lineno
        for name in node.find_all(nodes.Name):
            if name.ctx == "store" and name.name == "loop":
                raise LowerFault("`loop` cannot be set inside a `for`", name.lineno)
        inner = frame.inner()
        known = _uses_loop(node)
        loop = inner.symbols.declare_parameter("loop") if known else ""
        inner.symbols.analyze_node(node, for_branch="body")
        values = self._each(node, frame)
        ran = self.expressions.make_temporary("ran") if node.else_ else ""
        if ran:
            self.open.append(py.assign(ran, py.constant(False, at), at))
        if not known:
            self._plain_loop(node, frame, inner, values, ran)
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
            if ran:  # last, as in Jinja: `else` still runs if every turn was left early
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

    def _wrapped_loop(self, node: nodes.For, frame: Frame, inner: Frame, values: ast.expr, ran: str, loop: str) -> None:
        at = node.lineno
        if node.test is not None:
            values = py.call(self._sieve(node, frame, inner), at, values)
        pair = py.tuple_([self.target(node.target, inner), py.target(loop, at)], at, store=True)
        self.open.append(py.assign(loop, py.name("missing", at), at))
        body = self._turn(node, inner, ran)
        self.open.append(py.loop(pair, py.call("Loop", at, values), body, at))

    def _sieve(self, node: nodes.For, frame: Frame, inner: Frame) -> str:
        """Write a generator of the elements that pass the test, so that `loop` counts only those; return its name.

        Elements that the target unpacks are packed again as a tuple, which is what `loop.previtem` is in Jinja.
        """
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


class Statements(_LoopStatements, _MacroStatements, _FileStatements):
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
        """Lower each statement, in order."""
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
        self.store(node.target, self.expressions.lower(node.node, frame), frame, node.lineno)

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


def _uses_loop(node: nodes.For) -> bool:
    """Return whether the body mentions `loop` (Jinja's rule)."""
    return "loop" in find_undeclared(node.iter_child_nodes(only=("body",)), ("loop",)) or any(
        block.scoped for block in node.find_all(nodes.Block)
    )
