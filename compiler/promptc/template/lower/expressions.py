"""Lowers expressions of Jinja to expressions of Python (`Expressions`), in the scope they belong to (`Frame`)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from jinja2 import nodes
from jinja2.idtracking import VAR_LOAD_PARAMETER, VAR_LOAD_RESOLVE, Symbols

from promptc.template.allow import CHAT, COMPARING, DICT_NAMES, LIMITS
from promptc.template.lower import pyast as py
from promptc.template.signatures import ANY, UNKNOWN, find_wrong_filter, find_wrong_test, iter_taken, iter_taken_by_test

_BINARY = {"Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide", "FloorDiv": "floor_divide", "Mod": "modulo", "Pow": "power"}
_DIRECT: dict[str, ast.cmpop] = {"eq": ast.Eq(), "ne": ast.NotEq(), "lt": ast.Lt(), "lteq": ast.LtE(), "gt": ast.Gt(), "gteq": ast.GtE()}

_MAY_MISS = frozenset({"Name", "Call", "Filter"})
_LENIENT_FILTERS = {"tojson": "chat_tojson"}
"""Filters that chat templates replace by others, under names that no template can write."""

_MARKING = frozenset({"safe", "e", "escape", "forceescape"})
_UNMARKED = (nodes.Const, nodes.TemplateData, nodes.Concat, nodes.Compare, nodes.Not, nodes.Test)
_UNMARKING = frozenset("chat_tojson count float int join length replace striptags title tojson urlencode wordcount wordwrap".split())
_ESCAPING = frozenset("center format join ljust replace rjust truncate".split())
"""The filters and methods of a marked text that escape their arguments."""

_MOST_ROUNDS = 20
_NOT_KEYWORDS = frozenset({"None", "True", "False"})


def name_filter(name: str) -> str:
    """Return the variable of a filter."""
    return f"f_{name}"


def name_test(name: str) -> str:
    """Return the variable of a test; those with the same operator share one."""
    return f"t_{COMPARING.get(name, name)}"


class Expressions:
    """Lowers the expressions of one file.

    `stored`: the names that the file sets anywhere; all others are looked up once per function.
    `lenient`: an expression that may be undefined yields a value that prints as nothing instead (`soften`).
    """

    def __init__(self, stored: frozenset[str], lenient: bool = False, marked: frozenset[str] | None = None) -> None:
        """Start without filters, tests or looked-up names.

        `marked`: what a lenient file may set to the result of `safe` or `escape` (`list_marked`).
        """
        self.stored = stored
        self.lenient = lenient
        self.marked = marked
        self.filters: set[str] = set()
        self.tests: set[str] = set()
        self.globals: dict[str, str] = {}
        self.unset: set[str] = set()
        self._temporaries = 0
        self._by_kind: dict[str, Callable[[Any, Frame], ast.expr]] = {
            "Name": self._name,
            "Const": self._constant,
            "TemplateData": lambda node, frame: py.constant(node.data, node.lineno),
            "Tuple": lambda node, frame: py.tuple_(self.lower_all(node.items, frame), node.lineno),
            "List": lambda node, frame: py.sequence(self.lower_all(node.items, frame), node.lineno),
            "Dict": self._dict,
            "Getattr": self._getattr,
            "Getitem": self._getitem,
            "Call": self._call,
            "Filter": self._filter,
            "Test": self._test,
            "Concat": lambda node, frame: self._run_call("concat", node.lineno, *self.lower_all(node.nodes, frame)),
            "CondExpr": self._condition,
            "Compare": self._compare,
            "And": lambda node, frame: py.and_(self.lower_all((node.left, node.right), frame), node.lineno),
            "Or": lambda node, frame: py.or_(self.lower_all((node.left, node.right), frame), node.lineno),
            "Not": lambda node, frame: py.not_(self.lower(node.node, frame), node.lineno),
            "Neg": lambda node, frame: self._run_call("negate", node.lineno, self.lower(node.node, frame)),
            "Pos": lambda node, frame: self._run_call("positive", node.lineno, self.lower(node.node, frame)),
            **dict.fromkeys(_BINARY, self._binary),
        }

    def lower(self, node: nodes.Node, frame: Frame) -> ast.expr:
        """Return the Python of one expression."""
        kind = type(node).__name__
        lowered = self._by_kind[kind](node, frame)
        if isinstance(node, nodes.List | nodes.Tuple | nodes.Dict) and self._marks(node):
            lowered = self._plain(lowered)
        return py.call("soften", node.lineno, lowered) if self.lenient and kind in _MAY_MISS else lowered

    def lower_all(self, found: Sequence[nodes.Node], frame: Frame) -> list[ast.expr]:
        """Return the Python of each expression."""
        return [self.lower(node, frame) for node in found]

    def make_temporary(self, kind: str = "v") -> str:
        """Return a variable that nothing else uses."""
        self._temporaries += 1
        return f"{kind}_{self._temporaries}"

    def shown(self, node: nodes.Node, frame: Frame) -> ast.expr:
        """Return the expression for the text of a value that is printed."""
        if isinstance(node, nodes.TemplateData | nodes.Concat) or (isinstance(node, nodes.Const) and isinstance(node.value, str)):
            return self.lower(node, frame)
        at, variable = node.lineno, self.make_temporary()
        value = py.named(variable, self.lower(node, frame), at)
        is_text = py.compared(py.attribute(value, "__class__", at), ast.Is(), py.name("str", at), at)
        other = py.name(variable, at)
        other = self._plain(other) if self._marks(node) else other
        return py.if_exp(is_text, py.name(variable, at), self._run_call("show", at, other), at)

    def _run_call(self, function: str, at: int, *args: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.expr:
        return py.call(function, at, py.name("run", at), *args, keywords=keywords)

    def _name(self, node: nodes.Name, frame: Frame) -> ast.expr:
        at = node.lineno
        ident = frame.symbols.ref(node.name)
        load = frame.symbols.find_load(ident)
        if load is not None and load[0] == VAR_LOAD_PARAMETER and ident not in self.unset:
            return py.name(ident, at)
        if load is not None and load[0] == VAR_LOAD_RESOLVE and node.name not in self.stored:
            ident = self.globals.setdefault(node.name, f"g_{node.name}")
        unknown = py.compared(py.name(ident, at), ast.Is(), py.name("missing", at), at)
        return py.if_exp(unknown, py.call("undefined", at, py.constant(node.name, at)), py.name(ident, at), at)

    def _constant(self, node: nodes.Const, frame: Frame) -> ast.expr:
        return py.constant(node.value, node.lineno)

    def _dict(self, node: nodes.Dict, frame: Frame) -> ast.expr:
        keys = [
            self.lower(pair.key, frame)
            if isinstance(pair.key, nodes.Const)
            else py.call("check_key", pair.key.lineno, self.lower(pair.key, frame))
            for pair in node.items
        ]
        return py.mapping(keys, [self.lower(pair.value, frame) for pair in node.items], node.lineno)

    def _getattr(self, node: nodes.Getattr, frame: Frame) -> ast.expr:
        return self._lower_key(self._reader("read_attribute"), self.lower(node.node, frame), node.attr, node.lineno)

    def _reader(self, function: str) -> str:
        return f"{function}_loosely" if self.lenient else function

    def _lower_key(self, otherwise: str, holder: ast.expr, key: str, at: int) -> ast.expr:
        """Return the expression for `holder[key]`: a lookup if the holder is a mapping with the key, else a call of `otherwise`."""
        if key in DICT_NAMES and otherwise.startswith("read_attribute"):
            return py.call(otherwise, at, holder, py.constant(key, at))
        variable = self.make_temporary()
        is_dict = py.compared(py.attribute(py.named(variable, holder, at), "__class__", at), ast.Is(), py.name("dict", at), at)
        has_key = py.compared(py.constant(key, at), ast.In(), py.name(variable, at), at)
        value = py.subscript(py.name(variable, at), py.constant(key, at), at)
        return py.if_exp(py.and_((is_dict, has_key), at), value, py.call(otherwise, at, py.name(variable, at), py.constant(key, at)), at)

    def _getitem(self, node: nodes.Getitem, frame: Frame) -> ast.expr:
        at, holder, arg = node.lineno, self.lower(node.node, frame), node.arg
        if isinstance(arg, nodes.Slice):
            bounds = [py.constant(None, at) if bound is None else self.lower(bound, frame) for bound in (arg.start, arg.stop, arg.step)]
            return self._run_call("cut_slice", at, holder, *bounds)
        if isinstance(arg, nodes.Const) and isinstance(arg.value, str):
            return self._lower_key(self._reader("read_item"), holder, arg.value, at)
        return py.call(self._reader("read_item"), at, holder, self.lower(arg, frame))

    def _call(self, node: nodes.Call, frame: Frame) -> ast.expr:
        return self.lower_call(node, frame, [])

    def lower_call(self, node: nodes.Call, frame: Frame, extra: list[ast.keyword]) -> ast.expr:
        """Lower a call; `extra` is the keyword argument that `{% call %}` adds."""
        args, keywords = self._arguments(node, frame)
        callee = node.node
        if isinstance(callee, nodes.Getattr):
            holder = self.lower(callee.node, frame)
            if callee.attr in _ESCAPING and self._marks(callee.node):
                args, keywords = self._all_plain(args, keywords)
            return self._run_call(
                "call_part", callee.lineno, holder, py.constant(callee.attr, callee.lineno), *args, keywords=keywords + extra
            )
        return self._run_call("call_value", node.lineno, self.lower(callee, frame), *args, keywords=keywords + extra)

    def _arguments(self, node: Any, frame: Frame) -> tuple[list[ast.expr], list[ast.keyword]]:
        at = node.lineno
        args = self.lower_all(node.args, frame)
        if node.dyn_args is not None:
            args.append(py.placed(ast.Starred, at, value=self._run_call("spread", at, self.lower(node.dyn_args, frame)), ctx=ast.Load()))
        keywords = [self._keyword(pair, frame) for pair in node.kwargs]
        if node.dyn_kwargs is not None:
            named = self._run_call("spread_named", at, self.lower(node.dyn_kwargs, frame))
            keywords.append(py.placed(ast.keyword, at, arg=None, value=named))
        return args, keywords

    def _keyword(self, pair: nodes.Keyword, frame: Frame) -> ast.keyword:
        at, value = pair.lineno, self.lower(pair.value, frame)
        if pair.key in _NOT_KEYWORDS:
            return py.placed(ast.keyword, at, arg=None, value=py.mapping([py.constant(pair.key, at)], [value], at))  # type: ignore[no-any-return]
        return py.placed(ast.keyword, at, arg=pair.key, value=value)  # type: ignore[no-any-return]

    def _filter(self, node: nodes.Filter, frame: Frame) -> ast.expr:
        assert node.node is not None
        return self.lower_filter(node, self.lower(node.node, frame), frame)

    def lower_filter(self, node: nodes.Filter, value: ast.expr, frame: Frame) -> ast.expr:
        """Lower a filter of `value`."""
        if self.lenient:
            if node.name not in CHAT.filters:
                return self._run_call("lack_filter", node.lineno, py.constant(node.name, node.lineno))
            _rename_lenient(node)
        self.filters.add(node.name)
        args, keywords = self._arguments(node, frame)
        is_marked = self._marks(node.node)
        if node.name in ("e", "escape", "pprint") and is_marked:
            value = self._plain(value if node.name != "pprint" else py.tuple_([value], node.lineno))
        elif node.name in _ESCAPING and is_marked:
            args, keywords = self._all_plain(args, keywords)
        elif node.name == "map" and self.lenient and any(isinstance(one, nodes.Const) and one.value in _MARKING for one in node.args):
            value = self._plain(py.tuple_([value], node.lineno))
        if is_judged(node):
            return self._run_call(name_filter(node.name), node.lineno, value, *args, keywords=keywords)
        function, word = py.name(name_filter(node.name), node.lineno), py.constant(node.name, node.lineno)
        return self._run_call("call_filter", node.lineno, function, word, value, *args, keywords=keywords)

    def lower_chain(self, node: nodes.Filter, value: ast.expr, frame: Frame) -> ast.expr:
        """Lower the filters of `{% filter a | b %}`, applied to the text `value`."""
        inner = self.lower_chain(node.node, value, frame) if isinstance(node.node, nodes.Filter) else value
        return self.lower_filter(node, inner, frame)

    def _test(self, node: nodes.Test, frame: Frame) -> ast.expr:
        self.tests.add(node.name)
        args, keywords = self._arguments(node, frame)
        value = self.lower(node.node, frame)
        if is_judged(node):
            return self._run_call(name_test(node.name), node.lineno, value, *args, keywords=keywords)
        function, word = py.name(name_test(node.name), node.lineno), py.constant(node.name, node.lineno)
        return self._run_call("call_test", node.lineno, function, word, value, *args, keywords=keywords)

    def _condition(self, node: nodes.CondExpr, frame: Frame) -> ast.expr:
        soft, at = frame.soft(), node.lineno
        otherwise = py.name("BLANK", at) if node.expr2 is None else self.lower(node.expr2, soft)
        return py.if_exp(self.lower(node.test, soft), self.lower(node.expr1, soft), otherwise, at)

    def _binary(self, node: nodes.BinExpr, frame: Frame) -> ast.expr:
        left, right = self.lower_all((node.left, node.right), frame)
        if isinstance(node, nodes.Add | nodes.Mod) and self._marks(node.left):
            right = self._plain(right)
        if isinstance(node, nodes.Add) and self._marks(node.right):
            left = self._plain(left)
        return self._run_call(_BINARY[type(node).__name__], node.lineno, left, right)

    def _marks(self, node: nodes.Node | None) -> bool:
        """Return whether a value may be a text of `safe` or `escape`. Jinja escapes what is put into such a text."""
        return self.marked is not None and _is_marked(node, self.marked)

    def _plain(self, value: ast.expr) -> ast.expr:
        """Return the Python of a value that Jinja would escape: it is refused, unless that changes nothing."""
        return self._run_call("need_plain", value.lineno, value)

    def _all_plain(self, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> tuple[list[ast.expr], list[ast.keyword]]:
        """Do this with each argument of a call."""
        for one in args:
            if isinstance(one, ast.Starred):
                one.value = self._plain(one.value)
        for word in keywords:
            word.value = self._plain(word.value)
        return [one if isinstance(one, ast.Starred) else self._plain(one) for one in args], list(keywords)

    def _compare(self, node: nodes.Compare, frame: Frame) -> ast.expr:
        at, left = node.lineno, self.lower(node.expr, frame)
        first = node.ops[0]
        if len(node.ops) == 1 and first.op in _DIRECT and isinstance(first.expr, nodes.Const):
            return py.compared(left, _DIRECT[first.op], self.lower(first.expr, frame), at)
        parts = []
        for operand in node.ops:
            right = self.lower(operand.expr, frame)
            variable = self.make_temporary() if operand is not node.ops[-1] else ""
            right = py.named(variable, right, at) if variable else right
            parts.append(self._run_call("compare", at, py.constant(operand.op, at), left, right))
            left = py.name(variable, at) if variable else left
        return parts[0] if len(parts) == 1 else py.and_(parts, at)


def _rename_lenient(node: nodes.Filter) -> None:
    """Rename a filter of a chat template, and the one that it maps, to the one that replaces it."""
    node.name = _LENIENT_FILTERS.get(node.name, node.name)
    if node.name == "map" and node.args and isinstance(node.args[0], nodes.Const):
        node.args[0].value = _LENIENT_FILTERS.get(node.args[0].value, node.args[0].value)


def list_marked(tree: nodes.Template) -> frozenset[str] | None:
    """Return the names, and with a dot the attributes, that a chat template may set to a text of `safe` or `escape`.

    Jinja escapes what is put into such a text. None means that the file has no such text. After some rounds, all that it sets is marked.
    """
    if not any(one.name in _MARKING for one in tree.find_all(nodes.Filter)):
        return None
    bound = list(_iter_bound(tree))
    found: frozenset[str] = frozenset()
    for _ in range(_MOST_ROUNDS):
        more = found.union(*(names for names, value in bound if _is_marked(value, found)))
        if more == found:
            return found
        found = more
    return found.union(*(names for names, _ in bound))


def _iter_bound(tree: nodes.Template) -> Iterator[tuple[Sequence[str], nodes.Node | None]]:
    """Yield what a file sets, and the value of each."""
    made: list[nodes.Macro | nodes.CallBlock] = [*tree.find_all(nodes.Macro), *tree.find_all(nodes.CallBlock)]
    parameters = [arg.name for one in made for arg in one.args]
    for one in tree.find_all((nodes.Assign, nodes.AssignBlock, nodes.For, nodes.With, nodes.Keyword, nodes.Call)):
        if isinstance(one, nodes.With):
            yield from (([name.name for name in _list_names(target)], value) for target, value in zip(one.targets, one.values, strict=True))
        elif isinstance(one, nodes.Keyword):
            yield (one.key, f".{one.key}"), one.value
        elif isinstance(one, nodes.Call):
            yield from ((parameters, arg) for arg in one.args)
        elif isinstance(one, nodes.For):
            yield list_targets(one.target), one.iter
        elif isinstance(one, nodes.Assign | nodes.AssignBlock):
            value = one.filter if isinstance(one, nodes.AssignBlock) else one.node
            yield [f".{one.target.attr}"] if isinstance(one.target, nodes.NSRef) else list_targets(one.target), value


def _is_marked(node: nodes.Node | None, marked: frozenset[str]) -> bool:
    if node is None or isinstance(node, _UNMARKED):
        return False
    if isinstance(node, nodes.Name):
        return node.name in marked
    if isinstance(node, nodes.Filter) and node.name in _MARKING | _UNMARKING:
        return node.name in _MARKING
    if isinstance(node, nodes.CondExpr):
        return _is_marked(node.expr1, marked) or _is_marked(node.expr2, marked)
    key = node.attr if isinstance(node, nodes.Getattr) else read_constant(node.arg) if isinstance(node, nodes.Getitem) else None
    return (isinstance(key, str) and f".{key}" in marked) or any(_is_marked(one, marked) for one in node.iter_child_nodes())


class Buffer(NamedTuple):
    """`out`: the variable of the list of output parts."""

    out: str


class Frame:
    """One scope. `toplevel`: names set here are visible to blocks and importers. `guarded`: prints only if nothing is extended."""

    __slots__ = ("symbols", "buffer", "guarded", "toplevel", "rootlevel")

    def __init__(self, symbols: Symbols, buffer: Buffer) -> None:
        self.symbols = symbols
        self.buffer = buffer
        self.guarded = False
        self.toplevel = False
        self.rootlevel = False

    def inner(self, buffer: Buffer | None = None) -> Frame:
        """Return a scope inside this one."""
        made = Frame(Symbols(self.symbols), buffer or self.buffer)
        made.guarded = self.guarded
        return made

    def soft(self) -> Frame:
        """Return this scope for a branch that does not always run."""
        made = Frame(self.symbols, self.buffer)
        made.guarded = self.guarded
        made.toplevel = self.toplevel
        return made


def iter_loads(symbols: Symbols) -> Iterator[tuple[str, str, str]]:
    """Yield each variable that a scope starts with: its Python name, how it is set (`param resolve alias undefined`), and its source."""
    for ident, (kind, source) in symbols.loads.items():
        yield ident, kind, source or ""


def list_stores(symbols: Symbols) -> Sequence[tuple[str, str]]:
    """Return the name and the Python name of all that a scope and its outer scopes set."""
    return list(symbols.dump_stores().items())


def list_targets(target: nodes.Node) -> list[str]:
    """Return the names that a target sets, each once, sorted."""
    return sorted({name.name for name in _list_names(target) if name.ctx == "store"})


def _list_names(target: nodes.Node) -> list[nodes.Name]:
    return [target] if isinstance(target, nodes.Name) else list(target.find_all(nodes.Name))


def is_judged(node: nodes.Filter | nodes.Test) -> bool:
    """Return whether no run has to check the arguments: each is a valid constant, or belongs to a parameter that accepts any value.

    A pack can only raise the limits, so constants within the default limits are within the pack's.
    """
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return False
    args = [read_constant(arg) for arg in node.args]
    named = {str(word.key): read_constant(word.value) for word in node.kwargs}
    is_filter = isinstance(node, nodes.Filter)
    if (find_wrong_filter if is_filter else find_wrong_test)(node.name, args, named, LIMITS) is not None:
        return False
    taken = (iter_taken if is_filter else iter_taken_by_test)(node.name, args, named)
    return all(value is not UNKNOWN or parameter.sort is ANY for _, parameter, value, _ in taken)


def read_constant(node: nodes.Expr) -> Any:
    """Return the value of a literal expression; `UNKNOWN` if the expression is computed."""
    if isinstance(node, nodes.Const):
        return node.value
    if isinstance(node, nodes.Neg) and isinstance(node.node, nodes.Const) and node.node.value.__class__ in (int, float):
        return -node.node.value
    if isinstance(node, nodes.List | nodes.Tuple):
        items = [read_constant(item) for item in node.items]
        return UNKNOWN if any(item is UNKNOWN for item in items) else (items if isinstance(node, nodes.List) else tuple(items))
    return UNKNOWN
