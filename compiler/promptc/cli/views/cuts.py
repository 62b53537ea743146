"""What was cut, ladder by ladder: which step took which items, why, and what would keep the last of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from promptc.cli.escape import escape_controls
from promptc.cli.paint import Paint
from promptc.cli.views.figures import show_count, show_ids, show_plural
from promptc.cli.views.wrap import wrap
from promptc.model.step import Ranked
from promptc.passes.ladder import Applied, LadderRun
from promptc.pipeline import Outcome


@dataclass(frozen=True, slots=True)
class StepCuts:
    """The notches one step took in a row. Counts are tokens of what the ladder counts: a section, or the whole."""

    rule: str
    section: str
    at: str
    before: int
    after: int
    items: int
    reasons: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class LadderCuts:
    """What a ladder took, and how many tokens more its target would have to be for the last notch not to be needed."""

    title: str
    goal: str
    before: int
    after: int
    steps: tuple[StepCuts, ...]
    needs: int
    last: tuple[str, ...]


def render_cuts(outcome: Outcome, width: int, paint: Paint) -> str:
    """A paragraph a ladder that took something; one line when none did."""
    ladders = list(iter_ladder_cuts(outcome))
    if not ladders:
        return "\nnothing was cut\n"
    return "".join(f"\n{line}\n" if not line.startswith(" ") else f"{line}\n" for one in ladders for line in _iter_lines(one, width, paint))


def iter_ladder_cuts(outcome: Outcome) -> Iterator[LadderCuts]:
    """The ladders that took something, in the order they ran: a tier's `do`, the sections', the total's."""
    fitted, tokens = outcome.fitted, outcome.fitted.frame.meter.tokens
    if fitted.done is not None and fitted.done.applied:
        yield _describe_ladder("strain", f"as strain {outcome.report['strain']} says", fitted.done, outcome)
    for name, run in fitted.ladders.items():
        if run.applied:
            grant = fitted.grants.get(name)
            cap = f"{show_count(grant)} tokens" if grant is not None else f"{show_count(run.target)} characters"
            yield _describe_ladder(name, f"for its cap of {cap}", run, outcome)
    if fitted.truncated is not None and fitted.truncated.applied:
        goal = f"for the budget of {show_count(tokens(fitted.truncated.target))} tokens"
        yield _describe_ladder("the whole prompt", goal, fitted.truncated, outcome)


def _describe_ladder(title: str, goal: str, run: LadderRun, outcome: Outcome) -> LadderCuts:
    tokens, last = outcome.fitted.frame.meter.tokens, run.applied[-1]
    steps = tuple(_describe_step(list(cuts), outcome) for _, cuts in groupby(run.applied, key=lambda one: (one.step.label, one.section)))
    needs = tokens(last.needs) if run.target >= 0 and run.is_met else 0
    return LadderCuts(title, goal, steps[0].before, steps[-1].after, steps, needs, _list_items([last]))


def _describe_step(cuts: Sequence[Applied], outcome: Outcome) -> StepCuts:
    tokens, first, last = outcome.fitted.frame.meter.tokens, cuts[0], cuts[-1]
    reasons = tuple((why, _list_items(list(same))) for why, same in groupby(cuts, key=_find_reason))
    return StepCuts(
        rule=type(first.step).__name__.lower(),
        section=first.section,
        at=str(first.step.span),
        before=tokens(first.before),
        after=tokens(last.after),
        items=len(_list_items(cuts)),
        reasons=reasons,
    )


def _find_reason(cut: Applied) -> str:
    """Why, without the value that differs from item to item where a step goes by one."""
    if not isinstance(cut.step, Ranked) or cut.step.by is None:
        return cut.act.why
    by = cut.step.by.text.strip()
    return re.sub(re.escape(by) + r" = \S+, smallest first", lambda _: f"{by}, smallest first", cut.act.why)


def _list_items(cuts: Sequence[Applied]) -> tuple[str, ...]:
    """The items that were taken or changed, each once, in the order they were."""
    return tuple(dict.fromkeys(name for cut in cuts for name, before, _ in cut.changes if before))


def _iter_lines(ladder: LadderCuts, width: int, paint: Paint) -> Iterator[str]:
    yield f"{paint.apply(ladder.title, 'bold')}: {show_count(ladder.before)} → {show_count(ladder.after)}, {ladder.goal}"
    is_one = all(step.section == ladder.title for step in ladder.steps)
    for step in ladder.steps:
        where = "" if is_one else f" of {step.section}"
        head = f"  {step.rule} {show_plural(step.items, 'item')}{where}: {show_count(step.before)} → {show_count(step.after)}"
        yield f"{head}  {paint.apply(escape_controls(step.at), 'dim')}"
        for why, items in step.reasons:
            yield from wrap(f"{escape_controls(why)}: {show_ids(items)}", width, 4)
    if ladder.needs:
        of = "" if is_one else f" of {ladder.steps[-1].section}"
        yield from wrap(f"{show_plural(ladder.needs, 'token')} more would keep {show_ids(ladder.last)}{of}", width, 2)
