"""Budgets over many states: how they are used (`measure_use`, `sweep_total`), and a search for better ones (`Tuner.search`).

*Content kept* is one whole number: for each section of each prompt, the tokens that the section wanted and still has, times the section's
weight. The search compiles about half of the states with other budgets, and judges the result by the others, which it has never seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from statistics import median_low

from promptc.api import Pack
from promptc.diag.findings import Diagnostic, PromptcError, UsageError, offer_names, suggest
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.explain.items import count_tokens_held
from promptc.frontend.json import JsonDocument
from promptc.frontend.manifest import Try, find_value, list_pools
from promptc.golden.cases.case import Case
from promptc.golden.running.run import compile_turns, list_options, read_state
from promptc.model.state import Node, State
from promptc.passes.bind import find_cap
from promptc.passes.fit.result import Fitted
from promptc.pipeline import Outcome
from promptc.text.json import render_json_line
from promptc.workshop.page import open_case
from promptc.workshop.splice import list_unwritable

Note = Callable[[int, int], None]
"""Called with the number of works that are done and the number of all works."""

_SHARE = re.compile(r"([0-9]{1,3})%")
_SIZES = ("tokens", "chars", "max", "min")
"""The keys of a section's budget whose values are sizes."""

_PASSES = 3
_QUANTILES = (50, 75, 90, 100)
_FACTORS = ((1, 2), (3, 4), (5, 4), (3, 2), (2, 1))
_LEAST_GAIN = 1000
"""A change is worth making if it increases the content kept by at least one part in this many."""

_TOTALS = ((1, 4), (1, 2), (5, 8), (3, 4), (7, 8), (1, 1), (9, 8), (5, 4), (3, 2), (2, 1), (3, 1), (4, 1))
_MOST_BELOW = 6
"""How many totals below the knee to show."""

_FEW = 3
"""Each half has at least one in this many of the states."""

_MOST_TRIED = 100
"""The most states of a half to render: the first by their digests."""


# --- renders ---


@frozen(eq=False)
class TunedState:
    """A named state, or the turns of a session.

    `render` yields the prompts that a pack makes of it, with another total if one is given; it raises `PromptcError` if the pack refuses
    the state. `is_fixed` means that no turn depends on the outcome of an earlier turn.
    """

    name: str
    render: Callable[[Pack, int | None], Iterable[Outcome]]
    is_fixed: bool = False


def make_tuned(name: str, states: Sequence[State], options: Mapping[str, Any]) -> TunedState:
    """Return a state, or several consecutive states, rendered with these options of `Pack.compile`."""

    def render(pack: Pack, budget: int | None) -> Iterator[Outcome]:
        asked = options if budget is None else {**options, "budget": budget}
        return (pack.compile(state, **asked) for state in states)

    return TunedState(name, render, is_fixed=True)


def load_tuned(case: Case, pack: Pack) -> TunedState:
    """Return the state or the turns of a case. Raises `PromptcError` if they are faulty.

    A case that carries state or is given files gets a new environment for each render. The states of other cases are read once.
    """
    if case.given or case.carry:

        def render(pack: Pack, budget: int | None) -> Iterator[Outcome]:
            with open_case(case, pack) as environment:
                yield from compile_turns(case, environment, len(case.states) - 1, {} if budget is None else {"budget": budget})

        return TunedState(case.name, render)
    with open_case(case, pack) as environment:
        documents = list[JsonDocument]()
        for turn in range(len(case.states)):
            documents.append(read_state(case, turn, environment, documents[-1] if documents else None))
        states = [pack.load_document(one) for one in documents]
        return make_tuned(case.name, states, list_options(case, environment))


@frozen
class SectionFigures:
    """One section in one prompt, in tokens: demand before any step, final size, and losses to the tier, its cap, its pool and the total.

    `cap` is the cap of its budget (None if it has no cap), and `size` is how much of the cap it wanted: both in characters if `in_chars`.
    If its list was read only as far as there was room, it `is_partial` and wants at least this much.
    """

    wanted: int
    held: int
    to_tier: int
    to_cap: int
    to_pool: int
    to_total: int
    cap: int | None
    size: int
    in_chars: bool
    is_partial: bool
    pinned: bool


@frozen
class PromptFigures:
    """The figures of one prompt; `tokens` is None if it does not fit. `pools` has the cap of each pool and the demand of its sections."""

    digest: str
    budget: int
    tokens: int | None
    wanted: int
    sections: Mapping[str, SectionFigures]
    pools: Mapping[str, tuple[int, int]]

    @property
    def to_total(self) -> int:
        """The tokens that were cut to fit the total."""
        return sum(one.to_total for one in self.sections.values())

    def count_left(self) -> int:
        """Return the tokens that the total leaves of what is wanted; none of a prompt that does not fit."""
        return self.wanted - self.to_total if self.tokens is not None else 0

    def count_kept(self, weights: Mapping[str, int]) -> int:
        """Return the content that is kept; none of a prompt that does not fit."""
        return sum(min(one.held, one.wanted) * weights.get(name, 1) for name, one in self.sections.items())

    def count_wanted(self, weights: Mapping[str, int]) -> int:
        """Return the content that would be kept if nothing were cut."""
        return sum(one.wanted * weights.get(name, 1) for name, one in self.sections.items())


Measured = Sequence[Sequence[PromptFigures]]
"""The prompts of each state."""


def measure_state(state: TunedState, pack: Pack, budget: int | None = None) -> tuple[PromptFigures, ...]:
    """Return the figures of a state's prompts. Raises `PromptcError` if the pack refuses the state."""
    return tuple(_measure_prompt(one) for one in state.render(pack, budget))


def _measure_prompt(outcome: Outcome) -> PromptFigures:
    fitted, meter = outcome.fitted, outcome.fitted.layout.meter
    bound = fitted.strained.selection.bound
    sections = {one.section.id: _measure_section(outcome, one.section.id) for one in fitted.strained.selection.sections}
    pools = {one.pool.name: (one.cap, meter.tokens(one.run.start)) for one in fitted.pools}
    wanted = meter.tokens(sum(fitted.demand.values()) + fitted.layout.fixed)
    return PromptFigures(bound.state.digest, bound.total, outcome.tokens, wanted, sections, pools)


def _measure_section(outcome: Outcome, name: str) -> SectionFigures:
    fitted, tokens = outcome.fitted, outcome.fitted.layout.meter.tokens
    selected = fitted.strained.selection.find_selected(name)
    assert selected is not None
    wanted = tokens(fitted.demand.get(name, 0))
    held = count_tokens_held(fitted, name) if outcome.emitted is not None else 0
    pooled = next((one.entered[name] for one in fitted.pools if name in one.entered), None)
    behind = tokens(fitted.charges.get(name, 0))
    entered = tokens(pooled) if pooled is not None else behind
    own = max(0, wanted - entered)
    section = selected.section
    cap = find_cap(section, fitted.strained.selection.bound)
    done, ladder = fitted.done, fitted.ladders.get(name)
    is_cut = ladder is not None and bool(ladder.applied)
    is_strained = done is not None and any(cut.section == name for cut in done.applied) and not is_cut
    by_tier = own if is_strained or (cap is None and not is_cut) else 0
    lost = (by_tier, own - by_tier, max(0, entered - behind), max(0, behind - held) if outcome.emitted is not None else 0)
    in_chars = section.budget is not None and section.budget.cap is not None and section.budget.cap.unit == "chars"
    size = _count_chars(fitted, name) if in_chars else wanted
    return SectionFigures(wanted, held, *lost, cap, size, in_chars, selected.is_partial, section.pinned)


def _count_chars(fitted: Fitted, name: str) -> int:
    """Return how many characters a section with a cap in characters wanted."""
    run, fit = fitted.ladders.get(name), fitted.sections.get(name)
    if run is not None:
        return int(run.start)
    return sum(len(one.text) for one in fit.alive) if fit is not None else 0


# --- what the budgets come to ---


@frozen
class BudgetUse:
    """The use of one budget over all prompts.

    `cap` is its largest cap, or None if it has no cap; `most` and `median` are the sizes that were wanted. `wanted` and `kept` are the
    content before and after cuts, in tokens. `cut` is the number of prompts in which anything was cut, and `by` is the cause of most of the
    cuts. `wasted` is the part of the cap that no prompt wanted. With the unit `chars`, cap and sizes are in characters.
    """

    name: str
    kind: Literal["section", "pool", "total"]
    unit: Literal["tokens", "chars"]
    cap: int | None
    most: int
    median: int
    wanted: int
    kept: int
    cut: int
    by: str
    wasted: int


def measure_use(pack: Pack, measured: Measured) -> tuple[BudgetUse, ...]:
    """Return the use of the sections, the pools and the total by the prompts that fit, in the order of the manifest.

    If no prompt fits, return what all of them wanted. There must be at least one prompt.
    """
    made = [one for prompts in measured for one in prompts]
    prompts = [one for one in made if one.tokens is not None] or made
    names = [name for name in pack.model.sections if any(name in one.sections for one in prompts)]
    pools = list(dict.fromkeys(name for one in prompts for name in one.pools))
    return (
        *(_sum_section(name, [one.sections[name] for one in prompts if name in one.sections]) for name in names),
        *(_sum_cap(name, "pool", [(*one.pools[name], min(one.pools[name])) for one in prompts if name in one.pools]) for name in pools),
        _sum_cap("budget", "total", [(one.budget, one.wanted, one.count_left()) for one in prompts]),
    )


def _sum_section(name: str, figures: Sequence[SectionFigures]) -> BudgetUse:
    caps, sizes = [one.cap for one in figures if one.cap is not None], [one.size for one in figures]
    lost = {
        "its tier": sum(one.to_tier for one in figures),
        "its cap": sum(one.to_cap for one in figures),
        "its pool": sum(one.to_pool for one in figures),
        "the total": sum(one.to_total for one in figures),
    }
    by = max(lost, key=lambda name: lost[name]) if any(lost.values()) else ""
    return BudgetUse(
        name,
        "section",
        "chars" if figures[0].in_chars else "tokens",
        max(caps, default=None),
        max(sizes),
        median_low(sizes),
        sum(one.wanted for one in figures),
        sum(min(one.held, one.wanted) for one in figures),
        sum(one.held < one.wanted for one in figures),
        by,
        max(0, min(caps) - max(sizes)) if caps else 0,
    )


def _sum_cap(name: str, kind: Literal["pool", "total"], figures: Sequence[tuple[int, int, int]]) -> BudgetUse:
    """Return the use of a pool or the total. `figures` has, for each prompt, the cap, the size wanted and the size kept."""
    caps, wanted, kept = ([one[at] for one in figures] for at in range(3))
    cut = sum(left < asked for _, asked, left in figures)
    wasted = max(0, min(caps) - max(wanted))
    return BudgetUse(name, kind, "tokens", max(caps), max(wanted), median_low(wanted), sum(wanted), sum(kept), cut, "", wasted)


# --- the total ---


@frozen
class TotalPoint:
    """All prompts with one total: the content kept, how many prompts had anything cut, and how many do not fit."""

    budget: int
    kept: int
    cut: int
    unfit: int


@frozen
class TotalSweep:
    """Points in rising order of the total.

    `own` is the total that the prompts have, or the median of their totals. `knee` is the least total from which no larger one keeps more,
    or None if it was not reached. `spread` are the least and the largest total that a prompt has.
    """

    own: int
    wanted: int
    points: tuple[TotalPoint, ...]
    knee: int | None
    spread: tuple[int, int] = (0, 0)


def sweep_total(pack: Pack, states: Sequence[TunedState], own: int, weights: Mapping[str, int], note: Note) -> TotalSweep:
    """Measure the content kept with other totals, and find the total at which it stops growing.

    Totals are rounded up to two significant digits. The knee is found by bisection.
    """
    points: dict[int, TotalPoint] = {}
    wanted = largest = 0

    def measure(budget: int) -> TotalPoint:
        nonlocal wanted, largest
        if budget not in points:
            prompts = [one for state in states for one in _try_state(state, pack, budget)]
            wanted = max(wanted, sum(one.count_wanted(weights) for one in prompts))
            largest = max(largest, *(one.wanted for one in prompts), 0)
            cut = sum(any(each.held < each.wanted for each in one.sections.values()) for one in prompts)
            kept = sum(one.count_kept(weights) for one in prompts)
            points[budget] = TotalPoint(budget, kept, cut, sum(one.tokens is None for one in prompts))
            note(len(points), max(len(_TOTALS) + 6, len(points) + 1))
        return points[budget]

    totals = sorted({own if part == (1, 1) else round_up(own * part[0] // part[1]) for part in _TOTALS})
    for at, budget in enumerate(totals):
        if budget > own and measure(budget).kept == measure(totals[at - 1]).kept and not measure(budget).unfit:
            break
        measure(budget)
    if points[max(points)].unfit and round_up(largest) > max(points):
        measure(round_up(largest))  # pinned sections may want many times the total
    last = max(points)
    most = points[last].kept
    while points[min(points)].kept == most > 0 and min(points) > 1:
        measure(round_up(min(points) // 2))
    knee = next(one for one in sorted(points) if points[one].kept == most)
    low = max((one for one in points if one < knee), default=knee)
    while low < (middle := round_up((low + knee) // 2)) < knee:
        low, knee = (low, middle) if measure(middle).kept == most else (middle, knee)
    below = sorted(one for one in points if one < knee)[-_MOST_BELOW:]
    shown = tuple(points[one] for one in sorted({*below, knee, own, last}))
    return TotalSweep(own, wanted, shown, knee if knee < last else None)


def _try_state(state: TunedState, pack: Pack, budget: int) -> Sequence[PromptFigures]:
    try:
        return measure_state(state, pack, budget)
    except PromptcError:
        return ()


def round_up(number: int) -> int:
    """Return the least number with two significant digits that is not smaller than `number`."""
    unit: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // unit) * unit


# --- other budgets ---


@frozen
class Knob:
    """A size in the manifest that can be changed: its path, its owner (such as `sections.lore`), its present number and its unit."""

    path: str
    owner: str
    value: int
    unit: Literal["tokens", "chars", "%"]

    def spell(self, value: int) -> str:
        """Return the value as it is written in the manifest."""
        return f"{value}%" if self.unit == "%" else str(value)


@frozen
class TunedValue:
    """A value that a suggestion changes, and the content kept on the held-out states without and with the change."""

    path: str
    old: str
    new: str
    kept: tuple[int, int]


@frozen
class KeptScore:
    """The content wanted and kept over the prompts of some states, and the tokens of these prompts."""

    states: int
    prompts: int
    wanted: int
    kept: int
    tokens: int
    sections: Mapping[str, int] = field(default_factory=dict)


@frozen
class Suggestion:
    """Changes that keep more content, with the scores before and after them for both halves of the states.

    `changes` is empty if nothing keeps more than the file. `unproven` are changes that keep more of the first half only. With those in
    `lossy`, some state would lose a prompt that fits, or something pinned. `fixed` are the paths of values that cannot be written, with
    reasons.
    """

    changes: tuple[TunedValue, ...]
    trained: tuple[KeptScore, KeptScore]
    held: tuple[KeptScore, KeptScore]
    unproven: tuple[TunedValue, ...]
    lossy: tuple[Try, ...]
    fixed: tuple[Try, ...]

    @property
    def tries(self) -> tuple[Try, ...]:
        """The changes in the form in which a pack is tried or written."""
        return tuple((one.path, one.new) for one in self.changes)


@frozen
class Wishes:
    """The author's wishes: weights of sections, owners whose budgets stay, and the largest total to suggest (0 keeps the total)."""

    weights: Mapping[str, int] = field(default_factory=dict)
    pins: tuple[str, ...] = ()
    most_total: int = 0


def check_wishes(pack: Pack, wishes: Wishes) -> None:
    """Check that the pack has the sections and pools in the wishes. Raises `UsageError` (PC0718) otherwise."""
    known = [f"sections.{name}" for name in pack.model.sections] + [f"pools.{name}" for name, _ in list_pools(pack.model.manifest)]
    for name in (*(f"sections.{one}" for one in wishes.weights), *wishes.pins):
        if name not in known:
            raise UsageError([Diagnostic("PC0718", f"the pack has no `{name}`", help=suggest(name, known) or offer_names(known))])


def split_states(measured: Measured) -> tuple[list[int], list[int]]:
    """Return the indexes of the states to search on and of the states to judge by. Equal states are on the same side.

    A state's digest decides its side, so adding or removing other states does not move it. If this leaves too few states on one side, they
    are dealt out in the order of their digests. Each side has at most `_MOST_TRIED` states.
    """
    digests = ["+".join(one.digest for one in prompts) for prompts in measured]
    distinct = sorted(set(digests))
    chosen = {one for one in distinct if int(one[-1], 16) % 2}
    if min(len(chosen), len(distinct) - len(chosen)) * _FEW < len(distinct):
        chosen = set(distinct[::2])
    order = sorted(range(len(digests)), key=lambda at: (digests[at], at))
    halves = [at for at in order if digests[at] in chosen], [at for at in order if digests[at] not in chosen]
    return halves[0][:_MOST_TRIED], halves[1][:_MOST_TRIED]


class Tuner:
    """Renders states with other budgets and scores the results.

    `states` are the states that the pack renders, and `measured` are their figures with the pack unchanged.
    """

    def __init__(self, pack: Pack, path: str, states: Sequence[TunedState], measured: Measured, wishes: Wishes) -> None:
        """Check the wishes and split the states. Raises what `check_wishes` raises."""
        check_wishes(pack, wishes)
        self._pack, self._path, self._states, self._measured, self._wishes = pack, path, states, measured, wishes
        self._train, self._judge = split_states(measured)
        self._known: dict[tuple[int, tuple[int | None, ...]], Sequence[PromptFigures]] = {}

    def score(self, tries: Sequence[Try]) -> Suggestion:
        """Score given changes by all states, as no search has seen any of them.

        Raises what `Pack.tried` raises, and `PromptcError` if the changed pack refuses a state.
        """
        own = self._sum(self._measured)
        with self._pack.tried(tries) as pack:
            after = self._sum([measure_state(one, pack) for one in self._states])
        olds = [find_value(self._pack.model.manifest, path) for path, _ in tries]
        changes = tuple(
            TunedValue(path, one.raw or render_json_line(one.plain()) if one is not None else "", new, (own.kept, after.kept))
            for (path, new), one in zip(tries, olds, strict=True)
        )
        return Suggestion(changes, (self._sum([]), self._sum([])), (own, after), (), (), ())

    def search(self, note: Note) -> Suggestion:
        """Find the changes that keep the most of the first half of the states, and drop those that do not keep more of the second half.

        All states are rendered with the changes that are left: none takes anything from what is pinned or makes a prompt that fits stop
        fitting. A value that would is replaced by the nearest one that does not.
        """
        own = self._sum([self._measured[at] for at in self._train])
        chosen, best = dict[Knob, int](), own
        works = sum(len(self._list_values(knob)) for knob in self._knobs)
        for passed in range(_PASSES):
            before = dict(chosen)
            chosen, best = self._improve(chosen, best, partial(_note_pass, note, passed, works))
            if chosen == before:
                break
        changes, unproven, lossy = list[TunedValue](), list[TunedValue](), list[Try]()
        first = judged = self._sum([self._measured[at] for at in self._judge])
        kept = dict[Knob, int]()
        for knob, wanted in chosen.items():
            value = self._find_safe(knob, wanted, kept)
            if value != wanted:
                lossy.append((knob.path, knob.spell(wanted)))
            after = self._try({**kept, knob: value}, self._judge) if value is not None else None
            if value is None or after is None:
                continue
            change = TunedValue(knob.path, knob.spell(knob.value), knob.spell(value), (judged.kept, after.kept))
            if after.kept > judged.kept:
                changes.append(change)
                kept[knob], judged = value, after
            else:
                unproven.append(change)
        trained = self._try(kept, self._train)
        assert trained is not None
        return Suggestion(tuple(changes), (own, trained), (first, judged), tuple(unproven), tuple(lossy), tuple(self._unwritable.items()))

    def _find_safe(self, knob: Knob, wanted: int, kept: Mapping[Knob, int]) -> int | None:
        """Return the value nearest to `wanted`, on the way from the file's, with which no state at all loses what `_holds` asks for."""
        low, high = sorted((knob.value, wanted))
        values = (one for one in self._list_values(knob) if low <= one <= high and one != knob.value)
        nearest = sorted(values, key=lambda one: abs(one - wanted))
        return next((one for one in nearest if self._try({**kept, knob: one}, range(len(self._states))) is not None), None)

    def _improve(self, chosen: Mapping[Knob, int], best: KeptScore, note: Callable[[int], None]) -> tuple[dict[Knob, int], KeptScore]:
        """Pass over all knobs once. Set each to the value that keeps the most; among equals, to the one nearest to the file's."""
        found, done = dict(chosen), 0
        for knob in self._knobs:
            others = {one: value for one, value in found.items() if one != knob}
            for value in self._list_values(knob):
                tried = {**others, knob: value} if value != knob.value else others
                after = self._try(tried, self._train)
                if after is not None and (after.kept - best.kept) * _LEAST_GAIN > best.kept:
                    best, found = after, tried
                done += 1
                note(done)
        return found, best

    def _try(self, values: Mapping[Knob, int], half: Sequence[int]) -> KeptScore | None:
        """Return the score of one half of the states with these values; None if something pinned, or a prompt that fits, would be lost."""
        measured = []
        try:
            with self._pack.tried([(knob.path, knob.spell(value)) for knob, value in values.items()]) as pack:
                for at in half:
                    measured.append(self._measure(at, values, pack))
                    if not self._holds(self._measured[at], measured[-1]):
                        return None
        except PromptcError:
            return None
        return self._sum(measured)

    def _measure(self, at: int, values: Mapping[Knob, int], pack: Pack) -> Sequence[PromptFigures]:
        """Return the figures of a state with these values. Values that make no difference to the state share one render."""
        if self._list_telling(at, values) == self._list_telling(at, {}):
            return self._measured[at]
        key = at, self._list_telling(at, values)
        if key not in self._known:
            self._known[key] = measure_state(self._states[at], pack)
        return self._known[key]

    def _list_telling(self, at: int, values: Mapping[Knob, int]) -> tuple[int | None, ...]:
        """Return the value of each knob, with None for those that make no difference to a state."""
        is_fixed = self._states[at].is_fixed
        sizes = [(knob, values.get(knob, knob.value)) for knob in self._knobs]
        return tuple(None if is_fixed and self._is_idle(at, knob, size) else size for knob, size in sizes)

    def _is_idle(self, at: int, knob: Knob, value: int) -> bool:
        """Return whether a budget of this size leaves a state's sections whole, so that its exact value makes no difference.

        A section's demand does not depend on caps. Pressure depends on caps in tokens, so with strain tiers only sizes in characters can be
        idle.
        """
        kind, _, name = knob.owner.partition(".")
        if kind != "sections" or knob.unit == "%" or (self._pack.model.strain and knob.unit != "chars"):
            return False
        met = [one.sections[name] for one in self._measured[at] if name in one.sections]
        return all(one.size <= value and not one.is_partial for one in met)

    def _holds(self, before: Sequence[PromptFigures], after: Sequence[PromptFigures]) -> bool:
        """Return whether each prompt that fits still fits, and all that is pinned is as large as before."""
        pins = {one.removeprefix("sections.") for one in self._wishes.pins}
        for old, new in zip(before, after, strict=False):
            if old.tokens is not None and new.tokens is None:
                return False
            for name, one in old.sections.items():
                if (one.pinned or name in pins) and (name not in new.sections or new.sections[name].held < one.held):
                    return False
        return len(after) >= len(before)

    def _sum(self, measured: Measured) -> KeptScore:
        prompts, weights = [one for prompts in measured for one in prompts], self._wishes.weights
        names = dict.fromkeys(name for one in prompts for name in one.sections)
        held = {name: sum(one.sections[name].held for one in prompts if name in one.sections) for name in names}
        return KeptScore(
            len(measured),
            len(prompts),
            sum(one.count_wanted(weights) for one in prompts),
            sum(one.count_kept(weights) for one in prompts),
            sum(one.tokens or 0 for one in prompts),
            held,
        )

    # --- what may be changed, and to what ---

    @cached_property
    def _knobs(self) -> list[Knob]:
        return [one for one in self._asked if one.path not in self._unwritable]

    @cached_property
    def _asked(self) -> list[Knob]:
        found = list_knobs(self._pack.model.manifest)
        return [one for one in found if one.owner not in self._wishes.pins and (one.owner != "budget" or self._wishes.most_total)]

    @cached_property
    def _unwritable(self) -> Mapping[str, str]:
        return list_unwritable(self._path, [one.path for one in self._asked])

    def _list_values(self, knob: Knob) -> list[int]:
        """Return the values to try, nearest first: sizes that the first half of the states want, and fractions of the file's value."""
        wanted = sorted(self._list_wanted(knob)) or [knob.value]
        sizes = {round_up(wanted[(len(wanted) - 1) * one // 100]) for one in _QUANTILES}
        parts = {round_up(knob.value * over // under) for over, under in _FACTORS}
        most = self._wishes.most_total if knob.owner == "budget" else 100 if knob.unit == "%" else max(knob.value, round_up(wanted[-1]))
        values = {one for one in (*sizes, *parts, *([most] if knob.owner == "budget" else [])) if 0 < one <= most} | {knob.value}
        return sorted(values, key=lambda one: (abs(one - knob.value), one))

    def _list_wanted(self, knob: Knob) -> Iterator[int]:
        """Yield the size that each prompt of the first half wants of this budget."""
        kind, _, name = knob.owner.partition(".")
        for at in self._train:
            for one in self._measured[at]:
                size = one.wanted if kind == "budget" else one.pools[name][1] if kind == "pools" and name in one.pools else 0
                size = one.sections[name].size if kind == "sections" and name in one.sections else size
                if size:
                    yield -(-size * 100 // one.budget) if knob.unit == "%" else size


def _note_pass(note: Note, passed: int, works: int, done: int) -> None:
    note(passed * works + done, (passed + 1) * works)


def list_knobs(manifest: Node) -> list[Knob]:
    """Return the sizes in the budgets of the sections, the pools and the total, in this order."""
    found: list[Knob] = []
    for name, section in manifest.value["sections"].items():
        budget = section.get("budget")
        if budget is not None:
            found += _iter_knobs(f"sections.{name}.budget", f"sections.{name}", budget)
    for name, pool in list_pools(manifest):
        found += _iter_knobs(f"pools.{name}.max", f"pools.{name}", pool.value["max"])
    total = manifest.value["budget"]
    context = total.get("context") if isinstance(total.value, dict) else total
    path = "budget.context" if isinstance(total.value, dict) else "budget"
    return [*found, *(_iter_knobs(path, "budget", context) if context is not None else ())]


def _iter_knobs(path: str, owner: str, node: Node) -> Iterator[Knob]:
    if isinstance(node.value, dict):
        for key in _SIZES:
            inner = node.get(key)
            if inner is not None:
                yield from (replace(one, unit="chars") if key == "chars" else one for one in _iter_knobs(f"{path}.{key}", owner, inner))
        return
    share = _SHARE.fullmatch(node.value) if isinstance(node.value, str) else None
    if share is not None:
        yield Knob(path, owner, int(share[1]), "%")
    elif type(node.value) is int:
        yield Knob(path, owner, node.value, "tokens")
