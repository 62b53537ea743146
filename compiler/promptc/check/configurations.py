"""The plans that lints look at: every combination of variant cases and strain tiers, and each patch alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from math import prod

from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.frozen import frozen, replace
from promptc.model.pack import Choice, PackModel, Plan, list_steps
from promptc.model.section import Section
from promptc.template.compile import Expression, Template
from promptc.template.runtime.run import RUN
from promptc.template.types.conditions import Case, Cases, find_clash, join_cases
from promptc.text.counters.counter import Meter

_SHOWN = 3
MAX_COMBINATIONS = 256
Choices = tuple[tuple[str, str], ...]
"""The case of each axis."""

_SLACK = 16


def can_both(*cases: Cases) -> bool:
    """True where some alternative of all of them excludes nothing, and does not seek the item in what cannot be told."""
    told = tuple(case for case in join_cases(*cases) if not _is_sought(case))
    return bool(told) and find_clash(told) is None


def _is_sought(case: Case) -> bool:
    return any(demand.operator == "outside" and "item" in demand.names for demand in case)


def merge_configurations(looks: Sequence[Configuration], find: Callable[[Configuration], Iterable[Diagnostic]]) -> Iterator[Diagnostic]:
    """What `find` says of each look, each finding once; one that does not hold in all of them names where it does."""
    return merge_findings([(look.combination, find(look)) for look in looks])


def merge_findings(found: Sequence[tuple[Combination, Iterable[Diagnostic]]], among: Sequence[Combination] = ()) -> Iterator[Diagnostic]:
    """The same over findings at hand; `among` are further combinations that have none."""
    held: dict[Diagnostic, list[Combination]] = {}
    for combination, findings in found:
        for finding in dict.fromkeys(findings):
            held.setdefault(finding, []).append(combination)
    everywhere = [*(combination for combination, _ in found), *among]
    for finding, where in held.items():
        name = name_combinations(where, everywhere)
        yield replace(finding, message=f"{finding.message} ({name})") if name else finding


def name_combinations(where: Sequence[Combination], everywhere: Sequence[Combination]) -> str:
    """`with ...`, or nothing when `where` is all of `everywhere`. Patches are named only where nothing else explains a finding."""
    plain = [one for one in everywhere if not one.patch]
    held = [one for one in where if not one.patch]
    if not held:
        return _join([f"patch `{one.patch}`" for one in where])
    if len(held) == len(plain):
        return ""
    names = _name_axis(held, plain) or _name_tiers(held, plain)
    return names or "with " + ", ".join(iter_variations(held[0]))


def _name_axis(held: Sequence[Combination], plain: Sequence[Combination]) -> str:
    """The cases of one axis, where these and no others have the finding."""
    for place in range(len(plain[0].cases)):
        chosen = dict.fromkeys(one.cases[place] for one in held)
        if len(held) == sum(1 for one in plain if one.cases[place] in chosen):
            return _join([f"`{axis}={case}`" for axis, case in chosen])
    return ""


def _name_tiers(held: Sequence[Combination], plain: Sequence[Combination]) -> str:
    chosen = dict.fromkeys(one.tier for one in held)
    if len(held) != sum(1 for one in plain if one.tier in chosen):
        return ""
    names = {one.tier: one.tier_name for one in held}
    last = max(one.tier for one in plain)
    if len(chosen) > 1 and sorted(chosen) == list(range(min(chosen), last + 1)):
        return f"from tier `{names[min(chosen)]}` on"
    return _join([f"tier `{names[tier]}`" for tier in sorted(chosen)])


def _join(names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    rest = f" or {len(unique) - _SHOWN} more" if len(unique) > _SHOWN else ""
    shown = unique[:_SHOWN]
    if rest or len(shown) < 2:
        return "with " + ", ".join(shown) + rest
    return "with " + ", ".join(shown[:-1]) + f" or {shown[-1]}"


@frozen
class Combination:
    """A choice, told to an author: its cases by axis, the index and name of its tier (none: no strain), and its patch (empty: none)."""

    choice: Choice
    cases: Choices
    tier: int
    tier_name: str
    patch: str


@frozen(eq=False)
class Configuration:
    """A combination that loads, and its plan. `base` is the plan without tiers: it tells budgets and the caps of pressure."""

    combination: Combination
    plan: Plan
    base: Plan


@frozen(eq=False)
class Configurations:
    """What there is to look at. `failed` are combinations that do not load; `count` is how many there would be without patches."""

    loaded: tuple[Configuration, ...]
    failed: tuple[tuple[Combination, tuple[Diagnostic, ...]], ...]
    looked: int
    count: int


def list_configurations(pack: PackModel) -> Configurations:
    """Every combination of cases and tiers if they are at most MAX_COMBINATIONS; else all tiers of the defaults and the first and the last
    tier of each other case alone. Each patch is looked at over the defaults."""
    tiers = len(pack.strain.tiers) if pack.strain is not None else 1
    count = prod(len(axis.cases) for axis in pack.axes) * tiers
    pairs = list(_iter_all(pack, tiers) if count <= MAX_COMBINATIONS else _iter_alone(pack, tiers))
    combinations = [_combine(pack, cases, tier) for cases, tier in pairs]
    combinations += [_combine(pack, list_defaults(pack), 0, patch) for patch in pack.patches]
    loaded, failed = [], []
    for combination in combinations:
        try:
            base = pack.find_plan(replace(combination.choice, tiers=0, uses=()))
            loaded.append(Configuration(combination, pack.find_plan(combination.choice), base))
        except PromptcError as error:
            failed.append((combination, error.diagnostics))
    return Configurations(tuple(loaded), tuple(failed), len(pairs), count)


def list_defaults(pack: PackModel) -> Choices:
    """The case of each axis that its default names, else its first."""
    return tuple((axis.name, axis.default if axis.default is not None else axis.cases[0]) for axis in pack.axes)


def iter_variations(combination: Combination) -> Iterator[str]:
    """What a combination consists of, as it is named in findings."""
    for axis, case in combination.cases:
        yield f"`{axis}={case}`"
    if combination.tier_name:
        yield f"tier `{combination.tier_name}`"
    if combination.patch:
        yield f"patch `{combination.patch}`"


def _iter_all(pack: PackModel, tiers: int) -> Iterator[tuple[Choices, int]]:
    axes = [[(axis.name, case) for case in axis.cases] for axis in pack.axes]
    for cases in product(*axes):
        for tier in range(tiers):
            yield cases, tier


def _iter_alone(pack: PackModel, tiers: int) -> Iterator[tuple[Choices, int]]:
    defaults = list_defaults(pack)
    for tier in range(tiers):
        yield defaults, tier
    for axis in pack.axes:
        for case in axis.cases:
            cases = tuple((name, case if name == axis.name else usual) for name, usual in defaults)
            if cases != defaults:
                yield from ((cases, tier) for tier in sorted({0, tiers - 1}))


def _combine(pack: PackModel, cases: Choices, tier: int, patch: str = "") -> Combination:
    patches = (patch,) if patch else ()
    if pack.strain is None:
        return Combination(Choice(cases, patches), cases, 0, "", patch)
    tiers = pack.strain.tiers
    _, uses = list_steps(tiers[: tier + 1])
    choice = Choice(cases, patches, tier + 1, uses)
    return Combination(choice, cases, tier, tiers[tier].name, patch)


class SettledTexts:
    """Answers about one pack. Each text is evaluated at most once, however many combinations share it."""

    def __init__(self, pack: PackModel) -> None:
        self._run = pack.open_account()
        self._meter = Meter(pack.counting.counter)
        self._truths: dict[int, tuple[Expression, bool | None]] = {}
        self._texts: dict[tuple[int, str, str, str], tuple[Template, str | None]] = {}

    def is_always(self, expression: Expression | None, truth: bool) -> bool:
        """True when the expression reads nothing and its value is true (or false, by `truth`)."""
        if expression is None or expression.reads:
            return False
        if id(expression) not in self._truths:
            self._truths[id(expression)] = (expression, self._evaluate(expression))
        return self._truths[id(expression)][1] is truth

    def is_off(self, section: Section) -> bool:
        """True when the section's `when` is constantly false."""
        return self.is_always(section.when, False)

    def find_static(self, template: Template | None, section: Section) -> str | None:
        """What the template renders to in any state, or None when that depends on it. No template is an empty text."""
        if template is None:
            return ""
        key = (id(template), section.id, section.title, section.role)
        if key not in self._texts:
            self._texts[key] = (template, self._render(template, section))
        return self._texts[key][1]

    def find_content(self, section: Section) -> str | None:
        """The content of a section that is the same in any state; None for all others, and for lists."""
        text = self.find_static(section.text, section) if section.text is not None else None
        return text.strip("\r\n") if text is not None else None

    def count(self, text: str) -> int:
        """The text's tokens."""
        return self._meter.tokens(self._meter.count(text))

    def find_most(self, section: Section, separator: str) -> int | None:
        """At least as many tokens as a section of constant content is ever charged, or None when its content depends on the state."""
        fence = section.fence
        parts = (
            self.find_static(fence.open if fence else None, section),
            self.find_static(section.header, section),
            self.find_content(section),
            self.find_static(fence.close if fence else None, section),
        )
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        count = self.count("\n".join(part for part in known if part) + "\n" + separator)
        return count + count // 20 + _SLACK  # room for what the guard escapes and for a message's frame

    def _evaluate(self, expression: Expression) -> bool | None:
        try:
            return bool(expression.evaluate({RUN: self._run}))
        except PromptcError:
            return None

    def _render(self, template: Template, section: Section) -> str | None:
        if any(path[0] != "section" for path in template.reads):
            return None
        shown = {"id": section.id, "title": section.title, "role": section.role}
        try:
            return template.render({"section": shown, RUN: self._run})
        except PromptcError:
            return None


def is_share(section: Section) -> bool:
    """True when what the section is granted depends on what others leave."""
    return not section.pinned and section.budget is not None and section.budget.is_share
