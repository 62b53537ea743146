"""Third pass: pressure, the strain tier, its variation, and the selection under it (language.md §7). Judged once; nothing feeds back."""

from collections.abc import Iterator, Mapping

from promptc.diag.findings import Diagnostic, fail, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.pack import Strain, Tier, find_caps, list_steps
from promptc.model.stages import Bound, Gathering, Pressure, Selected, Selection, Strained
from promptc.passes.fit.fit import count_demand
from promptc.passes.layout.layout import Layout, load_layout
from promptc.passes.select import select


def strain(bound: Bound, gathering: Gathering | None = None) -> Strained:
    """Selects under the first tier, measures, finds the tier, applies its variation and selects again what that or `strain` touches."""
    rules = bound.pack.strain
    if rules is None:
        selection = select(bound, bound.pack.find_plan(bound.choice), bound.choice, name_tier(None, 0, 0), gathering=gathering)
        return Strained(selection, 0, Pressure(0, 0), ())
    choice = replace(bound.choice, tiers=1)
    first = select(bound, bound.pack.find_plan(choice), choice, name_tier(rules, 0, 0), gathering=gathering)
    caps = _find_caps(bound, rules)
    demand = _count_demands(first, {*caps, *(name for name, _ in rules.watch)})
    pressure = _measure(demand, caps)
    previous = _find_previous(bound, rules)
    tier = find_tier(rules.tiers, pressure, previous)
    steps, uses = list_steps(rules.tiers[: tier + 1])
    final = replace(bound.choice, tiers=tier + 1, uses=uses)
    named = name_tier(rules, tier, pressure.percent)
    selection = select(bound, bound.pack.find_plan(final), final, named, before=first, gathering=gathering)
    raises, warnings = _check_watched(rules, first, demand, pressure, previous, tier)
    return Strained(selection, tier, pressure, steps, raises, warnings)


def name_tier(rules: Strain | None, tier: int, percent: int) -> Mapping[str, Any]:
    """What expressions see as `strain`, given the index of the tier in force."""
    return {"tier": rules.tiers[tier].name if rules is not None else None, "index": tier, "percent": percent}


def find_tier(tiers: tuple[Tier, ...], pressure: Pressure, previous: int) -> int:
    """The highest tier the pressure reaches, or that is held because the previous one was as high and its `leave` is still reached."""
    found = 0
    for index, tier in enumerate(tiers):
        if pressure.reaches(tier.at) or (index <= previous and pressure.reaches(tier.leave)):
            found = index
    return found


def measure_after(strained: Strained, charges: Mapping[str, int]) -> Pressure:
    """The pressure under the tier in force, of charges in tokens."""
    bound = strained.selection.bound
    rules = bound.pack.strain
    return _measure(charges, _find_caps(bound, rules)) if rules is not None else Pressure(0, 0)


def _find_caps(bound: Bound, rules: Strain) -> dict[str, int]:
    return find_caps(bound.pack.find_plan(bound.choice), rules, bound.total)


def _count_demands(selection: Selection, names: set[str]) -> dict[str, int]:
    frame = load_layout(selection.plan, selection.bound)
    meter = selection.bound.meter
    return {one.section.id: meter.tokens(_count_demand(frame, one, selection)) for one in selection.sections if one.section.id in names}


def _count_demand(frame: Layout, one: Selected, selection: Selection) -> int:
    """As `count_demand`, from the memory where the same items were counted in the same frame."""
    memory = selection.bound.memory
    if memory is None or not one.items:
        return count_demand(frame, selection, one)
    objects = (one.items, selection.plan, selection.bound.provider)
    key = ("demand", *map(id, objects), frame.format, one.open, one.close, one.header)
    run, found = selection.bound.run, memory.find(key)
    if found is None:
        left = run.left
        found = count_demand(frame, selection, one), left - run.left
        memory.note(key, objects, found)
    else:
        run.pay(found[1], one.section.span, f"the demand of `{one.section.id}`")
    demand: int = found[0]
    return demand


def _measure(demand: Mapping[str, int], caps: Mapping[str, int]) -> Pressure:
    return Pressure(sum(min(demand.get(name, 0), cap) for name, cap in caps.items()), sum(caps.values()))


def _find_previous(bound: Bound, rules: Strain) -> int:
    if rules.previous is None:
        return 0
    value = rules.previous.evaluate(bound.names)
    if value is None:
        return 0
    names = [tier.name for tier in rules.tiers]
    if value not in names:
        raise fail(
            "PC0521",
            f"the previous strain tier is {show_value(value)}, which is no tier of this pack",
            rules.previous.span,
            help=suggest(str(value), names),
        )
    return names.index(value)


def _check_watched(
    rules: Strain, first: Selection, demand: Mapping[str, int], pressure: Pressure, previous: int, tier: int
) -> tuple[dict[str, tuple[str, str]], tuple[Diagnostic, ...]]:
    raises: dict[str, tuple[str, str]] = {}
    warnings: list[Diagnostic] = []
    for name, text in rules.watch:
        would = find_tier(rules.tiers, Pressure(pressure.spent + demand.get(name, 0), pressure.allowed), previous)
        if demand.get(name, 0) and would > tier:
            before, after = rules.tiers[tier].name, rules.tiers[would].name
            raises[name] = (before, after)
            message = text.render({**first.bound.names, "before": before, "after": after}).strip()
            section = first.plan.find_section(name)
            warnings.append(Diagnostic("PC0522", message, section.span if section is not None else rules.span, level="warn"))
    return raises, tuple(warnings)


def iter_warnings(strained: Strained) -> Iterator[Diagnostic]:
    """Everything said so far: by the pack and the state, the selection, the strain."""
    yield from strained.selection.bound.warnings
    for one in strained.selection.sections:
        yield from one.warnings
    yield from strained.warnings
