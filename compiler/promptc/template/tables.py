"""The filters and tests of the sandbox: those of `allowed`, and no more."""

from collections.abc import Callable
from typing import Any

from jinja2 import pass_context
from jinja2.filters import FILTERS as JINJA_TABLE
from jinja2.tests import TESTS as JINJA_TESTS
from jinja2.utils import _PassArg

from promptc.template.allowed import JINJA_FILTERS, TESTS
from promptc.template.context import NameContext
from promptc.template.jinja_filters import BOUNDED_FILTERS
from promptc.template.own_filters import OWN_FILTERS
from promptc.template.show import show

_OF_TEXT = frozenset("capitalize lower upper title trim string striptags wordcount".split())


def _with_run(filter: Callable[..., Any]) -> Callable[..., Any]:
    @pass_context
    def run_filter(context: NameContext, *args: Any, **kwargs: Any) -> Any:
        return filter(context.run, *args, **kwargs)

    return run_filter


def _of_text(filter: Callable[..., Any]) -> Callable[..., Any]:
    @pass_context
    def run_filter(context: NameContext, value: object, *args: Any, **kwargs: Any) -> Any:
        text = show(value)
        context.run.take(1 + (len(text) >> 4))
        return filter(text, *args, **kwargs)

    return run_filter


def _counted(filter: Callable[..., Any]) -> Callable[..., Any]:
    leading = _PassArg.from_obj(filter)

    @pass_context
    def run_filter(context: NameContext, value: Any, *args: Any, **kwargs: Any) -> Any:
        context.run.take(len(value) if hasattr(value, "__len__") else 1)
        if leading is None:
            return filter(value, *args, **kwargs)
        first = context if leading is _PassArg.context else context.eval_ctx if leading is _PassArg.eval_context else context.environment
        return filter(first, value, *args, **kwargs)

    return run_filter


def _build_filters() -> dict[str, Callable[..., Any]]:
    table: dict[str, Callable[..., Any]] = {}
    for name in sorted(JINJA_FILTERS - BOUNDED_FILTERS.keys()):
        filter = JINJA_TABLE[name]
        table[name] = _of_text(filter) if name in _OF_TEXT else filter if name in ("default", "d") else _counted(filter)
    for name, filter in BOUNDED_FILTERS.items():
        table[name] = pass_context(filter)
    for name, filter in OWN_FILTERS.items():
        table[name] = _with_run(filter)
    return table


FILTER_TABLE = _build_filters()

TEST_TABLE: dict[str, Callable[..., Any]] = {name: JINJA_TESTS[name] for name in sorted(TESTS)}
