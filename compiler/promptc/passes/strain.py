"""The strain pass: `strain` finds the tier of strain (contract.md §7).

It measures the pressure of a first selection, applies the tier's variation and selects again. The tier is judged once; nothing feeds back.
`name_tier` returns what expressions see of the tier, `measure_after` the pressure after a tier's own steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from promptc.diag.findings import Diagnostic, fail, show_value, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.pack import Choice, Strain, Tier, choose_tiers, list_caps, list_steps, list_watched
from promptc.model.stages import Bound, Gathering, Pressure, Selection, Strained
from promptc.passes.bind import load_settled, settle_caps
from promptc.passes.layout.layout import load_layout
from promptc.passes.select import CostlyWork, select


def strain(bound: Bound, gathering: Gathering | None = None, work: CostlyWork | None = None) -> Strained:
    """Select the content of all sections under the tier of strain that applies.

    It selects under the first tier, measures the pressure, finds the tier, applies its variation, and selects again what the variation or
    `strain` affects.
    """
    work = work or CostlyWork()
    rules = bound.pack.strain
    if rules is None:
        plan = load_settled(bound, bound.choice)
        selection = select(bound, plan, bound.choice, name_tier(None, 0, 0), gathering=gathering, work=work)
        return Strained(selection, 0, Pressure(0, 0), ())
    choice = replace(choose_tiers(bound.choice, rules.tiers[:1]), uses=())
    first = select(_see_cases(bound, choice), load_settled(bound, choice), choice, name_tier(rules, 0, 0), gathering=gathering, work=work)
    load = _count_load(bound, rules, _count_demands(work, first, {*_list_caps(bound, rules)}))
    pressure = _measure(bound, rules, load)
    previous = _read_previous(bound, rules)
    tier = _choose_tier(rules.tiers, pressure, previous)
    final = choose_tiers(bound.choice, rules.tiers[: tier + 1])
    named = name_tier(rules, tier, pressure.percent)
    selection = select(_see_cases(bound, final), load_settled(bound, final), final, named, before=first, gathering=gathering, work=work)
    raises, warnings = _check_watched(rules, first, load, pressure, previous, tier)
    return Strained(selection, tier, pressure, list_steps(rules.tiers[: tier + 1])[0], raises, warnings)


def _see_cases(bound: Bound, choice: Choice) -> Bound:
    """Return `bound` with the cases in force as its expressions see them."""
    return bound if choice.cases == bound.choice.cases else replace(bound, names={**bound.names, "variant": dict(choice.cases)})


def name_tier(rules: Strain | None, tier: int, percent: int) -> Mapping[str, Any]:
    """Return what expressions see as `strain`, given the index of the tier in force."""
    return {"tier": rules.tiers[tier].name if rules is not None else None, "index": tier, "percent": percent}


def measure_after(strained: Strained, charges: Mapping[str, int]) -> Pressure:
    """Return the pressure of charges in tokens under the tier in force."""
    bound = strained.selection.bound
    rules = bound.pack.strain
    return _measure(bound, rules, _count_load(bound, rules, charges)) if rules is not None else Pressure(0, 0)


def iter_warnings(strained: Strained) -> Iterator[Diagnostic]:
    """Yield all warnings so far: of the pack and the state, the selection, and the strain."""
    yield from strained.selection.bound.warnings
    for one in strained.selection.sections:
        yield from one.warnings
    yield from strained.warnings


def _list_caps(bound: Bound, rules: Strain) -> dict[str, int | None]:
    """Return the caps of the sections that count, and of those that are watched, which count even without a cap."""
    plan = settle_caps(bound.pack.load_plan(bound.choice), bound)
    return {**list_caps(plan, rules, bound.total), **list_watched(plan, rules, bound.total)}


def _count_demands(work: CostlyWork, selection: Selection, names: set[str]) -> dict[str, int]:
    layout, meter = load_layout(selection.plan, selection.bound), selection.bound.meter
    asked = [one for one in selection.sections if one.section.id in names]
    return {one.section.id: meter.tokens(work.count_demand(layout, selection, one)) for one in asked}


def _count_load(bound: Bound, rules: Strain, demand: Mapping[str, int]) -> dict[str, int]:
    """Return what each section adds to the pressure: its demand, up to its cap."""
    return {
        name: min(demand.get(name, 0), cap) if cap is not None else demand.get(name, 0) for name, cap in _list_caps(bound, rules).items()
    }


def _measure(bound: Bound, rules: Strain, load: Mapping[str, int]) -> Pressure:
    """Return the pressure of a load. A watched section adds to what is spent, but nothing to what is allowed."""
    return Pressure(sum(load.values()), sum(list_caps(settle_caps(bound.pack.load_plan(bound.choice), bound), rules, bound.total).values()))


def _read_previous(bound: Bound, rules: Strain) -> int:
    if rules.previous is None:
        return 0
    value = rules.previous.evaluate(bound.names)
    if value is None:
        return 0
    names = [tier.name for tier in rules.tiers]
    if value not in names:
        raise fail(
            "PC0521",
            f"the previous strain tier is {show_value(value)}, which is not a tier of this pack",
            rules.previous.span,
            help=suggest(str(value), names),
        )
    return names.index(value)


def _choose_tier(tiers: tuple[Tier, ...], pressure: Pressure, previous: int) -> int:
    """Return the highest tier that the pressure reaches, or that is held.

    A tier is held if the previous tier was as high and the pressure still reaches its `leave`.
    """
    found = 0
    for index, tier in enumerate(tiers):
        if pressure.reaches(tier.at) or (index <= previous and pressure.reaches(tier.leave)):
            found = index
    return found


def _check_watched(
    rules: Strain, first: Selection, load: Mapping[str, int], pressure: Pressure, previous: int, tier: int
) -> tuple[dict[str, tuple[str, str]], tuple[Diagnostic, ...]]:
    """Return the watched sections without which the tier would be lower, and a warning for each.

    Each section comes with the tier without it and the tier in force.
    """
    raises: dict[str, tuple[str, str]] = {}
    warnings: list[Diagnostic] = []
    for name, text in rules.watch:
        without = _choose_tier(rules.tiers, Pressure(pressure.spent - load[name], pressure.allowed), previous)
        if without < tier:
            before, after = rules.tiers[without].name, rules.tiers[tier].name
            raises[name] = (before, after)
            message = text.render({**first.bound.names, "before": before, "after": after}).strip()
            section = first.plan.find_section(name)
            warnings.append(Diagnostic("PC0522", message, section.span if section is not None else rules.span, level="warn"))
    return raises, tuple(warnings)
