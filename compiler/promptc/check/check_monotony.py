"""What voids that a larger total never removes content (language.md §11): sizes that follow the total where they should not."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.settled import SettledTexts, is_share
from promptc.diag.findings import Diagnostic, Span
from promptc.model.pack import PackModel, Plan, Strain, list_steps
from promptc.model.section import Budget, Section, Trim

_LOST = "a larger total may remove content"


def check_monotony(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Pressure against percentages, sizes in percent inside ladders, and what stands beside shares and is no number."""
    settled, rules = SettledTexts(pack), pack.strain
    if rules is not None:
        lowest = [look for look in looks if look.combination.tier == 0]
        yield from merge_configurations(lowest, lambda look: _iter_pressure(rules, look.base))
    yield from merge_configurations(looks, lambda look: _iter_look(pack, look, settled))


def _iter_look(pack: PackModel, look: Configuration, settled: SettledTexts) -> Iterator[Diagnostic]:
    sections = [section for section in look.plan.sections if not settled.is_off(section)]
    yield from _iter_percents(pack, look, sections)
    shares = [section for section in sections if is_share(section)]
    for section in sections if shares else ():
        yield from _iter_beside(section, shares)


def _iter_pressure(rules: Strain, plan: Plan) -> Iterator[Diagnostic]:
    reads_percent = any(path[:2] in (("strain",), ("strain", "percent")) for section in plan.sections for path in section.reads)
    if len(rules.tiers) < 2 and not reads_percent:
        return
    watched = [name for name, _ in rules.watch]
    for section in plan.sections:
        cap = section.budget.cap if section.budget is not None else None
        counts = section.id in rules.count if rules.count is not None else section.id not in watched
        if counts and section.budget is not None and cap is not None and cap.unit == "share":
            message = f"`{section.id}` counts for pressure with a cap in percent: {_LOST}"
            yield Diagnostic("PC0617", message, section.budget.span, "count sections with a number as their cap", "warn")


def _iter_percents(pack: PackModel, look: Configuration, sections: Sequence[Section]) -> Iterator[Diagnostic]:
    tiers = pack.strain.tiers[: look.combination.tier + 1] if pack.strain is not None else ()
    for section in sections:
        if section.pinned:
            continue
        for what, span in _iter_places(section):
            yield _report_percent(f"`{what}` of `{section.id}`", span)
        for step in (*section.overflow, *(one for one in (*look.plan.truncate, *list_steps(tiers)[0]) if one.section == section.id)):
            if isinstance(step, Trim) and any(size is not None and size.unit == "share" for size in (step.to, step.floor)):
                yield _report_percent(f"`{step.label}`", step.span)


def _iter_places(section: Section) -> Iterator[tuple[str, Span]]:
    items, budget = section.items, section.budget
    if budget is not None and budget.min is not None and budget.min.unit == "share" and budget.min.amount:
        yield "budget.min", budget.span
    if items is not None and items.trim_each is not None and items.trim_each.to.unit == "share":
        yield "trim_each", items.trim_each.span


def _report_percent(what: str, span: Span) -> Diagnostic:
    return Diagnostic("PC0618", f"{what} is a share of the total: {_LOST}", span, "give it a number", "warn")


def _iter_beside(section: Section, shares: Sequence[Section]) -> Iterator[Diagnostic]:
    budget = section.budget
    if section.pinned or is_share(section):
        return
    named = ", ".join(f"`{one.id}`" for one in shares[:3]) + (" and others" if len(shares) > 3 else "")
    verb = "shares" if len(shares) == 1 else "share"
    if budget is not None and budget.cap is not None and budget.cap.unit == "chars":
        message = f"`{section.id}` is capped in characters beside {named}, which {verb} what is left: {_LOST}"
        yield Diagnostic("PC0619", message, budget.span, f"cap `{section.id}` in tokens", "warn")
    elif not _has_cap(budget):
        message = f"`{section.id}` has no cap and is not pinned: it starves {named}, which {verb} what is left"
        yield Diagnostic("PC0620", message, section.span, f"give `{section.id}` a budget with a number, or pin it", "warn")


def _has_cap(budget: Budget | None) -> bool:
    return budget is not None and budget.cap is not None
