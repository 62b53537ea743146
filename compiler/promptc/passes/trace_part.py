"""A part of an output, piece by piece, with what made each. For tools that explain a render; none needs it."""

import re
from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.typed import Any
from promptc.explain.output import ItemTracer, Pieces, strip_pieces
from promptc.model.section import Evict, Fence, Section
from promptc.passes.act import Entry
from promptc.passes.assemble import Part
from promptc.passes.find_origins import Origins
from promptc.passes.fit.fit import Fitted
from promptc.passes.know_names import know_names
from promptc.passes.layout.section import SectionLayout
from promptc.passes.piece import TracedText, guard_pieces, join_pieces, make_pieces, slice_pieces
from promptc.template.compile import Template
from promptc.template.place import TraceContext
from promptc.template.tracing import trace_template


class PartTracer:
    """Traces the parts of one output."""

    def __init__(self, fitted: Fitted, parts: Sequence[Part]) -> None:
        self._fitted = fitted
        self._parts = parts
        self.origins = Origins(fitted)
        self._known = know_names(fitted.strained.selection.bound, self.origins.pointers)
        self._items = ItemTracer(fitted, self.origins, self._known)

    def trace(self, at: int) -> Pieces:
        """The pieces of the part at a place; joined, they are its text."""
        part = self._parts[at]
        if part.owner == "separator":
            output = self._fitted.strained.selection.plan.output
            return (TracedText("separator", part.text, span=output.span, code="output.separator"),)
        fit = self._fitted.fits[part.section]
        own = tuple(self._iter_own(fit, part, at))
        text = join_pieces(own)
        if not part.text.startswith(text):
            own = (TracedText("template", part.text.rstrip("\n"), span=fit.section.span),)
            text = join_pieces(own)
        return (*own, *_iter_trail(fit.section, part.text[len(text) :], self._follows_item(at)))

    def _iter_own(self, fit: SectionLayout, part: Part, at: int) -> Iterator[TracedText]:
        """Without what follows it."""
        selected, section = fit.selected, fit.section
        if part.item is not None:
            yield from self._iter_item(fit, part.item)
        elif part.owner == "fence" and section.fence is not None:
            is_open = all(one.section != part.section or one is part for one in self._parts[: at + 1])
            names = {**fit.names, "selected": {}}
            yield from self._trace_fence(section.fence, is_open=is_open, names=names, known=self._known)
        elif part.owner == "header" and section.header is not None:
            yield from self._trace_header(section.header, selected.header, fit.names, self._known)
        elif part.owner == "group":
            yield from self._iter_group(fit, at)
        elif part.owner == "marker":
            yield from self._iter_marker(fit, part.text.removesuffix("\n"))

    # --- what stands around items ---

    def _trace_fence(self, fence: Fence, *, is_open: bool, names: Mapping[str, Any], known: TraceContext) -> Pieces:
        pieces = make_pieces(trace_template(fence.open if is_open else fence.close, names, known))
        text = join_pieces(pieces)
        start = len(text) - len(text.lstrip())
        return slice_pieces(pieces, start, start + len(text.strip()))

    def _trace_header(self, template: Template, emitted: str, names: Mapping[str, Any], known: TraceContext) -> Pieces:
        pieces = guard_pieces(strip_pieces(make_pieces(trace_template(template, names, known))), emitted)
        return pieces if pieces is not None else (TracedText("template", emitted, span=template.place.span),)

    def _iter_group(self, fit: SectionLayout, at: int) -> Iterator[TracedText]:
        """The header of the group that the next item is in. The keys of the state are those of its first item that no step made."""
        entries = [part.item for part in self._parts[at:] if part.item is not None and part.section == fit.section.id]
        items, group = fit.section.items, fit.selected.groups[entries[0].run]
        assert items is not None and items.group is not None and items.group.header is not None
        own = next((entry for entry in entries if entry.run == entries[0].run and not entry.is_made), None)
        known = self._items.know(fit, own) if own is not None else self._known
        yield from self._trace_header(items.group.header, group.header, {**fit.names, "group": group.key}, known)

    def _iter_marker(self, fit: SectionLayout, emitted: str) -> Iterator[TracedText]:
        """What an `evict` put in the place of what it took: its template gives one line, whatever its white space."""
        cuts = [cut for _, run in self._fitted.iter_runs() for cut in run.applied if cut.fit is fit]
        at = max((at for at, cut in enumerate(cuts) if cut.act.marker is not None), default=None)
        step = cuts[at].step if at is not None else None
        if at is None or not isinstance(step, Evict) or step.marker is None:
            yield TracedText("cut", emitted)
            return
        removed = sum(len(cut.act.gone) for cut in cuts[: at + 1])
        made = make_pieces(trace_template(step.marker, {**fit.names, "removed": removed}, self._known))
        pieces = guard_pieces(made, emitted) or guard_pieces(_join_words(made), emitted)
        yield from pieces if pieces is not None else (TracedText("template", emitted, span=step.marker.place.span),)

    # --- items ---

    def _iter_item(self, fit: SectionLayout, entry: Entry) -> Iterator[TracedText]:
        pieces = self._items.trace(fit, entry)
        if not entry.item.open:
            yield from pieces
            return
        items = fit.section.items
        assert items is not None and items.fence is not None
        names, known = self._items.find_renderer(fit, items).bind_item(entry.item), self._items.know(fit, entry)
        yield from self._trace_item_fence(items.fence, entry.item.open, names, known, is_open=True)
        yield TracedText("line end", "\n")
        yield from pieces
        yield TracedText("line end", "\n")
        yield from self._trace_item_fence(items.fence, entry.item.close, names, known, is_open=False)

    def _trace_item_fence(self, fence: Fence, emitted: str, names: Mapping[str, Any], known: TraceContext, *, is_open: bool) -> Pieces:
        pieces = self._trace_fence(fence, is_open=is_open, names=names, known=known)
        template = fence.open if is_open else fence.close
        return pieces if join_pieces(pieces) == emitted else (TracedText("template", emitted, span=template.place.span),)

    def _follows_item(self, at: int) -> bool:
        """True where the part and the next are items of one section: its separator stands between them."""
        part, follower = self._parts[at], self._parts[at + 1] if at + 1 < len(self._parts) else None
        return part.item is not None and follower is not None and follower.item is not None and follower.section == part.section


def _join_words(pieces: Pieces) -> Pieces:
    """The pieces on one line, words a space apart."""
    words = [slice_pieces(pieces, *found.span()) for found in re.finditer(r"\S+", join_pieces(pieces))]
    return tuple(piece for at, word in enumerate(words) for piece in ((*([TracedText("separator", " ")] if at else []), *word)))


def _iter_trail(section: Section, trail: str, is_between: bool) -> Iterator[TracedText]:
    if trail and is_between and section.separator is not None:
        yield TracedText("separator", trail, span=section.span, code="separator")
    elif trail:
        yield TracedText("line end", trail)
