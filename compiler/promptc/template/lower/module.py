"""From a checked tree to a code object of Python: functions that make text, or one that gives a value."""

from __future__ import annotations

import ast
import marshal
from collections.abc import Callable, Mapping
from types import CodeType

from jinja2 import nodes
from jinja2.compiler import find_undeclared
from jinja2.idtracking import Symbols

from promptc.diag.findings import Diagnostic, PromptcError, fail
from promptc.diag.frozen import frozen
from promptc.template.allow import LIMITS, PACK, Dialect, Limits
from promptc.template.define import check_bound, list_sites, read_tree
from promptc.template.lower import pyast as py
from promptc.template.lower.expressions import Expressions, Frame, list_marked, name_filter, name_test
from promptc.template.lower.statements import PARENT, LowerFault, Statements
from promptc.template.parse import PartsBudget, check_tree, count_nodes, iter_file_names, list_bound, verbatim, wrong_syntax
from promptc.template.place import Place
from promptc.template.reads import Path, is_settled, list_reads
from promptc.template.runtime.objects import TEMPLATE
from promptc.template.runtime.program import LoweredFile, Program

LoadFile = Callable[[str], str]
_PARAMETERS = ("run", "names")
Module = tuple[ast.Module, Expressions, tuple[str, ...]]


@frozen
class Compiled:
    """What `compile_source` makes: the program, and what it reads from the names it is given, and the texts of the files it brings in."""

    program: Program
    reads: frozenset[Path]
    files: Mapping[str, str]


def compile_source(
    text: str, place: Place, load_file: LoadFile | None, *, expression: bool = False, limits: Limits = LIMITS, dialect: Dialect = PACK
) -> Compiled:
    """Check and lower a template and all it includes. All findings of a stage are raised at once as `PromptcError`."""
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
    return Compiled(Program(lowered, place, settled, limits, dialect.lenient), reads, files.texts)


def _lower(tree: nodes.Template, name: str, text: str, place: Place, *, expression: bool, dialect: Dialect) -> LoweredFile:
    try:
        return lower_template(tree, name, text, list_bound(tree), expression=expression, lenient=dialect.lenient)
    except LowerFault as wrong:
        raise PromptcError([wrong_syntax(wrong.message, name, text, wrong.at, place)]) from None
    except SyntaxError as wrong:
        raise PromptcError([wrong_syntax(wrong.msg, name, text, wrong.lineno or 1, place)]) from None


class _Files:
    """The files a template brings in, each loaded once; circles are refused."""

    def __init__(self, place: Place, load_file: LoadFile | None, limits: Limits, parts: PartsBudget) -> None:
        self.place = place
        self.load_file = load_file
        self.limits = limits
        self.parts = parts
        self.trees: dict[str, nodes.Template] = {}
        self.texts: dict[str, str] = {}

    def load_all(self, tree: nodes.Template, name: str, text: str, above: tuple[str, ...]) -> None:
        """Load what `tree` names, and what that names."""
        for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
            for wanted in _list_wanted(node):
                span = self.place.make_span(name, text, node.lineno)
                if wanted in above:
                    chain = " -> ".join((*above[above.index(wanted) :], wanted))
                    raise PromptcError(
                        [Diagnostic("PC0420", f"files include each other in a circle: {chain}", span, "take one of the includes out")]
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
            raise PromptcError([_because(failed, found.message, found.help) for found in wrong.diagnostics]) from None
        tree = read_tree(text, name, self.place, self.limits, parts=self.parts) if name.endswith(".j2") else verbatim(text)
        self.texts[name] = text
        self.trees[name] = tree
        self.load_all(tree, name, text, above)


def _list_wanted(node: nodes.Node) -> list[str]:
    """The files a statement names; none where it will be refused anyway."""
    if isinstance(node, nodes.Include) and node.ignore_missing:
        return []
    return list(iter_file_names(node.template))  # type: ignore[attr-defined]


def _because(failed: Diagnostic, why: str, help: str = "") -> Diagnostic:
    return Diagnostic(failed.code, f"{failed.message}: {why}", failed.span, help or "name a file of the pack, by its path with `/`")


def lower_template(
    tree: nodes.Template, name: str, text: str, stored: frozenset[str], *, expression: bool = False, lenient: bool = False
) -> LoweredFile:
    """The code of one file. Its functions: `root(run, names)`, and `block_x(run, names)` for each block `x`.

    `stored`: every name the file sets anywhere. The line of every instruction is a place in `text`: characters before it, plus 1.
    Raises `LowerFault`, `SyntaxError` (with such a line), `RecursionError`.
    """
    module, expressions, blocks = lower_module(tree, stored, expression=expression, lenient=lenient)
    code: CodeType = compile(module, f"{TEMPLATE}{name}>", "exec", dont_inherit=True)
    filters = tuple((name_filter(used), used) for used in sorted(expressions.filters))
    tests = tuple((name_test(used), used) for used in sorted(expressions.tests))
    return LoweredFile(name, text, count_nodes(tree), marshal.dumps(code), blocks, filters, tests, list_sites(tree))


def lower_module(tree: nodes.Template, stored: frozenset[str], *, expression: bool = False, lenient: bool = False) -> Module:
    """The functions as Python's own syntax, with the filters and tests they use, and the names of the blocks."""
    expressions = Expressions(stored, lenient, list_marked(tree) if lenient else frozenset())
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
    """A function whose first lines look up the names the file never sets."""
    globals = statements.expressions.globals = {}
    body = statements.collect(write)
    find = [
        py.assign(ident, py.call(py.attribute(py.name("names", at), "read", at), at, py.constant(wanted, at)), at)
        for wanted, ident in sorted(globals.items())
    ]
    return py.function(name, _PARAMETERS, find + body, at)
