"""The allow-lists against Jinja's own: what a new Jinja brings is noticed here, and is not usable until it is listed."""

import copy

import pytest
from jinja2 import nodes
from jinja2.defaults import DEFAULT_FILTERS, DEFAULT_NAMESPACE, DEFAULT_TESTS
from jinja2.nodes import Node

from promptc.template import allow
from promptc.template.lower.expressions import Expressions
from promptc.template.parse import HOMES, check_tree
from promptc.template.runtime.callables import FUNCTIONS
from promptc.template.runtime.filters import lists, text, values
from promptc.template.runtime.filters.table import load_filter, load_test
from promptc.template.types.expressions import _EVALUATE
from promptc.template.types.infer import _WALK
from tests.unit.template.run import FILE

REFUSED_FILTERS = {"attr", "random"}
REFUSED_TESTS = {"escaped", "sameas"}
REFUSED_FUNCTIONS = {"lipsum"}
REFUSED_NODES = {
    "BinExpr", "Break", "Continue", "ContextReference", "DerivedContextReference", "EnvironmentAttribute", "EvalContextModifier",
    "ExprStmt", "Expr", "ExtensionAttribute", "Helper", "ImportedName", "InternalName", "Literal", "MarkSafe", "MarkSafeIfAutoescape",
    "OverlayScope", "ScopedEvalContextModifier", "Stmt", "UnaryExpr",
}  # fmt: skip


# contract 3.5
def test_every_filter_of_jinja_is_either_allowed_or_refused():
    assert set(DEFAULT_FILTERS) == allow.JINJA_FILTERS | REFUSED_FILTERS
    assert not allow.JINJA_FILTERS & REFUSED_FILTERS


def test_every_test_of_jinja_is_either_allowed_or_refused():
    assert set(DEFAULT_TESTS) == allow.TESTS | REFUSED_TESTS


def test_every_function_of_jinja_is_either_allowed_or_refused():
    assert set(DEFAULT_NAMESPACE) == allow.GLOBALS | REFUSED_FUNCTIONS


# contract 3.5
def test_every_node_of_jinja_is_either_allowed_or_refused():
    known = {name for name, kind in vars(nodes).items() if isinstance(kind, type) and issubclass(kind, Node)}
    assert {name for name in known if name[0] != "_"} == allow.NODES | REFUSED_NODES | {"Node"}


def test_what_is_refused_says_what_to_use():
    assert allow.WHY_NOT.keys() >= REFUSED_FILTERS | REFUSED_TESTS | REFUSED_FUNCTIONS


def test_every_name_that_is_allowed_can_be_called_and_no_other():
    own = {"chat_tojson"}  # what `tojson` becomes in a chat template; no template may name it
    assert {name for module in (lists, text, values) for name in module.FILTERS} == allow.FILTERS | own
    assert set(lists.TESTS) == allow.TESTS
    assert set(FUNCTIONS) == allow.GLOBALS
    assert all(map(callable, [*map(load_filter, allow.FILTERS), *map(load_test, allow.TESTS)]))


def test_methods_are_those_of_text_lists_and_mappings():
    assert all(hasattr(str, name) for name in allow.TEXT_METHODS)
    assert all(hasattr(dict, name) for name in allow.MAPPING_METHODS)
    assert all(hasattr(list, name) and hasattr(tuple, name) for name in allow.LIST_METHODS)


def test_every_node_is_lowered_and_has_a_kind_or_stands_in_its_home_alone():
    """No table of a visitor lacks a node: a class of Jinja's is an expression, a statement, or a part that has one home."""
    lowered, walked = frozenset(Expressions(frozenset())._by_kind), frozenset(kind.__name__ for kind in _WALK)
    valued = frozenset(kind.__name__ for kind in _EVALUATE)
    assert lowered == valued
    assert lowered | walked | set(HOMES) | {"Template"} == allow.NODES
    assert not lowered & walked and not (lowered | walked) & set(HOMES)


PLACES = [
    nodes.List([]),
    nodes.Tuple([], "load"),
    nodes.Concat([]),
    nodes.Output([]),
    nodes.Call(nodes.Name("f", "load"), [], [], None, None),
    nodes.Filter(nodes.Const(1), "upper", [], [], None, None),
    nodes.Test(nodes.Const(1), "odd", [], [], None, None),
]
PARTS = [
    nodes.Slice(None, None, None),
    nodes.Pair(nodes.Const("a"), nodes.Const(1)),
    nodes.Operand("eq", nodes.Const(1)),
    nodes.Keyword("a", nodes.Const(1)),
    nodes.NSRef("ns", "a"),
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: type(place).__name__)
def test_a_part_elsewhere_is_refused(part, place):
    """Also where no parser puts it today: what has a home is looked for everywhere else."""
    held = copy.deepcopy(place)
    setattr(held, next(name for name, value in held.iter_fields() if isinstance(value, list)), [part])
    body = held if isinstance(held, nodes.Output) else nodes.Output([held])
    tree = nodes.Template([body])
    for node in (tree, *tree.find_all(nodes.Node)):
        node.lineno = 1
    found = [one.code for one in check_tree(tree, frozenset({"f"}), "", "x", FILE)]
    at_home = type(held).__name__ in HOMES[type(part).__name__]
    assert ("PC0405" in found) is not at_home
