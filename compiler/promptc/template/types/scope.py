"""What is known at one place of a template: its names, what conditions have proved, and what they leave in doubt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from jinja2 import nodes

from promptc.template.types.algebra import join_types
from promptc.template.types.types import NEVER, Type, UndefinedType

Path = tuple[object, ...]
"""What a value was read by, and the parts behind it: a name of the pack, or an object that stands for one binding of a template's name."""


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """What an expression gives: its kind, the path it was read by, and how the author wrote that."""

    kind: Type
    path: Path | None = None
    spelled: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """What a name stands for. `condition`: the expression it was set to, where that may be asked again."""

    kind: Type
    path: Path
    condition: nodes.Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Never changed: each statement and each condition makes a new one. `dead`: no valid state leads here."""

    names: Mapping[str, Binding]
    facts: Mapping[Path, Type] = field(default_factory=dict)
    doubts: frozenset[Path] = frozenset()
    dead: bool = False

    def bind(self, name: str, bound: Binding) -> Scope:
        """The scope with one more name; what was asked about an earlier one of that name no longer holds."""
        return self.bind_all({name: bound})

    def bind_all(self, bounds: Mapping[str, Binding]) -> Scope:
        """The same for several names."""
        names = {**self.names, **bounds}
        for other, one in self.names.items():
            if one.condition is not None and other not in bounds and not _find_read(one.condition).isdisjoint(bounds):
                names[other] = Binding(one.kind, one.path)
        return replace(self, names=names)

    def learn(self, path: Path, kind: Type) -> Scope:
        """The scope in which the value at `path` is of `kind`."""
        if kind == NEVER:
            return replace(self, dead=True)
        return replace(self, facts={**self.facts, path: kind})

    def doubt(self, paths: Iterable[Path]) -> Scope:
        """The scope behind a condition that says something about `paths` and is not understood."""
        return replace(self, doubts=self.doubts.union(paths))

    def is_doubted(self, path: Path | None) -> bool:
        """True when a condition may have asked about the value at `path`."""
        if path is None:
            return False
        return any(one[: len(path)] == path or path[: len(one)] == one for one in self.doubts)

    def end(self) -> Scope:
        """The scope on a way that no valid state takes."""
        return replace(self, dead=True)


@lru_cache(maxsize=4096)
def _find_read(condition: nodes.Expr) -> frozenset[str]:
    """The names that a condition reads; it is asked of every name that is bound behind it."""
    if isinstance(condition, nodes.Name):
        return frozenset((condition.name,))
    return frozenset(read.name for read in condition.find_all(nodes.Name))


def join_facts(left: Scope, right: Scope) -> Scope:
    """What holds where one of two conditions held. Both have the same names."""
    if left.dead or right.dead:
        return right if left.dead else left
    facts = {path: join_types(kind, right.facts[path]) for path, kind in left.facts.items() if path in right.facts}
    return replace(left, facts=facts, doubts=left.doubts | right.doubts)


def join_ways(before: Scope, ways: Iterable[Scope]) -> Scope:
    """The scope behind an `if`: names that were set on one way may be that, or what they were."""
    alive = [way for way in ways if not way.dead]
    if not alive:
        return before.end()
    names = _join_names(before, alive)
    facts = dict(alive[0].facts)
    for way in alive[1:]:
        facts = {path: join_types(kind, way.facts[path]) for path, kind in facts.items() if path in way.facts}
    return Scope(names, facts, before.doubts)


def _join_names(before: Scope, alive: list[Scope]) -> Mapping[str, Binding]:
    if all(way.names is before.names for way in alive):
        return before.names
    names = dict(before.names)
    for name in sorted({name for way in alive for name in way.names}):
        names[name] = _join_bound(name, [way.names.get(name) or before.names.get(name) for way in alive])
    return names


def _join_bound(name: str, found: list[Binding | None]) -> Binding:
    first = found[0]
    if first is not None and all(one is first for one in found):
        return first
    kinds = [one.kind if one is not None else UndefinedType("given", name) for one in found]
    return Binding(join_types(*kinds), (object(),))


@dataclass(frozen=True, slots=True)
class Computed:
    """What is no constant."""


COMPUTED = Computed()


def find_written(node: nodes.Node) -> object:
    """The text, number, truth or none an expression is written as; `COMPUTED` for all others."""
    if isinstance(node, nodes.Const):
        return node.value if node.value is None or isinstance(node.value, str | int | float) else COMPUTED
    if isinstance(node, nodes.Neg) and isinstance(node.node, nodes.Const) and type(node.node.value) in (int, float):
        return -node.node.value
    return COMPUTED
