"""The way in: a text of a pack and the types of its names give the type of its value, its size, and what is wrong (`infer_types`).

`read_code` makes a text ready to be walked; `add_name` and `suppose` make the scope it is walked in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from jinja2 import nodes

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen, replace
from promptc.template.allow import LIMITS, Limits
from promptc.template.compile import Expression, Template
from promptc.template.define import list_sites, read_tree
from promptc.template.place import Definition, Place
from promptc.template.runtime.program import Program
from promptc.template.types.algebra import ASKED
from promptc.template.types.assume import assume, find_path
from promptc.template.types.bounds import UNBOUNDED, Amount
from promptc.template.types.expressions import evaluate, find_key
from promptc.template.types.filters import make_lists
from promptc.template.types.statements import walk_file
from promptc.template.types.trials import Trials
from promptc.template.types.types import Problem, Type
from promptc.template.types.walk import Binding, Cost, Scope, WalkRun

_KEEPING = frozenset(
    ("capitalize", "d", "default", "indent", "join", "json", "lower", "normalize", "one_line", "string", "title", "tojson", "trim",
     "truncate", "truncate_at", "sentences_about", "upper", "wordwrap")
)  # fmt: skip
"""Filters that show the value they are given, in another form."""
_HERE = Place(Span("", 1, 1), inline=True)


@frozen
class CompiledText:
    """A text that was checked when it was loaded, with the texts of its files by name; `verbatim`: it stands as it is. `definitions`:
    those of its pack, where it names one."""

    text: str
    files: tuple[tuple[str, str], ...] = ()
    is_expression: bool = False
    verbatim: bool = False
    limits: Limits = LIMITS
    definitions: tuple[Definition, ...] = ()


def read_code(code: Expression | Template) -> CompiledText:
    """What there is to walk of an expression or a template."""
    text = code.text.replace("\r\n", "\n").replace("\r", "\n")
    program = code.program
    if not isinstance(program, Program):
        return CompiledText(text, (), True) if isinstance(code, Expression) else CompiledText(text, verbatim=True)
    definitions = program.place.definitions if any(file.sites for file in program.files) else ()
    if isinstance(code, Expression):
        return CompiledText(text, (), True, False, program.limits, definitions)
    return CompiledText(text, tuple(sorted(code.files.items())), False, False, program.limits, definitions)


def read_place(code: Expression | Template) -> Place:
    """Where a text stands."""
    if isinstance(code, Template):
        return code.place
    return code.program.place if isinstance(code.program, Program) else Place(code.span, inline=True)


def read_site(code: Expression | Template, file: str, at: int) -> tuple[Span, str]:
    """The place of a node of its trees; and what a message adds where that stands in a definition."""
    shown = code.files[file] if file and isinstance(code, Template) else code.text
    return read_place(code).find(file, shown, at, list_sites(load_trees(read_code(code))[file]))


@lru_cache(maxsize=512)
def load_trees(code: CompiledText) -> dict[str, nodes.Template]:
    """The trees by name; the text itself has the empty one."""
    here = replace(_HERE, definitions=code.definitions)
    own = _leave(code.text) if code.verbatim else read_tree(code.text, "", here, code.limits, expression=code.is_expression)
    files = {name: read_tree(text, name, here, code.limits) if name.endswith(".j2") else _leave(text) for name, text in code.files}
    return {"": own, **files}


def _leave(text: str) -> nodes.Template:
    return nodes.Template([nodes.Output([nodes.TemplateData(text, lineno=1)], lineno=1)], lineno=1)


@dataclass(frozen=True, slots=True, eq=False)
class InferredTypes:
    """What is known of one text. `read`: keys of mappings of the schema, by the mapping's place; `whole`: mappings all of which is used.

    `kind` is that of an expression's value (None for a template), `amount` what a template puts out at most.
    """

    kind: Type | None
    amount: Amount
    problems: tuple[Problem, ...]
    read: frozenset[tuple[str, str]]
    whole: frozenset[str]


def infer_types(code: CompiledText, scope: Scope, cost: Cost, trials: Trials | None = None) -> InferredTypes:
    """Walk one expression or template. Never fails, and never says that a text is wrong which no valid state makes fail.

    `trials`: runs what reads nothing, with one account for all the texts of a check.
    """
    trees = load_trees(code)
    walk = WalkRun(trees, cost, code.limits, trials=trials)
    node = _find_expression(code)
    if node is not None:
        kind = walk.take(evaluate(walk, node, scope), ASKED, "an expression", node, scope)
        return _finish(walk, make_lists(kind), UNBOUNDED)
    _, amount = walk_file(walk, trees[""], scope)
    for macro, give in walk.macros:
        if id(macro) not in walk.called:
            give()
    return _finish(walk, None, amount if walk.left > 0 else UNBOUNDED)


def _finish(walk: WalkRun, kind: Type | None, amount: Amount) -> InferredTypes:
    return InferredTypes(kind, amount, tuple(walk.problems), frozenset(walk.read), frozenset(walk.whole))


def _find_expression(code: CompiledText) -> nodes.Expr | None:
    return load_trees(code)[""].body[0].nodes[0] if code.is_expression else None  # type: ignore[attr-defined]


def add_name(scope: Scope, name: str, kind: Type, code: CompiledText | None = None) -> Scope:
    """The scope with one more name of the pack; `code` is the expression it stands for, which may be asked again."""
    condition = _find_expression(code) if code is not None else None
    path = find_path(condition, scope) if condition is not None else None
    return scope.bind(name, Binding(kind, path or (name,), condition))


def suppose(code: CompiledText, scope: Scope, *, truth: bool = True) -> Scope:
    """The scope in which an expression is true, or false."""
    node = _find_expression(code)
    return assume(WalkRun(load_trees(code), weigh_bytes), node, truth, scope) if node is not None else scope


def weigh_bytes(text: str) -> tuple[int, int]:
    """The cost of a constant text where nothing is known of the tokenizer: a token for each byte."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return size, size


def spell_tree(code: CompiledText) -> str:
    """A text without what makes no difference: spacing in its tags, comments. Equal for two texts that always put out the same."""
    return repr(sorted(load_trees(code).items()))


def list_filters(code: CompiledText) -> frozenset[str]:
    """Their names, wherever they stand in the text; not those of files it brings in."""
    return frozenset(one.name for one in load_trees(code)[""].find_all(nodes.Filter))


def find_shown(code: CompiledText) -> tuple[str, ...] | None:
    """The path a template puts out as its whole content, with no more than a label or heading above or before it; None for all others."""
    parts = [part for node in load_trees(code)[""].body for part in _list_parts(node)]
    values = [part for part in parts if not isinstance(part, nodes.TemplateData)]
    if len(values) != 1 or not isinstance(values[0], nodes.Expr):
        return None
    at = parts.index(values[0])
    before, after = (_join(parts[:at]), _join(parts[at + 1 :]))
    return _find_path(values[0]) if not after.strip() and _is_label(before) else None


def _list_parts(node: nodes.Node) -> list[nodes.Node]:
    """What a statement puts out; an `if` without `else` puts out what stands in it."""
    if isinstance(node, nodes.Output):
        return list(node.nodes)
    if isinstance(node, nodes.If) and not node.else_ and not node.elif_:
        return [part for inner in node.body for part in _list_parts(inner)]
    return [node]


def _join(parts: list[nodes.Node]) -> str:
    return "".join(part.data for part in parts if isinstance(part, nodes.TemplateData))


def _is_label(text: str) -> bool:
    said = text.rstrip(" ")
    return not said or said.endswith((":", "\n"))


def _find_path(node: nodes.Node) -> tuple[str, ...] | None:
    while isinstance(node, nodes.Filter) and node.name in _KEEPING and node.node is not None:
        node = node.node
    if isinstance(node, nodes.Name):
        return (node.name,)
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        holder, key = _find_path(node.node), find_key(node)
        return (*holder, key) if holder is not None and isinstance(key, str) else None
    return None
