"""The allow-lists against Jinja's own: what a new Jinja brings is noticed here, and is not usable until it is listed."""

from jinja2 import nodes
from jinja2.defaults import DEFAULT_FILTERS, DEFAULT_NAMESPACE, DEFAULT_TESTS
from jinja2.nodes import Node

from promptc.template import allowed
from promptc.template.runtime.filters.table import FILTER_NAMES, TEST_NAMES, find_filter, find_test
from promptc.template.runtime.functions import FUNCTIONS

REFUSED_FILTERS = {"attr", "random"}
REFUSED_TESTS = {"escaped", "sameas"}
REFUSED_FUNCTIONS = {"lipsum"}
REFUSED_NODES = {
    "BinExpr", "Break", "Continue", "ContextReference", "DerivedContextReference", "EnvironmentAttribute", "EvalContextModifier",
    "ExprStmt", "Expr", "ExtensionAttribute", "Helper", "ImportedName", "InternalName", "Literal", "MarkSafe", "MarkSafeIfAutoescape",
    "OverlayScope", "ScopedEvalContextModifier", "Stmt", "UnaryExpr",
}  # fmt: skip


def test_every_filter_of_jinja_is_either_allowed_or_refused():
    assert set(DEFAULT_FILTERS) == allowed.JINJA_FILTERS | REFUSED_FILTERS
    assert not allowed.JINJA_FILTERS & REFUSED_FILTERS


def test_every_test_of_jinja_is_either_allowed_or_refused():
    assert set(DEFAULT_TESTS) == allowed.TESTS | REFUSED_TESTS


def test_every_function_of_jinja_is_either_allowed_or_refused():
    assert set(DEFAULT_NAMESPACE) == allowed.GLOBALS | REFUSED_FUNCTIONS


def test_every_node_of_jinja_is_either_allowed_or_refused():
    known = {name for name, kind in vars(nodes).items() if isinstance(kind, type) and issubclass(kind, Node)}
    assert {name for name in known if name[0] != "_"} == allowed.NODES | REFUSED_NODES | {"Node"}


def test_what_is_refused_says_what_to_use():
    assert allowed.WHY_NOT.keys() >= REFUSED_FILTERS | REFUSED_TESTS | REFUSED_FUNCTIONS


def test_every_name_that_is_allowed_can_be_called_and_no_other():
    assert FILTER_NAMES == allowed.FILTERS
    assert TEST_NAMES == allowed.TESTS
    assert set(FUNCTIONS) == allowed.GLOBALS
    assert all(map(callable, [*map(find_filter, FILTER_NAMES), *map(find_test, TEST_NAMES)]))


def test_methods_are_those_of_text_lists_and_mappings():
    assert all(hasattr(str, name) for name in allowed.TEXT_METHODS)
    assert all(hasattr(dict, name) for name in allowed.MAPPING_METHODS)
    assert all(hasattr(list, name) and hasattr(tuple, name) for name in allowed.LIST_METHODS)
