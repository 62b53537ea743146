"""Room that a coarse notch leaves unused.

`list_slack` reports, for each ladder that stopped short of its target, which order of its steps would have used the room. It tries every
order by a render of its own, and reports an order only if that render keeps everything in the prompt now, and more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from promptc.diag.findings import PromptcError
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.model.pack import Plan
from promptc.model.section import Continue, Drop, Evict, Fail, Replace, Section, Step, Trim, propose_trims, spell_trim
from promptc.passes.fit.result import Fitted, LadderResult

_MOST_TRIED = 24
"""The most renders for one explanation."""


Retry = Callable[[Callable[[Plan], Plan]], tuple[Fitted, int | None]]
"""Renders the same state again with changed plans; returns the result and its tokens (None if it does not fit). Raises `PromptcError`."""


@frozen
class Move:
    """A step moved to right before another step of the same list. `is_new` says that the pack does not have the step yet."""

    step: Step
    before: Step
    is_new: bool = False

    @property
    def spelled(self) -> str:
        """A new step as written in a manifest; empty for an existing one."""
        return spell_trim(self.step, self.before) if self.is_new and isinstance(self.step, Trim) else ""

    def change(self, plan: Plan) -> Plan:
        """Return the plan with the step moved. Everything that does not contain the list stays the same object."""
        sections = tuple(self._change_section(section) for section in plan.sections)
        pools = tuple(replace(pool, overflow=self._order(pool.overflow)) if self._has(pool.overflow) else pool for pool in plan.pools)
        return replace(
            plan,
            sections=sections,
            pools=pools if any(map(self._has, (pool.overflow for pool in plan.pools))) else plan.pools,
            truncate=self._order(plan.truncate),
        )

    def _change_section(self, section: Section) -> Section:
        return replace(section, overflow=self._order(section.overflow)) if self._has(section.overflow) else section

    def _has(self, steps: Sequence[Step]) -> bool:
        return any(_is_same(one, self.before) for one in steps)

    def _order(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        if not self._has(steps) or not (self.is_new or any(_is_same(one, self.step) for one in steps)):
            return steps
        rest = [one for one in steps if not _is_same(one, self.step)]
        at = next(at for at, one in enumerate(rest) if _is_same(one, self.before))
        return (*rest[:at], self.step, *rest[at:])


def _is_same(one: Step, other: Step) -> bool:
    """Return whether both are the same step of the manifest, which plans of other tiers and cases contain too."""
    return one.label == other.label and one.span == other.span


@frozen(eq=False)
class Slack:
    """The room that a ladder left at the end of its `run`, and the order of steps that would have used it.

    `left` is in tokens, or in characters if the cap is. `tokens` are those of the whole prompt in that order, and `more` is how many more
    that is than now. `gained` are the items of each section of which more is kept.
    """

    ladder: str
    run: LadderResult
    left: int
    is_chars: bool
    move: Move
    tokens: int
    more: int
    gained: Mapping[str, tuple[str, ...]]

    @property
    def described(self) -> dict[str, Any]:
        """The slack as `explain --json` shows it (contract.md 13.20)."""
        return {
            "ladder": self.ladder,
            "left": self.left,
            "unit": "characters" if self.is_chars else "tokens",
            "step": None if self.move.is_new else self.move.step.label,
            "add": self.move.spelled if self.move.is_new else None,
            "before": self.move.before.label,
            "tokens": self.tokens,
            "more": self.more,
            "items": {section: list(names) for section, names in self.gained.items()},
        }


def list_slack(fitted: Fitted, tokens: int, retry: Retry) -> tuple[Slack, ...]:
    """Return the ladders with room that another order of steps would use, in the order they ran. `tokens` are those of `fitted`."""
    return tuple(_Trials(fitted, tokens, retry).iter_slack())


_Tried = tuple[Move, Fitted, int]


class _Trials:
    """The orders that were tried for one render."""

    def __init__(self, fitted: Fitted, tokens: int, retry: Retry) -> None:
        self._fitted = fitted
        self._tokens = tokens
        self._retry = retry
        self._plan = fitted.strained.selection.plan
        self._tried = 0

    def iter_slack(self) -> Iterator[Slack]:
        """Yield the slack of each ladder that has any, in the order of the ladders."""
        for name, run in self._fitted.iter_runs():
            left = self._count_left(name, run)
            found = self._find_best(run) if left > 0 else None
            if found is not None:
                move, after, tokens = found
                gained = {section: ids for section, ids in _iter_gained(self._fitted, after) if ids}
                yield Slack(name, run, left, self._fitted.counts_chars(name), move, tokens, tokens - self._tokens, gained)

    def _count_left(self, name: str, run: LadderResult) -> int:
        """Return what a ladder left of its target, in whole tokens or characters; 0 if it removed nothing or has no target."""
        if run is self._fitted.done or not run.moves or not run.is_met:
            return 0
        left = run.target - run.low
        return left if self._fitted.counts_chars(name) else left // self._fitted.layout.meter.counter.unit

    def _find_best(self, run: LadderResult) -> _Tried | None:
        """Return the order of the pack's own steps that keeps most, or else the first with a new step that keeps more, or else None."""
        best: _Tried | None = None
        for move in self._iter_moves(run):
            found = self._try(move) if best is None or not move.is_new else None
            if found is not None and (best is None or found[2] > best[2]):
                best = found
        return best

    def _iter_moves(self, run: LadderResult) -> Iterator[Move]:
        """Yield the orders worth a render.

        A new trim is not worth one if a single unit for each removed item would already exceed the room.
        """
        last = run.moves[-1]
        steps = next((steps for steps in self._iter_lists() if any(one is last.step for one in steps)), ())
        at = next((at for at, one in enumerate(steps) if one is last.step), 0)
        if isinstance(last.step, Trim) or not steps:
            return
        on_it = [one for one in steps if last.section in one.sections]
        for one in steps[at + 1 :]:
            if last.section in one.sections and not isinstance(one, Drop | Fail | Replace):
                yield Move(one, last.step)
        gone = sum(len(move.gone) for move in run.moves if move.step is last.step)
        section = self._plan.find_section(last.section) if gone <= run.target - run.low else None
        if section is not None and isinstance(last.step, Evict | Drop) and not any(isinstance(one, Trim | Continue) for one in on_it):
            for trim in propose_trims(last.step, last.section) if not section.is_tools else ():
                yield Move(trim, last.step, is_new=True)

    def _iter_lists(self) -> Iterator[tuple[Step, ...]]:
        yield from (section.overflow for section in self._plan.sections)
        yield from (pool.overflow for pool in self._plan.pools)
        yield self._plan.truncate

    def _try(self, move: Move) -> _Tried | None:
        """Return the render with that order if it keeps everything in the prompt now and is larger, else None."""
        self._tried += 1
        if self._tried > _MOST_TRIED:
            return None
        try:
            after, tokens = self._retry(move.change)
        except PromptcError:
            return None  # a step that was not reached before may fail, or exceed the `limits`
        return (move, after, tokens) if tokens is not None and tokens > self._tokens and _keeps_all(self._fitted, after) else None


def _keeps_all(before: Fitted, after: Fitted) -> bool:
    """Return whether each item in `before` is also in `after`, in a form as long and cut no shorter."""
    for name, held in before.sections.items():
        there = {one.item.id: one for one in after.sections[name].alive} if name in after.sections else {}
        for one in held.alive:
            other = there.get(one.item.id)
            if other is None or other.form > one.form or len(other.text) < len(one.text):
                return False
    return True


def _iter_gained(before: Fitted, after: Fitted) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the items of each section of which more is kept."""
    for name, held in after.sections.items():
        had = {one.item.id: len(one.text) for one in before.sections[name].alive} if name in before.sections else {}
        yield name, tuple(one.item.id for one in held.alive if len(one.text) > had.get(one.item.id, -1))
