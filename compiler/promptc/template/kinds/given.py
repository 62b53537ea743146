"""What a filter is given, with its arguments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from jinja2 import nodes

from promptc.template.types.scope import Scope, Value
from promptc.template.types.types import NumberType, TextType, Type
from promptc.template.types.walk import WalkRun


@dataclass(frozen=True, slots=True, eq=False)
class FilterCall:
    """One use of a filter: the value (`kind`: what of it the filter can use) and the arguments, by place and by name."""

    walk: WalkRun
    node: nodes.Filter
    scope: Scope
    value: Value
    kind: Type
    args: Sequence[Value]
    named: Mapping[str, Value]
    apply: Callable[[str, "FilterCall"], Type]

    def of(self, kind: Type) -> "FilterCall":
        """The same use, with another kind."""
        return replace(self, kind=kind)

    def find(self, place: int, name: str) -> Value | None:
        """An argument, or None where it is left out."""
        return self.args[place] if place < len(self.args) else self.named.get(name)

    def find_whole(self, place: int, name: str, default: int | None) -> int | None:
        """The number an argument is written as; the default where it is left out, None where it is computed."""
        given = self.find(place, name)
        if given is None:
            return default
        value = find_single(given.kind)
        return value if isinstance(value, int) else None

    def find_text(self, place: int, name: str) -> str | None:
        """The text an argument is written as, or None."""
        given = self.find(place, name)
        value = find_single(given.kind) if given is not None else None
        return value if isinstance(value, str) else None


def find_single(kind: Type) -> object:
    """The one value of a kind, or None."""
    values: frozenset[object] | None = kind.values if isinstance(kind, TextType | NumberType) else None
    return next(iter(values)) if values is not None and len(values) == 1 else None
