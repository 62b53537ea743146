"""The context meter: what each section holds of the budget, and what made it so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from promptc.cli.terminal import PLAIN, Paint, escape_controls
from promptc.cli.views.drawing import (
    GUARDED,
    Cell,
    Row,
    render_bar,
    render_table,
    show_count,
    show_ids,
    show_left_out,
    show_percent,
    show_plural,
    wrap,
)
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.section import Ranked
from promptc.passes.fit.fit import count_held
from promptc.passes.fit.result import Applied, LadderResult
from promptc.pipeline import Outcome

WIDTH = 80
_NAME = 20
_LEAST_BAR = 8


@frozen
class _Line:
    """One section: what it holds now, what it wanted before any step and what it may hold, in tokens; `cap` as it is shown."""

    id: str
    state: str
    held: int
    wanted: int
    is_more: bool
    cap: str
    used: str


def render_meter(outcome: Outcome, width: int = WIDTH, paint: Paint = PLAIN) -> str:
    """The meter of a render, also of one that does not fit: totals, strain, a line a section, the cuts with their reasons."""
    head = "".join(f"{line}\n" for line in _iter_head(outcome, width, paint))
    notes = "".join(f"{line}\n" for text in _iter_notes(outcome) for line in wrap(text, width))
    table = _render_table(outcome, width, paint)
    return f"{head}\n{table}{render_cuts(outcome, width, paint)}" + (f"\n{notes}" if notes else "")


def _iter_head(outcome: Outcome, width: int, paint: Paint) -> Iterator[str]:
    report = outcome.report
    budget, tokens = report["budget"], report["tokens"]
    counter = _describe_counter(report["counter"])
    provider = report.get("overhead", {}).get("provider")
    shown = f"{report['format']} for {provider}" if provider else report["format"]
    yield f"{paint.apply(report['pack'], 'bold')} {report['version']} as {shown}, counted by {counter}"
    if tokens is None:
        missing, section = report["error"]["missing"], report["error"]["section"]
        short = show_plural(missing, "token")
        where = f"`{section}` is {short} over its cap" if section else f"{short} {'is' if missing == 1 else 'are'} missing"
        yield paint.apply(f"does not fit {show_plural(budget, 'token')}: {where}", "red")
    else:
        yield f"{show_count(tokens)} of {show_plural(budget, 'token')}, {show_percent(tokens, budget)}; {show_count(budget - tokens)} free"
    yield f"▕{paint.apply(render_bar(tokens or budget, 0, budget, width - 2).ljust(width - 2), 'green' if tokens is not None else 'red')}▏"
    if report["strain"] is not None:
        yield _describe_strain(report)
    choices = [
        *(f"{axis} = {case or 'none'}" for axis, case in report["variants"].items()),
        *(f"patch {name}" for name in report["patches"]),
    ]
    if choices:
        yield f"variant {', '.join(choices)}"


def _describe_counter(counter: Mapping[str, Any]) -> str:
    kind = "" if counter["exact"] else ", an estimate"
    return f"{counter['name']}{kind}" + (f" in place of {counter['wanted']}" if "wanted" in counter else "")


def _describe_strain(report: Mapping[str, Any]) -> str:
    (spent, allowed), (later, _) = report["pressure"]["before"], report["pressure"]["after"]
    text = f"strain {report['strain']}, pressure {show_count(spent)} of {show_count(allowed)}, {show_percent(spent, allowed)}"
    return text if later == spent else f"{text}; {show_percent(later, allowed)} after its steps"


# --- the table ---


def _render_table(outcome: Outcome, width: int, paint: Paint) -> str:
    lines = list(_iter_lines(outcome))
    head = ["section", "tokens", "wanted", "cap", "used"]
    body = [_make_row(line) for line in lines]
    feet = list(_iter_totals(outcome, lines))
    widths = [max(min(_NAME, len(row[at])) for row in (head, *body, *feet)) for at in range(len(head))]
    room = width - sum(widths) - 2 * (len(head) + 1) - max((len(line.state) for line in lines), default=0)
    bars = _render_bars(lines, max(room, _LEAST_BAR))
    rows: list[Row] = [[Cell(text, "dim") for text in head]]
    for row, bar, line in zip(body, bars, lines, strict=True):
        rows.append([*(Cell(text, None if line.held else "dim") for text in row), Cell(bar, "green"), Cell(line.state, "dim")])
    rows += [[Cell(text, "bold") for text in row] for row in feet]
    return render_table(rows, right=frozenset(range(1, len(head))), most=max(_NAME, room), paint=paint)


def _iter_lines(outcome: Outcome) -> Iterator[_Line]:
    for one in outcome.report["sections"]:
        held = count_tokens_held(outcome, one["id"])
        wanted = one.get("demand", one.get("demand_at_least", 0))
        cap, limit = _find_cap(outcome, one["id"])
        used = show_percent(held, limit) if held and limit else ""
        yield _Line(one["id"], _describe_state(one, held, wanted), held, wanted, "demand_at_least" in one, cap, used)


def count_tokens_held(outcome: Outcome, section: str) -> int:
    """Count what a section holds in the end, in tokens: 0 where nothing of it was selected."""
    fitted = outcome.fitted
    return fitted.layout.meter.tokens(count_held(fitted, section)) if section in fitted.sections else 0


def _find_cap(outcome: Outcome, name: str) -> tuple[str, int]:
    """What a section may hold, as it is shown, and in tokens (0: not in tokens, or no cap)."""
    selected = outcome.fitted.strained.selection.find_selected(name)
    budget = selected.section.budget if selected is not None else None
    grant = outcome.fitted.grants.get(name)
    if grant is not None:
        return show_count(grant), grant
    if budget is None or budget.cap is None:
        return "", 0
    cap = budget.cap.tokens(outcome.report["budget"])
    return (f"{show_count(cap)} ch", 0) if budget.cap.unit == "chars" else (show_count(cap), cap)


def _describe_state(section: Mapping[str, Any], held: int, wanted: int) -> str:
    if section["state"] == "present":
        return "pinned" if section["pinned"] else ""
    return "all cut" if wanted and not held and section["state"] == "empty" else str(section["state"])


def _make_row(line: _Line) -> list[str]:
    name = escape_controls(line.id)
    if not line.held and not line.wanted:
        return [name, "", "", line.cap, ""]
    return [name, show_count(line.held), show_count(line.wanted) + ("+" if line.is_more else ""), line.cap, line.used]


def _iter_totals(outcome: Outcome, lines: list[_Line]) -> Iterator[list[str]]:
    """The exact total, and before it what tools and response take, and what it differs by from the sum of all: what messages share, and
    meeting pieces. Of a prompt that does not fit it is what `truncate` left; where it did not come to that, the sum."""
    report, layout = outcome.report, outcome.fitted.layout
    held = sum(line.held for line in lines) + layout.offered
    if layout.offer:
        yield [layout.offer, show_count(layout.offered), "", "", ""]
    total = report["tokens"] if report["tokens"] is not None else _count_left(outcome, held)
    if total != held:
        yield ["shared", f"{total - held:+,}", "", "", ""]
    yield ["total", show_count(total), "", show_count(report["budget"]), show_percent(total, report["budget"])]


def _count_left(outcome: Outcome, held: int) -> int:
    run = outcome.fitted.truncated
    if run is None:
        return held
    return outcome.fitted.layout.meter.tokens(run.applied[-1].after if run.applied else run.start)


def _render_bars(lines: list[_Line], width: int) -> list[str]:
    """All on one scale: the longest is what a section holds, or three times that for what it wanted."""
    most = max((line.held for line in lines), default=0)
    scale = max((min(line.wanted, 3 * most) for line in lines), default=0)
    return [render_bar(line.held, max(0, line.wanted - line.held), max(scale, most), width) for line in lines]


# --- notes ---


def _iter_notes(outcome: Outcome) -> Iterator[str]:
    report = outcome.report
    for one in report["sections"]:
        if one["left_out"]:
            stages = ", ".join(f"{show_left_out(count, stage)} by {stage}" for stage, count in one["left_out"].items())
            yield f"{one['id']}: not selected, before any counting: {stages}"
    for one in report["guarded"]:
        where = f"{one['section']}/{one['item']}" if one["item"] is not None else f"{one['section']}, header"
        what = f"{one['kind'].replace('_', ' ')} {escape_controls(one['text'])}"
        yield f"{escape_controls(where)}, line {one['line']}: {what} {GUARDED[one['policy']]}"


@frozen
class Ladder:
    """A ladder that took something: what it shortens, to which end, its run, and the tokens of its target (None: no target)."""

    title: str
    goal: str
    run: LadderResult
    target: int | None


def iter_ladders(outcome: Outcome) -> Iterator[Ladder]:
    """The ladders that took something, in the order they ran: a tier's `do`, the sections', the total's."""
    fitted, tokens = outcome.fitted, outcome.fitted.layout.meter.tokens
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
    why = cut.why.partition("; ")[2] if cut.boundary else cut.why
    if not isinstance(cut.step, Ranked) or cut.step.by is None:
        return why
    by = cut.step.by.text.strip()
    return re.sub(re.escape(by) + r" = \S+, smallest first", lambda _: f"{by}, smallest first", why)


def find_rule(cut: Applied) -> str:
    """The step's name in the manifest."""
    return type(cut.step).__name__.lower()


def render_cuts(outcome: Outcome, width: int, paint: Paint) -> str:
    """A paragraph a ladder that took something; one line when none did."""
    paragraphs = ["".join(f"{line}\n" for line in _iter_cut_lines(one, outcome, width, paint)) for one in iter_ladders(outcome)]
    return "".join(f"\n{text}" for text in paragraphs or ["nothing was cut\n"])


def _iter_cut_lines(ladder: Ladder, outcome: Outcome, width: int, paint: Paint) -> Iterator[str]:
    tokens, cuts = outcome.fitted.layout.meter.tokens, ladder.run.applied
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
    tokens, first = outcome.fitted.layout.meter.tokens, cuts[0]
    of = "" if first.section == ladder.title else f" of `{first.section}`"
    place = "default overflow" if first.step.is_default else str(first.step.span)
    counts = f"{show_count(tokens(first.before))} → {show_count(tokens(cuts[-1].after))}"
    head = f"  {find_rule(first)} {show_plural(len(list_items(cuts)), 'item')}{of}: {counts}"
    yield f"{head}  {paint.apply(escape_controls(place), 'dim')}"
    for why, same in groupby(cuts, key=find_reason):
        yield from wrap(f"{escape_controls(why)}: {show_ids(list_items(list(same)))}", width, 4)
