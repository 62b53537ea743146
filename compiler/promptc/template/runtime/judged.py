"""Calls whose arguments are judged by their signatures: before the call where lowering could not do it, else after Python refused one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from promptc.diag.typed import Any
from promptc.template.limits import Limits
from promptc.template.runtime.run import Run


def call_filter(run: Run, function: Callable[..., Any], name: str, value: Any, /, *args: Any, **named: Any) -> Any:
    """A filter with arguments that only the run knows, or that are wrong. Raises `Fault` (PC0424, PC0430 ...) before it does anything."""
    from promptc.template.signature_table import find_wrong_filter

    wrong = find_wrong_filter(name, args, named, run.limits)
    if wrong is not None:
        raise wrong.fault()
    return function(run, value, *args, **named)


def call_test(run: Run, function: Callable[..., bool], name: str, value: Any, /, *args: Any, **named: Any) -> bool:
    """The same for a test."""
    from promptc.template.signature_table import find_wrong_test

    wrong = find_wrong_test(name, args, named, run.limits)
    if wrong is not None:
        raise wrong.fault()
    return function(run, value, *args, **named)


def blame_method(kind: type, name: str, args: Sequence[Any], named: Mapping[str, Any], limits: Limits) -> None:
    """Raise what is wrong with the arguments of a method that Python refused to call, if it is that."""
    from promptc.template.signature_table import METHODS

    _blame(METHODS[kind][name], args, named, limits)


def blame_loop(name: str, args: Sequence[Any], named: Mapping[str, Any], limits: Limits) -> None:
    """The same for a method of a loop, or of a cycler."""
    from promptc.template.signature_table import LOOP_METHODS

    _blame(LOOP_METHODS[name], args, named, limits)


def blame_function(name: str, args: Sequence[Any], named: Mapping[str, Any], limits: Limits) -> None:
    """The same for a function."""
    from promptc.template.signature_table import FUNCTIONS

    _blame(FUNCTIONS[name], args, named, limits)


def _blame(signature: Any, args: Sequence[Any], named: Mapping[str, Any], limits: Limits) -> None:
    from promptc.template.signatures import find_wrong

    wrong = find_wrong(signature, args, named, limits)
    if wrong is not None:
        raise wrong.fault() from None
