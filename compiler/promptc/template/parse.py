"""Parses templates with Jinja's lexer and parser, records the position of every token, and checks what a pack must not write.

No other part of Jinja runs. `parse` returns the tree of a text that keeps the limits; `check_tree` returns the findings about the tree.
`list_bound` returns the names that a tree binds, and `list_reads` the names and parts of names that it reads.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import isinf

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.ext import Extension, LoopControlExtension
from jinja2.lexer import TokenStream
from jinja2.parser import Parser

from promptc.diag.findings import Diagnostic, PromptcError, suggest
from promptc.diag.typed import Any
from promptc.template.allow import DICT_NAMES, GLOBALS, MAPPING_METHODS, METHODS, PACK, TESTS, TEXT_METHODS, WHY_NOT, Dialect, Limits
from promptc.template.place import Definition, Place
from promptc.template.runtime.errors import reword

Token = tuple[int, str, str]
_FREE = frozenset({"whitespace", "comment_begin", "comment", "comment_end"})
"""Tokens that the parser never sees, and that the limit on parts does not count."""

_OPENING = frozenset({"if", "for", "macro", "call", "filter", "block", "with", "autoescape", "generation"})
_COUNTED = frozenset({"name", "operator", "integer", "float", "string"})
_LOOSE = frozenset({"and", "or", "not", "if", "else"})
_Found = tuple[str, str, str] | None

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
"""Nodes that are valid only inside these parents. All other nodes are expressions or statements, valid wherever the parser puts them."""

_PARTS = {"Slice": "a slice", "Pair": "a pair", "Operand": "an operand", "Keyword": "a named argument", "NSRef": "a part of a namespace"}

_INSTEAD = {"ScopedEvalContextModifier": "leave the tag out: nothing is escaped by itself"}
_STANDS = {
    "Slice": "write one slice between the brackets: `state.list[1:3]`",
    "Pair": "pairs belong between `{` and `}`",
    "Operand": "compare two values",
    "Keyword": "names belong in a call: `f(name=value)`",
    "NSRef": "set it alone: `{% set ns.name = value %}`",
}

Path = tuple[str, ...]
_IN_MACROS = frozenset({"caller", "varargs", "kwargs"})
_IN_BLOCKS = frozenset({"super", "self"})
_SCOPES: dict[type[nodes.Node], str] = {
    nodes.For: "iter",
    nodes.Macro: "",
    nodes.CallBlock: "call",
    nodes.FilterBlock: "",
    nodes.With: "values",
    nodes.Scope: "",
    nodes.Block: "",
    nodes.AssignBlock: "",
}
"""Statements with a scope of their own, and their field that is not in it."""

_CHANCE = frozenset({"lipsum"})
"""Functions that Jinja gives every template, and that promptc does not have. To a chat template, no other unknown name is an error."""

_PASSING = frozenset("select reject selectattr rejectattr sort first last default d list reverse unique min max".split())
_FRESH = (nodes.Const, nodes.Compare, nodes.Test, nodes.Not, nodes.Concat, nodes.Sub, nodes.Div, nodes.FloorDiv, nodes.Neg, nodes.Pos)


class PartsBudget:
    """The part of `Limits.parts` that is left for a template and the files it includes, imports or extends."""

    __slots__ = ("left", "most")

    def __init__(self, limits: Limits) -> None:
        self.left = self.most = limits.parts


def parse(
    text: str,
    name: str,
    place: Place,
    limits: Limits,
    *,
    expression: bool = False,
    parts: PartsBudget | None = None,
    dialect: Dialect = PACK,
) -> nodes.Template:
    """Parse a template, or a single expression, into Jinja's tree. Raises `PromptcError`.

    The `lineno` of every node is its position: the characters before it, plus 1.
    `text` must use `\\n` as line ends. `parts` is the budget that the template shares with its other files.
    The limits are checked before the parser, which recurses, sees a token.
    """
    _raise(check_size(text, name, place, limits))
    tokens: list[Token] = []
    try:
        placed = _note(_iter_placed(text, "variable" if expression else None, dialect.lenient), tokens, parts or PartsBudget(limits))
        _raise(check_bounds(placed, text, name, place, limits))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python deprecates unknown escapes in strings; Jinja keeps them
            environment = _load_environment(dialect.lenient)
            parser = Parser(environment, "")
            parser.stream = TokenStream(environment.lexer.wrap(tokens), None, None)
            return _parse_expression(parser) if expression else parser.parse()
    except _TooMany as wrong:
        help = "print less by hand: loop, or raise `limits.parts`"
        raise PromptcError([Diagnostic("PC0403", wrong.message or "", place.make_span(name, text, wrong.lineno), help)]) from None
    except TemplateSyntaxError as wrong:
        raise PromptcError([wrong_syntax(wrong.message, name, text, wrong.lineno, place, tokens, expression=expression)]) from None


def verbatim(text: str) -> nodes.Template:
    """Return the tree of a file that is printed verbatim."""
    return nodes.Template([nodes.Output([nodes.TemplateData(text, lineno=1)], lineno=1)], lineno=1)


def iter_tokens(text: str) -> Iterator[Token]:
    """Yield position, kind and text of each token of a valid template, including white space and comments."""
    return _iter_placed(text, None)


def wrong_syntax(
    why: str | None, name: str, text: str, at: int, place: Place, tokens: Sequence[Token] = (), *, expression: bool = False
) -> Diagnostic:
    """Return the finding for text that Jinja's grammar rejects at `at`. `tokens`: the template's tokens up to the error."""
    from promptc.template.advice import advise, list_tags

    span = place.span
    before = span.excerpt[: max(span.column - 1 - span.skipped, 0)] if expression else None
    found = advise(why or "", text, at - 1, before=before, tags=list_tags(tokens))
    if found is not None:
        return Diagnostic("PC0401", found.message, place.make_span(name, text, found.at + 1), found.help)
    message = reword(why or "wrong syntax")[0]
    if message.startswith("unexpected char "):
        message = message.rpartition(" at ")[0]  # Jinja's position is in a text that the author does not see
    return Diagnostic("PC0401", message, place.make_span(name, text, at), _advise(message))


def _advise(message: str) -> str:
    if message == "unexpected char '#'":
        return "an expression has no remarks, also over several lines: put it above the key, where YAML reads it"
    if message.startswith("the expression ends before"):
        return "write a constant with two pairs of quotes, `\"'The inn'\"`; or join two values with `~`, or compare them with `==`"
    return "something is left open before this place" if "end of" in message else "look for a sign, quote or bracket that is missing here"


def _iter_placed(source: str, state: str | None, lenient: bool = False) -> Iterator[Token]:
    """Yield the lexer's tokens with their positions.

    The lexer skips nothing but white space between two tokens, so a search from the end of one token finds the next.
    """
    at = 0
    tokens = _load_environment(lenient).lexer.tokeniter(source, None, None, state)
    while True:
        try:
            _, kind, value = next(tokens)
        except StopIteration:
            return
        except TemplateSyntaxError as wrong:
            raise TemplateSyntaxError(wrong.message or "", at + 1) from None
        at = source.find(value, at)
        yield at + 1 + (value == "." and kind == "operator"), kind, value
        at += len(value)


def _note(tokens: Iterator[Token], noted: list[Token], parts: PartsBudget) -> Iterator[Token]:
    for token in tokens:
        parts.left -= token[1] not in _FREE
        if parts.left < 0:
            raise _TooMany(f"more than {parts.most} parts: tags, names, signs and strings, files that are brought in included", token[0])
        noted.append(token)
        yield token


class _TooMany(TemplateSyntaxError):
    """The template has more parts than `Limits.parts` allows."""


@cache
def _load_environment(lenient: bool = False) -> Environment:
    """Return Jinja's environment. For chat templates (`lenient`), loops have `break` and `continue`, and a final line end is dropped."""
    return Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not lenient,
        autoescape=False,
        optimized=False,
        cache_size=0,
        extensions=(LoopControlExtension, _Generation) if lenient else (),
    )


class _Generation(Extension):
    """The `{% generation %}` tag, which marks the model's own words for training. Its content is rendered like any other."""

    tags = {"generation"}  # noqa: RUF012 - Jinja declares it so

    def parse(self, parser: Parser) -> nodes.Node:
        """Parse the tag and its body into a scope."""
        at = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=at)


def _raise(findings: Iterator[Diagnostic]) -> None:
    found = list(findings)
    if found:
        raise PromptcError(found)


def _parse_expression(parser: Parser) -> nodes.Template:
    found = parser.parse_expression()
    if not parser.stream.eos:
        current = parser.stream.current
        raise TemplateSyntaxError(f"the expression ends before `{current}`", current.lineno)
    tree = nodes.Template([nodes.Output([found], lineno=found.lineno)], lineno=1)
    tree.set_environment(parser.environment)
    return tree


def check_size(text: str, name: str, place: Place, limits: Limits) -> Iterator[Diagnostic]:
    """Yield one finding if the source is larger than `limits.source` bytes."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.source:
        message = f"the template has {size} bytes, and at most {limits.source} are allowed"
        yield Diagnostic("PC0402", message, place.make_span(name, text, 1), "split it, and `include` the parts; or raise `limits.source`")


def check_bounds(tokens: Iterator[tuple[int, str, str]], text: str, name: str, place: Place, limits: Limits) -> Iterator[Diagnostic]:
    """Yield at most one finding: for the first limit that the tokens (position, kind, text) exceed."""
    state = _Nesting(limits)
    for at, kind, value in tokens:
        found = state.read(kind, value)
        if found:
            code, message, help = found
            yield Diagnostic(code, message, place.make_span(name, text, at), help)
            return


class _Level:
    """The operators inside one pair of brackets, and how deep they nest at most.

    `and`, `or`, `not`, `if` and `else` bind loosest, so the depth between them starts again from zero. Parts between commas are
    independent.
    """

    __slots__ = ("loose", "tight", "tightest", "deepest")

    def __init__(self) -> None:
        self.loose = self.tight = self.tightest = self.deepest = 0

    def end_operand(self) -> None:
        """Record that a loose operator follows."""
        self.tightest = max(self.tightest, self.tight)
        self.tight = 0

    def end_part(self) -> None:
        """Record that a comma follows."""
        self.deepest = self.depth()
        self.loose = self.tight = self.tightest = 0

    def depth(self) -> int:
        """Return the depth of the whole pair of brackets so far."""
        return max(self.deepest, self.loose + max(self.tightest, self.tight))


class _Nesting:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.levels = [_Level()]
        self.tokens = 0
        self.blocks: list[int] = []
        self.tag = ""
        self.assigns = False

    def read(self, kind: str, value: str) -> _Found:
        """Read one token; return the limit it exceeds as code, message and help, or None."""
        if kind in ("variable_begin", "block_begin"):
            self.levels, self.tokens, self.tag, self.assigns = [_Level()], 0, "?" if kind == "block_begin" else "", False
            return None
        if kind == "block_end":
            return self._end_tag()
        if kind not in _COUNTED:
            return None
        self.tokens += 1
        if self.tokens > self.limits.tokens:
            return "PC0403", f"this tag has more than {self.limits.tokens} tokens", "split it with `set`"
        return self._read_number(kind, value) or self._read_word(kind, value)

    def _read_number(self, kind: str, value: str) -> _Found:
        long = kind in ("integer", "float") and len(value) > self.limits.digits
        if long or (kind == "float" and isinf(float(value))):
            return (
                "PC0404",
                f"the number `{value[:20]}` is too large",
                f"write at most {self.limits.digits} digits, and no more than about 1.8e308",
            )
        return None

    def _read_word(self, kind: str, value: str) -> _Found:
        level = self.levels[-1]
        if kind == "name":
            if self.tag == "?":
                self.tag = value
            elif value in _LOOSE:
                level.end_operand()
                level.loose += 1
            elif value in ("in", "is"):
                level.tight += 1
        elif kind == "operator":
            self._read_operator(value, level)
        if len(self.levels) - 1 > self.limits.brackets:
            return "PC0403", f"brackets are nested more than {self.limits.brackets} deep", "split the expression with `set`"
        if self.levels[-1].depth() > self.limits.chain:
            return "PC0403", f"this expression has more than {self.limits.chain} operators in a row", "split it with `set`"
        return None

    def _read_operator(self, value: str, level: _Level) -> None:
        if value in "([{":
            self.levels.append(_Level())
        elif value in ")]}" and len(self.levels) > 1:
            self.levels.pop()
            self.levels[-1].tight += 1 + level.depth()
        elif value == "~":
            level.end_operand()
        elif value in (",", ":"):
            level.end_part()
        elif value == "=":
            self.assigns = self.assigns or len(self.levels) == 1
        else:
            level.tight += 1

    def _end_tag(self) -> _Found:
        tag, self.tag = self.tag, ""
        if tag in _OPENING or (tag == "set" and not self.assigns):
            self.blocks.append(0)
            if len(self.blocks) > self.limits.blocks:
                return "PC0403", f"statements are nested more than {self.limits.blocks} deep", "move the inner ones into a macro"
        elif tag.startswith("end") and self.blocks:
            self.blocks.pop()
        elif tag == "elif" and self.blocks:
            self.blocks[-1] += 1
            if self.blocks[-1] > self.limits.branches:
                return "PC0403", f"this `if` has more than {self.limits.branches} `elif`", "look the value up in a mapping"
        return None


def check_tree(
    tree: nodes.Template, bound: frozenset[str], name: str, text: str, place: Place, dialect: Dialect = PACK
) -> list[Diagnostic]:
    """Return all findings of one file.

    `bound`: the names that the template's own files bind (by macros, imports, `set`). The template may call them.
    """
    found = _iter_findings(tree, bound, place.definitions, dialect)
    return [Diagnostic(code, message, place.make_span(name, text, at), help) for at, code, message, help in found]


def list_bound(tree: nodes.Template) -> frozenset[str]:
    """Return every name that the file binds anywhere: by `set`, `for`, `with`, `macro`, an argument or an import."""
    return frozenset(iter_stored(tree, ("store", "param")))


def iter_stored(tree: nodes.Template, contexts: tuple[str, ...] = ("store",)) -> Iterator[str]:
    """Yield each name that the file sets, as often as it does: by `set`, `for`, `with`, `macro` or an import.

    `contexts` are those of Jinja in which a name is set; with `param`, arguments of macros are names, too.
    """
    for node in tree.find_all((nodes.Name, nodes.Macro, nodes.Import, nodes.FromImport)):
        if isinstance(node, nodes.FromImport):
            yield from (pair if isinstance(pair, str) else pair[1] for pair in node.names)
        elif isinstance(node, nodes.Import):
            yield node.target
        elif isinstance(node, nodes.Macro) or (isinstance(node, nodes.Name) and node.ctx in contexts):
            yield node.name


def _iter_findings(tree: nodes.Template, bound: frozenset[str], definitions: Sequence[Definition], dialect: Dialect) -> Iterator[Finding]:
    called: set[int] = set()
    late = frozenset(_iter_late(tree, late=False)) if dialect.lenient else frozenset()
    for node, parent in _walk(tree, tree):
        if type(parent).__name__ not in dialect.nodes:
            continue
        kind, home = type(node).__name__, HOMES.get(type(node).__name__)
        if home is not None and type(parent).__name__ not in home:
            yield node.lineno or parent.lineno, "PC0405", f"{_PARTS[kind]} is not allowed here", _STANDS[kind]
            continue
        if kind not in dialect.nodes:
            yield (
                node.lineno,
                "PC0405",
                f"`{_CONSTRUCTS.get(kind, kind)}` is a part of Jinja that promptc does not have",
                _INSTEAD.get(kind, "`promptc rule PC0405` says what a template is made of"),
            )
        elif isinstance(node, nodes.Call):
            called.add(id(node.node))
            yield from _check_call(node, bound) if not dialect.lenient else ()
        elif isinstance(node, nodes.Getattr):
            yield from _check_getattr(node, bound, id(node) in called or dialect.lenient)
        elif dialect.lenient and isinstance(node, nodes.Name) and node.name in _CHANCE - bound:
            yield from _check_name(node.lineno, "PC0408", "function", node.name, ())
        elif not (id(node) in late and node.name not in dialect.filters):  # type: ignore[attr-defined]
            yield from _check_other(node, definitions, dialect.filters)


def _iter_late(node: nodes.Node, *, late: bool) -> Iterator[int]:
    """Yield the `id` of each filter that Jinja looks up only when it runs: one in a branch, with no further scope around it."""
    if late and isinstance(node, nodes.Filter):
        yield id(node)
    outer = _SCOPES.get(type(node))
    for name, part in node.iter_fields():
        inner = isinstance(node, nodes.If | nodes.CondExpr) or (late and outer in (None, name))
        for child in part if isinstance(part, list) else (part,):
            yield from _iter_late(child, late=inner) if isinstance(child, nodes.Node) else ()


def _walk(node: nodes.Node, parent: nodes.Node) -> Iterator[tuple[nodes.Node, nodes.Node]]:
    yield node, parent
    for child in node.iter_child_nodes():
        yield from _walk(child, node)


def _check_other(node: nodes.Node, definitions: Sequence[Definition], filters: frozenset[str]) -> Iterable[Finding]:
    if isinstance(node, nodes.Filter):
        return _check_filter(node, definitions, filters)
    if isinstance(node, nodes.Test):
        return _check_name(node.lineno, "PC0407", "test", node.name, TESTS, definitions)
    if isinstance(node, nodes.Name):
        return _check_private(node.lineno, node.name)
    if isinstance(node, nodes.Const):
        return _check_const(node)
    return _check_statement(node)


def _check_statement(node: nodes.Node) -> Iterator[Finding]:
    if isinstance(node, nodes.For) and node.recursive:
        yield node.lineno, "PC0405", "promptc has no `recursive` loops", "write a macro that calls itself"
    if isinstance(node, nodes.Include) and node.ignore_missing:
        yield node.lineno, "PC0405", "promptc has no `ignore missing`", "include a file that is in the pack"
    if isinstance(node, nodes.Include | nodes.Import | nodes.FromImport | nodes.Extends) and not list(iter_file_names(node.template)):
        yield (
            node.lineno,
            "PC0425",
            "the name of an included file must be in quotes",
            "write `'part.md.j2'`; choose between files with `if`",
        )


def iter_file_names(template: nodes.Expr) -> Iterator[str]:
    """Yield the names of the files that a template expression may name: a constant text, or several chosen by conditions.

    Yields nothing if the expression may name any other file.
    """
    if isinstance(template, nodes.Const) and isinstance(template.value, str):
        yield template.value
    elif isinstance(template, nodes.CondExpr) and template.expr2 is not None:
        first, second = list(iter_file_names(template.expr1)), list(iter_file_names(template.expr2))
        yield from first + second if first and second else []


def _check_filter(node: nodes.Filter, definitions: Sequence[Definition], filters: frozenset[str]) -> Iterator[Finding]:
    yield from _check_name(node.lineno, "PC0406", "filter", node.name, filters, definitions)
    if node.name in _BY_FILTER_NAME:
        yield from _check_argument(node, 0, "PC0406", "filter", filters, definitions)
    if node.name in _BY_TEST_NAME:
        yield from _check_argument(node, _BY_TEST_NAME[node.name], "PC0407", "test", TESTS, definitions)


def _check_argument(
    node: nodes.Filter, place: int, code: str, what: str, known: frozenset[str], definitions: Sequence[Definition]
) -> Iterator[Finding]:
    if len(node.args) <= place:
        return
    name = node.args[place]
    if isinstance(name, nodes.Const) and isinstance(name.value, str):
        yield from _check_name(node.lineno, code, what, name.value, known, definitions)
    else:
        yield node.lineno, code, f"the {what} `{node.name}` is to use must be a string", f"write its name in quotes: `{node.name}('...')`"


def _check_name(
    at: int, code: str, what: str, name: str, known: Iterable[str], definitions: Sequence[Definition] = ()
) -> Iterator[Finding]:
    if name in known:
        return
    defined = next((one for one in definitions if one.name == name), None)
    if defined is not None:
        yield at, code, f"`{name}` is a definition of the pack and no {what}", f"it stands for its expression: write `{defined.signature}`"
        return
    message = f"a pack cannot use the {what} `{name}`" if name in WHY_NOT else f"there is no {what} `{name}`"
    yield at, code, message, WHY_NOT.get(name) or suggest(name, known) or f"`promptc rule {code}` lists every {what}"


def _check_private(at: int, name: str) -> Iterator[Finding]:
    if name.startswith("__"):
        yield at, "PC0409", f"`{name}` cannot be used: names that begin with `__` are not data", "use a name of the data"


def _check_const(node: nodes.Const) -> Iterator[Finding]:
    if isinstance(node.value, str) and any("\ud800" <= letter <= "\udfff" for letter in node.value):
        yield node.lineno, "PC0401", "a string holds half of a surrogate pair", "write the character itself"


def _check_getattr(node: nodes.Getattr, bound: frozenset[str], called: bool) -> Iterator[Finding]:
    yield from _check_private(node.lineno, node.attr)
    if called or node.attr not in DICT_NAMES or _read_root(node) in bound:
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
        if callee.attr not in known and _read_root(callee) not in bound | {"self", "super"}:
            yield from _check_name(callee.lineno, "PC0409", "method", callee.attr, known)
    elif not isinstance(callee, nodes.Call | nodes.Getitem):
        yield node.lineno, "PC0409", "only functions, macros and methods can be called", "leave the `()` out"


def _read_root(node: nodes.Expr) -> str:
    while isinstance(node, nodes.Getattr | nodes.Getitem):
        node = node.node
    return node.name if isinstance(node, nodes.Name) else ""


def count_nodes(node: nodes.Node) -> int:
    """Return the number of nodes of `node`: the steps that one evaluation costs."""
    count = 0
    waiting = [node]
    while waiting:
        count += 1
        waiting.extend(waiting.pop().iter_child_nodes())
    return count


def list_reads(tree: nodes.Template, trees: Mapping[str, nodes.Template]) -> frozenset[Path]:
    """Return the static paths that a template reads, such as `("state", "player", "name")`, each cut off before its first computed part.

    A name that the template binds itself does not count where every branch that leads there has bound it.
    `trees`: the included files, by name.
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
            nodes.NSRef: self._read_space,
        }

    def read_all(self, body: Iterable[nodes.Node], bound: set[str]) -> None:
        """Read the nodes in order, and add the names that they bind to `bound`."""
        for node in body:
            self._read(node, bound)

    def _read(self, node: nodes.Node, bound: set[str]) -> None:
        read = self.special.get(type(node))
        if read is not None:
            read(node, bound)
        else:
            self.read_all(node.iter_child_nodes(), bound)

    def _read_space(self, node: nodes.NSRef, bound: set[str]) -> None:
        if node.name not in bound:
            self.found.add((node.name,))

    def _read_if(self, node: nodes.If, bound: set[str]) -> None:
        ways = []
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
        self._read(node.target, bound)
        bound |= _list_targets(node.target)

    def _read_assign_block(self, node: nodes.AssignBlock, bound: set[str]) -> None:
        if node.filter is not None:
            self._read(node.filter, bound)
        self._read_way(node.body, bound)
        self._read(node.target, bound)
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
        """Return the paths that a file reads, computed once however often the file is included."""
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
    """Return whether the value can only be a scalar, a part of the names, or a new sequence of such parts."""
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
