"""Strain tiers that no pressure reaches (language.md §7): pressure is at most what the counted sections can hold of their caps."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.settled import SettledTexts
from promptc.diag.findings import Diagnostic, suggest
from promptc.diag.frozen import frozen
from promptc.model.pack import PackModel, Strain, Tier, find_caps, list_steps
from promptc.model.section import Ratio, Step


@frozen
class _Reach:
    """The greatest pressure of one choice of cases, and what the sections hold that can never fill their caps."""

    spent: int
    allowed: int
    short: tuple[tuple[str, int, int], ...]


def check_tiers(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Tiers that cannot be reached under any choice of cases, sections counted for nothing, and `do` steps on what does not exist."""
    rules = pack.strain
    if rules is None:
        return
    lowest = [look for look in looks if look.combination.tier == 0]
    for step in dict.fromkeys(step for tier in rules.tiers for step in tier.do or ()):
        acting = [look for look in looks if step in list_steps(rules.tiers[: look.combination.tier + 1])[0]]
        yield from merge_configurations(acting, partial(_iter_unknown, step))
    yield from merge_configurations(lowest, lambda look: _iter_uncapped(pack, rules, look))
    settled = SettledTexts(pack)
    reaches = [_find_reach(rules, look, settled) for look in lowest if not look.combination.patch]
    if reaches and len(rules.tiers) > 1:
        yield from _judge(rules, reaches)


def _iter_unknown(step: Step, look: Configuration) -> Iterator[Diagnostic]:
    known = [section.id for section in look.plan.sections]
    if step.section not in known:
        yield Diagnostic(
            "PC0613", f"`{step.label}` is a step on `{step.section}`, which is no section", step.span, suggest(step.section, known)
        )


def _iter_uncapped(pack: PackModel, rules: Strain, look: Configuration) -> Iterator[Diagnostic]:
    plan = look.base
    caps = find_caps(plan, rules, plan.budget.total)
    node = pack.manifest.value["strain"].get("count")
    for name in node.value if node is not None else ():
        if name.value not in caps and plan.find_section(str(name.value)) is not None:
            message = f"`strain.count` names `{name.value}`, which has no cap in tokens and counts for nothing"
            yield Diagnostic("PC0614", message, name.span, f"give `{name.value}` a budget with a number, or take it out of `count`", "warn")


def _find_reach(rules: Strain, look: Configuration, settled: SettledTexts) -> _Reach:
    caps = find_caps(look.base, rules, look.base.budget.total)
    short = []
    for name, cap in caps.items():
        section = look.plan.find_section(name)
        most = 0 if section is None or settled.is_off(section) else settled.find_most(section, look.plan.output.separator)
        if most is not None and most < cap:
            short.append((name, most, cap))
    allowed = sum(caps.values())
    return _Reach(allowed - sum(cap - most for _, most, cap in short), allowed, tuple(short))


def _judge(rules: Strain, reaches: Sequence[_Reach]) -> Iterator[Diagnostic]:
    if not any(reach.allowed for reach in reaches):
        message = "pressure is always 0, and no tier but the first is ever in force: no counted section has a cap in tokens"
        yield Diagnostic("PC0615", message, rules.span, "give the sections of `strain.count` budgets with a number", "warn")
        return
    for tier, above in pairwise((*rules.tiers, None)):
        if tier is not None and not any(_can_be(reach, tier.at, above.at if above is not None else None) for reach in reaches):
            most = max((reach for reach in reaches if reach.allowed), key=lambda reach: reach.spent / reach.allowed)
            yield Diagnostic("PC0616", _describe(tier, most), tier.span, _advise(most), "warn")


def _can_be(reach: _Reach, at: Ratio, below: Ratio | None) -> bool:
    """True when a whole number of tokens up to what can be spent lies in the tier. 0 of 0 is in the first."""
    least = -(-at.numerator * reach.allowed // at.denominator)
    if least > reach.spent:
        return False
    return below is None or not reach.allowed or least * below.denominator < below.numerator * reach.allowed


def _describe(tier: Tier, most: _Reach) -> str:
    begins = f"tier `{tier.name}` begins at {float(tier.at):g}"
    if tier.at * most.allowed > most.spent:
        share = 100 * most.spent // most.allowed / 100
        return f"{begins}, and pressure reaches {share:g} at most ({most.spent} of {most.allowed} tokens)"
    return f"{begins}, so close below the next one that no number of {most.allowed} tokens lies between"


def _advise(most: _Reach) -> str:
    if not most.short:
        return "move the thresholds apart"
    shown = ", ".join(f"`{name}` holds {spent} of its {cap} at most" for name, spent, cap in most.short[:3])
    return f"lower the threshold, or count other sections: {shown}"
