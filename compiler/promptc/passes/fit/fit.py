"""The fitting pass: grants, each section's ladder to its cap, each pool's, then `truncate` to the total (architecture.md, "Three laws").

Every ladder is expanded to notches without looking at its target, and the result is what the shortest prefix that meets the target leaves.
Results therefore nest: a larger total never removes content.

A grant is the number of tokens that a section's budget allows it in this render (contract.md §5). Fixed content is subtracted from the
total first. The rest goes to percentages, then to `grow`, max-min fair, in exact ratios that are rounded down at the end (`count_shares`).
So grants are monotone in the total. The largest remainder method would let a grant fall as the total grows.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from promptc.diag.findings import Diagnostic, count_noun
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Protocol
from promptc.model.section import Budget, Pool, Ratio, Section, Tool
from promptc.model.stages import Strained
from promptc.passes.bind import find_cap
from promptc.passes.fit.ladder import (
    NEVER,
    AppliedAct,
    ChargeMeasure,
    CharsMeasure,
    Expander,
    FramedMeasure,
    LadderRun,
    Measure,
    WholeMeasure,
    run_ladder,
)
from promptc.passes.fit.result import Applied, CutPlace, Fitted, FittedItem, FittedPool, FittedSection, LadderResult, Part
from promptc.passes.layout.layout import Layout, load_layout
from promptc.passes.layout.ledger import TokenLedger
from promptc.passes.layout.section import Entry, SectionLayout, count_marked
from promptc.passes.select import CostlyWork

_SLACK = 64
_new = tuple.__new__
"""Makes a named tuple from all its fields in order, at a third of the usual cost: there is one for each item and each notch."""


@frozen
class Claim:
    """The claim of a share section in tokens: its floor, its ceiling and its weight."""

    floor: int
    ceiling: Ratio
    weight: Ratio


class PartsCounter(Protocol):
    """Counts what a chat template makes of messages."""

    def count_parts(self, layout: Layout, parts: tuple[Part, ...], roles: Sequence[str], tools: tuple[Tool, ...]) -> int:
        """Return the units of the whole text. Raises `PromptcError` (PC0431) for messages that the template refuses."""


def fit(strained: Strained, work: CostlyWork | None = None, frame: PartsCounter | None = None) -> Fitted:
    """Fit a selection to its budgets. Content that is too large does not raise: it is reported in `errors`.

    With `frame`, the whole is the text that a chat template makes of the messages. Raises `PromptcError` if the template refuses them.
    """
    fitting = _Fitting(strained, work or CostlyWork(), frame)
    try:
        return fitting.run()
    finally:
        fitting.end()


def count_held(fitted: Fitted, name: str) -> int:
    """Return the charge in units of what is left of a section at the end."""
    one, truncated = fitted.sections[name], fitted.truncated
    if truncated is None or all(cut.section != name for cut in truncated.moves):
        return fitted.charges[name]
    items = tuple(replace(left.item, text=left.text) for left in one.alive)
    if not items:
        return 0
    held = replace(one.selected, items=items)
    return count_marked(fitted.layout, fitted.strained.selection, held, one.marker, is_below=one.is_marked_below)


class _Fitting:
    """One fit: its steps, in order."""

    def __init__(self, strained: Strained, work: CostlyWork, frame: PartsCounter | None) -> None:
        selection = strained.selection
        self._frame = frame
        self._surplus = 0
        bound = selection.bound
        self._strained = strained
        self._total = bound.total
        self._unit = bound.meter.counter.unit
        self._meter = bound.meter
        self._layout = load_layout(selection.plan, bound)
        self._guard = selection.guard
        self._fits = {
            one.section.id: work.lay_section(selection, one, part, self._layout) for part, one in enumerate(selection.sections) if one.items
        }
        self._expander = Expander(self._fits, self._guard, self._total)
        self._errors: list[Diagnostic] = []
        self._short = ""
        self._missing = 0

    def run(self) -> Fitted:
        """Run all steps of fitting, and freeze the result.

        They are: a tier's own steps, a check of what is pinned, caps in characters, grants, the ladders of the sections, of the pools, and
        of the total. The total's ladder is left out if an error was found before. What the sections come to is counted between the steps.
        """
        demand = self._count_charges()
        if self._frame is not None:
            self._surplus = self._count_surplus(self._frame)
        done = self._do()
        after_do = self._count_charges()
        self._check_pinned(after_do)
        ladders = self._run_chars()
        grants = self._grant()
        ladders |= self._run_sections(grants)
        pools = self._run_pools(grants)
        charges = self._count_charges()
        is_short = any(found.level == "error" for found in self._errors)
        ledger, truncated, units = self._truncate() if not is_short else (None, None, 0)
        self._check_required({"do": done, **ladders, **{pool.ladder: run for pool, _, _, run in pools}, "truncate": truncated})
        left = _freeze_entries(self._fits.values())
        parts, roles, tools = _freeze_pieces(ledger, self._layout, left) if ledger is not None else ((), (), ())
        return Fitted(
            strained=self._strained,
            layout=self._layout,
            sections={name: _freeze_section(fit, left) for name, fit in self._fits.items()},
            demand=demand,
            done=_freeze_run(done, left) if done is not None else None,
            after_do=after_do,
            grants={name: grant for name, grant in grants.items() if name in self._fits},
            ladders={name: _freeze_run(run, left) for name, run in ladders.items()},
            pools=tuple(FittedPool(pool, cap, entered, _freeze_run(run, left)) for pool, cap, entered, run in pools),
            charges=charges,
            truncated=_freeze_run(truncated, left) if truncated is not None else None,
            parts=parts,
            roles=roles,
            tools=tools,
            units=units,
            errors=tuple(self._errors),
            short=self._short,
            missing=self._missing,
        )

    def end(self) -> None:
        """Clear the ladders: they refer back to the expander that contains them, and the cycle would keep the render's memory alive."""
        self._expander.ladders.clear()

    def _count_charges(self) -> dict[str, int]:
        return {name: fit.count_charge() for name, fit in self._fits.items()}

    def _do(self) -> LadderRun | None:
        """Run the steps of a tier: all of them, once, whatever the budget."""
        if not self._strained.steps:
            return None
        run = LadderRun(NEVER, sum(fit.count_charge() for fit in self._fits.values()))
        for step in self._strained.steps:
            if step.section in self._fits and run.failed is None:
                charge = ChargeMeasure(self._fits[step.section])
                run.extend(run_ladder(self._expander.iter_steps((step,)), charge, NEVER, self._total, protect_min=False))
        if run.failed is not None:
            message = f"the strain tier allows no prompt: its step `{run.failed.label}` is `fail` for section `{run.failed.section}`"
            self._fail(
                Diagnostic("PC0533", message, run.failed.span, "shorten the state, for example with an operation, or remove the step"),
                run.failed.section,
                0,
            )
        return run

    def _check_pinned(self, charges: Mapping[str, int]) -> None:
        for name, fit in self._fits.items():
            budget = fit.section.budget
            if not fit.section.pinned or budget is None or budget.cap is None:
                continue
            is_chars = budget.cap.unit == "chars"
            spent = fit.count_chars() if is_chars else self._meter.tokens(charges[name])
            cap = self._count_cap(fit.section)
            if spent > cap:
                noun = "characters" if is_chars else "tokens"
                message = f"section `{name}` is pinned and needs {spent} {noun}, and its budget is {cap}{name_source(budget)}"
                found = Diagnostic(
                    "PC0530",
                    message,
                    budget.span,
                    f"raise its budget to {spent}, or shorten its text",
                    budget.over if budget.over == "warn" else "error",
                )
                self._fail(found, name, spent - cap)

    def _count_cap(self, section: Section) -> int:
        return find_cap(section, self._strained.selection.bound) or 0

    def _fail(self, found: Diagnostic, section: str, missing: int) -> None:
        self._errors.append(found)
        if found.level == "error" and not self._short:
            self._short, self._missing = section, missing

    def _run_chars(self) -> dict[str, LadderRun]:
        """Run the ladders of caps in characters, which come first: what they leave is the section's fixed charge."""
        runs = {}
        for name, fit in self._fits.items():
            cap = fit.section.cap
            if cap is not None and cap.unit == "chars" and not fit.section.pinned:
                runs[name] = self._run_section(name, CharsMeasure(fit), self._count_cap(fit.section), "characters", 1)
        return runs

    def _grant(self) -> dict[str, int]:
        """Return the grant in tokens of every section that has one, and of every pool by its ladder's name.

        A cap that is a number is its own grant.
        """
        fixed = self._layout.fixed // self._unit + self._meter.tokens(max(0, self._surplus))
        percents: dict[str, Claim] = {}
        grows: dict[str, Claim] = {}
        numbers: dict[str, int] = {}
        pooled = {pool.name: 0 for pool in self._strained.selection.plan.pools}
        for name, fit in self._fits.items():
            section, demand = fit.section, self._meter.tokens(fit.count_charge())
            budget = section.budget
            if budget is not None and budget.is_share and not section.pinned:
                claim = self._make_claim(name, section, demand)
                fixed += claim.floor
                (percents if budget.is_percent else grows)[name] = claim
                continue
            if budget is not None and budget.cap is not None and not section.pinned and not _has_no_grant(budget):
                numbers[name] = self._count_cap(section)
                demand = min(demand, numbers[name])
            pool = self._strained.selection.plan.find_pool(name)
            if pool is None:
                fixed += demand
            else:
                pooled[pool.name] += demand
        for pool in self._strained.selection.plan.pools:
            if pool.is_share:
                claim = self._make_pool_claim(pool, numbers)
                fixed += claim.floor
                percents[pool.ladder] = claim
            else:
                numbers[pool.ladder] = pool.max.tokens(self._total)
                fixed += min(pooled[pool.name], numbers[pool.ladder])
        return {**numbers, **count_shares(percents, grows, self._total - fixed)}

    def _make_claim(self, name: str, section: Section, demand: int) -> Claim:
        budget = section.budget
        assert budget is not None
        least = min(demand, budget.min.tokens(self._total)) if budget.min is not None and budget.min.unit != "chars" else 0
        floor = max(least, self._count_least(name))
        cap = budget.cap
        most = Ratio(demand) if cap is None else cap.amount * (self._total if cap.unit == "share" else 1)
        weight = cap.amount if budget.is_percent and cap is not None else budget.grow
        return Claim(floor, min(Ratio(demand), most), weight)

    def _count_least(self, name: str) -> int:
        """Return the least charge in tokens that the section's ladder can leave: the ladder of a copy, run to its end."""
        copy = self._copy_fit(name)
        expander = Expander({name: copy}, self._guard, self._total)
        run = run_ladder(expander.iter_steps(copy.section.overflow), ChargeMeasure(copy), NEVER, self._total, protect_min=True)
        return self._meter.tokens(run.low)

    def _make_pool_claim(self, pool: Pool, grants: Mapping[str, int]) -> Claim:
        """Return the claim of a pool that is a share: its ladder runs to its end on copies of what its sections' ladders leave."""
        copies = {name: self._copy_fit(name) for name in self._fits if name in pool.sections}
        expander = Expander(copies, self._guard, self._total)
        for name, copy in copies.items():
            measure, target = self._choose_target(copy, grants)
            if target is not None:
                run_ladder(expander.iter_section(name), measure, target, self._total, protect_min=False)
        measure = ChargeMeasure(*copies.values())
        demand = self._meter.tokens(measure.count())
        run = run_ladder(expander.iter_steps(pool.overflow), measure, NEVER, self._total, protect_min=True)
        return Claim(self._meter.tokens(run.low), min(Ratio(demand), pool.max.amount * self._total), pool.max.amount)

    def _choose_target(self, fit: SectionLayout, grants: Mapping[str, int]) -> tuple[Measure, int | None]:
        """Return the measure of a section's ladder and its target, which is None for a section without a cap."""
        cap = fit.section.cap
        if cap is not None and cap.unit == "chars" and not fit.section.pinned:
            return CharsMeasure(fit), self._count_cap(fit.section)
        grant = grants.get(fit.section.id)
        return ChargeMeasure(fit), grant * self._unit if grant is not None else None

    def _copy_fit(self, name: str) -> SectionLayout:
        fit = self._fits[name]
        copy = SectionLayout(fit.selection, fit.selected, fit.part, self._layout)
        if self._strained.steps:
            expander = Expander({name: copy}, self._guard, self._total)
            run_ladder(expander.iter_steps(self._strained.steps), ChargeMeasure(copy), NEVER, self._total, protect_min=False)
        return copy

    def _run_sections(self, grants: Mapping[str, int]) -> dict[str, LadderRun]:
        return {
            name: self._run_section(name, ChargeMeasure(self._fits[name]), grants[name], "tokens", self._unit)
            for name in self._fits
            if name in grants
        }

    def _run_section(self, name: str, measure: Measure, cap: int, noun: str, unit: int) -> LadderRun:
        fit = self._fits[name]
        budget = fit.section.budget
        is_share = budget is not None and budget.is_share
        run = run_ladder(self._expander.iter_section(name), measure, cap * unit, self._total, protect_min=is_share)
        if not run.is_met:
            missing = -(-(run.low - run.target) // unit)
            spent = -(-run.low // unit)
            why = "its `fail` step was reached with" if run.failed is not None else "after all its steps it still has"
            fits, left = (count_noun(number, noun.removesuffix("s")) for number in (cap, spent))
            whence = name_source(budget) if budget is not None else ""
            message = f"section `{name}` does not fit its budget of {fits}{whence}: {why} {left}, {missing} too many"
            span = run.failed.span if run.failed is not None else budget.span if budget is not None else fit.section.span
            line_end = self._tell_line_end(fit, cap) if noun == "tokens" else ""
            help = f"raise the budget, or {f'trim to {cap - missing}' if line_end else 'give `overflow` a step that cuts more'}"
            self._fail(Diagnostic("PC0531", message + line_end, span, help), name, missing)
        return run

    def _run_pools(self, grants: Mapping[str, int]) -> list[tuple[Pool, int, Mapping[str, int], LadderRun]]:
        """Run the ladders of the pools; return for each the pool, its cap in tokens, its sections' charges before, and the run."""
        runs: list[tuple[Pool, int, Mapping[str, int], LadderRun]] = []
        for pool in self._strained.selection.plan.pools:
            fits = [fit for name, fit in self._fits.items() if name in pool.sections]
            entered = {fit.section.id: fit.count_charge() for fit in fits}
            cap, steps = grants[pool.ladder], self._expander.iter_steps(pool.overflow)
            run = run_ladder(steps, ChargeMeasure(*fits), cap * self._unit, self._total, protect_min=True)
            if not run.is_met:
                self._fail_pool(pool, cap, fits, run)
            runs.append((pool, cap, entered, run))
        return runs

    def _fail_pool(self, pool: Pool, cap: int, fits: Sequence[SectionLayout], run: LadderRun) -> None:
        missing, spent = self._meter.tokens(run.low - run.target), count_noun(self._meter.tokens(run.low), "token")
        shown = _show_largest([(f"`{fit.section.id}`", self._meter.tokens(fit.count_charge())) for fit in fits])
        why = "a `fail` step was reached" if run.failed is not None else "all its steps are done" if pool.overflow else "it has no steps"
        message = (
            f"the pool `{pool.name}` does not fit its `max` of {count_noun(cap, 'token')}: "
            f"{why}, and it still has {spent}, {missing} too many"
        )
        raised = "at least " if self._lacks_required(fits) else ""
        help = f"raise `max` to {raised}{cap + missing}, or give the pool's `overflow` a step that cuts more"
        span = run.failed.span if run.failed is not None else pool.span
        self._fail(Diagnostic("PC0535", f"{message} (largest: {shown})", span, help), pool.ladder, missing)

    def _tell_line_end(self, fit: SectionLayout, most: int) -> str:
        """Return a note for a single text that would fit without the line end after it; empty if that is not so."""
        alive, selected = list(fit.alive), fit.selected
        if len(alive) != 1 or self._layout.format != "text" or selected.open or selected.header or fit.marker or alive[0].item.open:
            return ""
        own = self._meter.tokens(self._meter.count(alive[0].text))
        return f"; the text alone has {own}, and the line end after it counts, too" if own <= most else ""

    def _truncate(self) -> tuple[TokenLedger, LadderRun, int]:
        """Return the ledger of the whole, the run of its ladder, and its units without those that belong to no section."""
        ledger = self._lay_whole(self._fits.values())
        target, notches = self._total * self._unit, self._expander.iter_steps(self._strained.selection.plan.truncate)
        if self._frame is None:
            run = run_ladder(notches, WholeMeasure(ledger, self._layout.fixed), target, self._total, protect_min=True)
            units = ledger.units
        else:
            frame = self._frame
            slack = self._count_slack()
            fixed = self._layout.fixed
            framed = FramedMeasure(
                ledger, fixed, self._surplus, slack, target, lambda: self._count_framed(frame, ledger, self._fits.values())
            )
            run = run_ladder(notches, framed, target, self._total, protect_min=True)
            whole = framed.count_exactly()
            run.end = whole
            units = whole - self._layout.fixed
        if not run.is_met:
            self._fail_total(run)
        return ledger, run, units

    def _lay_whole(self, fits: Iterable[SectionLayout]) -> TokenLedger:
        pay = partial(self._strained.selection.bound.run.pay, span=None, what="fitting the whole")
        ledger = TokenLedger(self._meter, self._layout.suffix, self._layout.overhead, pay)
        by_part = {fit.part: fit for fit in fits}
        for part in self._layout.order():
            if part in by_part:
                by_part[part].join(ledger)
        return ledger

    def _count_framed(self, frame: PartsCounter, ledger: TokenLedger, fits: Iterable[SectionLayout]) -> int:
        return frame.count_parts(self._layout, *_freeze_pieces(ledger, self._layout, _freeze_entries(fits)))

    def _count_surplus(self, frame: PartsCounter) -> int:
        """Return how many units the text of the chat template has beyond all charges before any step, such as tools or a date."""
        copies = [self._copy_fit(name) for name in self._fits]
        ledger = self._lay_whole(copies)
        return self._count_framed(frame, ledger, copies) - ledger.units - self._layout.fixed

    def _count_slack(self) -> int:
        """Return how far the charges may be from the text, in units, before counting the text is worthwhile."""
        return (_SLACK + sum(len(fit.entries) for fit in self._fits.values())) * self._unit

    def _fail_total(self, run: LadderRun) -> None:
        missing = self._meter.tokens(run.low - run.target)
        holding = [(name, self._meter.tokens(fit.count_charge())) for name, fit in self._fits.items() if not fit.is_empty]
        shown = self._show_largest(holding)
        # items that were not read because they cannot fit are missing too, but are not counted, and some minimums grow with the budget
        least = "at least " if any(fit.is_unread for fit in self._fits.values()) else ""
        may_lack = self._strained.selection.plan.has_growing_least or self._lacks_required(self._fits.values())
        raised = "at least " if least or may_lack else ""
        bound = self._strained.selection.bound
        needs, enough = self._total + missing, bound.whole + bound.count_more(missing)
        why = self._explain_total(holding, run, f"{least}{needs}")
        total, short = f"{count_noun(self._total, 'token')}{bound.held_back}", count_noun(missing, "token")
        message = f"the prompt does not fit the budget of {total}: {why}. That is {least}{short} too many. The largest parts: {shown}"
        section = run.failed.section if run.failed is not None else ""
        fewer = "offer fewer tools, " if self._layout.tools else ""
        is_one = len(holding) == 1 and bool(self._strained.selection.plan.truncate)
        line_end = self._tell_line_end(self._fits[holding[0][0]], self._total) if is_one else ""
        way_out = f"or trim to {self._total - missing}" if line_end else self._advise_on_total(holding)
        span = run.failed.span if run.failed is not None else self._strained.selection.plan.budget.span
        self._fail(
            Diagnostic("PC0532", message + line_end, span, f"raise the budget to {raised}{enough}, {fewer}{way_out}"),
            section,
            missing,
        )

    def _check_required(self, runs: Mapping[str, LadderRun | None]) -> None:
        """Report each required section that the steps of these ladders left nothing of, if the prompt fits: there is none without it."""
        if any(found.level == "error" for found in self._errors):
            return
        for name, fit in self._fits.items():
            if not fit.section.required or not fit.is_empty:
                continue
            cuts = [(ladder, one) for ladder, run in runs.items() if run is not None for one in run.applied if one.fit is fit]
            ladder, last = cuts[-1]
            is_chars = ladder == name and isinstance(self._choose_target(fit, {})[0], CharsMeasure)
            missing = last.needs if is_chars else self._meter.tokens(last.needs)
            message = f"the required section `{name}` has no content left: this `{last.step.rule}` removed the last of it"
            wanted = self._strained.selection.bound.count_more(missing) if ladder == "truncate" else missing
            more = count_noun(wanted, "character" if is_chars else "token")
            room = f"; it takes at least {more} more to keep some of it" if missing else ""
            help = "let the steps keep something, as `evict: {floor: 1}` does, or remove `required`"
            self._fail(Diagnostic("PC0518", message + room, last.step.span, help), name, missing)

    def _lacks_required(self, fits: Iterable[SectionLayout]) -> bool:
        """Return whether steps left nothing of a required section, so that what is enough for the rest gives no prompt yet."""
        return any(fit.section.required and fit.is_empty for fit in fits)

    def _show_largest(self, holding: Sequence[tuple[str, int]]) -> str:
        held = [(f"`{name}`", tokens) for name, tokens in holding]
        if self._layout.offer:
            held.append((self._layout.offer, self._layout.offered))
        return _show_largest(held)

    def _explain_total(self, holding: Sequence[tuple[str, int]], run: LadderRun, needs: str) -> str:
        """Return why the total is exceeded; `needs` is what everything that stays needs, with what frames it."""
        offered = self._layout.offered if self._layout.offer else 0
        if offered > self._total:
            return f"{self._layout.offer} alone need{'' if self._layout.tools else 's'} {offered}, and all that stays needs {needs}"
        if all(self._fits[name].section.pinned for name, _ in holding):
            return f"pinned content with {self._layout.offer} needs {needs}" if offered else f"pinned content alone needs {needs}"
        why = "all steps of `truncate` are done" if run.failed is None else "a `fail` step was reached"
        if not self._strained.selection.plan.truncate:
            why = "there is no `truncate`, so nothing may be cut"
        return f"{why}, and what stays needs {needs}"

    def _advise_on_total(self, holding: Sequence[tuple[str, int]]) -> str:
        """Return advice on what to make smaller: what is pinned, or what `truncate` names."""
        loose = [name for name, tokens in sorted(holding, key=lambda pair: (-pair[1], pair[0])) if not self._fits[name].section.pinned]
        if self._strained.selection.plan.truncate or not loose:
            return "shorten what is pinned, or let `truncate` cut more"
        return f"or say what may be cut, the least important first: `truncate: [{', '.join(loose[:3])}]`"


def name_source(budget: Budget) -> str:
    """Return what sets a cap, worded to follow the cap in a message; empty if the manifest sets it."""
    return f" by `{budget.source.text.strip()}`" if budget.source is not None else ""


def _show_largest(held: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {tokens}" for name, tokens in sorted(held, key=lambda pair: (-pair[1], pair[0]))[:4])


def _has_no_grant(budget: Budget) -> bool:
    """Return whether nothing grants or caps a section's tokens: its budget is a `min` alone, or in characters."""
    return not budget.is_share if budget.cap is None else budget.cap.unit == "chars"


# --- shares ---


def count_shares(percents: Mapping[str, Claim], grows: Mapping[str, Claim], room: int) -> dict[str, int]:
    """Return the tokens granted to each share section out of `room` tokens above the floors: percentages first, then `grow` from the rest.

    Each grant lies between its floor and its ceiling (a floor above its ceiling wins) and never falls when only `room` rises.
    """
    left = Ratio(max(0, room))
    given = _fill(percents, left)
    for name, share in given.items():
        left -= share - percents[name].floor
    given |= _fill(grows, left)
    return {name: int(share) for name, share in given.items()}


def _fill(claims: Mapping[str, Claim], room: Ratio) -> dict[str, Ratio]:
    """Fill claims max-min fair: at the highest level at which what exceeds the floors sums to at most `room`."""
    rising = [claim for claim in claims.values() if claim.weight]  # a share of 0 % stays at its floor
    if room <= 0 or not rising:
        return {name: Ratio(claim.floor) for name, claim in claims.items()}
    level = _find_level(rising, room)
    return {name: _share(claim, level) if claim.weight else Ratio(claim.floor) for name, claim in claims.items()}


def _share(claim: Claim, level: Ratio | None) -> Ratio:
    floor = Ratio(claim.floor)
    top = max(floor, claim.ceiling)
    return top if level is None else min(max(floor, claim.weight * level), top)


def _find_level(claims: Sequence[Claim], room: Ratio) -> Ratio | None:
    """Return the level, found on the breakpoints floor/weight and ceiling/weight (linear between); None if every claim gets its ceiling."""
    points = sorted({end / claim.weight for claim in claims for end in (Ratio(claim.floor), _share(claim, None))})
    low = spent = Ratio(0)
    for point in points:
        wanted = sum((_share(claim, point) - claim.floor for claim in claims), Ratio(0))
        if wanted > room:
            slope = sum((claim.weight for claim in claims if _share(claim, point) > _share(claim, low)), Ratio(0))
            return low + (room - spent) / slope
        low, spent = point, wanted
    return None


# --- what leaves ---


def _freeze_entries(fits: Iterable[SectionLayout]) -> dict[Entry, FittedItem]:
    left: dict[Entry, FittedItem] = {}
    for fit in fits:
        pieces = fit.list_pieces()
        for one in fit.entries:
            fields = (one.item, one.text, one.form, one.kept, one.run, pieces[one].units + one.item.beyond, one.is_made, one.is_alive)
            left[one] = _new(FittedItem, fields)
    return left


def _freeze_section(fit: SectionLayout, left: Mapping[Entry, FittedItem]) -> FittedSection:
    entries = tuple([left[entry] for entry in fit.entries])
    alive = entries if fit.count_alive() == len(entries) else tuple([one for one in entries if one.is_alive])
    return FittedSection(fit.selected, entries, alive, fit.marker, fit.is_marked_below, fit.is_dropped)


def _freeze_run(run: LadderRun, left: Mapping[Entry, FittedItem]) -> LadderResult:
    void = tuple([(step, tuple([entry.item.id for entry in act.entries])) for step, act in run.void])
    passed_over = tuple([(step, tuple([entry.item.id for entry in act.passed_over])) for step, act in run.passed_over])
    applied = tuple([_freeze_act(one, left) for one in run.applied])
    return LadderResult(run.target, run.start, run.low, run.tried, applied, void, passed_over, run.failed)


def _freeze_act(one: AppliedAct, left: Mapping[Entry, FittedItem]) -> Applied:
    act, edit = one.act, next(iter(one.act.edits), None)
    cut = edit.cut if edit is not None else None
    fields = (
        one.step,
        one.fit.section.id,
        act.why,
        one.before,
        one.after,
        one.needs,
        tuple([left[entry] for entry in act.gone]),
        one.added,
        act.made,
        left[edit.entry] if edit is not None else None,
        CutPlace(cut.start, cut.stop, cut.middle) if cut is not None else None,
        act.boundary,
        act.level,
        tuple(act.moves),
        one.counted,
        one.slid,
        act.call,
    )
    return _new(Applied, fields)


def _freeze_pieces(
    ledger: TokenLedger, layout: Layout, left: Mapping[Entry, FittedItem]
) -> tuple[tuple[Part, ...], tuple[str, ...], tuple[Tool, ...]]:
    """Return the parts of the output, the role of each message, and the tools.

    Each `output.separator` is a part of its own. Deferred tools come last: they then never move a tool that is not deferred.
    """
    parts: list[Part] = []
    roles: list[str] = []
    tools = list(layout.tools)
    separator, last = layout.separator, None
    for piece in ledger:
        section = layout.sections[piece.part]
        item = left[piece.owner] if isinstance(piece.owner, Entry) else None
        if item is not None and item.item.tool is not None:
            tools.append(item.item.tool)
            continue
        if piece.message != last:
            last = piece.message
            roles.append(layout.choose_role(section, item.item.role if item is not None else "") if layout.format == "messages" else "")
        follower, index = piece.next, len(roles) - 1
        if not separator or follower is None or follower.part == piece.part or follower.message != last:
            parts.append(Part(piece.kind, section.id, piece.body + piece.suffix, index, item))
        else:
            parts.append(Part(piece.kind, section.id, piece.body + piece.suffix.removesuffix(separator), index, item))
            parts.append(Part("separator", section.id, separator, index))
    return tuple(parts), tuple(roles), tuple(sorted(tools, key=lambda one: one.is_deferred))
