"""Traces the origin of each printed character of a template (`trace_template`), and what an expression reads (`trace_expression`).

The lowered Python is instrumented with calls to a `Log` wherever a value is read, assigned or printed, and run once more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.template.compile import GLOBALS, RUN_ERRORS, Expression, LoweredFile, Program, Template
from promptc.template.define import read_tree
from promptc.template.lower import pyast as py
from promptc.template.lower.expressions import name_filter, name_test
from promptc.template.lower.module import lower_module
from promptc.template.parse import count_nodes, iter_tokens, list_bound, verbatim
from promptc.template.place import OutputSpan, Place, Pointers, Site, TraceContext, trace_outside
from promptc.template.runtime.callables import Macro, Names, Namespace, Render
from promptc.template.runtime.filters.table import load_filter, load_test
from promptc.template.runtime.objects import TEMPLATE, Missing, Module, missing
from promptc.template.runtime.run import Run, each, read_run
from promptc.template.runtime.values import call_part, call_value, read_attribute, read_item
from promptc.text.json import extend_pointer

Files = Mapping[str, tuple[str, Sequence[tuple[int, int]], Sequence[Site]]]
"""By name: the text of a file, the offsets of its tags, and the sites of its definitions."""

_VARIABLE = re.compile(r"(?:l_\d+|g)_(.*)")
_LOOP = re.compile(r"l_\d+_loop")
_BUFFER = re.compile(r"out_\d+")
_FILES = frozenset({"include", "load_module", "derive"})
_CALLS = frozenset({"call_value", "call_part", "need_text"})
_PUBLISHED = frozenset({"keep", "export"})
_BEGINS, _ENDS = ("variable_begin", "block_begin"), ("variable_end", "block_end")
_VIEWS = frozenset({"items", "keys", "values"})


def trace_template(template: Template, names: Mapping[str, Any], known: TraceContext) -> tuple[OutputSpan, ...]:
    """Return what the template prints, in order; the joined texts equal the result of `render`. Raises the errors of `render`.

    The template is lowered once more and run slowly. Text that was changed as a whole, as by `{% filter %}`, is one span.
    """
    text = template.render(names)
    if not isinstance(template.program, Program):
        return (OutputSpan(text, template.place, "", template.text, 0),) if text else ()
    try:
        made = trace_program(template.program, names, known)
    except RUN_ERRORS:
        made = ()
    # a trace must not fail where the render succeeded, nor report wrong origins
    return made if "".join(one.text for one in made) == text else (OutputSpan(text, template.place, "", template.text, 0, template.text),)


def trace_program(program: Program, names: Mapping[str, Any], known: TraceContext) -> tuple[OutputSpan, ...]:
    """Return what a program prints, as `trace_template` does. The program must be known to run without an error."""
    log = Log(known, names)
    printed = run_logged(program, names, log)
    files = {file.name: (file.text, list_codes(file.text, file.name), file.sites) for file in program.files}
    return tuple(_iter_made(log.list_parts(printed), program.place, files))


def trace_expression(expression: Expression, names: Mapping[str, Any], known: TraceContext) -> Pointers:
    """Return the parts of the state that the expression reads. Raises the errors of `evaluate`."""
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
    """Return the result of the program, without settling it; record in `log` what it reads and prints.

    The program must be known to run without an error.
    """
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
    """The instrumented functions of one file."""

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
    """Rewrite functions, in place, to keep a log. Their results are the same to the byte, and so are the steps they take.

    Each variable `x` gets a companion `from_x` with the origins of its value.
    """
    _Instrument().visit(module)
    return module


class _Instrument(ast.NodeTransformer):
    """Visits a module once. It does not visit the nodes that it adds."""

    def __init__(self) -> None:
        self._made = 0

    # --- output ---

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Log output, joined texts and loops, calls with their arguments, and the variables passed to other files."""
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
        """Log a printed part, with all that is read for it."""
        at = part.lineno
        method = "put_text" if _is_text(part) else "put"
        return _log(method, at, _mark(at), py.name(buffer, at), self.visit(part), py.constant(at, at), py.name("file", at))

    def _call(self, node: ast.Call, first: int) -> ast.AST:
        """Log each argument of a call on its own, so that a macro's parameters know their origins."""
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
        """Log the variables passed to another file."""
        sources = [py.name(f"from_{value.id}", given.lineno) for value in given.values]  # type: ignore[attr-defined]
        return _log("hand_on", given.lineno, given, py.tuple_(sources, given.lineno))

    # --- reads ---

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Log the read of a variable."""
        if isinstance(node.ctx, ast.Load) and _VARIABLE.fullmatch(node.id):
            return _log("load", node.lineno, py.name(f"from_{node.id}", node.lineno), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Log the read of a key. It is read from a temporary, which has no origins of its own."""
        return _log("read_key", node.lineno, node.value, node.slice)

    # --- assignments ---

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """Record the origins of an assigned value."""
        target, at = node.targets[0], node.lineno
        variables, parts = _list_variables(target), [node for node in ast.walk(target) if isinstance(node, ast.Subscript)]
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
        """Assign a value of its own, with its origins, to each of several variables."""
        pairs = [py.tuple_([py.target(f"from_{one}", at), py.target(one, at)], at, store=True) for one in variables]
        kept = [_log("keep", at, _mark(at), self.visit(value)) for value in values]
        return py.assign_to(py.tuple_(pairs, at, store=True), py.tuple_(kept, at), at)

    def _find_source(self, value: ast.expr, variable: str) -> ast.expr | None:
        """Return the origins of a value that no expression of the template produced, else None."""
        at = value.lineno
        if isinstance(value, ast.Name):
            known = _VARIABLE.fullmatch(value.id)
            return py.name(f"from_{value.id}", at) if known else py.tuple_([], at)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "read":
            return _log("read_source", at, py.name("names", at), *value.args)
        return None

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        """Log a name that is published to blocks and other files."""
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _PUBLISHED:
            name, variable = call.args
            source = py.name(f"from_{variable.id}", node.lineno)  # type: ignore[attr-defined]
            return [node, py.run(_log("publish", node.lineno, name, variable, source), node.lineno)]
        self.generic_visit(node)
        return [node]

    def visit_For(self, node: ast.For) -> ast.AST:
        """Record the origins of a loop's variables: parts of what the loop iterates over."""
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
        """Record the origins of a macro's parameters."""
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
    """Return whether a part may be a text that was joined from logged parts, that is, the result of a call."""
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
    """Return the template's variables that a target sets."""
    names = [node for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return [node.id for node in names if _VARIABLE.fullmatch(node.id)]


def _copy(source: str, variables: list[str], at: int) -> list[ast.stmt]:
    return [py.assign(f"from_{one}", py.name(source, at), at) for one in variables]


def _flatten(found: ast.AST | list[ast.stmt]) -> list[ast.stmt]:
    return found if isinstance(found, list) else [found]  # type: ignore[list-item]


def list_codes(text: str, name: str) -> list[tuple[int, int]]:
    """Return the start and end offset of each `{{ ... }}` and `{% ... %}` of a valid template; none for a file that is no template."""
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


@frozen(eq=False)
class Printed:
    """A printed part. `at` is its position in the file `name`: characters before it, plus 1.

    `inner` are the parts that it was joined from, if they are known.
    """

    text: str
    name: str
    at: int
    pointers: Pointers
    inner: tuple[Printed, ...] | None


@frozen(eq=False)
class _ReadEvent:
    """A read of a part of the state, or of a value made from such parts."""

    pointers: Pointers


@frozen(eq=False)
class _Joined:
    """A text joined from parts; `pointers` are those of all parts."""

    text: str
    parts: tuple[Printed, ...]
    pointers: Pointers


@frozen(eq=False)
class _Given:
    """An argument of a call, with its origins."""

    value: Any
    pointers: Pointers


class Log:
    """The log of one run, written by instrumented code. `mark` records where a call begins; that call then collects what was read since."""

    def __init__(self, known: TraceContext, names: Mapping[str, object]) -> None:
        self._known = known
        self._names = names
        self._entries: list[_ReadEvent | _Joined] = []
        self._parts: dict[int, tuple[list[str], list[Printed]]] = {}
        self._published: dict[str, tuple[object, Pointers]] = {}
        self._held: dict[tuple[int, str], tuple[dict[str, Any], object, Pointers]] = {}
        self._views: dict[int, tuple[object, dict[str, Any]]] = {}
        self._arguments: dict[str, Pointers] = {}
        self._around: Pointers = ()
        self._goes: _Goes = _Goes((), None)

    def mark(self) -> int:
        """Return the current position in the log."""
        return len(self._entries)

    def list_pointers(self, mark: int = 0) -> Pointers:
        """Return the parts of the state read since a mark, without parts that were read only to reach another of them."""
        found = dict.fromkeys(pointer for one in self._entries[mark:] for pointer in one.pointers)
        around = {pointer[:at] for pointer in found for at, sign in enumerate(pointer) if sign == "/"}
        return tuple(pointer for pointer in found if pointer not in around)

    # --- output ---

    def put(self, mark: int, parts: list[str], text: str, at: int, name: str, inner: tuple[Printed, ...] | None = None) -> str:
        """Log a printed part."""
        self._parts.setdefault(id(parts), (parts, []))[1].append(Printed(text, name, at, self.list_pointers(mark), inner))
        return text

    def put_text(self, mark: int, parts: list[str], text: str, at: int, name: str) -> str:
        """Log the printed result of a call. If it is the text joined last, as for a macro, keep that text's parts."""
        last = self._entries[-1] if len(self._entries) > mark else None
        return self.put(mark, parts, text, at, name, last.parts if isinstance(last, _Joined) and last.text is text else None)

    def join(self, text: str, parts: list[str]) -> str:
        """Log a text joined from parts."""
        _, printed = self._parts.pop(id(parts), (parts, []))
        self._entries.append(_Joined(text, tuple(printed), tuple(dict.fromkeys(found for one in printed for found in one.pointers))))
        return text

    def list_parts(self, text: str) -> tuple[Printed, ...]:
        """Return the parts that `text` was last joined from; empty if they are unknown."""
        return next((one.parts for one in reversed(self._entries) if one.__class__ is _Joined and one.text is text), ())

    # --- reads ---

    def load(self, source: Pointers, value: Any) -> Any:
        """Log the read of a variable: as the part of the state that it is, or else by its origins."""
        pointer = self._known.find(value)
        found = (pointer,) if pointer is not None else source
        if found:
            self._entries.append(_ReadEvent(found))
        return value

    def read_key(self, holder: Any, key: Any) -> Any:
        """Log the read of an existing key of a mapping."""
        self._note(holder, key)
        return holder[key]

    def read_attribute(self, holder: Any, name: str) -> Any:
        """Read `holder.name` and log it."""
        value = read_attribute(holder, name)
        if holder.__class__ is Namespace:
            held = self._held.get((id(holder.values), name))
            self.load(held[2] if held is not None and held[1] is value else (), value)
        elif value.__class__ is not Missing and holder.__class__ is dict:
            self._note(holder, name)
        return value

    def read_item(self, holder: Any, key: Any) -> Any:
        """Read `holder[key]` and log it."""
        value = read_item(holder, key)
        if value.__class__ is not Missing and holder.__class__ is list:
            self._note(holder, key + len(holder) if key < 0 else int(key))
        elif value.__class__ is not Missing and holder.__class__ is dict:
            self._note(holder, key)
        return value

    def _note(self, holder: Any, key: Any) -> None:
        pointer = self._known.find(holder)
        if pointer is not None and key.__class__ in (str, int):
            self._entries.append(_ReadEvent((extend_pointer(pointer, key),)))
        else:
            self._entries.append(_ReadEvent(self._known.parts.get(id(holder), {}).get(key, ())))

    # --- assignments ---

    def keep(self, mark: int, value: Any) -> tuple[Pointers, Any]:
        """Return an assigned value after its origins."""
        return self.list_pointers(mark), value

    def hold(self, values: dict[str, Any], name: str, source: Pointers) -> None:
        """Record the origins of a part of a namespace that is set."""
        self._held[id(values), name] = values, values[name], source

    def publish(self, name: str, value: object, source: Pointers) -> None:
        """Record a name that is set for blocks and other files."""
        self._published[name] = value, source

    def hand_on(self, given: dict[str, Any], sources: tuple[Pointers, ...]) -> dict[str, Any]:
        """Record the variables passed to another file; return them."""
        for (name, value), source in zip(given.items(), sources, strict=True):
            if value is not missing:
                self.publish(name, value, source)
        return given

    def read_source(self, names: Names, name: str) -> Pointers:
        """Return the origins of a name's value."""
        value = names.read(name)
        published = self._published.get(name)
        if published is not None and published[0] is value:
            return published[1]
        return self._known.named.get(name, ()) if name in self._names and self._names[name] is value else ()

    # --- loops ---

    def each(self, mark: int, run: Run, values: Any, weight: int) -> Any:
        """Record what a loop iterates over; return the iterable."""
        self._goes = _Goes(self.list_pointers(mark), self._find_places(values))
        return each(run, values, weight)

    def _find_places(self, values: Any) -> list[str] | None:
        """Return the pointers of the elements if they are parts of the state in the state's order, else None."""
        view = self._views.get(id(values))
        holder = view[1] if view is not None else values
        pointer = self._known.find(holder)
        if pointer is None:
            return None
        return [extend_pointer(pointer, key) for key in (holder if holder.__class__ is dict else range(len(holder)))]

    def turn(self, values: Any) -> _Turns:
        """Return an iterator over a loop's elements that knows the origins of each."""
        goes, self._goes = self._goes, _Goes((), None)
        return _Turns(values, goes)

    def turn_some(self, values: Any) -> _Turns:
        """Return an iterator over a loop that skips elements, so that their places are unknown.

        Elements that are mappings or lists of the state are still found by themselves.
        """
        self._goes = _Goes(self._goes.pointers, None)
        return self.turn(values)

    # --- calls ---

    def given(self, mark: int, value: Any) -> _Given:
        """Return an argument with its origins."""
        return _Given(value, self.list_pointers(mark))

    def given_all(self, mark: int, values: Any) -> tuple[_Given, ...]:
        """Return the arguments from a list with their origins."""
        return tuple(_Given(value, self.list_pointers(mark)) for value in values)

    def given_named(self, mark: int, values: Mapping[str, Any]) -> dict[str, _Given]:
        """Return the named arguments from a mapping with their origins."""
        return {name: _Given(value, self.list_pointers(mark)) for name, value in values.items()}

    def call_value(self, run: Run, callee: Any, /, *args: _Given, **named: _Given) -> Any:
        """Call `callee(...)`."""
        self._bind(callee, args, named)
        return call_value(run, callee, *[one.value for one in args], **{name: one.value for name, one in named.items()})

    def call_part(self, run: Run, holder: Any, name: str, /, *args: _Given, **named: _Given) -> Any:
        """Call `holder.name(...)`."""
        kind = holder.__class__
        parts = holder.exports if kind is Module else holder.values if kind is Namespace else holder if kind is dict else {}
        self._bind(parts.get(name), args, named)
        if kind is dict and name == "get" and args and args[0].value.__class__ is str and args[0].value in holder:
            self._note(holder, args[0].value)
        value = call_part(run, holder, name, *[one.value for one in args], **{key: one.value for key, one in named.items()})
        if kind is dict and name in _VIEWS:
            self._views[id(value)] = value, holder
        return value

    def _bind(self, callee: Any, args: tuple[_Given, ...], named: dict[str, _Given]) -> None:
        self._arguments, self._around = {}, ()
        if callee.__class__ is Macro:
            self._arguments = dict(zip(callee.arguments, [one.pointers for one in args], strict=False))
            self._arguments |= {name: one.pointers for name, one in named.items()}
            self._around = tuple(dict.fromkeys(pointer for one in (*args, *named.values()) for pointer in one.pointers))

    def read_given(self, name: str, value: object) -> Pointers:
        """Return the origins of an argument of the macro being entered; for `varargs` and `kwargs`, those of all arguments."""
        if value is missing:
            return ()
        return self._around if name in ("varargs", "kwargs") else self._arguments.get(name, ())


@frozen(eq=False)
class _Goes:
    """What was read to get a loop's iterable, and the pointers of its elements if they are known."""

    pointers: Pointers
    places: list[str] | None


class _Turns:
    """The iterations of one loop; `source` are the origins of the current element."""

    def __init__(self, values: Any, goes: _Goes) -> None:
        self._values: Iterator[Any] = iter(values)
        self._goes = goes
        self._place = -1
        self.source: Pointers = ()

    def __iter__(self) -> _Turns:
        return self

    def __next__(self) -> Any:
        value = next(self._values)
        self._place += 1
        places = self._goes.places
        self.source = (places[self._place],) if places is not None and self._place < len(places) else self._goes.pointers
        return value
