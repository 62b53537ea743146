"""The whole story of one item, or of one section: whether it was read, what left it out, what cut it, where it stands now."""

from collections.abc import Iterator, Sequence

from promptc.cli.escape import escape_controls
from promptc.cli.paint import PLAIN, Paint
from promptc.cli.views.cuts import Ladder, find_rule, iter_ladders
from promptc.cli.views.figures import GUARDED, show_count, show_plural
from promptc.cli.views.stages import has_pipeline
from promptc.cli.views.wrap import wrap
from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.frozen import frozen, replace
from promptc.explain.items import Trace, describe_refused, describe_value, trace_items
from promptc.model.stages import Item, Selected
from promptc.passes.fit.ladder import Applied
from promptc.passes.items.read import list_kinds
from promptc.passes.layout.section import Entry, SectionLayout
from promptc.pipeline import Outcome

_LABEL = 10
_NOTCHES = 3
_TWINS = 3
_TEXT_LINES = 6


@frozen
class Fact:
    """One thing that happened, and what it is about."""

    about: str
    text: str


@frozen
class ItemHistory:
    """An item by its address, in a word what became of it, and everything that did so, in order."""

    item: str
    verdict: str
    facts: tuple[Fact, ...]


def list_histories(outcome: Outcome, selected: Selected, id: str) -> list[ItemHistory]:
    """The stories of every item of that id, selected ones first: ids may repeat. `UsageError` (PC0726) when there is none."""
    name = selected.section.id
    trace = trace_items(outcome.fitted.strained.selection, selected) if has_pipeline(selected) else None
    places = trace.find_places(id) if trace is not None else []
    gone = [place for place in places if trace is not None and _find_stage(trace, place) is not None]
    stories = [_tell_left_out(trace, place, name) for place in gone[:_TWINS] if trace is not None]
    if len(gone) > _TWINS:
        stories[-1] = replace(stories[-1], facts=(*stories[-1].facts, Fact("also", f"{show_count(len(gone) - _TWINS)} more of this id")))
    fit = outcome.fitted.fits.get(name)
    entries = [entry for entry in (fit.entries if fit is not None else ()) if entry.item.id == id]
    refused = _find_refused(selected, id)
    if refused and not stories and not entries:
        return [ItemHistory(f"{name}/{id}", "not in the prompt: it was not retrieved", (Fact("refused", refused),))]
    if not stories and not entries:
        known = [*(trace.ids.values() if trace is not None else ()), *(item.id for item in selected.items)]
        help = suggest(id, known) or f"`promptc explain ... --stages {name}` lists what was read"
        raise UsageError([Diagnostic("PC0726", f"`{name}` has no item `{escape_controls(id)}`", help=help)])
    return [*(_tell_selected(outcome, trace, fit, entry) for entry in entries if fit is not None), *stories]


def _find_refused(selected: Selected, id: str) -> str:
    """What is told of a chunk that was scored and not retrieved."""
    gathered = selected.gathered
    if gathered is None:
        return ""
    lines = zip(gathered.refused, describe_refused(gathered), strict=True)
    return next((line for chunk, line in lines if chunk["id"] == id), "")


def render_histories(stories: Sequence[ItemHistory], width: int, paint: Paint = PLAIN) -> str:
    """One after the other: what became of it, then a paragraph a fact."""
    return "\n".join(_render_story(story, width, paint) for story in stories)


def _render_story(story: ItemHistory, width: int, paint: Paint) -> str:
    lines = [f"{paint.apply(escape_controls(story.item), 'bold')}: {story.verdict}"]
    for fact in story.facts:
        first, *rest = [part for line in fact.text.split("\n") for part in wrap(escape_controls(line), width - _LABEL - 4) or [""]]
        lines.append(f"  {paint.apply(f'{fact.about:<{_LABEL}}', 'dim')}  {first}")
        lines += [f"{'':{_LABEL + 4}}{line}" for line in rest]
    return "".join(f"{line.rstrip()}\n" for line in lines)


# --- what was not selected ---


def _find_stage(trace: Trace, place: int) -> int | None:
    return next((at for at, stage in enumerate(trace.stages) if place in stage.left_out), None)


def _tell_left_out(trace: Trace, place: int, section: str) -> ItemHistory:
    at = _find_stage(trace, place)
    assert at is not None
    stage = trace.stages[at]
    passed = [one.name for one in trace.stages[1:at]]
    facts = [_place(trace, place)]
    if passed:
        facts.append(Fact("passed", ", ".join(passed)))
    facts.append(Fact("left out", f"by {stage.name}, {stage.at}\n{stage.explain(place)}"))
    return ItemHistory(f"{section}/{trace.find_id(place)}", "not in the prompt: it was not selected", tuple(facts))


def _place(trace: Trace, place: int) -> Fact:
    read = trace.reads.get(place)
    number = f", number {read.number}" if read is not None and read.number != place else ""
    return Fact("read", f"element {place} (0 to {trace.size - 1}){number} of {trace.stages[0].at}")


# --- what was selected ---


def _tell_selected(outcome: Outcome, trace: Trace | None, fit: SectionLayout, entry: Entry) -> ItemHistory:
    cuts = [(ladder, cut) for ladder in iter_ladders(outcome) for cut in ladder.run.applied if _touches(cut, fit, entry.item)]
    facts = [*_iter_origin(outcome, trace, fit, entry), *_iter_cuts(cuts, entry.item, outcome)]
    if entry.is_alive:
        facts += _iter_standing(outcome, entry)
    is_changed = any(after for _, cut in cuts for name, before, after in cut.changes if name == entry.item.id and before)
    where = "in what was tried" if outcome.emitted is None else "in the prompt"
    verdict = f"{where}, {'changed' if is_changed else 'whole'}" if entry.is_alive else "not in the prompt: it was cut"
    return ItemHistory(f"{fit.section.id}/{entry.item.id}", verdict, tuple(facts))


def _touches(cut: Applied, fit: SectionLayout, item: Item) -> bool:
    return cut.section == fit.section.id and any(name == item.id for name, _, _ in cut.changes)


def _iter_origin(outcome: Outcome, trace: Trace | None, fit: SectionLayout, entry: Entry) -> Iterator[Fact]:
    item, meter = entry.item, outcome.fitted.frame.meter
    if entry.is_made:
        return
    place = next(iter(trace.find_places(item.id)), None) if trace is not None else None
    if trace is not None and place is not None:
        yield _place(trace, place)
        if fit.selected.gathered is not None:
            yield Fact("source", describe_value(fit.selected.gathered, place))
        if place in trace.parts:
            yield Fact("left out", f"by parts: {list_kinds(trace.parts[place])}")
    marks = [
        *(["an anchor from before the window"] if item.anchor else []),
        *(["kept: no limit and no step touches it"] if item.kept else []),
    ]
    marks += ["pinned: no step touches it"] if fit.section.pinned else []
    original = next(one for one in fit.selected.items if one.id == item.id)
    size = f"{show_plural(meter.tokens(meter.count(original.text)), 'token')}, {show_plural(len(original.text), 'character')}"
    yield Fact("selected", "; ".join([size, *marks]))
    for found in original.found:
        yield Fact("guarded", f"line {found.line}: {found.kind.replace('_', ' ')} {found.text} {GUARDED[found.policy]}")


def _iter_cuts(cuts: Sequence[tuple[Ladder, Applied]], item: Item, outcome: Outcome) -> Iterator[Fact]:
    """Of many notches of one step the first and the last."""
    shown = list(cuts) if len(cuts) <= _NOTCHES else [cuts[0], cuts[-1]]
    for at, (ladder, cut) in enumerate(shown):
        if at and len(shown) < len(cuts):
            yield Fact("", f"... and {show_plural(len(cuts) - 2, 'notch', 'notches')} between ...")
        yield _tell_cut(ladder, cut, item, outcome)


def _tell_cut(ladder: Ladder, cut: Applied, item: Item, outcome: Outcome) -> Fact:
    tokens = outcome.fitted.frame.meter.tokens
    change = next(one for one in cut.changes if one.id == item.id)
    sizes = [tokens(extent.units) if extent is not None else 0 for extent in (change.before, change.after)]
    own = f"{show_count(sizes[0])} → {show_plural(sizes[1], 'token')}"
    whole = f"{ladder.title} {show_count(tokens(cut.before))} → {show_count(tokens(cut.after))}"
    place = "the default overflow" if cut.step.is_default else cut.step.span
    lines = [
        f"by {find_rule(cut)}, {place}",
        ladder.goal,
        cut.act.why,
        f"{own}; {whole}",
    ]
    needs = tokens(cut.needs)
    if ladder.target is not None and needs > 0 and change.before is not None:
        lines.append(f"with {show_plural(needs, 'token')} more, {show_count(ladder.target + needs)}, it would be spared this")
    return Fact("made" if change.before is None else "cut" if change.after is None else "shortened", "\n".join(lines))


def _iter_standing(outcome: Outcome, entry: Entry) -> Iterator[Fact]:
    if outcome.emitted is not None:
        yield Fact("stands", _find_lines(outcome, entry))
    lines = entry.body.split("\n")
    more = [f"... {show_plural(len(lines) - _TEXT_LINES, 'line')} more"] if len(lines) > _TEXT_LINES else []
    yield Fact("text", "\n".join([*lines[:_TEXT_LINES], *more]))


def _find_lines(outcome: Outcome, entry: Entry) -> str:
    """The lines of the text, or of its message, that the item stands in."""
    assert outcome.emitted is not None
    parts = outcome.emitted.parts
    at = next(at for at, part in enumerate(parts) if part.item is entry)
    before = "".join(part.text for part in parts[:at] if part.message == parts[at].message)
    first = before.count("\n") + 1
    last = first + parts[at].text.rstrip("\n").count("\n")
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    where = f"message {parts[at].message}, " if outcome.report["format"] == "messages" else ""
    return f"{where}{lines}, byte {len(before.encode())}"
