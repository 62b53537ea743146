"""The frozen result of fitting: `Fitted`, the only thing of it that assembling, reports and views read.

The mutable state of fitting (entries, ledgers, running ladders) stays in its packages. Counts are in the counter's units, grants in tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal, NamedTuple
from promptc.model.section import Evict, Pool, Section, Step, Tool
from promptc.model.stages import Item, Selected, Strained
from promptc.passes.items.render import Cut, Cuts
from promptc.passes.layout.layout import Layout
from promptc.passes.layout.ledger import Kind
from promptc.passes.layout.section import Aim

Owner = Kind | Literal["separator"]


class FittedItem(NamedTuple):
    """An item after fitting: its guarded `text` in its `form`, of which a cut `kept` so many characters (None: it was not cut).

    `run` is the index of its group, `units` the count of its piece where it is, or last was. `is_made` says that a step made the item.
    """

    item: Item
    text: str
    form: int
    kept: int | None
    run: int
    units: int
    is_made: bool
    is_alive: bool

    @property
    def body(self) -> str:
        """The text inside the item's own fence."""
        item = self.item
        return f"{item.open}\n{self.text}\n{item.close}" if item.open else self.text


class Part(NamedTuple):
    """A run of emitted characters: its `owner`, `section`, `item` (if it belongs to one) and `message` index (0 in text output)."""

    owner: Owner
    section: str
    text: str
    message: int
    item: FittedItem | None = None


class FittedSection(NamedTuple):
    """A section that was selected with items, after fitting.

    `entries` are all its items in order, `alive` those that are left. `marker` stands for the removed items, above or below those left.
    `is_dropped` says that a `drop` step removed the whole section.
    """

    selected: Selected
    entries: tuple[FittedItem, ...]
    alive: tuple[FittedItem, ...]
    marker: str
    is_marked_below: bool
    is_dropped: bool

    @property
    def section(self) -> Section:
        """The section as the plan defines it."""
        return self.selected.section

    @property
    def is_empty(self) -> bool:
        """True if nothing is left of the section."""
        return not self.alive


class Extent(NamedTuple):
    """The size of an item's text, in units and characters."""

    units: int
    chars: int


class ExtentChange(NamedTuple):
    """The change of an item by a notch: its extent before and after, each None if the item did not exist then."""

    id: str
    before: Extent | None
    after: Extent | None


class CutPlace(NamedTuple):
    """The place of a cut in an item's text before the guard: `middle` replaces the text from `start` to `stop`."""

    start: int
    stop: int
    middle: str


class Slid:
    """The notches of a trim in one text, from those that keep fewer characters than `below` down to the cut `last`.

    Notches that were passed over are counted on demand: `aim` predicts the ladder's count of each cut and `told` the recorded one; `ending`
    is what follows the text.
    """

    __slots__ = ("_aim", "_below", "_count", "_cuts", "_describe", "_ending", "_last", "_told")

    def __init__(self, cuts: Cuts, describe: Callable[[str], str], below: int | None, last: Cut, aim: Aim, told: Aim, ending: str) -> None:
        self._cuts = cuts
        self._describe = describe
        self._below = below
        self._last = last
        self._aim = aim
        self._told = told
        self._ending = ending
        self._count: int | None = None

    def __len__(self) -> int:
        """Return the number of notches."""
        if self._count is None:
            self._count = self._cuts.count(self._below, self._last.kept)
        return self._count

    def count_low(self, low: int, *, has_last: bool = True) -> int:
        """Return the least of `low` and the ladder's counts after each notch; without `has_last`, the last notch is not counted."""
        limit = self._aim.limit(low - 1)
        for cut in self._cuts.iter((limit,), self._below) if limit.size >= 0 else ():
            if cut.kept < self._last.kept + (not has_last):
                break
            low = min(low, self._aim.count(cut))
        return low

    def iter_notches(self, whole: Applied) -> Iterator[Applied]:
        """Yield the notches one by one; `whole` is all of them as one."""
        before, (added,) = whole.before, whole.added
        extent = added.before
        for cut in self._cuts.iter((), self._below):
            after, shorter = self._told.count(cut), Extent(cut.measure(self._ending), cut.chars)
            yield whole._replace(
                why=self._describe(cut.boundary),
                before=before,
                after=after,
                counted=self._aim.count(cut),
                added=(ExtentChange(added.id, extent, shorter),),
                cut=CutPlace(cut.start, cut.stop, cut.middle),
                boundary=cut.boundary,
                slid=None,
            )
            before, extent = after, shorter
            if cut.kept <= self._last.kept:
                break


class Applied(NamedTuple):
    """A notch that was carried out, or with `slid` several notches in a row as one.

    `before` and `after` are the charge (for `truncate` the whole) in units. `needs` is how much larger the target would have to be without
    the notch, in units of the ladder's measure (0 without a target), and `counted` is that measure after it.

    The notch removed the items `gone`, `made` an item of them, or `edited` one item, perhaps by a `cut` at a `boundary`. `added` is what it
    did besides removing items. `call` is the id of the tool call if the notch removed only that call of a message with several. A lowering
    went from one `level` to another, and so did the groups of `moves`.
    """

    step: Step
    section: str
    why: str
    before: int
    after: int
    needs: int
    gone: tuple[FittedItem, ...]
    added: tuple[ExtentChange, ...]
    made: Item | None
    edited: FittedItem | None
    cut: CutPlace | None
    boundary: str
    level: tuple[int | float | None, int | float | None]
    moves: tuple[tuple[str, int | float, int | float | None], ...]
    counted: int
    slid: Slid | None = None
    call: str = ""

    @property
    def notches(self) -> int:
        """The number of notches."""
        return len(self.slid) if self.slid is not None else 1

    @property
    def changes(self) -> tuple[ExtentChange, ...]:
        """The changes to each item. A removed item has the extent it had when it was removed."""
        gone = (ExtentChange(one.item.id, Extent(one.units, len(one.text)), None) for one in self.gone)
        return (*gone, *self.added)


MOST_TOLD = 10_000
"""The most notches of trims in one ladder that are reported one by one."""


class LadderResult:
    """The frozen record of a ladder.

    `applied` are the notches in order; `moves` are the same notches, but with all that trimmed one text as one. `void` and `passed_over`
    have the item ids of each void notch and of what each trim passed over. `low` is the least count reached, and `failed` is the `fail`
    step that stopped the ladder, or None.
    """

    __slots__ = ("_applied", "_tried", "failed", "low", "moves", "passed_over", "start", "target", "void")

    def __init__(
        self,
        target: int,
        start: int,
        low: int,
        tried: int,
        moves: tuple[Applied, ...],
        void: tuple[tuple[Step, tuple[str, ...]], ...],
        passed_over: tuple[tuple[Step, tuple[str, ...]], ...],
        failed: Step | None,
    ) -> None:
        """Create a record; `tried` is the number of notches tried besides those that trims slid over."""
        self.target = target
        self.start = start
        self.low = low
        self.moves = moves
        self.void = void
        self.passed_over = passed_over
        self.failed = failed
        self._tried = tried
        self._applied = moves if all(one.slid is None for one in moves) else None

    @property
    def is_met(self) -> bool:
        """True if the target was reached."""
        return self.low <= self.target

    @property
    def tried(self) -> int:
        """The number of notches that the ladder tried."""
        return self._tried + sum(len(one.slid) for one in self.moves if one.slid is not None)

    @property
    def applied(self) -> tuple[Applied, ...]:
        """The notches, in order. If trims made more than `MOST_TOLD`, those of each text are one."""
        if self._applied is None:
            self._applied = tuple(self._iter_applied())
        return self._applied

    def _iter_applied(self) -> Iterator[Applied]:
        is_short = sum(len(one.slid) for one in self.moves if one.slid is not None) <= MOST_TOLD
        low = self.start
        for move in self.moves:
            for one in move.slid.iter_notches(move) if move.slid is not None and is_short else (move,):
                yield one._replace(needs=self._need(low))
                low = min(low, one.counted)
            if move.slid is not None and not is_short:
                low = move.slid.count_low(low)

    def count_needs(self, at: int) -> int:
        """Return what the last notch of the move with this index needs, as `Applied.needs` defines it."""
        move = self.moves[at]
        if self._applied is self.moves:
            return move.needs
        low = min([self.start, *(one.counted for one in self.moves[:at])])
        for one in self.moves[:at]:
            low = one.slid.count_low(low) if one.slid is not None else low
        return self._need(move.slid.count_low(low, has_last=False) if move.slid is not None else low)

    def _need(self, low: int) -> int:
        """Return how much larger the target would have to be if the ladder stopped at this least count; 0 without a target."""
        return low - self.target if self.target >= 0 else 0


@frozen(eq=False)
class FittedPool:
    """A pool after fitting: its `cap`, the tokens that its sections could have together, and what its ladder did.

    `entered` is the charge of each section before that ladder, in units.
    """

    pool: Pool
    cap: int
    entered: Mapping[str, int]
    run: LadderResult


@frozen(eq=False)
class Fitted:
    """A selection brought within its budgets, or what was tried (`errors`, `missing` tokens).

    `demand` is the count of each section before any step, `after_do` after the tier's steps, and `charges` before `truncate`. `parts` are
    the output in order, with the `roles` of its messages and the `tools` that go with them. `units` is their exact count, without tools
    that belong to no section. All of these are empty if fitting failed before the whole was laid out.
    """

    strained: Strained
    layout: Layout
    sections: Mapping[str, FittedSection]
    demand: Mapping[str, int]
    done: LadderResult | None
    after_do: Mapping[str, int]
    grants: Mapping[str, int]
    ladders: Mapping[str, LadderResult]
    pools: tuple[FittedPool, ...]
    charges: Mapping[str, int]
    truncated: LadderResult | None
    parts: tuple[Part, ...]
    roles: tuple[str, ...]
    tools: tuple[Tool, ...]
    units: int
    errors: tuple[Diagnostic, ...] = ()
    short: str = ""
    missing: int = 0

    def iter_runs(self) -> Iterator[tuple[str, LadderResult]]:
        """Yield the ladders that were walked, by name, in order: a tier's `do`, the sections' by their ids, the pools', `truncate`."""
        if self.done is not None:
            yield "do", self.done
        yield from self.ladders.items()
        yield from ((one.pool.ladder, one.run) for one in self.pools)
        if self.truncated is not None:
            yield "truncate", self.truncated

    def count_more(self, ladder: str, needs: int) -> int:
        """Return how much larger the cap or the budget must be, as authors write it, for the ladder's target to be larger by `needs`.

        `needs` is in the units of the target. The result is in tokens, or in characters for a cap in characters.
        """
        if self.counts_chars(ladder):
            return needs
        tokens = self.layout.meter.tokens(needs)
        return self.strained.selection.bound.count_more(tokens) if ladder == "truncate" else tokens

    def make_least_test(self, ladder: str) -> Callable[[Applied], bool]:
        """Return a function that says whether a cut of the ladder may need still more than `count_more`.

        A larger cap or budget may change more than one target.
        """
        return self._make_budget_test() if ladder == "truncate" else self._make_cap_test(ladder)

    def _make_budget_test(self) -> Callable[[Applied], bool]:
        """Return the test for cuts of the whole: more budget may go to minimums by share or to unread items, or ease the strain."""
        plan, rules = self.strained.selection.plan, self.strained.selection.bound.pack.strain
        is_eased = rules is not None and any(one.cap is not None and one.cap.unit == "share" for one in plan.sections)
        is_least = is_eased or plan.has_growing_least or any(step.has_share for step in self.strained.steps)
        return lambda cut: is_least or (self.sections[cut.section].selected.is_partial and not isinstance(cut.step, Evict))

    def _make_cap_test(self, ladder: str) -> Callable[[Applied], bool]:
        """Return the test for cuts of a cap: no number raises a share, and a larger cap may exceed a later target or add strain."""
        end = next(run for name, run in self.iter_runs() if name == ladder).moves[-1].after
        later = [*(one.run for one in self.pools if ladder in one.pool.sections), self.truncated]
        shares = [one.pool.ladder for one in self.pools if one.pool.is_share]
        shares += [name for name, one in self.sections.items() if one.section.budget is not None and one.section.budget.is_share]
        room = min(one.target - one.start if one is not None else -1 for one in later) if ladder not in shares else -1
        tokens, may_change = self.layout.meter.tokens, self.strained.may_change
        return lambda cut: cut.before - end > room or may_change(tokens(cut.before - end))

    def counts_chars(self, ladder: str) -> bool:
        """Return whether the ladder is that of a section with a cap in characters.

        Its target and what its cuts need are then in characters.
        """
        budget = self.sections[ladder].section.budget if ladder in self.sections else None
        return budget is not None and budget.cap is not None and budget.cap.unit == "chars"
