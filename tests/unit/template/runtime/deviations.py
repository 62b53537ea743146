"""Where the runtime differs from Jinja on purpose, for one filter, test, operator or method. Nothing else may differ."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.unit.template.runtime.jinja_side import ABSENT, NOTHING, Outcome


@dataclass(frozen=True, slots=True)
class Call:
    """What was called: a name, the values and keywords."""

    name: str
    values: tuple[Any, ...]
    keywords: dict[str, Any]

    @property
    def all(self) -> tuple[Any, ...]:
        return (*self.values, *self.keywords.values())


def _is_bounded(call: Call, jinja: Outcome, ours: Outcome) -> bool:
    return not jinja.failed and ours.code in ("PC0430", "PC0416")


def _is_not_printed(call: Call, jinja: Outcome, ours: Outcome) -> bool:
    """What prints as an address, as `Undefined` or as the inside of Python is refused."""
    return not jinja.failed and (ours.code in ("PC0411", "PC0413") or (ours.code == "PC0410" and _holds(call.all, ABSENT)))


def _holds(values: Any, sought: Any) -> bool:
    return any(value is sought or (isinstance(value, list | tuple) and _holds(value, sought)) for value in values)


def _is_large_key(call: Call, jinja: Outcome, ours: Outcome) -> bool:
    return not jinja.failed and "cannot be a key" in ours.why


def _is_lenient(call: Call, jinja: Outcome, ours: Outcome) -> bool:
    """Jinja stumbles over the kind of a value (an AttributeError, a TypeError in its own insides) where there is a plain answer."""
    known = {"tojson": "is not JSON serializable", "xmlattr": "has no attribute 'items'"}
    return not ours.failed and call.name in known and known[call.name] in jinja.why


def _ignores_nothing(call: Call, jinja: Outcome, ours: Outcome) -> bool:
    """`x if c` without `else` as an argument: Jinja takes it for an empty text here and there."""
    return not jinja.failed and ours.failed and _holds(call.all, NOTHING)


def _is_judged(call: Call, jinja: Outcome, ours: Outcome) -> bool:
    """Jinja finds an argument of the wrong kind, or a divisor of 0, only where it happens to use it."""
    return not jinja.failed and (ours.code in ("PC0424", "PC0415") or "nothing can be in" in ours.why)


DEVIATIONS: dict[str, Callable[[Call, Outcome, Outcome], bool]] = {
    "bounded": _is_bounded,
    "not printed": _is_not_printed,
    "large keys": _is_large_key,
    "lenient": _is_lenient,
    "arguments are judged": _is_judged,
    "nothing as an argument": _ignores_nothing,
}


def explain(call: Call, jinja: Outcome, ours: Outcome) -> str:
    """ "equal", "both fail", the deviation, or "" when nothing explains the difference."""
    if jinja.failed and ours.failed:
        return "both fail"
    if jinja == ours:
        return "equal"
    return next((name for name, recognises in DEVIATIONS.items() if recognises(call, jinja, ours)), "")
