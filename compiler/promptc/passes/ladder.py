"""Ladders: steps expanded to notches, lazily, and the shortest prefix that meets a target (architecture §2, the law of fitting)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from promptc.model.stages import Item
from promptc.model.step import Continue, Drop, Evict, Fail, Lower, Recap, Replace, Shorten, Step, Trim
from promptc.passes.render_items import ItemRenderer
from promptc.passes.section_fit import Act, Edit, SectionFit
from promptc.passes.steps.evict import iter_evictions
from promptc.passes.steps.lower import iter_lowerings
from promptc.passes.steps.ranking import StepScope
from promptc.passes.steps.recap import iter_recaps, iter_replacements
from promptc.passes.steps.shorten import iter_shortenings
from promptc.passes.steps.trim import iter_trims
from promptc.text.guard import Guard

Notch = tuple[Step, SectionFit, Act]
Change = tuple[str, str, str]
"""An item's id, its text before and after a notch; empty where it was not there."""


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """A notch that was carried out. `before`, `after` and `needs` are in units of the ladder's count."""

    step: Step
    section: str
    act: Act
    before: int
    after: int
    needs: int
    changes: tuple[Change, ...]


@dataclass(slots=True, eq=False)
class LadderRun:
    """What a ladder did: notches looked at, applied in order, void; the least count it reached; the `fail` step that stopped it."""

    target: int
    start: int
    applied: list[Applied] = field(default_factory=list)
    void: list[tuple[Step, Act]] = field(default_factory=list)
    low: int = 0
    tried: int = 0
    failed: Step | None = None

    @property
    def is_met(self) -> bool:
        """True when the target was reached."""
        return self.low <= self.target


@dataclass(frozen=True, slots=True, eq=False)
class Expander:
    """Expands steps over the sections being fitted; a section's own ladder goes on where it was left."""

    fits: Mapping[str, SectionFit]
    guard: Guard
    total: int
    ladders: dict[str, Iterator[Notch]] = field(default_factory=dict)

    def iter_section(self, section: str) -> Iterator[Notch]:
        """The ladder of a section, one and the same iterator at each call."""
        if section not in self.ladders:
            fit = self.fits[section]
            self.ladders[section] = self.iter_steps(fit.section.overflow)
        return self.ladders[section]

    def iter_steps(self, steps: Sequence[Step]) -> Iterator[Notch]:
        """The notches of a list of steps. Steps on absent or pinned sections have none."""
        for step in steps:
            fit = self.fits.get(step.section)
            if fit is None or fit.section.pinned:
                continue
            if isinstance(step, Continue):
                yield from self.iter_section(step.section)
            else:
                for act in self._iter_acts(step, fit):
                    yield step, fit, act

    def _iter_acts(self, step: Step, fit: SectionFit) -> Iterator[Act]:
        scope = StepScope(fit)
        match step:
            case Evict():
                return iter_evictions(step, fit, scope, self.guard)
            case Trim():
                return iter_trims(step, fit, scope, self.guard, self.total)
            case Shorten():
                return iter_shortenings(step, fit, scope, self._form_renderer(fit))
            case Lower():
                return iter_lowerings(step, fit, scope)
            case Recap():
                return iter_recaps(step, fit, scope, self.guard)
            case Replace():
                return iter_replacements(step, fit, scope, self.guard)
            case Drop():
                return _iter_drop(fit)
            case Fail():
                return iter((Act((), "a `fail` step was reached", fails=True),))
        return iter(())

    def _form_renderer(self, fit: SectionFit) -> Callable[[Item, int], Item | None]:
        items = fit.section.items
        if items is None:
            return lambda item, form: None
        return ItemRenderer(fit.section, items, fit.selected.names, self.guard, fit.frame.meter, self.total).render_form


def _iter_drop(fit: SectionFit) -> Iterator[Act]:
    entries = list(fit.alive)
    if entries and not any(entry.item.kept for entry in entries):
        yield Act(tuple(Edit(entry, None) for entry in entries), "the section is dropped", drops=True)


def run_ladder(notches: Iterator[Notch], count: Callable[[], int], target: int, total: int, *, protect_min: bool) -> LadderRun:
    """Apply notches until `count` is within `target`, both in units: first fit over exact counts.

    A notch that would go under `window.min`, or with `protect_min` under `budget.min`, is left out; one that replaces text whole and does
    not shorten it is void.
    """
    now = count()
    run = LadderRun(target, now, low=now)
    if now <= target:
        return run
    for step, fit, act in notches:
        if act.fails:
            run.failed = step
            break
        run.tried += 1
        changes = _apply(fit, act)
        after = count()
        if act.voidable and after >= now:
            run.void.append((step, act))
            fit.revert()
        elif _is_under_min(fit, act, total, protect_min):
            fit.revert()
        else:
            fit.settle()
            run.applied.append(Applied(step, fit.section.id, act, now, after, run.low - target, changes))
            fit.is_dropped = fit.is_dropped or act.drops
            now = after
            run.low = min(run.low, now)
            if now <= target:
                break
    return run


def _apply(fit: SectionFit, act: Act) -> tuple[Change, ...]:
    changes = [(edit.entry.item.id, edit.entry.text, edit.text or "") for edit in act.edits]
    fit.apply(act)
    if act.made is not None:
        changes.append((act.made.id, "", act.made.text))
    return tuple(changes)


def _is_under_min(fit: SectionFit, act: Act, total: int, protect_min: bool) -> bool:
    items, budget = fit.section.items, fit.section.budget
    window = items.window if items is not None else None
    if window is not None and fit.count_windowed < window.min and any(edit.text is None and edit.entry.item.windowed for edit in act.edits):
        return True
    if not protect_min or budget is None or budget.min is None:
        return False
    return fit.count_charge() < budget.min.tokens(total) * fit.frame.meter.counter.unit
