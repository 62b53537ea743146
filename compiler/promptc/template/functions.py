"""The few functions a template may call by name."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2.utils import Namespace

from promptc.template.fault import refuse
from promptc.template.limits import MAX_RANGE
from promptc.template.payments import check_key
from promptc.template.run import Run
from promptc.template.show import show


class Cycler:
    """`cycler('a', 'b')`: its `next()` goes round the values."""

    __slots__ = ("values", "position")

    def __init__(self, values: tuple[Any, ...]) -> None:
        if not values:
            refuse("PC0414", "`cycler` needs at least one value")
        self.values = values
        self.position = 0

    @property
    def current(self) -> Any:
        """The value `next` gives next."""
        return self.values[self.position]

    def next(self) -> Any:
        """The current value, and on to the next."""
        value = self.current
        self.position = (self.position + 1) % len(self.values)
        return value

    def reset(self) -> None:
        """Back to the first."""
        self.position = 0


class Joiner:
    """`joiner(', ')`: empty the first time it is called, the text from then on."""

    __slots__ = ("text", "used")

    def __init__(self, text: str) -> None:
        self.text = text
        self.used = False

    def __call__(self) -> str:
        if self.used:
            return self.text
        self.used = True
        return ""


def _range(run: Run, *bounds: int) -> range:
    made = range(*bounds)
    if len(made) > MAX_RANGE:
        refuse("PC0430", f"`range` is longer than {MAX_RANGE}", "loop over less")
    run.take(len(made))
    return made


def _dict(run: Run, /, *pairs: Any, **values: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for source in pairs:
        made.update(source if isinstance(source, Mapping) else ((check_key(key), value) for key, value in source))
    made.update(values)
    run.take(len(made))
    return made


def _namespace(run: Run, /, *pairs: Any, **values: Any) -> Namespace:
    return Namespace(_dict(run, *pairs, **values))


def _cycler(run: Run, *values: Any) -> Cycler:
    return Cycler(values)


def _joiner(run: Run, sep: Any = ", ") -> Joiner:
    return Joiner(show(run, sep))


FUNCTIONS: dict[str, Callable[..., Any]] = {"range": _range, "dict": _dict, "namespace": _namespace, "cycler": _cycler, "joiner": _joiner}
