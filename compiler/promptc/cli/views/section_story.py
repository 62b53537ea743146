"""The story of one section: why it is there or not, what it wanted, what it may hold, what cut it and where it stands."""

from collections.abc import Iterator

from promptc.cli.views.cuts import find_rule, iter_ladders, list_items
from promptc.cli.views.figures import show_left_out, show_plural
from promptc.cli.views.story import Fact, ItemHistory
from promptc.explain.items import describe_refused, describe_source
from promptc.model.stages import Selected
from promptc.pipeline import Outcome


def describe_section(outcome: Outcome, selected: Selected) -> ItemHistory:
    """The story of a section the pack has."""
    section = next(one for one in outcome.report["sections"] if one["id"] == selected.section.id)
    fit = outcome.fitted.fits.get(selected.section.id)
    held = outcome.fitted.frame.meter.tokens(fit.count_charge()) if fit is not None else 0
    where = "in what was tried" if outcome.emitted is None else "in the prompt"
    state = {"off": "it is off", "empty": "it holds nothing", "dropped": "it was dropped"}.get(section["state"], "")
    verdict = f"{where}, {show_plural(held, 'token')}" if held else f"not in the prompt: {state}"
    return ItemHistory(selected.section.id, verdict, (*_iter_selection(outcome, selected), *_iter_fitting(outcome, selected)))


def _iter_selection(outcome: Outcome, selected: Selected) -> Iterator[Fact]:
    section = selected.section
    yield Fact("declared", f"{section.span}, {section.title}" if section.title != section.id else str(section.span))
    if section.id in outcome.fitted.strained.selection.bound.without:
        yield Fact("left out", "by --without")
        return
    if section.when is not None:
        truth = "false" if selected.state == "off" else "true"
        yield Fact("when", f"{section.when.text.strip()}\nis {truth}, {section.when.span}")
    if selected.state == "off":
        return
    if selected.gathered is not None:
        yield Fact("source", describe_source(selected.gathered))
        if selected.gathered.refused:
            yield Fact("refused", "\n".join(describe_refused(selected.gathered)))
    if section.items is not None:
        left_out = "".join(f"; {show_left_out(count, stage)} left out by {stage}" for stage, count in selected.left_out.items())
        yield Fact("selected", show_plural(len(selected.items), "item") + left_out)
    elif selected.state == "empty":
        yield Fact("rendered", "to white space only")


def _iter_fitting(outcome: Outcome, selected: Selected) -> Iterator[Fact]:
    fitted, section = outcome.fitted, selected.section
    if section.id not in fitted.fits:
        return
    more = "at least " if selected.is_partial else ""
    wanted = f"{more}{show_plural(fitted.frame.meter.tokens(fitted.demand[section.id]), 'token')} before any step"
    yield Fact("wanted", f"{wanted}; pinned: no step touches it" if section.pinned else wanted)
    grant, budget = fitted.grants.get(section.id), section.budget
    if grant is not None and budget is not None:
        yield Fact("may hold", f"{show_plural(grant, 'token')}, {budget.span}")
    for ladder in iter_ladders(outcome):
        cuts = [cut for cut in ladder.run.applied if cut.section == section.id]
        if cuts:
            rules = ", ".join(dict.fromkeys(find_rule(cut) for cut in cuts))
            yield Fact("cut", f"{show_plural(len(list_items(cuts)), 'item')} by {rules}, {cuts[0].step.span}\n{ladder.goal}")
    described = next(one for one in outcome.report["sections"] if one["id"] == section.id)
    if outcome.emitted is not None and described["range"] is not None:
        *message, start, stop = described["range"]
        yield Fact("stands", f"{f'message {message[0]}, ' if message else ''}bytes {start} to {stop}")
