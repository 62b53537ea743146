"""The allow-lists against Jinja's own: what a new Jinja brings is noticed here, and is not usable until it is listed."""

from jinja2 import nodes
from jinja2.defaults import DEFAULT_FILTERS, DEFAULT_NAMESPACE, DEFAULT_TESTS
from jinja2.nodes import Node

from promptc.template import allowed
from promptc.template.sandbox import find_sandbox

REFUSED_FILTERS = {"attr", "forceescape", "pprint", "random", "safe", "urlize", "xmlattr"}
REFUSED_TESTS = {"callable", "escaped", "filter", "sameas", "test"}
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


def test_the_sandbox_holds_the_lists_and_no_more():
    sandbox = find_sandbox()
    assert {name for name in sandbox.filters if not name.startswith("@")} == allowed.FILTERS
    assert set(sandbox.tests) == allowed.TESTS
    assert set(sandbox.globals) == allowed.GLOBALS


def test_methods_are_those_of_text_lists_and_mappings():
    assert all(hasattr(str, name) for name in allowed.TEXT_METHODS)
    assert all(hasattr(dict, name) for name in allowed.MAPPING_METHODS)
    assert all(hasattr(list, name) and hasattr(tuple, name) for name in allowed.LIST_METHODS)
