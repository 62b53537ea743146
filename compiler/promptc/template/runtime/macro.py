"""Macros: functions a template defines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from promptc.diag.typed import Any, NoReturn
from promptc.template.runtime.missing import missing
from promptc.template.runtime.objects import Missing
from promptc.template.runtime.run import Run


class Macro:
    """A macro, or the text of a `call`. Arguments are bound as Jinja binds them.

    `weight`: the steps of going through it once. `kwargs`, `varargs`, `caller`: whether its body mentions them, so is given them.
    """

    __slots__ = ("arguments", "caller", "function", "kwargs", "name", "run", "varargs", "weight")

    def __init__(
        self,
        run: Run,
        function: Callable[..., str],
        name: str | None,
        arguments: Sequence[str],
        weight: int,
        kwargs: bool,
        varargs: bool,
        caller: bool,
    ) -> None:
        self.run = run
        self.function = function
        self.name = name
        self.arguments = arguments
        self.weight = weight
        self.kwargs = kwargs
        self.varargs = varargs
        self.caller = caller

    def call(self, args: tuple[Any, ...], named: dict[str, Any]) -> str:
        """The text the macro makes."""
        run = self.run
        if named or len(args) != len(self.arguments) or self.kwargs or self.varargs or self.caller:
            args = tuple(self._bind(args, named))
        run.enter(self.weight)
        text = self.function(*args)
        run.depth -= 1
        return text

    def _bind(self, args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        most, left = len(self.arguments), dict(named)
        bound = list(args[:most])
        given = len(bound)
        bound += [left.pop(name, missing) for name in self.arguments[given:]]
        found = "caller" in self.arguments if given == most else "caller" in self.arguments[given:]
        if self.caller and not found:
            bound.append(left.pop("caller", None) or Missing("caller", hint="the macro was called without `{% call %}`"))
        if (left and not self.kwargs) or (len(args) > most and not self.varargs):
            self._refuse(args, named)
        if self.kwargs:
            bound.append(left)
        if self.varargs:
            bound.append(args[most:])
        return bound

    def _refuse(self, args: tuple[Any, ...], named: dict[str, Any]) -> NoReturn:
        from promptc.template.signatures import find_wrong, sign_macro

        uses = [name for name in ("caller", "kwargs", "varargs") if getattr(self, name)]
        wrong = find_wrong(sign_macro(self.name, self.arguments, uses), args, named, self.run.limits)
        assert wrong is not None, "whoever refuses a call knows why"
        raise wrong.fault()


def unfilled(name: str) -> Missing:
    """What an argument is that was not given and has no default."""
    return Missing(name, hint=f"the argument `{name}` was not given")
