"""One section's items, stage by stage: what passed, what was left out, and what its ladders took afterwards."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from promptc.cli.escape import escape_controls
from promptc.cli.paint import PLAIN, Paint
from promptc.cli.views.cuts import find_reason, find_rule, iter_ladders, list_items
from promptc.cli.views.drawing import Cell, Row, render_table
from promptc.cli.views.figures import show_count, show_ids
from promptc.cli.views.wrap import wrap
from promptc.diag.frozen import frozen
from promptc.explain.items import Stage, Trace, describe_refused, trace_items
from promptc.model.stages import Selected
from promptc.passes.fit.ladder import Applied
from promptc.pipeline import Outcome


@frozen
class Reason:
    """Why, and of which items; of many a few."""

    why: str
    items: tuple[str, ...]


@frozen
class StageView:
    """A stage or a step: how many items there were after it, how many it left out, and why it left out or changed which ones."""

    name: str
    at: str
    passed: int
    left_out: int
    reasons: tuple[Reason, ...]


def find_stages(outcome: Outcome, selected: Selected) -> tuple[StageView, ...]:
    """The stages of the item pipeline (none for a section without items), then the steps that were taken on the section."""
    return (*_iter_pipeline(outcome, selected), *_iter_steps(outcome, selected))


def has_pipeline(selected: Selected) -> bool:
    """True for a section of items whose pipeline was run: it is not off."""
    return selected.section.items is not None and selected.state != "off"


def render_stages(stages: Sequence[StageView], width: int, paint: Paint = PLAIN) -> str:
    """A line a stage, and under it what it left out."""
    rows: list[Row] = [[Cell(text, "dim") for text in ("stage", "items", "left out")]]
    rows += [[one.name, show_count(one.passed), show_count(one.left_out) if one.left_out else "", Cell(one.at, "dim")] for one in stages]
    head, *lines = render_table(rows, right=frozenset({1, 2}), most=width, paint=paint).splitlines()
    shown = [head]
    for line, one in zip(lines, stages, strict=True):
        shown.append(line)
        for reason in one.reasons:
            text = ": ".join(part for part in (escape_controls(reason.why), show_ids(reason.items)) if part)
            shown += wrap(text, width, 4)
    return "".join(f"{line}\n" for line in shown)


def _iter_pipeline(outcome: Outcome, selected: Selected) -> Iterator[StageView]:
    if not has_pipeline(selected):
        return
    trace = trace_items(outcome.fitted.strained.selection, selected)
    for stage in trace.stages:
        refused = describe_refused(selected.gathered) if stage.name == "from" and selected.gathered is not None else ()
        reasons = (*_iter_reasons(trace, stage), *(Reason(one, ()) for one in refused))
        yield StageView(stage.name, stage.at, stage.passed, len(stage.left_out), reasons)


def _iter_reasons(trace: Trace, stage: Stage) -> Iterator[Reason]:
    """One where all items share it; the stages that judge item by item say only which."""
    if stage.note:
        yield Reason(stage.note, ())
    if stage.left_out:
        is_shared = stage.name in ("where", "window", "reach")
        yield Reason(stage.explain(stage.left_out[0]) if is_shared else "", _name_few(trace, stage.left_out))


def _name_few(trace: Trace, places: Sequence[int]) -> tuple[str, ...]:
    """Ids of what will be shown: of many the first and the last ones, since each has to be evaluated."""
    shown = places if len(places) <= 8 else [*places[:6], *places[-2:]]
    return tuple(trace.find_id(place) for place in shown)


def _iter_steps(outcome: Outcome, selected: Selected) -> Iterator[StageView]:
    alive = len(selected.items)
    for ladder in iter_ladders(outcome):
        own = [cut for cut in ladder.run.applied if cut.section == selected.section.id]
        for _, same in groupby(own, key=lambda cut: cut.step.label):
            cuts = list(same)
            alive -= sum(_count_gone(cut) for cut in cuts)
            left_out = sum(max(0, _count_gone(cut)) for cut in cuts)
            yield StageView(find_rule(cuts[0]), str(cuts[0].step.span), alive, left_out, (Reason(ladder.goal, ()), *_group_reasons(cuts)))


def _group_reasons(cuts: Sequence[Applied]) -> Iterator[Reason]:
    for why, same in groupby(cuts, key=find_reason):
        yield Reason(why, tuple(list_items(list(same))))


def _count_gone(cut: Applied) -> int:
    """Items that went, less those that were made of them."""
    gone = sum(1 for _, before, after in cut.changes if before and not after)
    return gone - sum(1 for _, before, after in cut.changes if after and not before)
