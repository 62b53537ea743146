"""An item's text as it was emitted, piece by piece, with what made each. For tools that explain a render; none needs it.

What rendered, cut and guarded the item is done once more, and held against what was emitted: what does not come out the same is one piece,
of which the template's place is all that is told.
"""

from collections.abc import Mapping, Sequence

from promptc.diag.findings import PromptcError
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.section import Items, MessageForm, TrimEach
from promptc.model.stages import Item
from promptc.passes.act import Entry
from promptc.passes.cut_text import Cut
from promptc.passes.find_origins import Origins
from promptc.passes.fit.fit import Fitted
from promptc.passes.fit.ladder import Applied
from promptc.passes.items.render import ItemRenderer, render_part, strip_lines
from promptc.passes.know_names import know_value
from promptc.passes.layout.section import SectionLayout
from promptc.passes.piece import TracedText, guard_pieces, join_pieces, make_pieces, slice_pieces
from promptc.passes.read_parts import read_parts
from promptc.template.place import OutputSpan, Place, Pointers, TraceContext
from promptc.template.tracing import trace_expression, trace_template

Pieces = tuple[TracedText, ...]


def strip_pieces(pieces: Pieces) -> Pieces:
    """The pieces of a rendered text without what an item leaves away at its ends."""
    text = join_pieces(pieces)
    stripped = strip_lines(text)
    start = len(text.rstrip("\r\n")) - len(stripped)
    return slice_pieces(pieces, start, start + len(stripped))


class ItemTracer:
    """Traces the items of one fitted selection."""

    def __init__(self, fitted: Fitted, origins: Origins, known: TraceContext) -> None:
        self._fitted = fitted
        self._origins = origins
        self._known = known
        self._selection = fitted.strained.selection

    def trace(self, fit: SectionLayout, entry: Entry) -> Pieces:
        """The pieces of the text inside the item's own fence."""
        pieces = self._find_whole(fit, entry)
        if pieces is not None and join_pieces(pieces) == entry.item.raw:
            cut = find_last_cut(self._fitted, entry)
            if cut is not None and cut.act.edit is not None and cut.act.edit.cut is not None:
                pieces = _cut(pieces, cut.act.edit.cut, TracedText("cut", "", span=cut.step.span, code=cut.step.label))
            pieces = guard_pieces(pieces, entry.text)
            if pieces is not None:
                return pieces
        return (TracedText("template", entry.text, span=self._origins.find_span(fit.section, entry)),)

    def _find_whole(self, fit: SectionLayout, entry: Entry) -> Pieces | None:
        """An item whose id was met again was rendered under its own, for which its template may even fail."""
        try:
            return self._trace_whole(fit, entry)
        except PromptcError:
            return None

    def know(self, fit: SectionLayout, entry: Entry) -> TraceContext:
        """What is known of the names of an item: also which part of the state it is, and what made its group's key."""
        pointer = self._origins.find_pointer(fit.section, entry)
        known = self._known
        if pointer is not None:
            known = replace(known, named={**known.named, "item": (pointer,)})
        items = fit.section.items
        if items is not None and items.group is not None and not entry.is_made:
            known = know_value(known, "group", items.group.by, self._bind(fit, items, entry.item))
        return known

    def _bind(self, fit: SectionLayout, items: Items, item: Item) -> Mapping[str, Any]:
        return self.find_renderer(fit, items).bind_item(item)

    def find_renderer(self, fit: SectionLayout, items: Items) -> ItemRenderer:
        """What rendered the section's items."""
        bound = self._selection.bound
        return ItemRenderer(fit.section, items, fit.names, self._selection.guard, bound.meter, bound.total)

    def _trace_whole(self, fit: SectionLayout, entry: Entry) -> Pieces | None:
        """Before its ladder cut it; None where that cannot be told."""
        section, items, template = fit.section, fit.section.items, self._origins.find_template(fit.section, entry)
        if entry.is_made:
            return self._trace_made(fit, entry)
        if items is None:
            assert template is not None
            return strip_pieces(make_pieces(trace_template(template, fit.names, self._known)))
        if items.message is not None and entry.item.content is not None:
            return self._trace_parts(fit, items, items.message, entry)
        names = self._bind(fit, items, entry.item)
        if template is None:
            assert section.items is not None and items.message is not None
            pieces = self._trace_content(items.message, names, self.know(fit, entry))
        else:
            pieces = make_pieces(trace_template(template, names, self.know(fit, entry)))
        pieces = strip_pieces(pieces)
        return self._trim(fit, items, items.trim_each, entry.item, pieces) if items.trim_each is not None else pieces

    def _trace_made(self, fit: SectionLayout, entry: Entry) -> Pieces:
        """By a recap: its template is given the items it stands for."""
        template = self._origins.find_template(fit.section, entry)
        assert template is not None
        gone = self._origins.find_making(entry).act.gone
        texts = "\n".join(one.item.raw for one in gone)
        names = {**fit.names, "items": [one.item.value for one in gone], "text": texts}
        pointers = tuple(found for found in (self._origins.find_pointer(fit.section, one) for one in gone) if found is not None)
        known = replace(self._known, named={**self._known.named, "items": pointers, "text": pointers})
        return strip_pieces(make_pieces(trace_template(template, names, known)))

    def _trace_content(self, message: MessageForm, names: Mapping[str, Any], known: TraceContext) -> Pieces:
        return make_pieces([_make_content(message, str(message.content.evaluate(names)), trace_expression(message.content, names, known))])

    def _trace_parts(self, fit: SectionLayout, items: Items, message: MessageForm, entry: Entry) -> Pieces | None:
        """The parts of a content that is a list, each on a line, as they are counted."""
        content: Any = message.content.evaluate(self._bind(fit, items, entry.item))
        pieces: list[TracedText] = []
        for given, part in read_parts(content, message, entry.item.id).passing:
            pointer = self._origins.pointers.find(given)
            inner = "/text" if part["type"] == "text" else ""
            made = _make_content(message, render_part(part), (pointer + inner,) if pointer is not None else ())
            pieces += [*([TracedText("line end", "\n")] if pieces else []), *make_pieces([made])]
        return guard_pieces(pieces, entry.item.raw)

    def _trim(self, fit: SectionLayout, items: Items, trim: TrimEach, item: Item, pieces: Pieces) -> Pieces:
        raw = join_pieces(pieces)
        renderer = self.find_renderer(fit, items)
        renderer.bind_item(item)
        cut = renderer.find_trim(raw, self._selection.guard.guard(raw)[0], trim)
        return _cut(pieces, cut, TracedText("cut", "", span=trim.span, code="trim_each")) if cut is not None else pieces


def _make_content(message: MessageForm, text: str, pointers: Pointers) -> OutputSpan:
    expression = message.content
    return OutputSpan(text, Place(expression.span, inline=True), "", expression.text, 0, expression.text, pointers)


def find_last_cut(fitted: Fitted, entry: Entry) -> Applied | None:
    """The notch that cut the entry's text as it stands."""
    if entry.kept is None:
        return None
    cuts = (cut for _, run in fitted.iter_runs() for cut in run.applied if cut.act.edit is not None and cut.act.edit.entry is entry)
    return next((cut for cut in reversed(list(cuts)) if cut.act.edit is not None and cut.act.edit.cut is not None), None)


def _cut(pieces: Sequence[TracedText], cut: Cut, mark: TracedText) -> Pieces:
    """What a cut leaves, with its mark where it was made."""
    size = len(join_pieces(pieces))
    return (*slice_pieces(pieces, 0, cut.start), replace(mark, text=cut.middle), *slice_pieces(pieces, cut.stop, size))
