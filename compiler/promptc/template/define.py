"""Definitions, the named expressions of a pack: checked once (`load_definitions`), and written out where a text names them (`read_tree`).

The result is the tree of the text as if its author had written each definition out, in brackets: later stages do not know about
definitions. Only positions differ: what was written out has positions after those of the text (`Site`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from jinja2 import nodes

from promptc.diag.findings import Diagnostic, PromptcError, Span, count_noun, join_names
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.template.allow import FILTERS, GLOBALS, LIMITS, PACK, TESTS, Dialect, Limits
from promptc.template.parse import Finding, PartsBudget, check_tree, parse
from promptc.template.place import Definition, Place, Site

MOST_PARTS = 30_000
"""The most nodes of all definitions of one pack once they are written out. Definitions that use others count them whole."""

OF_TEMPLATES = frozenset("loop caller varargs kwargs self super".split())
"""Names that a template binds implicitly."""

_HERE = Place(Span("", 1, 1), inline=True)
_NOTHING: Mapping[str, nodes.Expr] = {}


def read_tree(
    text: str,
    name: str,
    place: Place,
    limits: Limits,
    *,
    expression: bool = False,
    parts: PartsBudget | None = None,
    dialect: Dialect = PACK,
) -> nodes.Template:
    """Parse a text, as `parse` does, and write out every definition of the place. Raises `PromptcError`.

    `list_sites` returns the places of the definitions in the tree.
    """
    parts = parts or PartsBudget(limits)
    tree = parse(text, name, place, limits, expression=expression, parts=parts, dialect=dialect)
    known = {one.name: one for one in place.definitions}
    if not known or not any(one.name in known for one in tree.find_all(nodes.Name)):
        return tree
    writer, read = _Writer(known, len(text) + 1, limits, parts), tree
    try:
        tree = writer.write(read, _NOTHING, 0, 0)
    except _TooMuch as wrong:
        found = (wrong.at, "PC0403", wrong.message, "write less at once: split it with `set` or `let`")
        raise PromptcError([_tell(found, name, text, place, writer.sites)]) from None
    if writer.wrong:
        shadowed = [one for node in read.find_all(_BINDING) for one in _iter_shadowed(node, known)]
        raise PromptcError(_tell(one, name, text, place, writer.sites) for one in shadowed or writer.wrong)
    tree.sites = tuple(writer.sites)
    return tree  # type: ignore[no-any-return]


def list_sites(tree: nodes.Template) -> tuple[Site, ...]:
    """Return the places where definitions were written out in the tree, in the order of their positions."""
    return getattr(tree, "sites", ())


def check_bound(tree: nodes.Template, bound: frozenset[str], name: str, text: str, place: Place) -> list[Diagnostic]:
    """Return the findings about names that the template's files bind, and that are or occur in a definition.

    Inside the definition such a name would have another meaning. `bound`: as for `check_tree`.
    """
    known = {one.name: one for one in place.definitions}
    shadowed = [_iter_shadowed(node, known) for node in tree.find_all(_BINDING)] if known.keys() & bound else []
    sites = list_sites(tree)
    captured = [
        (site.at, "PC0428", *_describe_captured(site.definition, site.definition.reads & bound))
        for site in sites
        if site.definition.reads & bound and site.at <= len(text)
    ]
    wrong = [*(one for found in shadowed for one in found), *captured]
    return [_tell(one, name, text, place, sites) for one in wrong]


def _tell(found: Finding, name: str, text: str, place: Place, sites: Sequence[Site]) -> Diagnostic:
    at, code, message, help = found
    span, inside = place.find(name, text, at, sites)
    return Diagnostic(code, message + inside, span, help)


_BINDING = (nodes.Name, nodes.Macro, nodes.Import, nodes.FromImport)


def _iter_shadowed(node: nodes.Node, known: Mapping[str, Definition]) -> Iterator[Finding]:
    if isinstance(node, nodes.Name):
        bound = [node.name] if node.ctx != "load" else []
    elif isinstance(node, nodes.FromImport):
        bound = [pair if isinstance(pair, str) else pair[1] for pair in node.names]
    else:
        bound = [node.name if isinstance(node, nodes.Macro) else node.target]  # type: ignore[attr-defined]
    for name in bound:
        if name in known:
            message = f"`{name}` is a definition of the pack, and is given another value here"
            yield node.lineno, "PC0427", message, f"choose another name here, such as `my_{name}`, or rename the definition"


def _describe_captured(definition: Definition, names: frozenset[str]) -> tuple[str, str]:
    own = sorted(names)[0]
    message = f"`{definition.name}` reads `{own}`, and this template sets `{own}` itself, so the name is ambiguous"
    return message, f"pass it as an argument: `{definition.name}(one): ...` in `define`, and `{definition.name}({own})` here"


# --- writing out ---


class _TooMuch(Exception):
    """The written-out text has too many parts, or is nested too deep."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class _Writer:
    """Writes out the definitions in one text. `end`: the position after all those of the text itself."""

    def __init__(self, known: Mapping[str, Definition], end: int, limits: Limits, parts: PartsBudget) -> None:
        self.sites: list[Site] = []
        self.wrong: list[Finding] = []
        self._known = known
        self._end = end
        self._limits = limits
        self._parts = parts

    def write(self, node: Any, given: Mapping[str, nodes.Expr], shift: int, depth: int) -> Any:
        """Return a copy of `node` with its positions moved by `shift`, and with arguments and definitions replaced by what they stand for.

        `depth` is the depth of `node` in what is written out, 0 in the text itself.
        """
        if depth:
            self._pay((node.lineno or 1) + shift, depth)
        if isinstance(node, nodes.Name) and node.ctx == "load":
            if node.name in given:
                return self.write(given[node.name], _NOTHING, 0, depth)
            if node.name in self._known:
                return self._write_out(self._known[node.name], None, node, given, shift, depth)
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name in self._known:
            return self._write_out(self._known[node.node.name], node, node.node, given, shift, depth)
        if isinstance(node, nodes.CallBlock) and isinstance(node.call.node, nodes.Name) and node.call.node.name in self._known:
            name = node.call.node.name
            self.wrong.append(
                (node.lineno, "PC0426", f"`{name}` is a definition and no macro", f"print it: `{{{{ {self._known[name].signature} }}}}`")
            )
            return node
        deeper = depth + 1 if depth else 0
        values = [self._write_value(getattr(node, field), given, shift, deeper) for field in node.fields]
        lineno = node.lineno + shift if node.lineno is not None else None
        return type(node)(*values, lineno=lineno, environment=node.environment)

    def _write_value(self, value: Any, given: Mapping[str, nodes.Expr], shift: int, depth: int) -> Any:
        if isinstance(value, nodes.Node):
            return self.write(value, given, shift, depth)
        if isinstance(value, list):
            return [self._write_value(one, given, shift, depth) for one in value]
        return value

    def _write_out(
        self, definition: Definition, call: nodes.Call | None, name: nodes.Name, given: Mapping[str, nodes.Expr], shift: int, depth: int
    ) -> Any:
        at = name.lineno + shift
        why = _describe_wrong_call(definition, call)
        if why:
            values = f", with a value for {join_names(definition.parameters)}" if definition.parameters else ""
            self.wrong.append((at, "PC0426", why, f"write `{definition.signature}`{values}"))
            return nodes.Const(None, lineno=at)
        args = [self.write(arg, given, shift, depth) for arg in call.args] if call is not None else []
        start, self._end = self._end, self._end + len(definition.text) + 1
        self.sites.append(Site(start, definition, at))
        body = _read_body(definition.text, self._limits)
        return self.write(body, dict(zip(definition.parameters, args, strict=True)), start, depth + 1)

    def _pay(self, at: int, depth: int) -> None:
        self._parts.left -= 1
        if self._parts.left < 0:
            raise _TooMuch(f"more than {self._parts.most} parts, with its definitions written out", at)
        if depth > self._limits.chain:
            raise _TooMuch(f"definitions in definitions, more than {self._limits.chain} operators deep", at)


def _describe_wrong_call(definition: Definition, call: nodes.Call | None) -> str:
    wanted, name = len(definition.parameters), definition.name
    takes = f"{count_noun(wanted, 'argument')}: {join_names(definition.parameters)}"
    if call is None:
        return f"`{name}` takes {takes}" if wanted else ""
    if not wanted:
        return f"`{name}` is a definition without arguments, so write it without brackets"
    if call.kwargs or call.dyn_args is not None or call.dyn_kwargs is not None:
        return f"`{name}` takes its arguments by their places, one by one"
    return f"`{name}` takes {takes}; here it has {len(call.args)}" if len(call.args) != wanted else ""


@lru_cache(maxsize=1024)
def _read_body(text: str, limits: Limits) -> nodes.Expr:
    return parse(text, "", _HERE, limits, expression=True).body[0].nodes[0]  # type: ignore[attr-defined,no-any-return]


# --- checking ---

_OF_COMPILER = frozenset("state variant strain selected section item this each group items text removed args answers before after".split())
_OF_JINJA = frozenset("and or not in is if else elif for recursive none true false None True False".split())


def describe_clash(one: Definition, others: Mapping[str, str]) -> str:
    """Return why a definition cannot have its name, or one of its arguments; empty if it can.

    `others`: for each name that is taken, what takes it.
    """
    for parameter in one.parameters:
        if parameter in _OF_JINJA or parameter in GLOBALS:
            return f"the argument `{parameter}` of `{one.name}` is a word of the language"
        if others.get(parameter) == DEFINED or parameter == one.name:
            return f"the argument `{parameter}` of `{one.name}` is the name of a definition"
    if len(set(one.parameters)) < len(one.parameters):
        return f"two arguments of `{one.name}` have one name: `{one.signature}`"
    taken = others.get(one.name) or next((what for what, names in (*_RESERVED, *_APPLIED) if one.name in names), "")
    return f"`{one.name}` is already {taken}" if taken else ""


def describe_reserved(name: str) -> str:
    """Return why a `let` cannot have a name; empty if it can. A filter and a test have names of their own, so a `let` may share one."""
    taken = next((what for what, names in _RESERVED if name in names), "")
    return f"`{name}` is already {taken}" if taken else ""


DEFINED = "a definition"
_RESERVED = (
    ("a word of the language", _OF_JINJA | GLOBALS),
    ("a name of the compiler's own", _OF_COMPILER | OF_TEMPLATES),
)
_APPLIED = (("a filter", FILTERS), ("a test", TESTS))


def load_definitions(written: Sequence[Definition], limits: Limits = LIMITS) -> tuple[tuple[Definition, ...], list[Diagnostic]]:
    """Check the definitions of a pack, in its order: each may use those before it.

    Return the definitions and the findings. A definition with a finding, or that uses such a definition, is replaced by `none` from there
    on.
    """
    names, all_written = frozenset(one.name for one in written), tuple(written)
    findings: list[Diagnostic] = []
    read: list[tuple[Definition, frozenset[str]]] = []
    broken: set[str] = set()
    for one in written:
        try:
            tree = parse(one.text, "", one.place, limits, expression=True)
            wrong = check_tree(tree, names, "", one.text, replace(one.place, definitions=all_written))
        except PromptcError as error:
            wrong = list(error.diagnostics)
        findings += wrong
        broken.update([one.name] if wrong else [])
        read.append((one, frozenset() if wrong else frozenset(one.name for one in tree.find_all(nodes.Name)) - {*one.parameters}))
    uses = {one.name: found & names for one, found in read}
    circles = _list_circles(uses)
    known: dict[str, Definition] = {}
    left = MOST_PARTS
    for one, found in read:
        later = [other for other in uses if other in uses[one.name] and other not in known]
        wrong = [*_describe_later(one, later, uses, circles[one.name]), *_list_of_templates(one, found)]
        if left >= 0 and not later and not wrong and not broken.intersection((one.name, *uses[one.name])):
            reads = found.difference(names).union(*(known[name].reads for name in found & names))
            one = replace(one, reads=reads)
            size, wrong = _measure(one, known, limits)
            left -= size
            if left < 0 and not wrong:
                message = f"up to `{one.name}`, the definitions of the pack expand to more than {MOST_PARTS} parts"
                wrong = [Diagnostic("PC0403", message, one.place.span, "make them shorter, or give values by `let`")]
        findings += wrong
        if left < 0 or later or wrong or uses[one.name] & broken:
            broken.add(one.name)
        known[one.name] = void(one) if one.name in broken else one
    return tuple(known.values()), findings


def void(one: Definition) -> Definition:
    """Return the definition with `none` as its expression, so that its problem is reported once and not wherever it is named."""
    return replace(one, text="none", reads=frozenset())


def _list_circles(uses: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return, for each definition, those that it uses and that use it, directly or not, including itself; none if it is in no cycle.

    Reachability by Warshall's algorithm, with a bit for each definition: five hundred of them take as long as parsing a text, whatever they
    use.
    """
    bits = {name: 1 << at for at, name in enumerate(uses)}
    reach = {name: sum(bits[other] for other in found) for name, found in uses.items()}
    for middle, bit in bits.items():
        for name in uses:
            if reach[name] & bit:
                reach[name] |= reach[middle]
    return {
        name: frozenset(other for other in uses if reach[name] & bits[other] and reach[other] & bit) if reach[name] & bit else frozenset()
        for name, bit in bits.items()
    }


def _describe_later(one: Definition, later: Sequence[str], uses: Mapping[str, frozenset[str]], circle: frozenset[str]) -> list[Diagnostic]:
    """Return what is wrong with a definition that uses later ones.

    Cycles that share definitions are reported once, at the first definition in them.
    """
    if not later:
        return []
    closing = [name for name in later if name in circle]
    if not closing:
        help = f"move `{later[0]}` above `{one.name}`: a definition can use only those above it"
        return [Diagnostic("PC0266", f"`{one.name}` uses `{later[0]}`, which comes after it", one.place.span, help)]
    if one.name != next(name for name in uses if name in circle):
        return []
    shown = (one.name, *(_find_way(closing[0], one.name, uses) or ()))
    shown = shown if len(shown) <= _SHOWN else (*shown[: _SHOWN - 2], "…", shown[-1])
    message = f"definitions use each other in a circle: {' → '.join(shown)}"
    return [Diagnostic("PC0266", message, one.place.span, "break the circle: in one of them, write the expression in place of the name")]


_SHOWN = 8
"""Definitions of a cycle that a message names."""


def _find_way(start: str, goal: str, uses: Mapping[str, frozenset[str]]) -> tuple[str, ...] | None:
    """Return the shortest chain of uses from one definition to another, including both, or None."""
    ways: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = [start]
    for name in waiting:
        if name == goal:
            return ways[name]
        for other in sorted(uses[name]):
            if other not in ways:
                ways[other] = (*ways[name], other)
                waiting.append(other)
    return None


def _list_of_templates(one: Definition, names: Iterable[str]) -> list[Diagnostic]:
    found = sorted(OF_TEMPLATES.intersection(names))
    if not found:
        return []
    message = f"`{one.name}` reads `{found[0]}`, which has a meaning only inside a template"
    return [Diagnostic("PC0428", message, one.place.span, f"pass it as an argument: `{one.name}(one): ...`")]


def _measure(one: Definition, known: Mapping[str, Definition], limits: Limits) -> tuple[int, list[Diagnostic]]:
    """Return the number of nodes of a definition once the definitions it uses are written out.

    Also return findings if the number exceeds the limit for one tag, or if a definition is called wrongly.
    """
    own = PartsBudget(replace(limits, parts=limits.tokens))
    writer = _Writer(known, len(one.text) + 1, limits, own)
    try:
        writer.write(_read_body(one.text, limits), _NOTHING, 0, 1)
    except _TooMuch as wrong:
        message = f"`{one.name}` stands for {wrong.message}"
        return own.most, [Diagnostic("PC0403", message, one.place.span, "make it shorter, or give a value by `let`")]
    return own.most - own.left, [_tell(found, "", one.text, one.place, writer.sites) for found in writer.wrong]
