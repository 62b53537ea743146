"""Trims to a size over the cap of their own section."""

from collections.abc import Iterator, Sequence

from promptc.check.registry import Configuration
from promptc.diag.findings import Diagnostic, Span, count_noun
from promptc.model.pack import PackModel, list_steps
from promptc.model.section import Section, Size, Step, Trim

_Place = tuple[Span, str]


def check_idle_trims(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Every `trim` whose `to` or `floor` is over its section's cap in each combination it stands in: no text of that size is ever in the
    prompt, since one alone is over the cap. A size in tokens is not compared with one in characters."""
    found: dict[_Place, Diagnostic | None] = {}
    for look in looks:
        for section, step in _iter_trims(pack, look):
            place = (step.span, step.label)
            judged = _judge(section, step, look.plan.budget.total)
            known = found.get(place, judged)
            found[place] = known if judged is not None else None
    yield from (one for one in found.values() if one is not None)


def _iter_trims(pack: PackModel, look: Configuration) -> Iterator[tuple[Section, Trim]]:
    tiers = pack.strain.tiers[: look.combination.tier + 1] if pack.strain is not None else ()
    shared: tuple[Step, ...] = (*look.plan.truncate, *list_steps(tiers)[0])
    for section in look.plan.sections:
        steps = () if section.pinned else (*section.overflow, *(one for one in shared if one.section == section.id))
        yield from ((section, step) for step in steps if isinstance(step, Trim))


def _judge(section: Section, step: Trim, total: int) -> Diagnostic | None:
    cap = section.budget.cap if section.budget is not None else None
    size = step.to or step.floor
    if cap is None or size is None or (cap.unit == "chars") != (size.unit == "chars"):
        return None
    least, most = _measure(size, total), _measure(cap, total)
    if least <= most:
        return None
    key, noun = "to" if step.to is not None else "floor", "character" if size.unit == "chars" else "token"
    message = f"`{key}` of `{step.label}`, {count_noun(least, noun)}, never holds: `{section.id}` is capped at {most}"
    return Diagnostic("PC0672", message, step.span, f"lower it to {most} or less, or raise the budget of `{section.id}`", "warn")


def _measure(size: Size, total: int) -> int:
    return int(size.amount) if size.unit == "chars" else size.tokens(total)
