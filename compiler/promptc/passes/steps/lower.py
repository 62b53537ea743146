"""`lower`: all items with the greatest value of `by` go, one level a notch."""

from collections.abc import Iterator

from promptc.model.step import Lower
from promptc.passes.section_fit import Act, Edit, Entry, SectionFit
from promptc.passes.steps.ranking import StepScope, find_rank

_Move = tuple[str, int | float, int | float | None]


def iter_lowerings(step: Lower, fit: SectionFit, scope: StepScope) -> Iterator[Act]:
    """The notches of the step, greatest level first; levels up to `floor` stay. Kept items stay."""
    levels = {id(entry): find_rank(step.by, scope.evaluate(step.by, entry)) for entry in fit.alive if not entry.is_made}
    for level in sorted({value for value in levels.values() if value > step.floor}, reverse=True):
        going = [entry for entry in fit.alive if levels.get(id(entry)) == level and not entry.item.kept]
        if going:
            why = f"{step.by.text.strip()} = {level}, greatest level first"
            left = [levels[id(entry)] for entry in fit.alive if id(entry) in levels and entry not in going]
            span = (level, max(left) if left else None)
            yield Act(tuple(Edit(entry) for entry in going), why, level=span, moves=tuple(_iter_moves(going, fit, levels)))


def _iter_moves(going: list[Entry], fit: SectionFit, levels: dict[int, int | float]) -> Iterator[_Move]:
    """(group, level before, level after) of every group that loses items; None when it has no other."""
    runs = {entry.run: entry.item.key for entry in going}
    leaving = {id(entry) for entry in going}
    for run, key in runs.items():
        standing = [entry for entry in fit.alive if entry.run == run and id(entry) in levels]
        before = max(levels[id(entry)] for entry in standing)
        after = [levels[id(entry)] for entry in standing if id(entry) not in leaving]
        yield "" if key is None else str(key), before, max(after) if after else None
