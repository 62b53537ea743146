"""Where each printed character of a template comes from (`trace_template`), and what an expression reads (`trace_expression`).

The lowered Python is rewritten with calls to a `Log` wherever a value is read, kept or printed, and run once more.
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
from promptc.template.runtime.callables import Macro, Names, Namespace, Render
from promptc.template.runtime.filters.table import load_filter, load_test
from promptc.template.runtime.objects import TEMPLATE, Missing, Module, missing
from promptc.template.runtime.program import GLOBALS, RUN_ERRORS, LoweredFile, Program
from promptc.template.runtime.run import Run, each, read_run
from promptc.template.runtime.values import call_part, call_value, read_attribute, read_item
from promptc.text.json import extend_pointer

Files = Mapping[str, tuple[str, Sequence[tuple[int, int]], Sequence[Site]]]
"""By name, the text of a file, where it holds code, and where definitions were written out."""

_VARIABLE = re.compile(r"(?:l_\d+|g)_(.*)")
_LOOP = re.compile(r"l_\d+_loop")
_BUFFER = re.compile(r"out_\d+")
_FILES = frozenset({"include", "load_module", "derive"})
_CALLS = frozenset({"call_value", "call_part", "need_text"})
_PUBLISHED = frozenset({"keep", "export"})
_BEGINS, _ENDS = ("variable_begin", "block_begin"), ("variable_end", "block_end")
_VIEWS = frozenset({"items", "keys", "values"})


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


@frozen(eq=False)
class Printed:
    """A part of a text: `at` is its place in the file `name`, characters before it plus 1; `inner` are its own parts, where it was made of
    such that are known."""

    text: str
    name: str
    at: int
    pointers: Pointers
    inner: tuple[Printed, ...] | None


@frozen(eq=False)
class _ReadEvent:
    """A part of the state was read, or a value that was made of some."""

    pointers: Pointers


@frozen(eq=False)
class _Joined:
    """A text was made of parts; `pointers` are theirs."""

    text: str
    parts: tuple[Printed, ...]
    pointers: Pointers


@frozen(eq=False)
class _Given:
    """An argument of a call, and what made it."""

    value: Any
    pointers: Pointers


class Log:
    """The log of one run. Its methods are called by instrumented code; `mark` opens what the call it stands in looks back to."""

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
        """The place where the log stands."""
        return len(self._entries)

    def list_pointers(self, mark: int = 0) -> Pointers:
        """The parts of the state read since a mark; not what holds another of them, which was read to find that."""
        found = dict.fromkeys(pointer for one in self._entries[mark:] for pointer in one.pointers)
        around = {pointer[:at] for pointer in found for at, sign in enumerate(pointer) if sign == "/"}
        return tuple(pointer for pointer in found if pointer not in around)

    # --- what is printed ---

    def put(self, mark: int, parts: list[str], text: str, at: int, name: str, inner: tuple[Printed, ...] | None = None) -> str:
        """A part is printed."""
        self._parts.setdefault(id(parts), (parts, []))[1].append(Printed(text, name, at, self.list_pointers(mark), inner))
        return text

    def put_text(self, mark: int, parts: list[str], text: str, at: int, name: str) -> str:
        """What a call gave is printed: a macro's text is the last thing that was made, and is printed as it is."""
        last = self._entries[-1] if len(self._entries) > mark else None
        return self.put(mark, parts, text, at, name, last.parts if isinstance(last, _Joined) and last.text is text else None)

    def join(self, text: str, parts: list[str]) -> str:
        """Parts become a text."""
        _, printed = self._parts.pop(id(parts), (parts, []))
        self._entries.append(_Joined(text, tuple(printed), tuple(dict.fromkeys(found for one in printed for found in one.pointers))))
        return text

    def list_parts(self, text: str) -> tuple[Printed, ...]:
        """The parts of the last text that was made."""
        return next((one.parts for one in reversed(self._entries) if one.__class__ is _Joined and one.text is text), ())

    # --- what is read ---

    def load(self, source: Pointers, value: Any) -> Any:
        """A variable is read: a part of the state is known as one, anything else by what made it."""
        pointer = self._known.find(value)
        found = (pointer,) if pointer is not None else source
        if found:
            self._entries.append(_ReadEvent(found))
        return value

    def read_key(self, holder: Any, key: Any) -> Any:
        """A mapping's key is read; it has it."""
        self._note(holder, key)
        return holder[key]

    def read_attribute(self, holder: Any, name: str) -> Any:
        """`holder.name`."""
        value = read_attribute(holder, name)
        if holder.__class__ is Namespace:
            held = self._held.get((id(holder.values), name))
            self.load(held[2] if held is not None and held[1] is value else (), value)
        elif value.__class__ is not Missing and holder.__class__ is dict:
            self._note(holder, name)
        return value

    def read_item(self, holder: Any, key: Any) -> Any:
        """`holder[key]`."""
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

    # --- what is kept ---

    def keep(self, mark: int, value: Any) -> tuple[Pointers, Any]:
        """A value that is set, and what made it."""
        return self.list_pointers(mark), value

    def hold(self, values: dict[str, Any], name: str, source: Pointers) -> None:
        """A part of a namespace is set."""
        self._held[id(values), name] = values, values[name], source

    def publish(self, name: str, value: object, source: Pointers) -> None:
        """A name is set for blocks and other files."""
        self._published[name] = value, source

    def hand_on(self, given: dict[str, Any], sources: tuple[Pointers, ...]) -> dict[str, Any]:
        """Another file is given variables."""
        for (name, value), source in zip(given.items(), sources, strict=True):
            if value is not missing:
                self.publish(name, value, source)
        return given

    def read_source(self, names: Names, name: str) -> Pointers:
        """What made the value of a name."""
        value = names.read(name)
        published = self._published.get(name)
        if published is not None and published[0] is value:
            return published[1]
        return self._known.named.get(name, ()) if name in self._names and self._names[name] is value else ()

    # --- loops ---

    def each(self, mark: int, run: Run, values: Any, weight: int) -> Any:
        """What a loop goes over."""
        self._goes = _Goes(self.list_pointers(mark), self._find_places(values))
        return each(run, values, weight)

    def _find_places(self, values: Any) -> list[str] | None:
        """The pointers of the elements, where they are parts of the state in its order."""
        view = self._views.get(id(values))
        holder = view[1] if view is not None else values
        pointer = self._known.find(holder)
        if pointer is None:
            return None
        return [extend_pointer(pointer, key) for key in (holder if holder.__class__ is dict else range(len(holder)))]

    def turn(self, values: Any) -> _Turns:
        """The turns of a loop, which knows at each what made its element."""
        goes, self._goes = self._goes, _Goes((), None)
        return _Turns(values, goes)

    def turn_some(self, values: Any) -> _Turns:
        """The turns of a loop that passes elements over: only those that know themselves which part of the state they are are known."""
        self._goes = _Goes(self._goes.pointers, None)
        return self.turn(values)

    # --- calls ---

    def given(self, mark: int, value: Any) -> _Given:
        """An argument."""
        return _Given(value, self.list_pointers(mark))

    def given_all(self, mark: int, values: Any) -> tuple[_Given, ...]:
        """Arguments out of a list."""
        return tuple(_Given(value, self.list_pointers(mark)) for value in values)

    def given_named(self, mark: int, values: Mapping[str, Any]) -> dict[str, _Given]:
        """Named arguments out of a mapping."""
        return {name: _Given(value, self.list_pointers(mark)) for name, value in values.items()}

    def call_value(self, run: Run, callee: Any, /, *args: _Given, **named: _Given) -> Any:
        """`callee(...)`."""
        self._bind(callee, args, named)
        return call_value(run, callee, *[one.value for one in args], **{name: one.value for name, one in named.items()})

    def call_part(self, run: Run, holder: Any, name: str, /, *args: _Given, **named: _Given) -> Any:
        """`holder.name(...)`."""
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
        """What made an argument of the macro that is entered; of `varargs` and `kwargs`, what made all."""
        if value is missing:
            return ()
        return self._around if name in ("varargs", "kwargs") else self._arguments.get(name, ())


@frozen(eq=False)
class _Goes:
    """What was read for what a loop goes over, and the pointers of its elements where they are known."""

    pointers: Pointers
    places: list[str] | None


class _Turns:
    """The turns of one loop; `source` tells what made the element of the turn."""

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
