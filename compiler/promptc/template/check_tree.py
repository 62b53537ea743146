"""The walk against the allow-list: every construct, filter, test, method and function a template names."""

from collections.abc import Iterable, Iterator

from jinja2 import nodes

from promptc.diag.findings import Diagnostic, suggest
from promptc.template.allow import DICT_NAMES, FILTERS, GLOBALS, MAPPING_METHODS, METHODS, NODES, TESTS, TEXT_METHODS, WHY_NOT
from promptc.template.place import Place

Finding = tuple[int, str, str, str]

_BY_FILTER_NAME = frozenset({"map"})
_BY_TEST_NAME = {"select": 0, "reject": 0, "selectattr": 1, "rejectattr": 1}
_ALWAYS_CALLABLE = GLOBALS | {"caller", "super"}
_CONSTRUCTS = {"ScopedEvalContextModifier": "{% autoescape %}", "EvalContextModifier": "{% autoescape %}"}

HOMES = {
    "Slice": frozenset({"Getitem"}),
    "Pair": frozenset({"Dict"}),
    "Operand": frozenset({"Compare"}),
    "Keyword": frozenset({"Call", "Filter", "Test"}),
    "NSRef": frozenset({"Assign", "AssignBlock", "Tuple"}),
}
"""Nodes that mean something in these places alone. All others are expressions or statements, and may stand where the parser puts them."""

_PARTS = {"Slice": "a slice", "Pair": "a pair", "Operand": "an operand", "Keyword": "a named argument", "NSRef": "a part of a namespace"}
_STANDS = {
    "Slice": "write one slice between the brackets: `state.list[1:3]`",
    "Pair": "pairs stand between `{` and `}`",
    "Operand": "compare two values",
    "Keyword": "names stand in a call: `f(name=value)`",
    "NSRef": "set it alone: `{% set ns.name = value %}`",
}


def check_tree(tree: nodes.Template, bound: frozenset[str], name: str, text: str, place: Place) -> list[Diagnostic]:
    """All findings of one file. `bound`: the names its own files bind (macros, imports, `set`), which may therefore be called."""
    found = _iter_findings(tree, bound)
    return [Diagnostic(code, message, place.find_span(name, text, at), help) for at, code, message, help in found]


def find_bound(tree: nodes.Template) -> frozenset[str]:
    """Every name the file binds anywhere: by `set`, `for`, `with`, `macro`, an argument or an import."""
    names = {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
    names.update(node.name for node in tree.find_all(nodes.Macro))
    names.update(node.target for node in tree.find_all(nodes.Import))
    for imported in tree.find_all(nodes.FromImport):
        names.update(pair if isinstance(pair, str) else pair[1] for pair in imported.names)
    return frozenset(names)


def _iter_findings(tree: nodes.Template, bound: frozenset[str]) -> Iterator[Finding]:
    called: set[int] = set()
    for node, parent in _walk(tree, tree):
        kind, home = type(node).__name__, HOMES.get(type(node).__name__)
        if home is not None and type(parent).__name__ not in home:
            yield node.lineno or parent.lineno, "PC0405", f"{_PARTS[kind]} cannot stand here", _STANDS[kind]
            continue
        if kind not in NODES:
            yield node.lineno, "PC0405", f"`{_CONSTRUCTS.get(kind, kind)}` is not in the subset", "see docs/templates.md"
        elif isinstance(node, nodes.Call):
            called.add(id(node.node))
            yield from _check_call(node, bound)
        elif isinstance(node, nodes.Getattr):
            yield from _check_getattr(node, bound, id(node) in called)
        else:
            yield from _check_other(node)


def _walk(node: nodes.Node, parent: nodes.Node) -> Iterator[tuple[nodes.Node, nodes.Node]]:
    yield node, parent
    for child in node.iter_child_nodes():
        yield from _walk(child, node)


def _check_other(node: nodes.Node) -> Iterable[Finding]:
    if isinstance(node, nodes.Filter):
        return _check_filter(node)
    if isinstance(node, nodes.Test):
        return _check_name(node.lineno, "PC0407", "test", node.name, TESTS)
    if isinstance(node, nodes.Name):
        return _check_private(node.lineno, node.name)
    if isinstance(node, nodes.Const):
        return _check_const(node)
    return _check_statement(node)


def _check_statement(node: nodes.Node) -> Iterator[Finding]:
    if isinstance(node, nodes.For) and node.recursive:
        yield node.lineno, "PC0405", "`recursive` loops are not in the subset", "write a macro that calls itself"
    if isinstance(node, nodes.Include) and node.ignore_missing:
        yield node.lineno, "PC0405", "`ignore missing` is not in the subset", "a pack knows its files: include one that is there"
    if isinstance(node, nodes.Include | nodes.Import | nodes.FromImport | nodes.Extends) and not list(find_names(node.template)):
        yield node.lineno, "PC0425", "the name of an included file must be a text", "write it in quotes: `'part.md.j2'`"


def find_names(template: nodes.Expr) -> Iterator[str]:
    """The files a template expression may name: a text, or one of two by a condition. Nothing if it may be another."""
    if isinstance(template, nodes.Const) and isinstance(template.value, str):
        yield template.value
    elif isinstance(template, nodes.CondExpr) and template.expr2 is not None:
        first, second = list(find_names(template.expr1)), list(find_names(template.expr2))
        yield from first + second if first and second else []


def _check_filter(node: nodes.Filter) -> Iterator[Finding]:
    yield from _check_name(node.lineno, "PC0406", "filter", node.name, FILTERS)
    if node.name in _BY_FILTER_NAME:
        yield from _check_argument(node, 0, "PC0406", "filter", FILTERS)
    if node.name in _BY_TEST_NAME:
        yield from _check_argument(node, _BY_TEST_NAME[node.name], "PC0407", "test", TESTS)


def _check_argument(node: nodes.Filter, place: int, code: str, what: str, known: frozenset[str]) -> Iterator[Finding]:
    if len(node.args) <= place:
        return
    name = node.args[place]
    if isinstance(name, nodes.Const) and isinstance(name.value, str):
        yield from _check_name(node.lineno, code, what, name.value, known)
    else:
        yield node.lineno, code, f"the {what} `{node.name}` is to use must be a text", f"write its name in quotes: `{node.name}('...')`"


def _check_name(at: int, code: str, what: str, name: str, known: Iterable[str]) -> Iterator[Finding]:
    if name not in known:
        message = f"there is no {what} `{name}`" + (" a pack may use" if name in WHY_NOT else "")
        yield at, code, message, WHY_NOT.get(name) or suggest(name, known) or "see docs/templates.md"


def _check_private(at: int, name: str) -> Iterator[Finding]:
    if name.startswith("__"):
        yield at, "PC0409", f"`{name}` cannot be used: names that begin with `__` are not data", "use a name of the data"


def _check_const(node: nodes.Const) -> Iterator[Finding]:
    if isinstance(node.value, str) and any("\ud800" <= letter <= "\udfff" for letter in node.value):
        yield node.lineno, "PC0401", "a text holds half of a surrogate pair", "write the character itself"


def _check_getattr(node: nodes.Getattr, bound: frozenset[str], called: bool) -> Iterator[Finding]:
    yield from _check_private(node.lineno, node.attr)
    if called or node.attr not in DICT_NAMES or _find_root(node) in bound:
        return
    hint = f"write `['{node.attr}']` for the key" + (f", or `.{node.attr}()` to call it" if node.attr in MAPPING_METHODS else "")
    yield node.lineno, "PC0409", f"`.{node.attr}` is a method of mappings and not the key `{node.attr}`", hint


def _check_call(node: nodes.Call, bound: frozenset[str]) -> Iterator[Finding]:
    callee = node.node
    if isinstance(callee, nodes.Name):
        if callee.name not in bound and callee.name not in _ALWAYS_CALLABLE:
            yield from _check_name(callee.lineno, "PC0408", "function", callee.name, GLOBALS | bound)
    elif isinstance(callee, nodes.Getattr):
        known = TEXT_METHODS if isinstance(callee.node, nodes.Const | nodes.Concat) else METHODS
        if callee.attr not in known and _find_root(callee) not in bound | {"self", "super"}:
            yield from _check_name(callee.lineno, "PC0409", "method", callee.attr, known)
    elif not isinstance(callee, nodes.Call | nodes.Getitem):
        yield node.lineno, "PC0409", "only functions, macros and methods can be called", "leave the `()` out"


def _find_root(node: nodes.Expr) -> str:
    while isinstance(node, nodes.Getattr | nodes.Getitem):
        node = node.node
    return node.name if isinstance(node, nodes.Name) else ""
