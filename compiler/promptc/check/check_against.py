"""`dedupe.against` compares with sections selected before; so it can neither look ahead nor go in a circle."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.diag.findings import Diagnostic, Span, suggest
from promptc.model.pack import PackModel, Plan
from promptc.model.section import Section


def check_against(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Sections that `against` names and that do not exist, stand later, are the section itself or have no items."""
    return merge_configurations(looks, lambda look: _iter_plan(look.plan))


def _iter_plan(plan: Plan) -> Iterator[Diagnostic]:
    order = [section.id for section in plan.sections]
    for place, section in enumerate(plan.sections):
        dedupe = section.items.dedupe if section.items is not None else None
        for name, span in zip(dedupe.against, dedupe.places, strict=True) if dedupe is not None else ():
            found = _judge(name, span, section, plan, order[:place])
            if found is not None:
                yield found


def _judge(name: str, span: Span, section: Section, plan: Plan, earlier: Sequence[str]) -> Diagnostic | None:
    other = plan.find_section(name)
    what = f"`dedupe.against` of `{section.id}`"
    if other is None:
        known = [one.id for one in plan.sections if one.id != section.id]
        return Diagnostic("PC0634", f"{what} names `{name}`, which is no section", span, suggest(name, known))
    if name == section.id:
        return Diagnostic("PC0634", f"{what} names the section itself", span, "leave it out: a list is compared with itself in any case")
    if name not in earlier:
        back = other.items.dedupe.against if other.items is not None and other.items.dedupe is not None else ()
        circle = f", and `{name}` names `{section.id}`: a circle" if section.id in back else ""
        return Diagnostic("PC0634", f"{what} names `{name}`, which is selected later{circle}", span, f"put `{section.id}` behind `{name}`")
    if other.items is None:
        return Diagnostic("PC0634", f"{what} names `{name}`, which is no list", span, "only sections with `items` can be compared")
    return None
