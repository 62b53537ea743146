"""The environment templates are parsed with and run in."""

from collections.abc import Callable
from functools import cache, partial
from types import BuiltinMethodType
from typing import Any

from jinja2.nodes import EvalContext
from jinja2.runtime import BlockReference, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

from promptc.template.access import find_attribute, find_item, find_method
from promptc.template.allowed import DICT_NAMES
from promptc.template.context import NameContext
from promptc.template.fault import name_kind, refuse
from promptc.template.functions import FUNCTIONS, Cycler, Joiner
from promptc.template.methods import pay_method
from promptc.template.operators import OPERATORS
from promptc.template.payments import pay_parts
from promptc.template.tables import FILTER_TABLE, TEST_TABLE
from promptc.template.undefined import Missing


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, narrowed to plain data.

    `templates`: the files a template brings in, by name; set on a copy (`overlay`) for each template.
    """

    intercepted_binops = frozenset(OPERATORS)

    def __init__(self) -> None:
        super().__init__(
            undefined=Missing,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
            optimized=False,
            cache_size=0,
        )
        self.filters = dict(FILTER_TABLE)
        self.tests = dict(TEST_TABLE)
        self.globals = dict(FUNCTIONS)
        self.eval_ctx = EvalContext(self)
        self.templates: dict[str, Any] = {}

    def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> Any:
        """An included template. All of them are known since the template was loaded."""
        return self.templates[name]

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute`."""
        if obj.__class__ is dict and attribute in obj and attribute not in DICT_NAMES:
            return obj[attribute]
        return find_attribute(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """`obj[argument]`."""
        return find_item(obj, argument)

    def find_method(self, obj: Any, name: str) -> Any:
        """What `obj.name(...)` calls."""
        return find_method(obj, name)

    def call(self, context: Any, callee: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a macro, a block, a function of the list, or what `find_method` found."""
        kwargs.pop("_loop_vars", None)
        kwargs.pop("_block_vars", None)
        kind = type(callee)
        if kind is Macro or kind is BlockReference:
            return _call_macro(context, callee, args, kwargs)
        if kind is partial:
            return callee.func(context.run, *callee.args, *args, **kwargs)
        if kind is BuiltinMethodType:
            pay_method(context.run, callee, args)
            return callee(*args, **kwargs)
        if kind is Joiner or getattr(callee, "__func__", None) in _BOUND:
            pay_parts(context.run, args)
            return callee(*args, **kwargs)
        if kind is Missing:
            return callee()
        if callee in _CALLABLE:
            return callee(context.run, *args, **kwargs)
        return refuse("PC0409", f"{name_kind(callee)} cannot be called", "leave the `()` out")

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Arithmetic, bounded."""
        return OPERATORS[operator](context.run, left, right)


_BOUND: tuple[Callable[..., Any], ...] = (LoopContext.cycle, LoopContext.changed, Cycler.next, Cycler.reset)
_CALLABLE = tuple(FUNCTIONS.values())


def _call_macro(context: NameContext, macro: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    context.run.enter(0)
    text: str = macro(*args, **kwargs)
    context.run.leave()
    return text


@cache
def find_sandbox() -> Sandbox:
    """The one environment; it is never changed, only copied."""
    return Sandbox()
