"""The state of one walk over a text: what is wrong so far, what was read, and the judging of uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from jinja2 import nodes

from promptc.diag.findings import Diagnostic
from promptc.template.place import LIMITS, Limits
from promptc.template.types.algebra import ANY, ASKED, NUMBERS, Usage, find_element, find_failing, join_members, keep_members
from promptc.template.types.scope import Scope, Value
from promptc.template.types.trials import Trials
from promptc.template.types.types import (
    NEVER,
    NONE_TYPE,
    UNKNOWN_TYPE,
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    Problem,
    Rule,
    TextType,
    Type,
    UndefinedType,
    UnknownType,
    is_sure,
    list_members,
    name_type,
)

COMPARING = {
    "eq": "eq", "==": "eq", "equalto": "eq", "ne": "ne", "!=": "ne", "lt": "lt", "<": "lt", "lessthan": "lt", "le": "lteq", "<=": "lteq",
    "gt": "gt", ">": "gt", "greaterthan": "gt", "ge": "gteq", ">=": "gteq", "in": "in",
}  # fmt: skip
LENIENT = frozenset("none string number mapping boolean integer float true false".split())
"""Tests that undefined and none simply fail, and that never stop the run."""

NUMERIC = frozenset("odd even divisibleby".split())
"""Tests of numbers."""

SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">=", "in": "in", "notin": "not in"}
_ORDERED = (NumberType, BoolType, TextType, ListType)

_SORTS: dict[type[Type], str] = {
    NumberType: "a number",
    BoolType: "a number",
    TextType: "a text",
    ListType: "a list",
    NoneType: "none",
    MappingType: "a mapping",
}
_CONTAINERS = Usage("a list, a mapping or a text", (ListType, MappingType, TextType))
MAX_CALLS = 8
"""Macros inside each other that are followed; what a deeper one gives is not known."""

MAX_STEPS = 100_000
"""Statements and expressions that one walk looks at: macros in macros and includes in includes multiply."""

Cost = Callable[[str], tuple[int, int]]
"""Of a constant text: at most so many tokens it takes anywhere, and how many of its bytes are counted as one each."""

_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("optional", "undeclared", "given"), "absent"),
    "none": "none",
    "left_out": "reads_none",
}
"""What a gap is called that could be nothing else; all others are parts that nothing has."""

_OF_SECTION = frozenset({"item", "group", "each"})


def ask(walk: WalkRun, node: nodes.Test, value: Value, args: list[Value], scope: Scope) -> None:
    """Judge `value is name(args)`."""
    name = node.name
    if name in ("defined", "undefined"):
        walk.take(value, ANY, f"`is {name}`", node, scope)
        report_always(walk, node, value, f"`is {name}`", scope)
    elif name in COMPARING:
        if len(args) == 1:
            compare(walk, COMPARING[name], value, args[0], node, scope)
    elif name in NUMERIC:
        walk.take(value, NUMBERS, f"`is {name}`", node, scope)
    else:
        walk.take(value, ANY if name in LENIENT else Usage("a value", ASKED.good, none=True), f"`is {name}`", node, scope)


def report_always(walk: WalkRun, node: nodes.Node, value: Value, by: str, scope: Scope) -> None:
    """Whether it is there is asked of what reads as none where it is left out."""
    members = list_members(value.kind)
    absent = next((one for one in members if isinstance(one, NoneType) and one.absent), None)
    if absent is not None and is_sure(value.kind) and not any(isinstance(one, UndefinedType) for one in members):
        walk.report("always", node, value, absent, scope, wants=by)


def compare(walk: WalkRun, operator: str, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    """Judge one comparison."""
    if operator in ("in", "notin"):
        _search(walk, operator, left, right, node, scope)
    elif operator in ("eq", "ne"):
        _equal(walk, operator, left, right, node, scope)
    else:
        _order(walk, operator, left, right, node, scope)


def _equal(walk: WalkRun, operator: str, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    sides = (left, right)
    for side in sides:
        walk.take(side, ASKED, f"`{SIGNS[operator]}`", node, scope)
        walk.note_whole(side.kind)
    for side, other in (sides, sides[::-1]):
        if side.spelled and not other.path and is_apart(side.kind, other.kind):
            _report_never(walk, SIGNS[operator], side, other.kind, node, scope)
            return


def _report_never(walk: WalkRun, sign: str, side: Value, other: Type, node: nodes.Node, scope: Scope) -> None:
    shown = ", ".join(f"`{value}`" for value in sorted(_list_texts(other) or ())[:3]) or name_type(other)
    walk.report("never", node, side, side.kind, scope, wants=f"`{sign}` {shown}", known=tuple(sorted(_list_texts(side.kind) or ())))


def is_apart(left: Type, right: Type) -> bool:
    """True when no value is of both kinds."""
    sorts = [_find_sorts(kind) for kind in (left, right)]
    if not sorts[0] or not sorts[1] or "" in sorts[0] | sorts[1]:
        return False
    if not sorts[0] & sorts[1]:
        return True
    texts, others = _list_texts(left), _list_texts(right)
    return sorts[0] & sorts[1] == {"a text"} and texts is not None and others is not None and not texts & others


def _find_sorts(kind: Type) -> set[str]:
    return {_SORTS.get(type(member), "") for member in list_members(kind) if not isinstance(member, UndefinedType)}


def _list_texts(kind: Type) -> frozenset[str] | None:
    """The texts it may be, where they are listed."""
    texts = [member for member in list_members(kind) if isinstance(member, TextType)]
    return texts[0].values if len(texts) == 1 else None


def _order(walk: WalkRun, operator: str, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    sign = f"`{SIGNS[operator]}`"
    kinds = [walk.take(side, Usage("a number or a text", _ORDERED, lazy=False), sign, node, scope) for side in (left, right)]
    match_sides(walk, Value(kinds[0], left.path, left.spelled), Value(kinds[1], right.path, right.spelled), sign, node, scope)
    times = [side for side, other in ((left, right), (right, left)) if find_time(side.kind) and _find_sorts(other.kind) & {"a text", ""}]
    if times:
        walk.report_time(times[0], sign, node, scope)


def match_sides(walk: WalkRun, left: Value, right: Value, sign: str, node: nodes.Node, scope: Scope) -> None:
    """Two values that are put in order are of one sort."""
    for side, other in ((left, right), (right, left)):
        sorts = _find_sorts(other.kind)
        if len(sorts) == 1 and "" not in sorts:
            (wanted,) = sorts
            good = tuple(sort for sort, name in _SORTS.items() if name == wanted)
            walk.take(side, Usage(f"{wanted} beside {wanted}", good, lazy=False), sign, node, scope)
            return


def _search(walk: WalkRun, operator: str, left: Value, right: Value, node: nodes.Node, scope: Scope) -> None:
    sign = f"`{SIGNS[operator]}`"
    found = walk.take(right, _CONTAINERS, f"{sign} on its right", node, scope)
    walk.take(left, ASKED, sign, node, scope)
    walk.note_whole(left.kind)
    texts = _list_texts(left.kind)
    if isinstance(found, TextType):
        walk.take(left, Usage("a text before a text", (TextType,), lazy=False), sign, node, scope)
    elif isinstance(found, MappingType):
        for key in texts or ():
            walk.note_read(found, key)
    elif isinstance(found, ListType) and left.spelled:
        walk.note_whole(found)
        _judge_element(walk, SIGNS[operator], left, found, node, scope)


def _judge_element(walk: WalkRun, sign: str, left: Value, found: ListType, node: nodes.Node, scope: Scope) -> None:
    for element in found.first or (find_element(found),):
        if list_members(element) and is_apart(left.kind, element) and is_sure(element):
            _report_never(walk, sign, left, element, node, scope)


def find_time(kind: Type) -> TextType | None:
    """The member that is a text of the format `date-time`."""
    return next((member for member in list_members(kind) if isinstance(member, TextType) and member.format == "date-time"), None)


@dataclass(slots=True)
class WalkRun:
    """Collects problems (each once) and reads. `trees`: the files by name; `cost`: of constant texts.

    `trials`: what may be run of it; nothing where it is None. `reports`: how often a problem was told.
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
    left: int = MAX_STEPS
    trials: Trials | None = None
    reports: int = 0
    asked: dict[int, bool | None] = field(default_factory=dict)
    trying: bool = False

    def spend(self) -> bool:
        """One step more; False when there were too many, and what comes after is not looked at."""
        self.left -= 1
        return self.left > 0

    def report(self, rule: Rule, node: nodes.Node, value: Value, kind: Type, scope: Scope, **more: object) -> None:
        """One more problem, unless no valid state leads there."""
        if not scope.dead and self.left > 0:
            self.reports += 1
            subject = value.spelled or (kind.spelled if isinstance(kind, UndefinedType) else "")
            file, position = kind.read_at if isinstance(kind, UndefinedType) and kind.read_at is not None else (self.file, node.lineno)
            self.problems[Problem(rule, file, position, subject, kind, **more)] = None  # type: ignore[arg-type]

    def report_fault(self, fault: Diagnostic | None, node: nodes.Node, scope: Scope) -> None:
        """What a run of a part fails with, if it does."""
        if fault is not None:
            self.report("argument", node, Value(NONE_TYPE), NONE_TYPE, scope, told=(fault.code, fault.message, fault.help))

    def take(self, value: Value, taker: Usage, by: str, node: nodes.Node, scope: Scope) -> Type:
        """Judge that `by` uses the value; the kind of the values it can use."""
        kind, wants = value.kind, f"{by} takes {taker.wants}"
        failing, odd = find_failing(kind, taker)
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
            self._report_gap(value, replace(gaps[0], known=known), node, scope)
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
        """Whether it is read of what a section goes over, in the section's own text: another file may serve several sections."""
        root = value.path[0] if value.path is not None else None
        return root in _OF_SECTION and not self.file and value.spelled.startswith((f"{root}.", f"{root}["))

    def _judge_slip(self, value: Value, node: nodes.Node, scope: Scope, *, only_near: bool = False) -> None:
        """A path that no valid state has is a slip, even where it is asked for first; with `only_near`, if a name like it is known."""
        members = list_members(value.kind)
        gaps = [member for member in members if isinstance(member, UndefinedType) and member.certain and member.reason == "closed"]
        if len(gaps) < len(members) or not gaps:
            return
        known = tuple(sorted({name for gap in gaps for name in gap.known}))
        if not only_near or get_close_matches(gaps[0].part, known, n=1, cutoff=0.6):
            gap = replace(gaps[0], known=known)
            self.report("part", node, value, gap, scope, gap=gap, wants="asked")

    def report_certain(self, value: Value, node: nodes.Node, scope: Scope) -> None:
        """A value that is undefined in any state, where that alone does not stop the run."""
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
        """What reads as none because it is left out is not meant to be used, even where that does not stop the run."""
        if not is_sure(value.kind) or scope.is_doubted(value.path):
            return
        for member in list_members(value.kind):
            if isinstance(member, NoneType) and member.absent and member not in failing:
                self.report("reads_none", node, value, member, scope, wants=wants)

    def report_time(self, value: Value, by: str, node: nodes.Node, scope: Scope) -> None:
        """A time of the schema that `by` puts in order as a text."""
        found = find_time(value.kind)
        if found is not None:
            self.report("as_text", node, value, found, scope, wants=by)

    def note_read(self, kind: Type, key: str) -> None:
        """A key of a mapping of the schema is read."""
        for member in list_members(kind):
            if isinstance(member, MappingType) and member.at is not None:
                self.read.add((member.at, key))

    def note_all(self, kind: Type) -> None:
        """Any key of a mapping may be read."""
        for member in list_members(kind):
            if isinstance(member, MappingType):
                self.read.update((member.at, name) for name in member.names)

    def note_whole(self, kind: Type) -> None:
        """All of a value is used: printed, compared or handed on."""
        for member in list_members(kind):
            if isinstance(member, MappingType):
                self.whole.add(member.at)
            elif isinstance(member, ListType):
                self.note_whole(join_members(member))
