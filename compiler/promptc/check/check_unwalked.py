"""Ladders that are written down and never walked: the section has no cap, and `truncate` does not name it."""

from collections.abc import Iterator, Sequence

from promptc.check.registry import Configuration
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel, Plan
from promptc.model.section import Continue, Section


def check_unwalked(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Sections whose own `overflow` is walked in no combination. A default ladder is not the author's and is not told."""
    found: dict[str, Section] = {}
    walked: set[str] = set()
    for look in looks:
        for section in look.plan.sections:
            if _is_walked(section, look.plan):
                walked.add(section.id)
            elif not section.pinned and section.overflow and not section.overflow[0].is_default:
                found.setdefault(section.id, section)
    for name, section in found.items():
        if name not in walked:
            message = f"`overflow` of `{name}` is never used: `{name}` has no budget of its own, and `truncate` does not name it"
            help = f"add it where the whole prompt is cut, `truncate: [{name}]`; or give it a budget of its own, such as `budget: 400`"
            yield Diagnostic("PC0612", message, section.overflow[0].span, help, "note")


def _is_walked(section: Section, plan: Plan) -> bool:
    budget = section.budget
    if budget is not None and (budget.cap is not None or budget.grow > 0):
        return True
    return any(isinstance(step, Continue) and step.section == section.id for step in plan.truncate)
