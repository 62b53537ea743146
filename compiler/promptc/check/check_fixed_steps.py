"""Steps on what no step may touch: pinned sections, and whole sections that must keep something."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel, list_steps
from promptc.model.section import Continue, Drop, Replace, Section, Step


def check_fixed_steps(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Every step on a pinned section, and `drop` and `replace` on a section with `keep` or a minimum."""
    return merge_configurations(looks, lambda look: _iter_look(pack, look))


def _iter_look(pack: PackModel, look: Configuration) -> Iterator[Diagnostic]:
    tiers = pack.strain.tiers[: look.combination.tier + 1] if pack.strain is not None else ()
    shared = (*look.plan.truncate, *list_steps(tiers)[0])
    for section in look.plan.sections:
        for step in (*section.overflow, *(one for one in shared if one.section == section.id)):
            found = _judge(section, step)
            if found is not None:
                yield found


def _judge(section: Section, step: Step) -> Diagnostic | None:
    name = _name(step)
    if section.pinned:
        return Diagnostic(
            "PC0603",
            f"`{name}` of `{step.label}` is a step on `{section.id}`, which is pinned: no step touches it",
            step.span,
            f"take the step out, or unpin `{section.id}`",
        )
    kept = _find_kept(section) if isinstance(step, Drop | Replace) else ""
    if not kept:
        return None
    return Diagnostic(
        "PC0604",
        f"`{name}` of `{step.label}` would take all of `{section.id}`, which has {kept}",
        step.span,
        "use `evict` or `trim`, which stop there",
    )


def _name(step: Step) -> str:
    return step.section if isinstance(step, Continue) else type(step).__name__.lower()


def _find_kept(section: Section) -> str:
    items, budget = section.items, section.budget
    if items is not None and items.keep:
        return "items to `keep`"
    if items is not None and items.window is not None and items.window.min:
        return f"a `window.min` of {items.window.min}"
    return "a `budget.min`" if budget is not None and budget.min is not None and budget.min.amount else ""
