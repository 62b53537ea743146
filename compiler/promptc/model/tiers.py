"""What strain tiers come to: the caps that pressure is measured against, and the steps in force (language.md §7)."""

from promptc.model.pack import Plan, Strain, Tier
from promptc.model.step import Step, Use


def find_caps(plan: Plan, rules: Strain, total: int) -> dict[str, int]:
    """Caps in tokens of the sections that count, of a plan without tiers; a percentage counts as its tokens."""
    watched = {name for name, _ in rules.watch}
    names = rules.count if rules.count is not None else tuple(section.id for section in plan.sections if section.id not in watched)
    caps = {}
    for name in names:
        section = plan.find_section(name)
        cap = section.budget.cap if section is not None and section.budget is not None else None
        if cap is not None and cap.unit != "chars":
            caps[name] = cap.tokens(total)
    return caps


def list_steps(tiers: tuple[Tier, ...]) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """The tiers' `do` one after the other; an empty one runs none of the earlier. `use` selects again, so it comes before all others."""
    steps: list[Step] = []
    for tier in tiers:
        if tier.do is not None:
            steps = [*steps, *tier.do] if tier.do else []
    uses = tuple(step.patch for step in steps if isinstance(step, Use))
    return tuple(step for step in steps if not isinstance(step, Use)), uses
