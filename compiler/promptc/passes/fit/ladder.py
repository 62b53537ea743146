"""Ladders (architecture.md, "Nested, hence monotone").

`Expander` expands steps to notches, lazily, and `run_ladder` applies the shortest prefix of them that brings a `Measure` within its target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from promptc.diag.findings import PromptcError
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import NamedTuple, Protocol
from promptc.model.section import Continue, Drop, Evict, Fail, Lower, Recap, Replace, Shorten, Step, Trim
from promptc.model.stages import Item
from promptc.passes.fit.result import Extent, ExtentChange, Slid
from promptc.passes.fit.steps import StepScope, iter_evictions, iter_lowerings, iter_recaps, iter_replacements, iter_shortenings, iter_trims
from promptc.passes.items.render import Cuts, ItemRenderer
from promptc.passes.layout.ledger import TokenLedger
from promptc.passes.layout.section import Act, Aim, Entry, EntryEdit, SectionLayout, Slide
from promptc.text.guard import Guard

Notch = tuple[Step, SectionLayout, Act]
_REFUSES = "PC0431"
NEVER = -1
"""The target of a ladder that is walked to its end."""

_NOTCH = 400
"""The steps charged for trying one notch."""


class AppliedAct(NamedTuple):
    """A notch that was carried out: like `Applied`, but with the entries themselves. All notches of one slide are a single act.

    `counted` is the measure's count after the act.
    """

    step: Step
    fit: SectionLayout
    act: Act
    before: int
    after: int
    counted: int
    needs: int
    added: tuple[ExtentChange, ...]
    slid: Slid | None = None


class LadderRun:
    """The record of one run of a ladder.

    `applied` are the notches carried out, in order, `void` those undone because they shortened nothing, and `passed_over` what a step left
    alone. `tried` counts the notches tried except those of slides, `end` is the count at the end, and `failed` is the `fail` step that
    stopped the run, or None.
    """

    __slots__ = ("applied", "end", "failed", "passed_over", "start", "target", "tried", "void")

    def __init__(self, target: int, start: int) -> None:
        self.target = target
        self.start = start
        self.end = start
        self.applied: list[AppliedAct] = []
        self.void: list[tuple[Step, Act]] = []
        self.passed_over: list[tuple[Step, Act]] = []
        self.tried = 0
        self.failed: Step | None = None

    def extend(self, other: LadderRun) -> None:
        """Append what another run did."""
        self.applied += other.applied
        self.void += other.void
        self.passed_over += other.passed_over
        self.end = other.end
        self.tried += other.tried
        self.failed = other.failed

    @property
    def is_met(self) -> bool:
        """True if the target was reached, which ends a ladder."""
        return self.end <= self.target

    @property
    def low(self) -> int:
        """The least count that any notch reached, or the start if no notch got below it."""
        if self.is_met:
            return self.end
        low = min([self.start, *(one.counted for one in self.applied)])
        for one in self.applied:
            low = one.slid.count_low(low) if one.slid is not None else low
        return low


@frozen(eq=False)
class Expander:
    """Expands steps to notches over the sections being fitted. A section's own ladder continues where it was left."""

    fits: Mapping[str, SectionLayout]
    guard: Guard
    total: int
    ladders: dict[str, Iterator[Notch]] = field(default_factory=dict)

    def iter_section(self, section: str) -> Iterator[Notch]:
        """Return the notches of a section's ladder; every call returns the same iterator."""
        if section not in self.ladders:
            fit = self.fits[section]
            # a chain has no `close`: closing the generator of a `continue` step must not close the ladder that it delegates to
            self.ladders[section] = chain(self.iter_steps(fit.section.overflow))
        return self.ladders[section]

    def iter_steps(self, steps: Sequence[Step]) -> Iterator[Notch]:
        """Yield the notches of a list of steps. Steps on absent or pinned sections have none."""
        for step in steps:
            fits = [fit for fit in map(self.fits.get, step.sections) if fit is not None and not fit.section.pinned]
            if not fits:
                continue
            if isinstance(step, Continue):
                yield from self.iter_section(step.section)
            elif isinstance(step, Evict):
                for fit, act in iter_evictions(step, [(fit, _make_scope(fit)) for fit in fits], self.guard):
                    yield step, fit, act
            else:
                for act in self._iter_acts(step, fits[0]):
                    yield step, fits[0], act

    def _iter_acts(self, step: Step, fit: SectionLayout) -> Iterator[Act]:
        scope = _make_scope(fit)
        match step:
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
                return iter((Act("a `fail` step was reached", fails=True),))
        raise AssertionError(f"`{step.rule}` has no notches")

    def _form_renderer(self, fit: SectionLayout) -> Callable[[Item, int], Item | None]:
        items = fit.section.items
        if items is None:
            return lambda item, form: None
        return ItemRenderer(fit.section, items, fit.names, self.guard, fit.layout.meter, self.total).render_form


def _make_scope(fit: SectionLayout) -> StepScope:
    return StepScope(fit.section, fit.names, fit.layout.meter, fit.pay)


def _iter_drop(fit: SectionLayout) -> Iterator[Act]:
    entries = list(fit.alive)
    if entries and not any(entry.item.kept for entry in entries):
        yield Act("the section is dropped", entries)


def run_ladder(notches: Iterator[Notch], measure: Measure, target: int, total: int, *, protect_min: bool) -> LadderRun:
    """Apply notches until `measure` is within `target`, both in units: first fit over exact counts.

    A notch that would go below `window.min`, or with `protect_min` below `budget.min`, is left out. A notch that replaces a whole text
    without shortening it is void. The notches of a trim of one text are previewed, and only the last one is carried out.
    """
    run = LadderRun(target, measure.count())
    if run.low > target:
        _LadderWalk(run, measure, total, protect_min).walk(notches)
    return run


class _LadderWalk:
    """One walk down a ladder."""

    def __init__(self, run: LadderRun, measure: Measure, total: int, protect_min: bool) -> None:
        self._run = run
        self._measure = measure
        self._total = total
        self._protect_min = protect_min
        self._low = run.start
        self._recorded = measure.record()

    def walk(self, notches: Iterator[Notch]) -> None:
        """Apply notches until the target is met, no notch is left, or a `fail` step is reached."""
        for step, fit, act in notches:
            if act.fails:
                self._run.failed = step
                return
            if act.passed_over:
                self._run.passed_over.append((step, act))
            elif act.slide is not None:
                self._slide(step, fit, act.slide)
            else:
                self._try(step, fit, act)
            if self._run.end <= self._run.target:
                return

    def _try(self, step: Step, fit: SectionLayout, act: Act) -> None:
        self._run.tried += 1
        fit.pay(_NOTCH)
        self._carry_out(step, fit, act)

    def _slide(self, step: Step, fit: SectionLayout, slide: Slide) -> None:
        """Make the longest cut of one text that meets the target, or else the last cut. Cuts that are certainly too large are not tried."""
        aims = self._measure.aim(fit, slide.entry, slide.cuts) if not self._has_min(fit) else None
        if aims is None:
            self._slide_slowly(step, fit, slide)
            return
        aim, told = aims
        target, last, limit = self._run.target, None, aim.limit(self._run.target)
        fit.pay(_NOTCH)
        if limit.size < 0 and slide.floor is None:
            last, slide.is_spent = slide.find_last(), True
        else:
            for last in slide.iter(limit):
                fit.pay(_NOTCH)
                if aim.count(last) <= target:
                    break
            else:
                slide.is_spent = True
        if last is None:
            return
        entry, piece = slide.entry, fit.read_piece(slide.entry)
        slid = Slid(slide.cuts, slide.describe, entry.kept, last, aim, told, piece.suffix)
        act = Act(slide.describe(last.boundary), edits=(EntryEdit(entry, cut=last),), boundary=last.boundary)
        before = Extent(piece.units, len(entry.text))
        fit.apply(act)
        added = (ExtentChange(entry.item.id, before, Extent(piece.units, len(entry.text))),)
        self._record(step, fit, act, self._measure.count(), added, slid)

    def _slide_slowly(self, step: Step, fit: SectionLayout, slide: Slide) -> None:
        """Make one cut after another."""
        for cut in slide.iter():
            why = slide.describe(cut.boundary)
            self._try(step, fit, Act(why, edits=(EntryEdit(slide.entry, cut=cut),), boundary=cut.boundary))
            if self._run.end <= self._run.target:
                return
        slide.is_spent = True

    def _carry_out(self, step: Step, fit: SectionLayout, act: Act) -> None:
        has_min = self._has_min(fit)
        to_undo = act.voidable or has_min or fit.least_windowed > 0
        before = [measure_extent(fit, edit.entry) for edit in act.edits]
        fit.apply(act, to_undo=to_undo)
        after = self._measure.count()
        if act.voidable and after >= self._run.end:
            self._run.void.append((step, act))
            fit.revert()
        elif to_undo and (_is_under_window(fit, act) or (has_min and self._is_under_min(fit))):
            fit.revert()
        else:
            if to_undo:
                fit.settle()
            fit.is_dropped = fit.is_dropped or isinstance(step, Drop)
            self._record(step, fit, act, after, _list_added(fit, act, before))

    def _record(
        self, step: Step, fit: SectionLayout, act: Act, count: int, added: tuple[ExtentChange, ...], slid: Slid | None = None
    ) -> None:
        run, recorded = self._run, self._measure.record()
        needs = self._low - run.target if run.target != NEVER else 0
        run.applied.append(AppliedAct(step, fit, act, self._recorded, recorded, count, needs, added, slid))
        self._low = min(self._low, count)
        run.end, self._recorded = count, recorded

    def _has_min(self, fit: SectionLayout) -> bool:
        return self._protect_min and fit.least is not None

    def _is_under_min(self, fit: SectionLayout) -> bool:
        least = fit.least
        if least is None:
            return False
        if least.unit == "chars":
            return fit.count_chars() < least.tokens(self._total)
        return fit.count_charge() < least.tokens(self._total) * fit.layout.meter.counter.unit


def _list_added(fit: SectionLayout, act: Act, before: Sequence[Extent]) -> tuple[ExtentChange, ...]:
    """Return the extent changes of edited and made entries; `before` are the extents of the edited entries before the act."""
    if act.edits:
        entries = [edit.entry for edit in act.edits]
        return tuple(ExtentChange(one.item.id, was, measure_extent(fit, one)) for one, was in zip(entries, before, strict=True))
    if act.made is not None and fit.made is not None:
        return (ExtentChange(act.made.id, None, measure_extent(fit, fit.made)),)
    return ()


def measure_extent(fit: SectionLayout, entry: Entry) -> Extent:
    """Return an entry's current extent: its units including what follows the text, and the characters of the text alone."""
    return Extent(fit.read_piece(entry).units + entry.item.beyond, len(entry.text))


def _is_under_window(fit: SectionLayout, act: Act) -> bool:
    return fit.count_windowed() < fit.least_windowed and any(entry.item.windowed for entry in act.gone)


class Measure(Protocol):
    """A count that notches bring down."""

    def count(self) -> int:
        """Return the current count."""

    def record(self) -> int:
        """Return the count to record for a notch, in units: the section's charge, or the whole."""

    def aim(self, fit: SectionLayout, entry: Entry, cuts: Cuts) -> tuple[Aim, Aim] | None:
        """Return two aims that predict `count` and `record` for each cut of an entry, or None if a cut must be made to know them."""


class ChargeMeasure:
    """The charge of a section, or the sum of the charges of a pool's sections."""

    def __init__(self, *fits: SectionLayout) -> None:
        self._fits = fits

    def count(self) -> int:
        """Return the sum in units."""
        return sum(fit.count_charge() for fit in self._fits)

    def record(self) -> int:
        """Return the sum in units."""
        return self.count()

    def aim(self, fit: SectionLayout, entry: Entry, cuts: Cuts) -> tuple[Aim, Aim] | None:
        """Return the aim of the sum, twice."""
        aim = fit.aim_charge(entry, cuts)
        aim = aim._replace(base=aim.base + self.count() - fit.count_charge()) if aim is not None else None
        return (aim, aim) if aim is not None else None


class CharsMeasure:
    """The characters of a section's content."""

    def __init__(self, fit: SectionLayout) -> None:
        self._fit = fit

    def count(self) -> int:
        """Return the number of characters."""
        return self._fit.count_chars()

    def record(self) -> int:
        """Return the charge in units: the cap limits characters, but cuts are reported by what the section adds."""
        return self._fit.count_charge()

    def aim(self, fit: SectionLayout, entry: Entry, cuts: Cuts) -> tuple[Aim, Aim] | None:
        """Return the aim of the characters, and that of the charge."""
        told = fit.aim_charge(entry, cuts)
        return (Aim(fit.count_chars() - len(entry.text), is_chars=True), told) if told is not None else None


class WholeMeasure:
    """The whole output, with the units that belong to no section."""

    def __init__(self, ledger: TokenLedger, fixed: int) -> None:
        self._ledger = ledger
        self._fixed = fixed

    def count(self) -> int:
        """Return the units of the output."""
        return self._ledger.units + self._fixed

    def record(self) -> int:
        """Return the units of the output."""
        return self.count()

    def aim(self, fit: SectionLayout, entry: Entry, cuts: Cuts) -> tuple[Aim, Aim] | None:
        """Return the aim of the output's units, twice."""
        aim = fit.aim(entry, cuts, self._ledger, self._fixed)
        return (aim, aim) if aim is not None else None


class FramedMeasure:
    """The text that a chat template makes of the whole, counted exactly wherever the count decides.

    Counting the text requires a render, so it is done only when the charges come near the target. A notch meets the target if both the
    text's count and `charges + surplus - slack`, which is known at once, are within it. Neither depends on the target, so results nest as
    with any measure. Messages that the template refuses never meet the target: they are recorded as if the notch had saved nothing.
    """

    def __init__(self, ledger: TokenLedger, fixed: int, surplus: int, slack: int, target: int, count_framed: Callable[[], int]) -> None:
        """Create a measure; the text is `surplus` units larger than the charges before any step, and stays so within `slack`."""
        self._ledger = ledger
        self._fixed = fixed + surplus
        self._slack = slack
        self._over = slack - min(surplus, 0)
        self._target = target
        self._count_framed = count_framed
        self._last: int | None = None
        self._is_estimate = False

    def count(self) -> int:
        """Return the units of the text, or an upper estimate if the charges alone are above the target."""
        about = self._ledger.units + self._fixed
        self._is_estimate = self._last is not None and about - self._slack > self._target
        self._last = about + self._over if self._is_estimate else self._count_text(self._last or 0)
        return self._last

    def _count_text(self, last: int) -> int:
        try:
            return self._count_framed()
        except PromptcError as refused:
            if any(one.code != _REFUSES for one in refused.diagnostics):
                raise
            return max(last, self._target + 1)

    def count_exactly(self) -> int:
        """Return the units of the text. Raises `PromptcError` (PC0431) for messages that the template refuses."""
        return self._count_framed()

    def record(self) -> int:
        """Return the units of the text as last counted, or about as many if that count was an estimate."""
        count = self._last if self._last is not None else self.count()
        return count - self._over if self._is_estimate else count

    def aim(self, fit: SectionLayout, entry: Entry, cuts: Cuts) -> tuple[Aim, Aim] | None:
        """Return None: the length of the text after a cut is known only to the template."""
        return None
