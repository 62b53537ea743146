"""What fitting leaves, frozen all the way down: `Fitted`, the one thing that assembling, reports and views read of it.

The workings (entries, ledgers, ladders under way) stay in their rooms. Counts are in the counter's units, grants in tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal, NamedTuple
from promptc.model.section import Pool, Section, Step
from promptc.model.stages import Item, Selected, Strained
from promptc.passes.layout.layout import Layout
from promptc.passes.layout.ledger import Kind

Owner = Kind | Literal["separator"]


class FittedItem(NamedTuple):
    """An item as fitting left it: its guarded `text` in its `form`, of which a cut `kept` so many characters (None: it was not cut).

    `run` is the index of its group, `units` what its piece counts where it stands, or stood last. A step made it where `is_made`.
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
        """The text inside its own fence."""
        item = self.item
        return f"{item.open}\n{self.text}\n{item.close}" if item.open else self.text


class Part(NamedTuple):
    """A run of emitted characters: whose it is (`section`, and `item` where it is one's), and in which message (0 in text output)."""

    owner: Owner
    section: str
    text: str
    message: int
    item: FittedItem | None = None


class FittedSection(NamedTuple):
    """A section that was selected with items, as fitting left it: all its `entries` in order, those that stand (`alive`), and the `marker`
    of what was taken, above or below them. `is_dropped` where a `drop` took it whole.
    """

    selected: Selected
    entries: tuple[FittedItem, ...]
    alive: tuple[FittedItem, ...]
    marker: str
    is_marked_below: bool
    is_dropped: bool

    @property
    def section(self) -> Section:
        """The section as the plan has it."""
        return self.selected.section

    @property
    def is_empty(self) -> bool:
        """True when nothing is left of the section."""
        return not self.alive


class Extent(NamedTuple):
    """How large an item's text is, in units and characters."""

    units: int
    chars: int


class ExtentChange(NamedTuple):
    """What a notch did to an item: its extent before and after; None where it was not there."""

    id: str
    before: Extent | None
    after: Extent | None


class CutPlace(NamedTuple):
    """Where a cut was made in an item's text before the guard: `middle` stands in the place of what was from `start` to `stop`."""

    start: int
    stop: int
    middle: str


class Applied(NamedTuple):
    """A notch that was carried out: the charge (for `truncate` the whole) before and after, in units, and how much larger the target would
    have to be without it, in units of the ladder's measure (0 without a target).

    It took the items `gone`, `made` one of them, or `edited` one, maybe by a `cut` at a `boundary`; `added` is what it did besides taking
    items out. A lowering went from one `level` to another, and so did the groups of `moves`.
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

    @property
    def changes(self) -> tuple[ExtentChange, ...]:
        """List what it did to each item. What is gone has the extent it had when it went."""
        gone = (ExtentChange(one.item.id, Extent(one.units, len(one.text)), None) for one in self.gone)
        return (*gone, *self.added)


class LadderResult(NamedTuple):
    """What a ladder did: how many notches it `tried`, those `applied` in order, the items (ids) of each `void` one and those that a
    trim has `passed_over`, and the least count it reached (`low`). `failed` is the `fail` step that stopped it.
    """

    target: int
    start: int
    low: int
    tried: int
    applied: tuple[Applied, ...]
    void: tuple[tuple[Step, tuple[str, ...]], ...]
    passed_over: tuple[tuple[Step, tuple[str, ...]], ...]
    failed: Step | None

    @property
    def is_met(self) -> bool:
        """True when the target was reached."""
        return self.low <= self.target


@frozen(eq=False)
class FittedPool:
    """A pool, the tokens that its sections could hold together (`cap`), and what its ladder did. `entered` is what each of them was charged
    before that, in units.
    """

    pool: Pool
    cap: int
    entered: Mapping[str, int]
    run: LadderResult


@frozen(eq=False)
class Fitted:
    """A selection brought within its budgets, or what was tried (`errors`, `missing` tokens).

    `demand` is what each section counted before any step, `after_do` behind the tier's steps, `charges` before `truncate`. `parts` are what
    stands in the output, in order, with the `roles` of its messages; `units` is their exact count. All three are empty where content
    did not come to that.
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
    units: int
    errors: tuple[Diagnostic, ...] = ()
    short: str = ""
    missing: int = 0

    def iter_runs(self) -> Iterator[tuple[str, LadderResult]]:
        """The ladders that were walked, by name, in order: a tier's `do`, the sections' by their ids, the pools', `truncate`."""
        if self.done is not None:
            yield "do", self.done
        yield from self.ladders.items()
        yield from ((one.pool.ladder, one.run) for one in self.pools)
        if self.truncated is not None:
            yield "truncate", self.truncated

    def counts_chars(self, ladder: str) -> bool:
        """True for the ladder of a section with a cap in characters: its target and what its cuts need are in characters."""
        budget = self.sections[ladder].section.budget if ladder in self.sections else None
        return budget is not None and budget.cap is not None and budget.cap.unit == "chars"
