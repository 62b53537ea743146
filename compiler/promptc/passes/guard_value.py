"""Guards every text inside a value of the state: what a tool was given and what it gave is content as well (language.md §10)."""

from collections.abc import Mapping

from promptc.diag.typed import Any
from promptc.text.guard import Finding, Guard


def guard_value(value: Any, guard: Guard) -> tuple[Any, tuple[Finding, ...]]:
    """The value with its texts guarded, keys of mappings among them, and what was met. Equal texts stay equal."""
    found: list[Finding] = []
    return _guard(value, guard, found), tuple(found)


def _guard(value: Any, guard: Guard, found: list[Finding]) -> Any:
    if isinstance(value, str):
        text, met = guard.guard(value)
        found.extend(met)
        return text
    if isinstance(value, Mapping):
        return {_guard(key, guard, found): _guard(one, guard, found) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_guard(one, guard, found) for one in value]
    return value
