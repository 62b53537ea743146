"""Functions that are written and compiled when they are first called."""

from collections.abc import Callable

from promptc.diag.typed import Any


def compile_lazily(space: dict[str, Any], name: str, write: Callable[[], str]) -> None:
    """Puts a function of a value and fuel into `space`, where its text, once it is called, puts another of the same name."""

    def first(value: Any, fuel: Any) -> Any:
        if space[name] is first:
            exec(compile(write(), f"<{name}>", "exec", dont_inherit=True), space)
        return space[name](value, fuel)

    space[name] = first
