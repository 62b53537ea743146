"""What was cut, ladder by ladder: which step took which items, why, and what would keep the last of them."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from promptc.cli.escape import escape_controls
from promptc.cli.paint import Paint
from promptc.cli.views.figures import show_count, show_ids, show_plural
from promptc.cli.views.wrap import wrap
from promptc.diag.frozen import frozen
from promptc.model.section import Ranked
from promptc.passes.fit.ladder import Applied, LadderRun
from promptc.pipeline import Outcome


@frozen
class Ladder:
    """A ladder that took something: what it shortens, to which end, its run, and the tokens of its target (None: no target)."""

    title: str
    goal: str
    run: LadderRun
    target: int | None


def iter_ladders(outcome: Outcome) -> Iterator[Ladder]:
    """The ladders that took something, in the order they ran: a tier's `do`, the sections', the total's."""
    fitted, tokens = outcome.fitted, outcome.fitted.frame.meter.tokens
    if fitted.done is not None and fitted.done.applied:
        yield Ladder("strain", f"as strain {outcome.report['strain']} says", fitted.done, None)
    for name, run in fitted.ladders.items():
        if run.applied:
            grant = fitted.grants.get(name)
            cap = show_plural(grant, "token") if grant is not None else show_plural(run.target, "character")
            yield Ladder(name, f"for its cap of {cap}", run, grant)
    if fitted.truncated is not None and fitted.truncated.applied:
        target = tokens(fitted.truncated.target)
        yield Ladder("the whole prompt", f"for the budget of {show_plural(target, 'token')}", fitted.truncated, target)


def list_items(cuts: Sequence[Applied]) -> list[str]:
    """The items that were taken or changed, each once, in the order they were."""
    return list(dict.fromkeys(name for cut in cuts for name, before, _ in cut.changes if before))


def find_reason(cut: Applied) -> str:
    """Why, without what differs from item to item: the boundary of a trim, the value a step goes by."""
    why = cut.act.why.partition("; ")[2] if cut.act.boundary else cut.act.why
    if not isinstance(cut.step, Ranked) or cut.step.by is None:
        return why
    by = cut.step.by.text.strip()
    return re.sub(re.escape(by) + r" = \S+, smallest first", lambda _: f"{by}, smallest first", why)


def find_rule(cut: Applied) -> str:
    """The step's name in the manifest."""
    return type(cut.step).__name__.lower()


def render_cuts(outcome: Outcome, width: int, paint: Paint) -> str:
    """A paragraph a ladder that took something; one line when none did."""
    paragraphs = ["".join(f"{line}\n" for line in _iter_lines(one, outcome, width, paint)) for one in iter_ladders(outcome)]
    return "".join(f"\n{text}" for text in paragraphs or ["nothing was cut\n"])


def _iter_lines(ladder: Ladder, outcome: Outcome, width: int, paint: Paint) -> Iterator[str]:
    tokens, cuts = outcome.fitted.frame.meter.tokens, ladder.run.applied
    counts = f"{show_count(tokens(cuts[0].before))} → {show_count(tokens(cuts[-1].after))}"
    yield f"{paint.apply(ladder.title, 'bold')}: {counts}, {ladder.goal}"
    for _, same in groupby(cuts, key=lambda one: (one.step.label, one.section)):
        yield from _iter_step_lines(list(same), ladder, outcome, width, paint)
    needs = tokens(cuts[-1].needs)
    if ladder.target is not None and ladder.run.is_met and needs > 0:
        yield from wrap(f"with {show_plural(needs, 'token')} more, {_describe_spared(cuts[-1], ladder)}", width, 2)


def _describe_spared(cut: Applied, ladder: Ladder) -> str:
    items = list_items([cut])
    names = f"{'item' if len(items) == 1 else 'items'} {show_ids(items)}"
    of = "" if cut.section == ladder.title else f" of `{cut.section}`"
    is_gone = any(not after for _, before, after in cut.changes if before)
    return f"{names}{of} would stay" if is_gone else f"{names}{of} would be spared its last cut"


def _iter_step_lines(cuts: Sequence[Applied], ladder: Ladder, outcome: Outcome, width: int, paint: Paint) -> Iterator[str]:
    tokens, first = outcome.fitted.frame.meter.tokens, cuts[0]
    of = "" if first.section == ladder.title else f" of `{first.section}`"
    place = "default overflow" if first.step.is_default else str(first.step.span)
    counts = f"{show_count(tokens(first.before))} → {show_count(tokens(cuts[-1].after))}"
    head = f"  {find_rule(first)} {show_plural(len(list_items(cuts)), 'item')}{of}: {counts}"
    yield f"{head}  {paint.apply(escape_controls(place), 'dim')}"
    for why, same in groupby(cuts, key=find_reason):
        yield from wrap(f"{escape_controls(why)}: {show_ids(list_items(list(same)))}", width, 4)
