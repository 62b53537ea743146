"""The history of an item (`list_histories`), of a section (`describe_section`) and of the stages of a section (`list_stages`).

A history says what was read, what left the item out, what cut it, and where it is now. `render_lines` shows the history of a line of
output: the source line and the keys of the state that made each part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from promptc.cli.terminal import PLAIN, Paint, clip_cells, count_cells, escape_controls
from promptc.cli.views.drawing import GUARDED, Cell, Row, render_table, show_count, show_ids, show_left_out, wrap
from promptc.diag.findings import Diagnostic, UsageError, show_plural, suggest
from promptc.diag.frozen import frozen, replace
from promptc.explain.items import (
    Ladder,
    Stage,
    Trace,
    count_tokens_held,
    describe_reason,
    describe_refused,
    describe_source,
    describe_value,
    iter_ladders,
    list_items,
    trace_items,
)
from promptc.explain.output import Bit, DescribedLine, LineOwner
from promptc.model.stages import Item, Selected
from promptc.passes.fit.fit import name_source
from promptc.passes.fit.result import Applied, FittedItem, FittedSection
from promptc.passes.items.read import list_kinds
from promptc.pipeline import Outcome
from promptc.text.json import render_canonical_json

_LABEL = 10
_NOTCHES = 3
_TWINS = 3
_TEXT_LINES = 6
_LINE = 400
_UNSEEN = "the model is shown nothing of it, until a search finds it"
_KEYS = 4
_BIT_NOTES = {
    "guard": "put in by the guard, so that content cannot be read as structure",
    "line end": "the end of a line, put there by the layout",
}


@frozen
class Fact:
    """One event, and the label of its kind."""

    about: str
    text: str


@frozen
class ItemHistory:
    """The address of an item or a section, its outcome in a few words, and the facts that led to it, in order."""

    item: str
    verdict: str
    facts: tuple[Fact, ...]


@frozen
class Reason:
    """A reason, and the items that it applies to; only a few of many."""

    why: str
    items: tuple[str, ...]


@frozen
class StageView:
    """A stage or a step: the number of items after it and the number that it left out.

    `reasons` say why it left out or changed which items.
    """

    name: str
    at: str
    passed: int
    left_out: int
    reasons: tuple[Reason, ...]


def describe_section(outcome: Outcome, selected: Selected) -> ItemHistory:
    """Return the history of a section of the pack."""
    section = next(one for one in outcome.account["sections"] if one["id"] == selected.section.id)
    held = count_tokens_held(outcome.fitted, selected.section.id)
    state = {"off": "it is off", "empty": "it holds nothing", "dropped": "it was dropped"}.get(section["state"], "")
    verdict = f"{_say_where(outcome)}, {show_plural(held, 'token')}" if held else f"not in the prompt: {state}"
    return ItemHistory(selected.section.id, verdict, (*_iter_selection(outcome, selected), *_iter_fitting(outcome, selected)))


def _say_where(outcome: Outcome) -> str:
    return "in what was tried" if outcome.emitted is None else "in the prompt"


def _iter_selection(outcome: Outcome, selected: Selected) -> Iterator[Fact]:
    section = selected.section
    yield Fact("declared", f"{section.span}, {section.title}" if section.title != section.id else str(section.span))
    if section.id in outcome.fitted.strained.selection.bound.without:
        yield Fact("left out", "by --without")
        return
    if section.is_tools and outcome.fitted.layout.format == "text":
        yield Fact("left out", "text has no tools")
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
    if section.id not in fitted.sections:
        return
    more = "at least " if selected.is_partial else ""
    wanted = f"{more}{show_plural(fitted.layout.meter.tokens(fitted.demand[section.id]), 'token')} before any step"
    yield Fact("wanted", f"{wanted}; pinned: no step touches it" if section.pinned else wanted)
    grant, budget = fitted.grants.get(section.id), section.budget
    if grant is not None and budget is not None:
        yield Fact("may hold", f"{show_plural(grant, 'token')}{name_source(budget)}, {budget.span}")
    for one in fitted.pools:
        if section.id in one.pool.sections:
            others = ", ".join(name for name in one.pool.sections if name != section.id)
            beside = f" with {others}" if others else ""
            yield Fact("shares", f"{show_plural(one.cap, 'token')}{beside}, in the pool {one.pool.name}, {one.pool.span}")
    for ladder in iter_ladders(outcome.fitted):
        cuts = [cut for cut in ladder.run.applied if cut.section == section.id]
        if cuts:
            rules = ", ".join(dict.fromkeys(cut.step.rule for cut in cuts))
            yield Fact("cut", f"{show_plural(len(list_items(cuts)), 'item')} by {rules}, {cuts[0].step.span}\n{ladder.goal}")
    described = next(one for one in outcome.account["sections"] if one["id"] == section.id)
    if outcome.emitted is not None and described["range"] is not None:
        *message, start, stop = described["range"]
        last = max((part.message for part in outcome.emitted.parts if part.section == section.id), default=0)
        place = f"message {message[0]}, " if message else ""
        yield Fact("stands", f"messages {message[0]} to {last}" if message and last > message[0] else f"{place}bytes {start} to {stop}")


def list_histories(outcome: Outcome, selected: Selected, id: str) -> list[ItemHistory]:
    """Return the histories of every item with that id, selected items first; ids can repeat.

    Raises `UsageError` (PC0726) if there is no such item.
    """
    name = selected.section.id
    trace = trace_items(outcome.fitted.strained.selection, selected) if has_pipeline(selected) else None
    places = trace.list_places(id) if trace is not None else []
    gone = [place for place in places if trace is not None and _find_stage(trace, place) is not None]
    stories = [_describe_left_out(trace, place, name) for place in gone[:_TWINS] if trace is not None]
    if len(gone) > _TWINS:
        stories[-1] = replace(stories[-1], facts=(*stories[-1].facts, Fact("also", f"{show_count(len(gone) - _TWINS)} more of this id")))
    fit = outcome.fitted.sections.get(name)
    entries = [entry for entry in (fit.entries if fit is not None else ()) if entry.item.id == id]
    refused = _find_refused(selected, id)
    if refused and not stories and not entries:
        return [ItemHistory(f"{name}/{id}", "not in the prompt: it was not retrieved", (Fact("refused", refused),))]
    if not stories and not entries:
        known = [*(trace.ids.values() if trace is not None else ()), *(item.id for item in selected.items)]
        help = suggest(id, known) or f"`promptc explain ... --stages {name}` lists what was read"
        raise UsageError([Diagnostic("PC0726", f"`{name}` has no item `{escape_controls(id)}`", help=help)])
    return [*(_describe_selected(outcome, trace, fit, entry) for entry in entries if fit is not None), *stories]


def _find_refused(selected: Selected, id: str) -> str | None:
    """Return the description of a chunk that was scored but not retrieved, or None if no such chunk has that id."""
    gathered = selected.gathered
    if gathered is None:
        return None
    lines = zip(gathered.refused, describe_refused(gathered), strict=True)
    return next((line for chunk, line in lines if chunk["id"] == id), None)


def render_histories(stories: Sequence[ItemHistory], width: int, paint: Paint = PLAIN) -> str:
    """Return each history as text: its outcome, then a paragraph for each fact."""
    return "\n".join(_render_story(story, width, paint) for story in stories)


def _render_story(story: ItemHistory, width: int, paint: Paint) -> str:
    lines = [f"{paint.apply(escape_controls(story.item), 'bold')}: {story.verdict}"]
    for fact in story.facts:
        first, *rest = [part for line in fact.text.split("\n") for part in wrap(escape_controls(line), width - _LABEL - 4) or [""]]
        lines.append(f"  {paint.apply(f'{fact.about:<{_LABEL}}', 'dim')}  {first}")
        lines += [f"{'':{_LABEL + 4}}{line}" for line in rest]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _find_stage(trace: Trace, place: int) -> int | None:
    return next((at for at, stage in enumerate(trace.stages) if place in stage.left_out), None)


def _describe_left_out(trace: Trace, place: int, section: str) -> ItemHistory:
    at = _find_stage(trace, place)
    assert at is not None
    stage = trace.stages[at]
    passed = [one.name for one in trace.stages[1:at]]
    facts = [_describe_read(trace, place)]
    if passed:
        facts.append(Fact("passed", ", ".join(passed)))
    facts.append(Fact("left out", f"by {stage.name}, {stage.at}\n{stage.explain(place)}"))
    return ItemHistory(f"{section}/{trace.name_item(place)}", "not in the prompt: it was not selected", tuple(facts))


def _describe_read(trace: Trace, place: int) -> Fact:
    read = trace.reads.get(place)
    number = f", number {read.number}" if read is not None and read.number != place else ""
    return Fact("read", f"element {place} (0 to {trace.size - 1}){number} of {trace.stages[0].at}")


def _describe_selected(outcome: Outcome, trace: Trace | None, fit: FittedSection, entry: FittedItem) -> ItemHistory:
    cuts = [(ladder, cut) for ladder in iter_ladders(outcome.fitted) for cut in ladder.run.applied if _touches(cut, fit, entry.item)]
    facts = [*_iter_origin(outcome, trace, fit, entry), *_iter_cuts(cuts, entry.item, outcome)]
    if entry.is_alive:
        facts += _iter_standing(outcome, fit, entry)
    is_changed = any(after for _, cut in cuts for name, before, after in cut.changes if name == entry.item.id and before)
    verdict = f"{_say_where(outcome)}, {'changed' if is_changed else 'whole'}" if entry.is_alive else "not in the prompt: it was cut"
    return ItemHistory(f"{fit.section.id}/{entry.item.id}", verdict, tuple(facts))


def _touches(cut: Applied, fit: FittedSection, item: Item) -> bool:
    return cut.section == fit.section.id and any(name == item.id for name, _, _ in cut.changes)


def _iter_origin(outcome: Outcome, trace: Trace | None, fit: FittedSection, entry: FittedItem) -> Iterator[Fact]:
    item, meter = entry.item, outcome.fitted.layout.meter
    if entry.is_made:
        return
    place = next(iter(trace.list_places(item.id)), None) if trace is not None else None
    if trace is not None and place is not None:
        yield _describe_read(trace, place)
        if fit.selected.gathered is not None:
            yield Fact("source", describe_value(fit.selected.gathered, place))
        if place in trace.parts:
            yield Fact("left out", f"by parts: {list_kinds(trace.parts[place])}")
    marks = [
        *(["an anchor from before the window"] if item.anchor else []),
        *(["kept: no limit and no step touches it"] if item.kept else []),
    ]
    if item.id in fit.selected.standing:
        marks.append(f"stays in place, {fit.selected.standing.index(item.id) + 1} of {len(fit.selected.standing)}")
    if item.held:
        marks.append(f"held by `freeze`: {'its source does not give it' if item.held == 'source' else f'`{item.held}` would leave it out'}")
    marks += ["pinned: no step touches it"] if fit.section.pinned else []
    original = next(one for one in fit.selected.items if one.id == item.id)
    units = meter.count(original.text) + original.beyond
    size = f"{show_plural(meter.tokens(units), 'token')}, {show_plural(len(original.text), 'character')}"
    yield Fact("selected", "; ".join([size, *marks]))
    for found in original.found:
        yield Fact("guarded", f"line {found.line}: {found.kind.replace('_', ' ')} {found.text} {GUARDED[found.policy]}")


def _iter_cuts(cuts: Sequence[tuple[Ladder, Applied]], item: Item, outcome: Outcome) -> Iterator[Fact]:
    """Yield the cuts of an item; of many notches only the first and the last."""
    shown = list(cuts) if len(cuts) <= _NOTCHES else [cuts[0], cuts[-1]]
    for at, (ladder, cut) in enumerate(shown):
        if at and len(shown) < len(cuts):
            yield Fact("", f"... and {show_plural(len(cuts) - 2, 'notch', 'notches')} between ...")
        yield _describe_cut(ladder, cut, item, outcome)


def _describe_cut(ladder: Ladder, cut: Applied, item: Item, outcome: Outcome) -> Fact:
    tokens = outcome.fitted.layout.meter.tokens
    change = next(one for one in cut.changes if one.id == item.id)
    sizes = [tokens(extent.units) if extent is not None else 0 for extent in (change.before, change.after)]
    own = f"{show_count(sizes[0])} → {show_plural(sizes[1], 'token')}"
    whole = f"{ladder.title} {show_count(tokens(cut.before))} → {show_count(tokens(cut.after))}"
    place = "the default overflow" if cut.step.is_default else cut.step.span
    lines = [
        f"by {cut.step.rule}, {place}",
        ladder.goal,
        cut.why,
        f"{own}; {whole}",
    ]
    if ladder.target is not None and cut.needs > 0 and change.before is not None:
        more = outcome.fitted.count_more(ladder.name, cut.needs)
        tokens_more = f"{show_plural(more, 'token')} more, {show_count(ladder.target + more)},"
        is_least = outcome.fitted.make_least_test(ladder.name)(cut)
        lines.append(f"it takes at least {tokens_more} to spare it this" if is_least else f"with {tokens_more} it would be spared this")
    return Fact("made" if change.before is None else "cut" if change.after is None else "shortened", "\n".join(lines))


def _iter_standing(outcome: Outcome, fit: FittedSection, entry: FittedItem) -> Iterator[Fact]:
    if outcome.emitted is not None:
        yield Fact("stands", _describe_lines(outcome, fit, entry))
    lines = (entry.body or _UNSEEN).split("\n")
    more = [f"... {show_plural(len(lines) - _TEXT_LINES, 'line')} more"] if len(lines) > _TEXT_LINES else []
    yield Fact("text", "\n".join([*map(_clip_line, lines[:_TEXT_LINES]), *more]))


def _clip_line(line: str) -> str:
    """Return the beginning of a line. The result of a tool is one line of JSON, however long it is."""
    return line if len(line) <= _LINE else f"{line[:_LINE]}... {show_plural(len(line) - _LINE, 'character')} more"


def _describe_lines(outcome: Outcome, fit: FittedSection, entry: FittedItem) -> str:
    """Return the lines of the text, or of its message, that contain the item; for a tool, its place among all tools."""
    assert outcome.emitted is not None
    forms = fit.section.items.tool if fit.section.items is not None else None
    if forms is not None:
        tools = outcome.emitted.tools
        place = next(at for at, one in enumerate(tools, 1) if one is entry.item.tool)
        return f"tool {place} of {len(tools)}, in its form {forms.names[entry.form]}"
    parts = outcome.emitted.parts
    at = next(at for at, part in enumerate(parts) if part.item is entry)
    before = "".join(part.text for part in parts[:at] if part.message == parts[at].message)
    first = before.count("\n") + 1
    last = first + parts[at].text.rstrip("\n").count("\n")
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    where = f"message {parts[at].message}, " if outcome.account["format"] == "messages" else ""
    return f"{where}{lines}, byte {len(before.encode())}"


def list_stages(outcome: Outcome, selected: Selected) -> tuple[StageView, ...]:
    """Return the stages of the item pipeline (none for a section without items), then the steps on the section."""
    return (*_iter_pipeline(outcome, selected), *_iter_steps(outcome, selected))


def has_pipeline(selected: Selected) -> bool:
    """Return whether a section has items and its pipeline ran, which it does unless the section is off."""
    return selected.section.items is not None and selected.state != "off"


def render_stages(stages: Sequence[StageView], width: int, paint: Paint = PLAIN) -> str:
    """Return a line for each stage, with what it left out below it."""
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
    """Yield the shared reason of a stage, if all its items have one. A stage that judges item by item only lists the items."""
    if stage.note:
        yield Reason(stage.note, ())
    if stage.left_out:
        is_shared = stage.name in ("hidden", "where", "window", "reach", "unit")
        yield Reason(stage.explain(stage.left_out[0]) if is_shared else "", _name_few(trace, stage.left_out))


def _name_few(trace: Trace, places: Sequence[int]) -> tuple[str, ...]:
    """Return the ids to show, only the first and the last of many: each id has to be evaluated."""
    shown = places if len(places) <= 8 else [*places[:6], *places[-2:]]
    return tuple(trace.name_item(place) for place in shown)


def _iter_steps(outcome: Outcome, selected: Selected) -> Iterator[StageView]:
    alive = len(selected.items)
    for ladder in iter_ladders(outcome.fitted):
        own = [cut for cut in ladder.run.applied if cut.section == selected.section.id]
        for _, same in groupby(own, key=lambda cut: cut.step.label):
            cuts = list(same)
            alive -= sum(_count_gone(cut) for cut in cuts)
            left_out = sum(max(0, _count_gone(cut)) for cut in cuts)
            yield StageView(cuts[0].step.rule, str(cuts[0].step.span), alive, left_out, (Reason(ladder.goal, ()), *_group_reasons(cuts)))


def _group_reasons(cuts: Sequence[Applied]) -> Iterator[Reason]:
    for why, same in groupby(cuts, key=describe_reason):
        yield Reason(why, tuple(list_items(list(same))))


def _count_gone(cut: Applied) -> int:
    """Return the number of items that a cut removed, minus the number that it made."""
    gone = sum(1 for _, before, after in cut.changes if before and not after)
    return gone - sum(1 for _, before, after in cut.changes if after and not before)


def render_lines(lines: Sequence[DescribedLine], width: int, paint: Paint = PLAIN) -> str:
    """Return each line of output, then a paragraph for each of its parts."""
    return render_histories([_describe_line(line, width) for line in lines], width, paint)


def _describe_line(line: DescribedLine, width: int) -> ItemHistory:
    head = f"line {line.line}" if line.message is None else f"message {line.message}, line {line.line}"
    return ItemHistory(head, clip_cells(escape_controls(line.text), width - len(head) - 2), tuple(_iter_facts(line, width - 16)))


def _iter_facts(line: DescribedLine, room: int) -> Iterator[Fact]:
    for owner in line.owners:
        shown = [bit for bit in owner.bits if bit.what != "line end" or not line.text]
        if any(bit.what == "separator" and bit.code == "output.separator" for bit in shown):
            yield Fact("section", f"none: it comes after {owner.section}")
        else:
            yield Fact("section", f"{owner.section}, {owner.declared}")
        if owner.item is not None:
            yield Fact("item", ", ".join(_iter_item(owner)))
        for bit in shown:
            yield Fact(bit.what, "\n".join(_iter_bit(bit, room)))


def _iter_item(owner: LineOwner) -> Iterator[str]:
    yield str(owner.item)
    if owner.number is not None and str(owner.number) != owner.item:
        yield f"number {owner.number}"
    if owner.pointer is not None:
        yield f"of {owner.pointer}"
    if owner.note:
        yield owner.note


def _iter_bit(bit: Bit, room: int) -> Iterator[str]:
    if bit.what == "cut":
        yield f"{_quote(bit.text, room) if bit.text else 'nothing'} in the place of what {bit.code} took"
        yield str(bit.at)
        return
    yield _quote(bit.text, room)
    if bit.what in _BIT_NOTES:
        yield _BIT_NOTES[bit.what]
    place, code = bit.at or "", " ".join(bit.code.split())
    if code and len(place) + 2 + count_cells(code) <= room:
        yield f"{place}  {code}"
    else:
        yield from (part for part in (place, clip_cells(code, room)) if part)
    yield from (f"called at {caller}" for caller in reversed(bit.calls))
    for key in bit.keys[:_KEYS]:
        yield clip_cells(f"{key.pointer or 'the whole state'} = {key.value}", room)
    if len(bit.keys) > _KEYS:
        yield f"and {show_plural(len(bit.keys) - _KEYS, 'more key')}"


def _quote(text: str, room: int) -> str:
    return clip_cells(render_canonical_json(text), room)
