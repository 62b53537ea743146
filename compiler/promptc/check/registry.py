"""The plans that lints look at: every combination of variant cases and strain tiers, and each patch alone."""

from collections.abc import Iterator
from itertools import product
from math import prod

from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.frozen import frozen, replace
from promptc.model.pack import Choice, PackModel, Plan, list_steps

MAX_COMBINATIONS = 256

Choices = tuple[tuple[str, str], ...]
"""The case of each axis."""


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
