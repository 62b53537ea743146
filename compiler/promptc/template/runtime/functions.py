"""The few functions a template may call by name."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.limits import Limits
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.objects import Missing
from promptc.template.runtime.payments import check_key, pay_each
from promptc.template.runtime.run import Run


class Cycler:
    """`cycler('a', 'b')`: its `next()` goes round the values."""

    __slots__ = ("values", "position")

    def __init__(self, values: tuple[Any, ...]) -> None:
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
    """`joiner(', ')`: empty the first time it is called, what it was given from then on."""

    __slots__ = ("sep", "used")

    def __init__(self, sep: Any) -> None:
        self.sep = sep
        self.used = False

    def __call__(self) -> Any:
        if self.used:
            return self.sep
        self.used = True
        return ""


class Namespace:
    """`namespace(n=0)`: names that `{% set ns.n = ... %}` may change, also inside a loop. Nothing else changes `values`."""

    __slots__ = ("values",)

    def __init__(self, values: dict[Any, Any]) -> None:
        self.values = values

    def find(self, name: str) -> Any:
        """What it holds under a name; undefined where there is none."""
        return self.values[name] if name in self.values else Missing(name, self)


def make_range(run: Run, *bounds: int) -> range:
    """Whole numbers, at most `Limits.range` of them."""
    made = range(*bounds)
    check_range(made, run.limits)
    run.take(len(made))
    return made


def check_range(made: range, limits: Limits) -> None:
    """Refuse more numbers than the limit."""
    try:
        size = len(made)
    except OverflowError:
        refuse("PC0416", "a number grows too large", "use smaller numbers")
    if size > limits.range:
        refuse("PC0430", f"`range` is longer than {limits.range}", "loop over less, or raise `limits.range`")


def make_dict(run: Run, pairs: Any = (), /, **values: Any) -> dict[Any, Any]:
    """A new mapping, of another or of pairs, and of names."""
    made: dict[Any, Any] = {}
    if pairs.__class__ is dict:
        run.take(1 + len(pairs))
        made.update(pairs)
    else:
        made.update(_iter_pairs(run, pairs))
    made.update(values)
    run.take(len(values))
    return made


def _iter_pairs(run: Run, source: Any) -> Any:
    for pair in pay_each(run, source, 2):
        if not hasattr(pair, "__iter__"):
            refuse("PC0414", f"{name_kind(pair)} is no pair", "give pairs of a key and a value")
        key, value = pair
        yield check_key(key), value


def make_namespace(run: Run, pairs: Any = (), /, **values: Any) -> Namespace:
    """A namespace with what `dict` would hold."""
    return Namespace(make_dict(run, pairs, **values))


def make_cycler(run: Run, first: Any, /, *rest: Any) -> Cycler:
    """A cycler of at least one value."""
    return Cycler((first, *rest))


def make_joiner(run: Run, sep: Any = ", ") -> Joiner:
    """A joiner."""
    return Joiner(sep)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "range": make_range,
    "dict": make_dict,
    "namespace": make_namespace,
    "cycler": make_cycler,
    "joiner": make_joiner,
}
for _name, _function in FUNCTIONS.items():
    _function.__qualname__ = _name  # what Python's messages about arguments call it
