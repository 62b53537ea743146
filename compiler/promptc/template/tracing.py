"""Where each printed character of a template comes from (`trace_template`), and what an expression reads (`trace_expression`).

The lowered Python is rewritten with calls to a `Log` (`log`) wherever a value is read, kept or printed, and run once more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.template.compile import Expression, Template
from promptc.template.define import read_tree
from promptc.template.lower import pyast as py
from promptc.template.lower.expressions import name_filter, name_test
from promptc.template.lower.module import lower_module
from promptc.template.parse import count_nodes, iter_tokens, list_bound, verbatim
from promptc.template.place import OutputSpan, Place, Pointers, Site, TraceContext, trace_outside
from promptc.template.runtime.callables import Names, Render
from promptc.template.runtime.filters.table import load_filter, load_test
from promptc.template.runtime.objects import TEMPLATE
from promptc.template.runtime.program import GLOBALS, RUN_ERRORS, LoweredFile, Program
from promptc.template.runtime.run import read_run
from promptc.template.trace_log import Log, Printed

Files = Mapping[str, tuple[str, Sequence[tuple[int, int]], Sequence[Site]]]
"""By name, the text of a file, where it holds code, and where definitions were written out."""

_VARIABLE = re.compile(r"(?:l_\d+|g)_(.*)")
_LOOP = re.compile(r"l_\d+_loop")
_BUFFER = re.compile(r"out_\d+")
_FILES = frozenset({"include", "load_module", "derive"})
_CALLS = frozenset({"call_value", "call_part", "need_text"})
_PUBLISHED = frozenset({"keep", "export"})
_BEGINS, _ENDS = ("variable_begin", "block_begin"), ("variable_end", "block_end")


def trace_template(template: Template, names: Mapping[str, Any], known: TraceContext) -> tuple[OutputSpan, ...]:
    """What the template prints, in order: joined, it is what `render` gives. Errors: as `render`.

    The template is lowered once more and run slowly. Text that a filter changed as a whole, as `{% filter %}` does, is one piece.
    """
    text = template.render(names)
    if not isinstance(template.program, Program):
        return (OutputSpan(text, template.place, "", template.text, 0),) if text else ()
    try:
        made = trace_program(template.program, names, known)
    except RUN_ERRORS:
        made = ()
    # what explains a render does not fail where that did not, nor tells what is not so
    return made if "".join(one.text for one in made) == text else (OutputSpan(text, template.place, "", template.text, 0, template.text),)


def trace_program(program: Program, names: Mapping[str, Any], known: TraceContext) -> tuple[OutputSpan, ...]:
    """What a program prints, as `trace_template` tells it. It must be known to run without an error."""
    log = Log(known, names)
    printed = run_logged(program, names, log)
    files = {file.name: (file.text, list_codes(file.text, file.name), file.sites) for file in program.files}
    return tuple(_iter_made(log.list_parts(printed), program.place, files))


def trace_expression(expression: Expression, names: Mapping[str, Any], known: TraceContext) -> Pointers:
    """The parts of the state that the expression reads. Errors: as `evaluate`."""
    expression.evaluate(names)
    log = Log(known, names)
    if isinstance(expression.program, Program):
        try:
            run_logged(expression.program, names, log, expression=True)
        except RUN_ERRORS:
            return ()
    return log.list_pointers()


def _iter_made(parts: Sequence[Printed], place: Place, files: Files, calls: tuple[tuple[str, str, int], ...] = ()) -> Iterator[OutputSpan]:
    for part in parts:
        text, codes, sites = files[part.name]
        at = trace_outside(sites, part.at)[0]
        start, stop = next(((start, stop) for start, stop in codes if start < at <= stop), (at - 1, at - 1))
        if part.inner is not None:
            yield from _iter_made(part.inner, place, files, (*calls, (part.name, text, start)) if stop > start else calls)
        elif part.text:
            yield OutputSpan(part.text, place, part.name, text, start, text[start:stop], part.pointers, calls)


def run_logged(program: Program, names: Mapping[str, Any], log: Log, *, expression: bool = False) -> Any:
    """What the program gives, settled or not; what it reads and prints is in `log`. It must be known to run without an error."""
    files = {file.name: file for file in program.files}
    loaded: dict[str, _Logged] = {}

    def load(name: str) -> _Logged:
        if name not in loaded:
            loaded[name] = _load(files[name], program, log, expression=expression and not name)
        return loaded[name]

    run, root = read_run(names, program.limits), load("")
    run.begin_program()
    return root.root(run, Names(load, run, names, root.blocks))


@frozen(eq=False)
class _Logged:
    """The functions of one file."""

    weight: int
    root: Render
    blocks: Mapping[str, Render]


def _load(file: LoweredFile, program: Program, log: Log, *, expression: bool) -> _Logged:
    is_template = not file.name or file.name.endswith(".j2")
    parsed = read_tree(file.text, file.name, program.place, program.limits, expression=expression) if is_template else verbatim(file.text)
    lowered, expressions, blocks = lower_module(parsed, list_bound(parsed), expression=expression)
    module: dict[str, Any] = {**GLOBALS, "log": log, "file": file.name}
    module |= {"read_attribute": log.read_attribute, "read_item": log.read_item}
    module |= {name_filter(name): load_filter(name) for name in expressions.filters}
    module |= {name_test(name): load_test(name) for name in expressions.tests}
    exec(compile(instrument(lowered), f"{TEMPLATE}{file.name}>", "exec", dont_inherit=True), module)
    return _Logged(count_nodes(parsed), module["root"], {name: module[f"block_{name}"] for name in blocks})


def instrument(module: ast.Module) -> ast.Module:
    """Rewrite functions to keep a log. It gives what they give, to the byte, and takes the same steps.

    Beside every variable `x` stands `from_x`: what made its value.
    """
    _Instrument().visit(module)
    return module


class _Instrument(ast.NodeTransformer):
    """Goes through a module once. What it makes is not gone through again."""

    def __init__(self) -> None:
        self._made = 0

    # --- what is printed ---

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """What a text is made of; calls of macros; what other files are given."""
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            holder, method = function.value.id, function.attr
            if _BUFFER.fullmatch(holder):
                node.args = [self._put(part, holder) for part in _list_parts(node.args[0], method)]
                if method == "extend":
                    node.args = [py.tuple_(node.args, node.lineno)]
                return node
            if holder == "names" and method in _FILES:
                node.args = [self._hand_on(one) if isinstance(one, ast.Dict) else self.visit(one) for one in node.args]
                return node
            self.generic_visit(node)
            return _log("join", node.lineno, node, node.args[0]) if holder == "run" and method == "join" else node
        if isinstance(function, ast.Name) and function.id in ("call_value", "call_part"):
            return self._call(node, first=2 if function.id == "call_value" else 3)
        if isinstance(function, ast.Name) and function.id == "each":
            self.generic_visit(node)
            return _log("each", node.lineno, _mark(node.lineno), *node.args)
        self.generic_visit(node)
        return node

    def _put(self, part: ast.expr, buffer: str) -> ast.expr:
        """A part that is printed, with all that is read for it."""
        at = part.lineno
        method = "put_text" if _is_text(part) else "put"
        return _log(method, at, _mark(at), py.name(buffer, at), self.visit(part), py.constant(at, at), py.name("file", at))

    def _call(self, node: ast.Call, first: int) -> ast.AST:
        """A call whose arguments are known apart, so that a macro's variables are."""
        head = [self.visit(arg) for arg in node.args[:first]]
        rest = [self._argument(arg) for arg in node.args[first:]]
        for keyword in node.keywords:
            value = self.visit(keyword.value)
            kind = "given" if keyword.arg is not None else "given_named"
            keyword.value = _log(kind, value.lineno, _mark(value.lineno), value)
        method = py.attribute(py.name("log", node.lineno), node.func.id, node.lineno)  # type: ignore[attr-defined]
        return py.call(method, node.lineno, *head, *rest, keywords=node.keywords)

    def _argument(self, arg: ast.expr) -> ast.expr:
        if isinstance(arg, ast.Starred):
            arg.value = _log("given_all", arg.lineno, _mark(arg.lineno), self.visit(arg.value))
            return arg
        return _log("given", arg.lineno, _mark(arg.lineno), self.visit(arg))

    def _hand_on(self, given: ast.Dict) -> ast.expr:
        """The variables another file is given."""
        sources = [py.name(f"from_{value.id}", given.lineno) for value in given.values]  # type: ignore[attr-defined]
        return _log("hand_on", given.lineno, given, py.tuple_(sources, given.lineno))

    # --- what is read ---

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A variable that is read."""
        if isinstance(node.ctx, ast.Load) and _VARIABLE.fullmatch(node.id):
            return _log("load", node.lineno, py.name(f"from_{node.id}", node.lineno), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """A key that is read."""
        self.generic_visit(node)
        return _log("read_key", node.lineno, node.value, node.slice) if isinstance(node.ctx, ast.Load) else node

    # --- what is kept ---

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """What is set, and what made its value."""
        target, at = node.targets[0], node.lineno
        variables, parts = _list_variables(target), _list_subscripts(target)
        if not variables and not parts:
            self.generic_visit(node)
            return [node]
        if (
            isinstance(target, ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and len(variables) == len(target.elts) == len(node.value.elts)
        ):
            return [self._assign_each(variables, node.value.elts, at)]
        source = self._find_source(node.value, variables[0]) if not parts else None
        if source is not None:
            return [py.assign(f"from_{variables[0]}", source, at), *_copy(f"from_{variables[0]}", variables[1:], at), node]
        self._made += 1
        held = f"from_{variables[0]}" if variables else f"held_{self._made}"
        pair = py.tuple_([py.target(held, at), target], at, store=True)
        kept = py.assign_to(pair, _log("keep", at, _mark(at), self.visit(node.value)), at)
        holds = [py.run(_log("hold", at, part.value, part.slice, py.name(held, at)), at) for part in parts]
        return [kept, *_copy(held, variables[1:], at), *holds]

    def _assign_each(self, variables: list[str], values: list[ast.expr], at: int) -> ast.stmt:
        """Several variables set to a value each."""
        pairs = [py.tuple_([py.target(f"from_{one}", at), py.target(one, at)], at, store=True) for one in variables]
        kept = [_log("keep", at, _mark(at), self.visit(value)) for value in values]
        return py.assign_to(py.tuple_(pairs, at, store=True), py.tuple_(kept, at), at)

    def _find_source(self, value: ast.expr, variable: str) -> ast.expr | None:
        """What made a value that no expression of the template gave; None for those."""
        at = value.lineno
        if isinstance(value, ast.Name):
            known = _VARIABLE.fullmatch(value.id)
            return py.name(f"from_{value.id}", at) if known else py.tuple_([], at)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "read":
            return _log("read_source", at, py.name("names", at), *value.args)
        return None

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        """A name that blocks and includes are given."""
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _PUBLISHED:
            name, variable = call.args
            source = py.name(f"from_{variable.id}", node.lineno)  # type: ignore[attr-defined]
            return [node, py.run(_log("publish", node.lineno, name, variable, source), node.lineno)]
        self.generic_visit(node)
        return [node]

    def visit_For(self, node: ast.For) -> ast.AST:
        """A loop's variables: parts of what it goes over."""
        at, own = node.lineno, _list_variables(node.target)
        loops = [one for one in own if _LOOP.fullmatch(one)]
        variables = [one for one in own if one not in loops]
        body = [line for one in node.body for line in _flatten(self.visit(one))]
        if not variables:
            node.body = body
            return node
        self._made += 1
        turns, source = f"turns_{self._made}", f"from_{variables[0]}"
        method = "turn_some" if _has_sieve(node.iter) else "turn"
        node.iter = py.named(turns, _log(method, at, self.visit(node.iter)), at)
        taken = py.assign(source, py.attribute(py.name(turns, at), "source", at), at)
        node.body = [taken, *_copy(source, variables[1:], at), *[py.assign(f"from_{one}", py.tuple_([], at), at) for one in loops], *body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A macro's variables."""
        at = node.lineno
        body = [line for one in node.body for line in _flatten(self.visit(one))]
        given = [
            py.assign(f"from_{arg.arg}", _log("read_given", at, py.constant(known[1], at), py.name(arg.arg, at)), at)
            for arg in node.args.args
            if (known := _VARIABLE.fullmatch(arg.arg))
        ]
        node.body = [*given, *body]
        return node


def _log(method: str, at: int, *args: ast.expr) -> ast.expr:
    return py.call(py.attribute(py.name("log", at), method, at), at, *args)


def _mark(at: int) -> ast.expr:
    return _log("mark", at)


def _is_text(part: ast.expr) -> bool:
    """Whether a part may be a text that was made of parts, and nothing else: what a call gives."""
    shown = part.test if isinstance(part, ast.IfExp) else part
    value = next((node.value for node in ast.walk(shown) if isinstance(node, ast.NamedExpr)), part)
    if not isinstance(value, ast.Call):
        return False
    return isinstance(value.func, ast.Attribute) or (isinstance(value.func, ast.Name) and value.func.id in _CALLS)


def _has_sieve(values: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id.startswith("sieve_") for node in ast.walk(values))


def _list_parts(arg: ast.expr, method: str) -> list[ast.expr]:
    return arg.elts if method == "extend" and isinstance(arg, ast.Tuple) else [arg]


def _list_variables(target: ast.expr) -> list[str]:
    """The template's variables a target sets."""
    names = [node for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return [node.id for node in names if _VARIABLE.fullmatch(node.id)]


def _list_subscripts(target: ast.expr) -> list[ast.Subscript]:
    """The parts of namespaces a target sets."""
    return [node for node in ast.walk(target) if isinstance(node, ast.Subscript)]


def _copy(source: str, variables: list[str], at: int) -> list[ast.stmt]:
    return [py.assign(f"from_{one}", py.name(source, at), at) for one in variables]


def _flatten(found: ast.AST | list[ast.stmt]) -> list[ast.stmt]:
    return found if isinstance(found, list) else [found]  # type: ignore[list-item]


def list_codes(text: str, name: str) -> list[tuple[int, int]]:
    """From where to where, in characters, each `{{ ... }}` and `{% ... %}` of a template that can be parsed stands."""
    if name and not name.endswith(".j2"):
        return []
    found: list[tuple[int, int]] = []
    start = 0
    for at, kind, value in iter_tokens(text):
        if kind in _BEGINS:
            start = at - 1
        elif kind in _ENDS:
            found.append((start, at - 1 + len(value.rstrip())))
    return found
