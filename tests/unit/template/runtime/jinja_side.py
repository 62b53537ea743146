"""One filter, test, operator or method on both sides: what Jinja makes of it and what the runtime does, in a form that can be compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from promptc.template.runtime.objects import BLANK, Blank, Fault, Missing
from promptc.template.runtime.run import Run

FAILURES = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RuntimeError, AssertionError, MemoryError)
UNMADE = "unmade"
UNDEFINED = "undefined"


class Absent:
    """Stands for a name that is not there."""

    def __repr__(self) -> str:
        return "ABSENT"


class Nothing:
    """Stands for what an `if` without `else` gives."""

    def __repr__(self) -> str:
        return "NOTHING"


ABSENT, NOTHING = Absent(), Nothing()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out: a value in a form that compares by kind too, or None and why not."""

    value: Any
    why: str = ""
    code: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.why)


@cache
def build_jinja() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)


@cache
def _compile(expression: str) -> Callable[..., Any]:
    return build_jinja().compile_expression(expression, undefined_to_none=False)


def ask_jinja(expression: str, values: Mapping[str, Any]) -> Outcome:
    """The value of an expression over `values`; ABSENT ones are left out, NOTHING becomes Jinja's own."""
    names = {name: _to_jinja(value) for name, value in values.items() if value is not ABSENT}
    try:
        return Outcome(simplify(_compile(expression)(**names)))
    except FAILURES as error:
        return Outcome(None, f"{type(error).__name__}: {error}")


def _to_jinja(value: Any) -> Any:
    return Undefined() if value is NOTHING else value


def ask_ours(function: Callable[..., Any], values: Sequence[Any], keywords: Mapping[str, Any] | None = None) -> Outcome:
    """The value `function` gives for a fresh run and `values`."""
    given = [_to_ours(value) for value in values]
    named = {name: _to_ours(value) for name, value in (keywords or {}).items()}
    try:
        return Outcome(simplify(function(Run(None), *given, **named)))
    except Fault as error:
        return Outcome(None, f"Fault: {error}", error.code)
    except FAILURES as error:
        return Outcome(None, f"{type(error).__name__}: {error}")


def _to_ours(value: Any) -> Any:
    return BLANK if value is NOTHING else Missing("v", of_names=True) if value is ABSENT else value


def simplify(value: Any) -> Any:
    """A value with the kind of each of its parts, so that 1, 1.0 and True differ; what is made lazily is made now, and says so."""
    if isinstance(value, Undefined | Missing | Blank):
        return UNDEFINED
    if isinstance(value, str):
        return "str", str(value)
    if value is None or isinstance(value, bool | int | float):
        return type(value).__name__, repr(value)
    if isinstance(value, list):
        return "list", [simplify(part) for part in value]
    if isinstance(value, tuple):
        return "tuple", [simplify(part) for part in value]
    if isinstance(value, dict):
        return "dict", [(simplify(key), simplify(part)) for key, part in value.items()]
    if isinstance(value, range):
        return "range", repr(value)
    kind = type(value).__name__
    return kind if kind.startswith("dict_") and "iterator" not in kind else UNMADE, [simplify(part) for part in value]
