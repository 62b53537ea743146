"""`trim`: one text after the other is cut, notch by notch, at a boundary."""

from collections.abc import Iterator

from promptc.model.section import Trim
from promptc.passes.act import Act, Entry, EntryEdit
from promptc.passes.cut_text import Cut, Most, iter_cuts
from promptc.passes.fit.steps import Block, StepScope, iter_classes, sort_by_age
from promptc.passes.items.render import fits_size
from promptc.passes.layout.section import SectionLayout
from promptc.text.guard import Guard


def iter_trims(step: Trim, fit: SectionLayout, scope: StepScope, guard: Guard, total: int) -> Iterator[Act]:
    """The notches of the step: with `to` one a text, else every boundary down to `floor`.

    An entry trimmed before is cut from its whole text again, only shorter.
    """
    marker = step.marker.render(scope.names).strip("\r\n") if step.marker is not None else ""
    blocks = [[entry] for entry in fit.alive if not entry.item.kept and entry.item.content is None]
    made = [block for block in blocks if block[0].is_made]
    ordinary = sort_by_age([block for block in blocks if not block[0].is_made], fit)
    classes: list[tuple[str, list[Block]]] = [*iter_classes(step, ordinary, scope), ("a recap, after all others", list(made))]
    for why, ranked in classes:
        for block in ranked:
            yield from _iter_entry(step, fit, block[0], why, marker, guard, total)


def _iter_entry(step: Trim, fit: SectionLayout, entry: Entry, why: str, marker: str, guard: Guard, total: int) -> Iterator[Act]:
    meter = fit.frame.meter
    if not entry.is_alive or (step.to is not None and fits_size(entry.text, step.to, meter, total)):
        return
    shortest: Cut | None = None
    most = Most(step.to.unit, step.to.tokens(total)) if step.to is not None else None
    for cut in iter_cuts(entry.item.raw, at=step.at, side=step.side, marker=marker, guard=guard, meter=meter, pay=fit.pay, most=most):
        if _is_past(entry, cut):
            continue
        if most is None:
            if step.floor is not None and cut.measure_size(step.floor.unit) < step.floor.tokens(total):
                break
            yield _act(step, entry, cut, why)
            continue
        shortest = cut
        if cut.measure_size(most.unit) <= most.size:
            break
    if shortest is not None:
        yield _act(step, entry, shortest, why)
    yield Act("", ends=True)


def _is_past(entry: Entry, cut: Cut) -> bool:
    """True when the entry has been cut as short already, or is gone: another step may have come in between."""
    return not entry.is_alive or (entry.kept is not None and cut.kept >= entry.kept)


def _act(step: Trim, entry: Entry, cut: Cut, why: str) -> Act:
    place = f"cut at a {cut.boundary}"
    if cut.boundary != step.at:
        place += f" (no {step.at} ends in reach)"
    return Act(f"{place}; {why}", edit=EntryEdit(entry, cut=cut), warn=step.warn, boundary=cut.boundary)
