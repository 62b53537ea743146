"""The way in: a text of a pack and the kinds of its names give the kind of its value, and what is wrong."""

from dataclasses import dataclass

from jinja2 import nodes

from promptc.template.kinds.amount import UNBOUNDED, Amount
from promptc.template.kinds.problem import Problem
from promptc.template.kinds.take import ASKED
from promptc.template.kinds.trees import CompiledText, load_trees
from promptc.template.types.assume import assume, find_path
from promptc.template.types.expressions import evaluate
from promptc.template.types.filters import make_lists
from promptc.template.types.scope import Binding, Scope
from promptc.template.types.statements import walk_file
from promptc.template.types.trials import Trials
from promptc.template.types.types import Type
from promptc.template.types.walk import Cost, WalkRun


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
