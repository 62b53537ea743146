"""The filters and tests of the sandbox: those of `allowed`, and no more."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import pass_context
from jinja2.filters import FILTERS as JINJA_FILTERS_BY_NAME
from jinja2.filters import make_attrgetter
from jinja2.tests import TESTS as JINJA_TESTS_BY_NAME
from jinja2.utils import _PassArg

from promptc.template.allowed import JINJA_FILTERS, TESTS
from promptc.template.compare import compare
from promptc.template.context import NameContext
from promptc.template.fault import refuse
from promptc.template.jinja_filters import BOUNDED_FILTERS
from promptc.template.own_filters import OWN_FILTERS
from promptc.template.payments import pay_texts
from promptc.template.show import show

_FREE = frozenset("first last length count default d".split())
_OF_TEXT = {"capitalize": 4, "lower": 4, "upper": 4, "trim": 4, "string": 4, "title": 0, "striptags": 0, "wordcount": 0}
"""For each filter that takes any value as text: how many times its length is halved to make its steps."""
_COMPARING = {
    "eq": "eq", "==": "eq", "equalto": "eq", "ne": "ne", "!=": "ne", "lt": "lt", "<": "lt", "lessthan": "lt", "le": "lteq", "<=": "lteq",
    "gt": "gt", ">": "gt", "greaterthan": "gt", "ge": "gteq", ">=": "gteq", "in": "in",
}  # fmt: skip


def _with_run(filter: Callable[..., Any]) -> Callable[..., Any]:
    @pass_context
    def run_filter(context: NameContext, *args: Any, **kwargs: Any) -> Any:
        return filter(context.run, *args, **kwargs)

    return run_filter


def _of_text(filter: Callable[..., Any], halvings: int) -> Callable[..., Any]:
    @pass_context
    def run_filter(context: NameContext, value: object, *args: Any, **kwargs: Any) -> Any:
        text = show(context.run, value)
        context.run.take(1 + (len(text) >> halvings) + (len(text) * max(map(_size, args), default=0) >> 10))
        return filter(text, *args, **kwargs)

    return run_filter


def _size(value: object) -> int:
    return len(value) if isinstance(value, str) else 0


def _counted(filter: Callable[..., Any], price: int) -> Callable[..., Any]:
    leading = _PassArg.from_obj(filter)

    @pass_context
    def run_filter(context: NameContext, value: Any, *args: Any, **kwargs: Any) -> Any:
        context.run.take(1 + price * len(value) if hasattr(value, "__len__") else 1)
        if leading is None:
            return filter(value, *args, **kwargs)
        first = context if leading is _PassArg.context else context.eval_ctx if leading is _PassArg.eval_context else context.environment
        return filter(first, value, *args, **kwargs)

    return run_filter


def _by_key(filter: Callable[..., Any], place: int) -> Callable[..., Any]:
    """A filter that compares what `attribute` names, in argument `place`, of every element."""
    counted = _counted(filter, 8)

    @pass_context
    def run_filter(context: NameContext, value: Any, *args: Any, **kwargs: Any) -> Any:
        values = value if isinstance(value, Mapping) else list(value)
        attribute = kwargs.get("attribute", args[place] if len(args) > place else None)
        keys = values if attribute is None or isinstance(value, Mapping) else map(make_attrgetter(context.environment, attribute), values)
        pay_texts(context.run, keys)
        return counted(context, values, *args, **kwargs)

    return run_filter


_PLACES = {"sort": 2, "unique": 1, "min": 1, "max": 1, "groupby": 0, "dictsort": 9}


def _build_filter(name: str) -> Any:
    filter: Any = JINJA_FILTERS_BY_NAME[name]
    if name in _FREE:
        return filter
    if name in _OF_TEXT:
        return _of_text(filter, _OF_TEXT[name])
    return _by_key(filter, _PLACES[name]) if name in _PLACES else _counted(filter, 4)


def _build_test(name: str) -> Any:
    if name not in _COMPARING:
        return JINJA_TESTS_BY_NAME[name]
    operator = _COMPARING[name]

    @pass_context
    def run_test(context: NameContext, value: Any, *others: Any) -> bool:
        if len(others) != 1:
            refuse("PC0424", f"`{name}` compares with one value", f"write `is {name} 5`, `select('{name}', 5)`")
        return bool(compare(context.run, operator, value, others[0]))

    return run_test


def _build_filters() -> dict[str, Any]:
    table: dict[str, Any] = {name: _build_filter(name) for name in sorted(JINJA_FILTERS - BOUNDED_FILTERS.keys())}
    for name, filter in BOUNDED_FILTERS.items():
        table[name] = pass_context(filter)
    for name, filter in OWN_FILTERS.items():
        table[name] = _with_run(filter)
    return table


FILTER_TABLE = _build_filters()
TEST_TABLE = {name: _build_test(name) for name in sorted(TESTS)}
