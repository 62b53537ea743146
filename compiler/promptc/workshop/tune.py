"""Budgets over many states: what they come to (`measure_use`, `sweep_total`), and other ones that keep more (`search`).

*Content kept* is one whole number: of each prompt the tokens that a section wanted and holds, times the section's weight. Settings are
searched on one half of the states by the compiler itself, and judged on the other half, which the search has never seen.
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
from promptc.workshop.page import open_case
from promptc.workshop.splice import list_unwritable

Note = Callable[[int, int], None]
"""Is told how many of how many works are done."""

_SHARE = re.compile(r"([0-9]{1,3})%")
_SIZES = ("tokens", "chars", "max", "min")
"""The keys of a section's budget that hold a size."""

_PASSES = 3
_QUANTILES = (50, 75, 90, 100)
_FACTORS = ((1, 2), (3, 4), (5, 4), (3, 2), (2, 1))
_LEAST_GAIN = 1000
"""A change is worth a line of the file if it keeps at least one part in so many more."""

_TOTALS = ((1, 4), (1, 2), (5, 8), (3, 4), (7, 8), (1, 1), (9, 8), (5, 4), (3, 2), (2, 1), (3, 1), (4, 1))
_MOST_BELOW = 6
"""Totals below the knee that are shown."""

_FEW = 3
"""A half has at least one in so many of the states."""

_MOST_TRIED = 100
"""States of a half that are rendered again and again: the first by their digests."""


# --- renders ---


@frozen(eq=False)
class TunedState:
    """A state, or the turns of a session, by its name. `render` gives its prompts by a pack, with another total where one is given; it
    raises `PromptcError` for what the pack refuses. `is_fixed` where no turn depends on what became of the ones before.
    """

    name: str
    render: Callable[[Pack, int | None], Iterable[Outcome]]
    is_fixed: bool = False


def make_tuned(name: str, states: Sequence[State], options: Mapping[str, Any]) -> TunedState:
    """A state, or several that follow each other, rendered with these options of `Pack.compile`."""

    def render(pack: Pack, budget: int | None) -> Iterator[Outcome]:
        asked = options if budget is None else {**options, "budget": budget}
        return (pack.compile(state, **asked) for state in states)

    return TunedState(name, render, is_fixed=True)


def load_tuned(case: Case, pack: Pack) -> TunedState:
    """The state, or the turns, of a case. What they are given is made anew for each render; states without that are read once. Raises
    `PromptcError` for what is wrong with them.
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
    """What one section came to in one prompt, in tokens: `wanted` before any step, `held` in the end, and what it lost to its own steps, to
    its pool and to the total.

    `cap` and `size` are what its budget allows and what it wanted of that: in characters with a cap `in_chars`. None: no cap.
    Of a list that was read no further than there is room, it `is_partial` and wants at least so much.
    """

    wanted: int
    held: int
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
    """What one prompt came to; `tokens` is None where it does not fit. `pools` are the cap of each, and what its sections wanted of it."""

    digest: str
    budget: int
    tokens: int | None
    wanted: int
    sections: Mapping[str, SectionFigures]
    pools: Mapping[str, tuple[int, int]]

    @property
    def to_total(self) -> int:
        """What the total took."""
        return sum(one.to_total for one in self.sections.values())

    def count_kept(self, weights: Mapping[str, int]) -> int:
        """The content that is kept: nothing of a prompt that does not fit."""
        return sum(min(one.held, one.wanted) * weights.get(name, 1) for name, one in self.sections.items())

    def count_wanted(self, weights: Mapping[str, int]) -> int:
        """The content that would be kept of all that was wanted."""
        return sum(one.wanted * weights.get(name, 1) for name, one in self.sections.items())


Measured = Sequence[Sequence[PromptFigures]]
"""The prompts of each state."""


def measure_state(state: TunedState, pack: Pack, budget: int | None = None) -> tuple[PromptFigures, ...]:
    """What its prompts come to. Raises `PromptcError`."""
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
    lost = (max(0, wanted - entered), max(0, entered - behind), max(0, behind - held) if outcome.emitted is not None else 0)
    section = selected.section
    cap = find_cap(section, fitted.strained.selection.bound)
    in_chars = section.budget is not None and section.budget.cap is not None and section.budget.cap.unit == "chars"
    size = _count_chars(fitted, name) if in_chars else wanted
    return SectionFigures(wanted, held, *lost, cap, size, in_chars, selected.is_partial, section.pinned)


def _count_chars(fitted: Fitted, name: str) -> int:
    """What a section with a cap in characters wanted of it."""
    run, fit = fitted.ladders.get(name), fitted.sections.get(name)
    if run is not None:
        return int(run.start)
    return sum(len(one.text) for one in fit.alive) if fit is not None else 0


# --- what the budgets come to ---


@frozen
class BudgetUse:
    """What one budget came to over all prompts: its cap (the largest; None: it has none), `most` and `median` of what was wanted of it, how
    much of the content was kept, in tokens, and in how many prompts anything was cut, most of it for what.

    `wasted` is what no prompt ever wanted of the cap. With `unit` `chars`, cap and sizes are in characters.
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
    """What the sections, the pools and the total came to in the prompts that fit, in the order of the manifest. There is at least one."""
    prompts = [one for prompts in measured for one in prompts if one.tokens is not None]
    names = [name for name in pack.model.sections if any(name in one.sections for one in prompts)]
    pools = list(dict.fromkeys(name for one in prompts for name in one.pools))
    return (
        *(_sum_section(name, [one.sections[name] for one in prompts if name in one.sections]) for name in names),
        *(_sum_cap(name, "pool", [(*one.pools[name], min(one.pools[name])) for one in prompts if name in one.pools]) for name in pools),
        _sum_cap("budget", "total", [(one.budget, one.wanted, one.wanted - one.to_total) for one in prompts]),
    )


def _sum_section(name: str, figures: Sequence[SectionFigures]) -> BudgetUse:
    caps, sizes = [one.cap for one in figures if one.cap is not None], [one.size for one in figures]
    lost = [sum(one.to_cap for one in figures), sum(one.to_pool for one in figures), sum(one.to_total for one in figures)]
    own = "its cap" if caps else "its tier"
    by = max(zip(lost, (own, "its pool", "the total"), strict=True), key=lambda one: one[0])[1] if any(lost) else ""
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
    """Of a cap, what was wanted of it and what it left, for each prompt."""
    caps, wanted, kept = ([one[at] for one in figures] for at in range(3))
    cut = sum(left < asked for _, asked, left in figures)
    wasted = max(0, min(caps) - max(wanted))
    return BudgetUse(name, kind, "tokens", max(caps), max(wanted), median_low(wanted), sum(wanted), sum(kept), cut, "", wasted)


# --- the total ---


@frozen
class TotalPoint:
    """All prompts with one total: the content that is kept, in how many anything is cut, and how many do not fit."""

    budget: int
    kept: int
    cut: int
    unfit: int


@frozen
class TotalSweep:
    """Points in rising order of the total. `own` is the pack's; `knee` is the least from which on nothing more is gained, None where it is
    not reached."""

    own: int
    wanted: int
    points: tuple[TotalPoint, ...]
    knee: int | None


def sweep_total(pack: Pack, states: Sequence[TunedState], own: int, weights: Mapping[str, int], note: Note) -> TotalSweep:
    """The content that is kept with other totals, and where it stops growing: to two digits, found by halving."""
    points: dict[int, TotalPoint] = {}
    wanted = 0

    def measure(budget: int) -> TotalPoint:
        nonlocal wanted
        if budget not in points:
            prompts = [one for state in states for one in _try_state(state, pack, budget)]
            wanted = max(wanted, sum(one.count_wanted(weights) for one in prompts))
            cut = sum(any(each.held < each.wanted for each in one.sections.values()) for one in prompts)
            kept = sum(one.count_kept(weights) for one in prompts)
            points[budget] = TotalPoint(budget, kept, cut, sum(one.tokens is None for one in prompts))
            note(len(points), max(len(_TOTALS) + 6, len(points) + 1))
        return points[budget]

    totals = sorted({own if part == (1, 1) else round_up(own * part[0] // part[1]) for part in _TOTALS})
    for at, budget in enumerate(totals):
        if budget > own and measure(budget).kept == measure(totals[at - 1]).kept:
            break
        measure(budget)
    last = max(points)
    most = points[last].kept
    while points[min(points)].kept == most and min(points) > 1:
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
    """The least number that is not smaller and has two digits that count."""
    unit: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // unit) * unit


# --- other budgets ---


@frozen
class Knob:
    """A size in the manifest that may be changed: its path, whose it is (`sections.lore`), its number as it stands, and its unit."""

    path: str
    owner: str
    value: int
    unit: Literal["tokens", "chars", "%"]

    def spell(self, value: int) -> str:
        """The value as the manifest has it."""
        return f"{value}%" if self.unit == "%" else str(value)


@frozen
class TunedValue:
    """A value that a suggestion changes, and the content kept on the held-out states before it and with it."""

    path: str
    old: str
    new: str
    kept: tuple[int, int]


@frozen
class KeptScore:
    """The content that is kept of the prompts of some states, and the tokens of these prompts."""

    states: int
    prompts: int
    wanted: int
    kept: int
    tokens: int
    sections: Mapping[str, int] = field(default_factory=dict)


@frozen
class Suggestion:
    """Changes that keep more, and the scores of the file and of the pack with them, for both halves of the states. There are none where
    the file keeps as much. `unproven` are those that keep more of the first half alone. `fixed` are values that cannot be written, and why.
    """

    changes: tuple[TunedValue, ...]
    trained: tuple[KeptScore, KeptScore]
    held: tuple[KeptScore, KeptScore]
    unproven: tuple[TunedValue, ...]
    fixed: tuple[Try, ...]

    @property
    def tries(self) -> tuple[Try, ...]:
        """The changes, to be tried or written."""
        return tuple((one.path, one.new) for one in self.changes)


@frozen
class Wishes:
    """What the author wants: weights of sections, owners whose budgets stay, and the largest total that may be written (0: it stays)."""

    weights: Mapping[str, int] = field(default_factory=dict)
    pins: tuple[str, ...] = ()
    most_total: int = 0


def check_wishes(pack: Pack, wishes: Wishes) -> None:
    """Raises `UsageError` (PC0718) for a section or a pool that the pack does not have."""
    known = [f"sections.{name}" for name in pack.model.sections] + [f"pools.{name}" for name, _ in list_pools(pack.model.manifest)]
    for name in (*(f"sections.{one}" for one in wishes.weights), *wishes.pins):
        if name not in known:
            raise UsageError([Diagnostic("PC0718", f"the pack has no `{name}`", help=suggest(name, known) or offer_names(known))])


def split_states(measured: Measured) -> tuple[list[int], list[int]]:
    """The states to search on and the ones to judge by, as indexes. Equal states are on one side.

    The digest of a state says on which side it is, so that no state moves where others come or go. If that leaves too few on one side, they
    are dealt out in the order of their digests.
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
    """Renders states with other budgets of a pack, and judges what comes of it. `states` are those that the pack renders, `measured` what
    they come to as it is.
    """

    def __init__(self, pack: Pack, path: str, states: Sequence[TunedState], measured: Measured, wishes: Wishes) -> None:
        """Raises what `check_wishes` raises."""
        check_wishes(pack, wishes)
        self._pack, self._path, self._states, self._measured, self._wishes = pack, path, states, measured, wishes
        self._train, self._judge = split_states(measured)
        self._known: dict[tuple[int, tuple[int | None, ...]], Sequence[PromptFigures]] = {}

    def score(self, tries: Sequence[Try]) -> Suggestion:
        """These changes, whatever they come to: judged by all states, for nothing was searched. Raises what `Pack.tried` raises, and
        `PromptcError` for a state that the pack refuses then.
        """
        own = self._sum(self._measured)
        with self._pack.tried(tries) as pack:
            after = self._sum([measure_state(one, pack) for one in self._states])
        olds = [find_value(self._pack.model.manifest, path) for path, _ in tries]
        changes = tuple(
            TunedValue(path, one.raw if one is not None else "", new, (own.kept, after.kept))
            for (path, new), one in zip(tries, olds, strict=True)
        )
        return Suggestion(changes, (self._sum([]), self._sum([])), (own, after), (), ())

    def search(self, note: Note) -> Suggestion:
        """The changes that keep most of the first half of the states, as far as each of them keeps more of the second half, too. A change
        takes nothing from what is pinned, and no prompt that fits stops fitting.
        """
        own = self._sum([self._measured[at] for at in self._train])
        chosen, best = dict[Knob, int](), own
        works = sum(len(self._list_values(knob)) for knob in self._knobs)
        for passed in range(_PASSES):
            before = dict(chosen)
            chosen, best = self._improve(chosen, best, partial(_note_pass, note, passed, works))
            if chosen == before:
                break
        changes, unproven = list[TunedValue](), list[TunedValue]()
        trained, first = own, self._sum([self._measured[at] for at in self._judge])
        judged, kept = first, dict[Knob, int]()
        for knob, value in chosen.items():
            after = self._try({**kept, knob: value}, self._judge)
            change = TunedValue(knob.path, knob.spell(knob.value), knob.spell(value), (judged.kept, (after or judged).kept))
            if after is not None and after.kept > judged.kept:
                changes.append(change)
                kept[knob], judged = value, after
            else:
                unproven.append(change)
        if kept:
            trained = self._try(kept, self._train) or own
        return Suggestion(tuple(changes), (own, trained), (first, judged), tuple(unproven), tuple(self._unwritable.items()))

    def _improve(self, chosen: Mapping[Knob, int], best: KeptScore, note: Callable[[int], None]) -> tuple[dict[Knob, int], KeptScore]:
        """One pass over all knobs: each gets the value that keeps most, of equal ones the one that is nearest to the file's."""
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
        """The score of one half of the states with these values; None where anything is lost that must not be."""
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
        """What a state comes to, rendered once for all values that make no difference to it: caps that are not less than it wants."""
        if self._list_telling(at, values) == self._list_telling(at, {}):
            return self._measured[at]
        key = at, self._list_telling(at, values)
        if key not in self._known:
            self._known[key] = measure_state(self._states[at], pack)
        return self._known[key]

    def _list_telling(self, at: int, values: Mapping[Knob, int]) -> tuple[int | None, ...]:
        """Of all sizes those that may make a difference to a state."""
        is_fixed = self._states[at].is_fixed
        sizes = [(knob, values.get(knob, knob.value)) for knob in self._knobs]
        return tuple(None if is_fixed and self._is_idle(at, knob, size) else size for knob, size in sizes)

    def _is_idle(self, at: int, knob: Knob, value: int) -> bool:
        """Whether a cap of that size takes nothing from a state, or a least size leaves all. What a section wants depends on no cap;
        pressure does, but for caps in characters.
        """
        kind, _, name = knob.owner.partition(".")
        if kind != "sections" or knob.unit == "%" or (self._pack.model.strain and knob.unit != "chars"):
            return False
        met = [one.sections[name] for one in self._measured[at] if name in one.sections]
        return all(one.size <= value and not one.is_partial for one in met)

    def _holds(self, before: Sequence[PromptFigures], after: Sequence[PromptFigures]) -> bool:
        """Whether each prompt that fits still fits, and what is pinned is held as it was."""
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
        """The values that are worth a try: what the states of the first half want, and parts and multiples of the file's. Nearest first."""
        wanted = sorted(self._list_wanted(knob)) or [knob.value]
        sizes = {round_up(wanted[(len(wanted) - 1) * one // 100]) for one in _QUANTILES}
        parts = {round_up(knob.value * over // under) for over, under in _FACTORS}
        most = self._wishes.most_total if knob.owner == "budget" else 100 if knob.unit == "%" else max(knob.value, round_up(wanted[-1]))
        values = {one for one in (*sizes, *parts, *([most] if knob.owner == "budget" else [])) if 0 < one <= most} | {knob.value}
        return sorted(values, key=lambda one: (abs(one - knob.value), one))

    def _list_wanted(self, knob: Knob) -> Iterator[int]:
        """What each prompt of the first half wants of it."""
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
    """The sizes in the budgets of the sections, the pools and the total, in the order of the manifest."""
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
