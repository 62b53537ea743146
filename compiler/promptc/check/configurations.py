"""The combinations that rules examine: all variant cases with all strain tiers, and each patch alone, with the plans that they load to.

`list_configurations` returns them for a pack. `for_each` turns a function that checks one of them into a rule, and `merge_findings` adds to
a finding that does not hold in all of them where it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, wraps
from itertools import product
from math import prod

from promptc.check.bounds import SettledTexts, count_least, infer_texts, make_cost
from promptc.check.texts import Scopes, UsedText, iter_texts
from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, TypeVar
from promptc.model.pack import Choice, PackModel, Plan, choose_tiers, list_steps
from promptc.model.section import Section, Step, settle_cap
from promptc.template.types.trials import Trials

MAX_COMBINATIONS = 256
_SHOWN = 3

Choices = tuple[tuple[str, str], ...]
"""The case of each axis."""

_Made = TypeVar("_Made")


@frozen
class Combination:
    """A choice in the author's terms: the cases by axis, the index and name of the tier (empty: no strain), and the patch (empty: none)."""

    choice: Choice
    cases: Choices
    tier: int
    tier_name: str
    patch: str


class PackFacts:
    """What all rules of a check need to know of one pack. Each fact is worked out once, when a rule first needs it."""

    def __init__(self, pack: PackModel) -> None:
        self.pack = pack
        self._trials = Trials()
        self._made: dict[object, Any] = {}

    @cached_property
    def scopes(self) -> Scopes:
        """What is known of each text where it is used."""
        return Scopes(self.pack, trials=self._trials)

    @cached_property
    def settled(self) -> SettledTexts:
        """The results of texts that read nothing."""
        return SettledTexts(self.pack)

    def get(self, make: Callable[[PackFacts], _Made]) -> _Made:
        """Return what `make` returns for these facts. It is called once, so rules can share its result."""
        if make not in self._made:
            self._made[make] = make(self)
        made: _Made = self._made[make]
        return made

    def covers(self, *sections: str) -> bool:
        """Return whether all renders of these sections are covered by the configurations without patches.

        A patch may be combined with any configuration, so no patch may change these sections.
        """
        changes = [change for patch in self.pack.patches.values() for change in patch.items()]
        is_apart = all(key == "sections" and not any(one.get(name) for name in sections) for key, one in changes)
        return is_apart and _count_combinations(self.pack) <= MAX_COMBINATIONS

    def load_bounding_scopes(self, fences: tuple[str, ...]) -> Scopes:
        """Return the scopes that weigh a constant text by the most tokens that it can have between these fences. They are made once."""
        key = ("fences", fences)
        if key not in self._made:
            self._made[key] = Scopes(self.pack, make_cost(self.pack.counting.counter, fences), self._trials)
        scopes: Scopes = self._made[key]
        return scopes


@frozen(eq=False)
class Configuration:
    """A combination that loads, and its plan.

    `base` is the plan without tiers, for budgets and the caps of pressure. `facts` are its pack's.
    """

    combination: Combination
    plan: Plan
    base: Plan
    facts: PackFacts

    def iter_texts(self) -> Iterator[UsedText]:
        """Yield all texts that a render may evaluate."""
        return iter_texts(self.facts.pack, self.plan, self.combination.tier + 1)

    def list_tier_steps(self) -> tuple[Step, ...]:
        """Return the steps of the tiers in force."""
        strain = self.facts.pack.strain
        return tuple(list_steps(strain.tiers[: self.combination.tier + 1])[0]) if strain is not None else ()

    def make_least_test_cap(self, section: Section) -> int | None:
        """Return the least cap that a valid state can choose for the section, in the cap's unit, or None if the state chooses no cap."""
        budget = section.budget
        if budget is None or budget.source is None or budget.cap is None:
            return None
        most = budget.cap.tokens(self.plan.budget.total)
        return min(most, count_least(infer_texts(self.iter_texts(), section, self.facts.scopes).kind(budget.source), most))

    def settle_least(self, section: Section) -> Section:
        """Return the section with its least possible cap."""
        return settle_cap(section, self.make_least_test_cap(section))

    def list_shared_steps(self) -> tuple[Step, ...]:
        """Return the steps that name their sections: those of pools and of `truncate`, then those of the tiers in force."""
        return (*self.plan.list_shared_steps(), *self.list_tier_steps())

    def list_steps_on(self, section: Section) -> tuple[Step, ...]:
        """Return the steps on a section: its own, then the shared steps that name it."""
        return (*section.overflow, *(one for one in self.list_shared_steps() if section.id in one.sections))


def _go_on() -> None:
    """Do nothing: the default `pause`."""


@frozen(eq=False)
class Configurations:
    """All configurations of a pack.

    `failed` are combinations that do not load. `looked` is the number of combinations without patches that were examined, and `count` the
    number of all of them. `pause` is called before each configuration in an iteration.
    """

    loaded: tuple[Configuration, ...]
    failed: tuple[tuple[Combination, tuple[Diagnostic, ...]], ...]
    looked: int
    count: int
    facts: PackFacts
    pause: Callable[[], None] = _go_on

    def __iter__(self) -> Iterator[Configuration]:
        for one in self.loaded:
            self.pause()
            yield one


def list_configurations(pack: PackModel, pause: Callable[[], None] = _go_on, *, most: int = MAX_COMBINATIONS) -> Configurations:
    """Return every combination of cases and tiers if there are at most `most` of them.

    Otherwise return the defaults with all tiers, and each other case alone with the first and the last tier. Each patch is applied to the
    defaults.
    """
    tiers, count = _count_tiers(pack), _count_combinations(pack)
    pairs = list(_iter_all(pack, tiers) if count <= most else _iter_alone(pack, tiers))
    combinations = [_combine(pack, cases, tier) for cases, tier in pairs]
    combinations += [_combine(pack, list_defaults(pack), 0, patch) for patch in pack.patches]
    facts, loaded, failed = PackFacts(pack), [], []
    for combination in combinations:
        try:
            base = pack.load_plan(Choice(combination.cases, combination.choice.patches))
            loaded.append(Configuration(combination, pack.load_plan(combination.choice), base, facts))
        except PromptcError as error:
            failed.append((combination, error.diagnostics))
    return Configurations(tuple(loaded), tuple(failed), len(pairs), count, facts, pause)


def _count_combinations(pack: PackModel) -> int:
    return prod(len(axis.cases) for axis in pack.axes) * _count_tiers(pack)


def _count_tiers(pack: PackModel) -> int:
    return len(pack.strain.tiers) if pack.strain is not None else 1


def list_defaults(pack: PackModel) -> Choices:
    """Return the default case of each axis, or its first case if it has no default."""
    return tuple((axis.name, axis.default if axis.default is not None else axis.cases[0]) for axis in pack.axes)


def _iter_variations(combination: Combination) -> Iterator[str]:
    """Yield the parts of a combination as findings name them."""
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
    return Combination(choose_tiers(Choice(cases, patches), tiers[: tier + 1]), cases, tier, tiers[tier].name, patch)


Rule = Callable[[PackModel, Configurations], Iterator[Diagnostic]]
"""Finds one kind of fault in a pack."""


def for_each(find: Callable[[PackModel, Configuration], Iterator[Diagnostic]]) -> Rule:
    """Turn a function that finds faults in one configuration into a rule.

    The rule yields each finding once. A finding that does not hold in all configurations names those in which it does.
    """

    @wraps(find)
    def check(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
        return merge_configurations(configurations, lambda one: find(pack, one))

    return check


def merge_configurations(
    configurations: Iterable[Configuration], find: Callable[[Configuration], Iterable[Diagnostic]]
) -> Iterator[Diagnostic]:
    """Yield what `find` finds in these configurations, merged as a rule does."""
    return merge_findings([(one.combination, list(find(one))) for one in configurations])


def merge_findings(found: Sequence[tuple[Combination, Iterable[Diagnostic]]], among: Sequence[Combination] = ()) -> Iterator[Diagnostic]:
    """Yield each finding once, naming the combinations in which it holds if these are not all.

    `among` are further ones without findings.
    """
    held: dict[Diagnostic, list[Combination]] = {}
    for combination, findings in found:
        for finding in dict.fromkeys(findings):
            held.setdefault(finding, []).append(combination)
    everywhere = [*(combination for combination, _ in found), *among]
    for finding, where in held.items():
        name = _name_combinations(where, everywhere)
        yield replace(finding, message=f"{finding.message} ({name})", removable=None) if name else finding


def _name_combinations(where: Sequence[Combination], everywhere: Sequence[Combination]) -> str:
    """Return the combinations as `with ...`, or nothing if `where` is all of `everywhere`.

    Patches are named only if nothing else explains the finding.
    """
    plain = [one for one in everywhere if not one.patch]
    held = [one for one in where if not one.patch]
    if not held:
        return _join([f"patch `{one.patch}`" for one in where])
    if len(held) == len(plain):
        return ""
    names = _name_axis(held, plain) or _name_tiers(held, plain)
    return names or "with " + ", ".join(_iter_variations(held[0]))


def _name_axis(held: Sequence[Combination], plain: Sequence[Combination]) -> str:
    """Return cases of one axis, if exactly the combinations with these cases have the finding; empty if there is no such axis."""
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
