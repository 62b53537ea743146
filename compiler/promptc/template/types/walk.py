"""The state of one walk over a text.

`Scope` is what is known at one place: the names, what conditions have proved, and what they leave in doubt. `WalkRun` collects problems and
reads, and judges the uses of values (`take`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache

from jinja2 import nodes

from promptc.diag.findings import Diagnostic
from promptc.template.allow import LIMITS, Limits
from promptc.template.types.algebra import Usage, join_members, join_types, keep_members, list_failing
from promptc.template.types.trials import Trials
from promptc.template.types.types import (
    NEVER,
    NONE_TYPE,
    UNKNOWN_TYPE,
    ListType,
    MappingType,
    NoneType,
    Problem,
    Rule,
    TextType,
    Type,
    UndefinedType,
    UnknownType,
    is_sure,
    list_members,
)

Path = tuple[object, ...]
"""How a value was read: a root, then the parts. The root is a name of the pack, or an object for one binding of a template's name."""

Cost = Callable[[str], tuple[int, int]]
"""A function from a constant text to its cost: the most tokens in any surroundings, and how many bytes count as one token each."""

MAX_CALLS = 8
"""Depth of nested macro calls that a walk follows; the result of a deeper call is unknown."""

MAX_STEPS = 100_000
"""Statements and expressions that one walk visits. Nested macros and includes multiply."""

_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("optional", "undeclared", "given"), "absent"),
    "none": "none",
    "left_out": "reads_none",
}
"""The rule for a value that can only be undefined, by the reason for the gap; `part` for all other reasons."""

_OF_NONE = ("none", "left_out")
"""Reasons for a gap that a test for none removes."""

_OF_SECTION = frozenset({"item", "group", "each"})


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """The value of an expression: its type, the path it was read by, and how the author wrote that path."""

    kind: Type
    path: Path | None = None
    spelled: str = ""

    def of(self, kind: Type) -> Value:
        """Return this value with a narrower type."""
        return Value(kind, self.path, self.spelled)


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """What a name stands for. `condition`: the expression that the name was set to, if later conditions may look into it."""

    kind: Type
    path: Path
    condition: nodes.Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """What is known at one place. Immutable: each statement and each condition makes a new scope. `dead`: no valid state leads here."""

    names: Mapping[str, Binding]
    facts: Mapping[Path, Type] = field(default_factory=dict)
    doubts: frozenset[Path] = frozenset()
    dead: bool = False

    def bind(self, name: str, bound: Binding) -> Scope:
        """Return the scope with one more name. Conditions that read an earlier binding of the name are forgotten."""
        return self.bind_all({name: bound})

    def bind_all(self, bounds: Mapping[str, Binding]) -> Scope:
        """Return the scope with more names, each added as by `bind`."""
        names = {**self.names, **bounds}
        for other, one in self.names.items():
            if one.condition is not None and other not in bounds and not _list_read(one.condition).isdisjoint(bounds):
                names[other] = Binding(one.kind, one.path)
        return replace(self, names=names)

    def learn(self, path: Path, kind: Type) -> Scope:
        """Return the scope in which the value at `path` has the type `kind`."""
        if kind == NEVER:
            return replace(self, dead=True)
        return replace(self, facts={**self.facts, path: kind})

    def doubt(self, paths: Iterable[Path]) -> Scope:
        """Return the scope after a condition about `paths` that is not understood."""
        return replace(self, doubts=self.doubts.union(paths))

    def is_doubted(self, path: Path | None) -> bool:
        """Return whether a condition that was not understood may concern the value at `path`."""
        if path is None:
            return False
        return any(one[: len(path)] == path or path[: len(one)] == one for one in self.doubts)

    def end(self) -> Scope:
        """Return the scope of a branch that no valid state takes."""
        return replace(self, dead=True)


@lru_cache(maxsize=4096)
def _list_read(condition: nodes.Expr) -> frozenset[str]:
    """Return the names that a condition reads. Cached: each name that is bound later looks them up."""
    if isinstance(condition, nodes.Name):
        return frozenset((condition.name,))
    return frozenset(read.name for read in condition.find_all(nodes.Name))


def join_facts(left: Scope, right: Scope) -> Scope:
    """Return what holds if one of two conditions holds. Both scopes must have the same names."""
    if left.dead or right.dead:
        return right if left.dead else left
    facts = {path: join_types(kind, right.facts[path]) for path, kind in left.facts.items() if path in right.facts}
    return replace(left, facts=facts, doubts=left.doubts | right.doubts)


def join_ways(before: Scope, ways: Iterable[Scope]) -> Scope:
    """Return the scope after an `if`: a name that some branch sets may have that value, or its earlier one."""
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


@dataclass(slots=True)
class WalkRun:
    """Collects problems (each once) and reads. `trees`: the files by name; `cost`: the cost of constant texts.

    `trials`: runs expressions that read nothing; None to run nothing. `reports`: the number of problems reported, duplicates included.
    `gaps`: by name, the scope in which an unbound name was read.
    """

    trees: Mapping[str, nodes.Template]
    cost: Cost
    limits: Limits = LIMITS
    file: str = ""
    calls: int = 0
    problems: dict[Problem, None] = field(default_factory=dict)
    read: set[tuple[str, str]] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    memo: dict[object, object] = field(default_factory=dict)
    blocks: dict[str, list[tuple[str, nodes.Block]]] = field(default_factory=dict)
    macros: list[tuple[nodes.Macro, Callable[[], Type]]] = field(default_factory=list)
    called: set[int] = field(default_factory=set)
    gaps: dict[str, Scope] = field(default_factory=dict)
    left: int = MAX_STEPS
    trials: Trials | None = None
    reports: int = 0
    asked: dict[int, bool | None] = field(default_factory=dict)
    trying: bool = False

    def spend(self) -> bool:
        """Spend one step. Return False once the steps are used up; callers then stop looking."""
        self.left -= 1
        return self.left > 0

    def report(self, rule: Rule, node: nodes.Node, value: Value, kind: Type, scope: Scope, **more: object) -> None:
        """Record a problem, unless no valid state leads to this scope."""
        if not scope.dead and self.left > 0:
            self.reports += 1
            subject = value.spelled or (kind.spelled if isinstance(kind, UndefinedType) else "")
            file, position = kind.read_at if isinstance(kind, UndefinedType) and kind.read_at is not None else (self.file, node.lineno)
            self.problems[Problem(rule, file, position, subject, kind, **more)] = None  # type: ignore[arg-type]

    def report_fault(self, fault: Diagnostic | None, node: nodes.Node, scope: Scope) -> None:
        """Record the failure of a run of a part, if there is one."""
        if fault is not None:
            self.report("argument", node, Value(NONE_TYPE), NONE_TYPE, scope, told=(fault.code, fault.message, fault.help))

    def take(self, value: Value, taker: Usage, by: str, node: nodes.Node, scope: Scope) -> Type:
        """Judge the use of a value by `by`, and return the type of the values that the use accepts."""
        kind, wants = value.kind, f"{by} takes {taker.wants}"
        failing, odd = list_failing(kind, taker)
        members = list_members(kind)
        if not members:
            return NEVER
        if taker.gap and value.spelled.startswith("state"):
            self._judge_slip(value, node, scope)
        elif taker.gap and self._is_of_section(value):
            self._judge_slip(value, node, scope, only_near=True)
        if len(failing) + len(odd) == len(members):
            self._report_all(value, failing or odd, wants, node, scope)
            return UNKNOWN_TYPE
        possible = is_sure(kind) and not scope.is_doubted(value.path)
        for member in failing:
            if isinstance(member, UndefinedType) and member.certain:
                self._report_gap(value, member, node, scope)
            elif possible:
                self._report_one(value, member, wants, node, scope)
        if not taker.none:
            self._judge_none(value, failing, wants, node, scope)
        return keep_members(kind, lambda member: member not in failing)

    def _report_all(self, value: Value, wrong: list[Type], wants: str, node: nodes.Node, scope: Scope) -> None:
        gaps = [one for one in wrong if isinstance(one, UndefinedType)]
        if gaps and len(gaps) == len(wrong):
            known = tuple(dict.fromkeys(name for gap in gaps for name in gap.known))
            gap = min(gaps, key=lambda one: one.reason in _OF_NONE)  # what no test for none would mend
            self._report_gap(value, replace(gap, known=known), node, scope)
        elif all(isinstance(one, NoneType | UndefinedType) for one in wrong):
            self.report("none", node, value, wrong[0], scope, wants=wants)
        elif any(isinstance(one, ListType) and one.shape == "lazy" for one in wrong) and not value.path:
            self.report("unprintable", node, value, value.kind, scope, wants=wants)
        else:
            self.report("kind", node, value, value.kind, scope, wants=wants)

    def _report_gap(self, value: Value, gap: UndefinedType, node: nodes.Node, scope: Scope) -> None:
        rule: Rule = "name" if gap.holder == "name" else _RULES.get(gap.reason, "part")
        self.report(rule, node, value, gap, scope, gap=gap)

    def _is_of_section(self, value: Value) -> bool:
        """Return whether the value is read from the element that a section iterates over, in the section's own text.

        Other files do not count: they may serve several sections.
        """
        root = value.path[0] if value.path is not None else None
        return root in _OF_SECTION and not self.file and value.spelled.startswith((f"{root}.", f"{root}["))

    def _judge_slip(self, value: Value, node: nodes.Node, scope: Scope, *, only_near: bool = False) -> None:
        """Report a path that no valid state has, even if it is tested first; with `only_near`, only if a similar name is known."""
        members = list_members(value.kind)
        gaps = [member for member in members if isinstance(member, UndefinedType) and member.certain and member.reason == "closed"]
        if len(gaps) < len(members) or not gaps:
            return
        known = tuple(sorted({name for gap in gaps for name in gap.known}))
        if not only_near or get_close_matches(gaps[0].part, known, n=1, cutoff=0.6):
            gap = replace(gaps[0], known=known)
            self.report("part", node, value, gap, scope, gap=gap, wants="asked")

    def report_certain(self, value: Value, node: nodes.Node, scope: Scope) -> None:
        """Report a value that is undefined in every state, where being undefined does not by itself stop the run."""
        for member in list_members(value.kind):
            if isinstance(member, UndefinedType) and member.certain:
                self._report_gap(value, member, node, scope)

    def _report_one(self, value: Value, member: Type, wants: str, node: nodes.Node, scope: Scope) -> None:
        if isinstance(member, UndefinedType):
            if member.reason != "given":
                self.report(_RULES.get(member.reason, "absent"), node, value, member, scope, gap=member)
        elif isinstance(member, NoneType):
            self.report("reads_none" if member.absent else "none", node, value, member, scope, wants=wants)
        elif not isinstance(member, UnknownType):
            self.report("some_kind", node, value, member, scope, wants=wants)

    def _judge_none(self, value: Value, failing: list[Type], wants: str, node: nodes.Node, scope: Scope) -> None:
        """Report a part that reads as none because it is left out: using it is a mistake, even where that does not stop the run."""
        if not is_sure(value.kind) or scope.is_doubted(value.path):
            return
        for member in list_members(value.kind):
            if isinstance(member, NoneType) and member.absent and member not in failing:
                self.report("reads_none", node, value, member, scope, wants=wants)

    def judge_shown(self, value: Value, node: nodes.Node, scope: Scope, wants: str) -> None:
        """Report a value that may be none where it becomes text; `wants` says how it does. A part that is left out has been reported."""
        if not is_sure(value.kind) or scope.is_doubted(value.path):
            return
        if _may_be_none(value.kind):
            self.report("prints_none", node, value, value.kind, scope, wants=wants)
        elif any(_may_be_none(part) for part in _iter_parts(value.kind)):
            self.report("holds_none", node, value, value.kind, scope, wants=wants)

    def report_time(self, value: Value, by: str, node: nodes.Node, scope: Scope) -> None:
        """Report a time of the schema that `by` orders as a text."""
        found = find_time(value.kind)
        if found is not None:
            self.report("as_text", node, value, found, scope, wants=by)

    def note_read(self, kind: Type, key: str) -> None:
        """Record that a key of a mapping of the schema is read."""
        for member in list_members(kind):
            if isinstance(member, MappingType):
                self.read.add((member.at, key))

    def note_all(self, kind: Type) -> None:
        """Record that any key of a mapping may be read."""
        for member in list_members(kind):
            if isinstance(member, MappingType):
                self.read.update((member.at, name) for name in member.names)

    def note_whole(self, kind: Type) -> None:
        """Record that a value is used whole: printed, compared or handed on."""
        for member in list_members(kind):
            if isinstance(member, MappingType):
                self.whole.add(member.at)
            elif isinstance(member, ListType):
                self.note_whole(join_members(member))


def _may_be_none(kind: Type) -> bool:
    """Return whether some valid state has none here, other than for a part that it leaves out."""
    return is_sure(kind) and any(isinstance(member, NoneType) and not member.at for member in list_members(kind))


def _iter_parts(kind: Type) -> Iterator[Type]:
    """Yield the types of the elements of a list and of the declared keys of a mapping."""
    for member in list_members(kind):
        if isinstance(member, ListType):
            yield join_members(member)
        elif isinstance(member, MappingType):
            yield from map(member.find, member.names)


def find_time(kind: Type) -> TextType | None:
    """Return the member that is a text of the format `date-time`, or None."""
    return next((member for member in list_members(kind) if isinstance(member, TextType) and member.format == "date-time"), None)
