"""The origin of each piece of the output, for tools that explain a render; no render needs it.

`LineTracer` splits a line of the output into pieces, each with what made it: a template, a cut, the guard, the layout. `describe_lines`
describes them for an author.

An item is rendered, cut and guarded again, and the result is compared with the emitted text. If they differ, the item is a single piece, of
which only the template's place is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from promptc.diag.findings import PromptcError, Span, count_noun
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.model.pack import Axis
from promptc.model.section import Evict, Fence, Items, MessageForm, Section, TrimEach
from promptc.model.stages import Bound, Item
from promptc.model.state import Pointers as StatePointers
from promptc.passes.bind import list_names
from promptc.passes.fit.result import Applied, CutPlace, Fitted, FittedItem, FittedSection, Part
from promptc.passes.items.read import read_parts
from promptc.passes.items.render import ItemRenderer, guard_parts, render_part, strip_lines
from promptc.passes.report import Origins
from promptc.template.compile import Expression, Template
from promptc.template.place import OutputSpan, Place, Pointers, TraceContext
from promptc.template.tracing import trace_expression, trace_template
from promptc.text.guard import REPLACEMENT, may_hide
from promptc.text.json import read_at, render_canonical_json, split_pointer

What = Literal["template", "cut", "guard", "separator", "line end"]


@frozen(eq=False)
class TracedText:
    """A run of emitted characters and what made it.

    `template`: `made` is the exact origin, or if it is not known, `span` is where the template begins. `cut`: what a cut put in the place
    of the removed text, maybe nothing. `guard`: an escape. `separator`, `line end`: the layout. `span` is where the manifest declares it,
    and `code` is the text there.
    """

    what: What
    text: str
    made: OutputSpan | None = None
    span: Span | None = None
    code: str = ""


Pieces = tuple[TracedText, ...]


@frozen(eq=False)
class TracedLine:
    """A line, numbered from 1 in the text or in its message's content: its text without its end, and its pieces, grouped by part.

    The only piece of an empty line is its end.
    """

    message: int
    line: int
    text: str
    parts: tuple[tuple[Part, tuple[TracedText, ...]], ...]


class LineTracer:
    """Traces lines of one output."""

    def __init__(self, fitted: Fitted, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._tracer = PartTracer(fitted, parts)
        self._traced: dict[int, tuple[TracedText, ...]] = {}
        self.origins = self._tracer.origins
        self._lines = {
            message: "".join(part.text for part in own).split("\n") for message, own in groupby(parts, lambda part: part.message)
        }

    def count_messages(self) -> int:
        """Return the number of messages; 1 for text output that is not empty."""
        return len(self._lines)

    def count_lines(self, message: int = 0) -> int:
        """Return the number of lines of the text, or of a message's content; an empty line after the last line end does not count."""
        lines = self._lines.get(message, [""])
        return len(lines) - (not lines[-1])

    def trace(self, message: int, line: int) -> TracedLine:
        """Return the trace of a line, which must exist."""
        text = self._lines[message][line - 1]
        start = sum(len(one) + 1 for one in self._lines[message][: line - 1])
        found = self._iter_parts(message, start, start + len(text)) if text else self._iter_parts(message, start, start + 1)
        return TracedLine(message, line, text, tuple(found))

    def _iter_parts(self, message: int, start: int, stop: int) -> Iterator[tuple[Part, tuple[TracedText, ...]]]:
        place = 0
        for at, part in enumerate(self._parts):
            if part.message != message:
                continue
            if place < stop and start < place + len(part.text):
                if at not in self._traced:
                    self._traced[at] = self._tracer.trace(at)
                yield part, slice_pieces(self._traced[at], start - place, stop - place)
            place += len(part.text)


class PartTracer:
    """Traces the parts of one output."""

    def __init__(self, fitted: Fitted, parts: Sequence[Part]) -> None:
        self._fitted = fitted
        self._parts = parts
        self.origins = Origins(fitted)
        self._known = know_names(fitted.strained.selection.bound, self.origins.pointers)
        self._items = ItemTracer(fitted, self.origins, self._known)

    def trace(self, at: int) -> Pieces:
        """Return the pieces of the part at an index; joined, they are its text."""
        part = self._parts[at]
        if part.owner == "separator":
            output = self._fitted.strained.selection.plan.output
            return (TracedText("separator", part.text, span=output.span, code="output.separator"),)
        fit = self._fitted.sections[part.section]
        own = tuple(self._iter_own(fit, part, at))
        text = join_pieces(own)
        if not part.text.startswith(text):
            own = (TracedText("template", part.text.rstrip("\n"), span=fit.section.span),)
            text = join_pieces(own)
        return (*own, *_iter_suffix(fit.section, part.text[len(text) :], self._follows_item(at)))

    def _iter_own(self, fit: FittedSection, part: Part, at: int) -> Iterator[TracedText]:
        """Yield the pieces of a part without what follows it."""
        selected, section = fit.selected, fit.section
        if part.item is not None:
            yield from self._iter_item(fit, part.item)
        elif part.owner == "fence" and section.fence is not None:
            is_open = all(one.section != part.section or one is part for one in self._parts[: at + 1])
            names = {**self._items.list_names_of(fit), "selected": {}}
            yield from _trace_fence(section.fence, is_open=is_open, names=names, known=self._known)
        elif part.owner == "header" and section.header is not None:
            yield from _trace_header(section.header, selected.header, self._items.list_names_of(fit), self._known)
        elif part.owner == "group":
            yield from self._iter_group(fit, at)
        elif part.owner == "marker":
            yield from self._iter_marker(fit, part.text.removesuffix("\n"))

    # --- around items ---

    def _iter_group(self, fit: FittedSection, at: int) -> Iterator[TracedText]:
        """Yield the pieces of the header of the next item's group.

        The keys of the state are those of the group's first item that was not made by a step.
        """
        entries = [part.item for part in self._parts[at:] if part.item is not None and part.section == fit.section.id]
        items, group = fit.section.items, fit.selected.groups[entries[0].run]
        assert items is not None and items.group is not None and items.group.header is not None
        own = next((entry for entry in entries if entry.run == entries[0].run and not entry.is_made), None)
        known = self._items.know(fit, own) if own is not None else self._known
        yield from _trace_header(items.group.header, group.header, {**self._items.list_names_of(fit), "group": group.key}, known)

    def _iter_marker(self, fit: FittedSection, emitted: str) -> Iterator[TracedText]:
        """Yield the pieces of the marker that an `evict` put in place of what it removed.

        The text of its template is reduced to one line, whatever its white space.
        """
        cuts = [cut for _, run in self._fitted.iter_runs() for cut in run.applied if cut.section == fit.section.id]
        at = max((at for at, cut in enumerate(cuts) if isinstance(cut.step, Evict) and cut.step.marker is not None), default=None)
        step = cuts[at].step if at is not None else None
        if at is None or not isinstance(step, Evict) or step.marker is None:
            yield TracedText("cut", emitted)
            return
        removed = sum(len(cut.gone) for cut in cuts[: at + 1])
        made = make_pieces(trace_template(step.marker, {**self._items.list_names_of(fit), "removed": removed}, self._known))
        pieces = guard_pieces(made, emitted) or guard_pieces(_join_words(made), emitted)
        yield from pieces if pieces is not None else (TracedText("template", emitted, span=step.marker.place.span),)

    # --- items ---

    def _iter_item(self, fit: FittedSection, entry: FittedItem) -> Iterator[TracedText]:
        pieces = self._items.trace(fit, entry)
        if not entry.item.open:
            yield from pieces
            return
        items = fit.section.items
        assert items is not None and items.fence is not None
        names, known = self._items.make_renderer(fit, items).bind_item(entry.item), self._items.know(fit, entry)
        yield from _trace_item_fence(items.fence, entry.item.open, names, known, is_open=True)
        yield TracedText("line end", "\n")
        yield from pieces
        yield TracedText("line end", "\n")
        yield from _trace_item_fence(items.fence, entry.item.close, names, known, is_open=False)

    def _follows_item(self, at: int) -> bool:
        """Return whether the part and the next one are items of the same section, with its separator between them."""
        part, follower = self._parts[at], self._parts[at + 1] if at + 1 < len(self._parts) else None
        return part.item is not None and follower is not None and follower.item is not None and follower.section == part.section


def _trace_fence(fence: Fence, *, is_open: bool, names: Mapping[str, Any], known: TraceContext) -> Pieces:
    pieces = make_pieces(trace_template(fence.open if is_open else fence.close, names, known))
    text = join_pieces(pieces)
    start = len(text) - len(text.lstrip())
    return slice_pieces(pieces, start, start + len(text.strip()))


def _trace_item_fence(fence: Fence, emitted: str, names: Mapping[str, Any], known: TraceContext, *, is_open: bool) -> Pieces:
    pieces = _trace_fence(fence, is_open=is_open, names=names, known=known)
    template = fence.open if is_open else fence.close
    return pieces if join_pieces(pieces) == emitted else (TracedText("template", emitted, span=template.place.span),)


def _trace_header(template: Template, emitted: str, names: Mapping[str, Any], known: TraceContext) -> Pieces:
    pieces = guard_pieces(strip_pieces(make_pieces(trace_template(template, names, known))), emitted)
    return pieces if pieces is not None else (TracedText("template", emitted, span=template.place.span),)


def _join_words(pieces: Pieces) -> Pieces:
    """Return the pieces on one line, with a space between words."""
    words = [slice_pieces(pieces, *found.span()) for found in re.finditer(r"\S+", join_pieces(pieces))]
    return tuple(piece for at, word in enumerate(words) for piece in ((*([TracedText("separator", " ")] if at else []), *word)))


def _iter_suffix(section: Section, suffix: str, is_between: bool) -> Iterator[TracedText]:
    if suffix and is_between and section.separator is not None:
        yield TracedText("separator", suffix, span=section.span, code="separator")
    elif suffix:
        yield TracedText("line end", suffix)


class ItemTracer:
    """Traces the items of one fitted selection."""

    def __init__(self, fitted: Fitted, origins: Origins, known: TraceContext) -> None:
        self._fitted = fitted
        self._origins = origins
        self._known = known
        self._selection = fitted.strained.selection
        self._names: dict[str, Mapping[str, Any]] = {}

    def list_names_of(self, fit: FittedSection) -> Mapping[str, Any]:
        """Return the names that the section's expressions see."""
        id = fit.section.id
        if id not in self._names:
            self._names[id] = list_names(self._selection, fit.section)
        return self._names[id]

    def trace(self, fit: FittedSection, entry: FittedItem) -> Pieces:
        """Return the pieces of the text inside the item's own fence."""
        pieces = self._find_whole(fit, entry)
        if pieces is not None and join_pieces(pieces) == entry.item.raw:
            cut = find_last_cut(self._fitted, entry)
            if cut is not None and cut.cut is not None:
                pieces = _cut(pieces, cut.cut, TracedText("cut", "", span=cut.step.span, code=cut.step.label))
            pieces = guard_pieces(pieces, entry.text)
            if pieces is not None:
                return pieces
        return (TracedText("template", entry.text, span=self._origins.locate(fit.section, entry)),)

    def _find_whole(self, fit: FittedSection, entry: FittedItem) -> Pieces | None:
        """Return the pieces of the whole item, or None if rendering it fails.

        An item with a duplicate id may have been rendered under its original id; for the new id, its template may even fail.
        """
        try:
            return self._trace_whole(fit, entry)
        except PromptcError:
            return None

    def know(self, fit: FittedSection, entry: FittedItem) -> TraceContext:
        """Return what is known of the names of an item, including the part of the state that it is, and what made its group's key."""
        pointer = self._origins.find_pointer(fit.section, entry)
        known = self._known
        if pointer is not None:
            known = replace(known, named={**known.named, "item": (pointer,)})
        items = fit.section.items
        if items is not None and items.group is not None and not entry.is_made:
            known = know_value(known, "group", items.group.by, self._bind(fit, items, entry.item))
        return known

    def _bind(self, fit: FittedSection, items: Items, item: Item) -> Mapping[str, Any]:
        return self.make_renderer(fit, items).bind_item(item)

    def make_renderer(self, fit: FittedSection, items: Items) -> ItemRenderer:
        """Return the renderer of the section's items."""
        bound = self._selection.bound
        return ItemRenderer(fit.section, items, self.list_names_of(fit), self._selection.guard, bound.meter, bound.total)

    def _trace_whole(self, fit: FittedSection, entry: FittedItem) -> Pieces | None:
        """Return the pieces of an item before its ladder cut it, or None if they are not known."""
        items, template = fit.section.items, self._origins.find_template(fit.section, entry)
        if entry.is_made:
            return self._trace_made(fit, entry)
        if items is None:
            assert template is not None
            return strip_pieces(make_pieces(trace_template(template, self.list_names_of(fit), self._known)))
        if items.message is not None and entry.item.content is not None:
            return self._trace_parts(fit, items, items.message, entry)
        names = self._bind(fit, items, entry.item)
        if template is None:
            assert items.message is not None
            pieces = self._trace_content(items.message, names, self.know(fit, entry))
        else:
            pieces = make_pieces(trace_template(template, names, self.know(fit, entry)))
        pieces = strip_pieces(pieces)
        return self._trim(fit, items, items.trim_each, entry.item, pieces) if items.trim_each is not None else pieces

    def _trace_made(self, fit: FittedSection, entry: FittedItem) -> Pieces:
        """Return the pieces of an item that a step made of others: its template is given the items that it replaces."""
        template = self._origins.find_template(fit.section, entry)
        assert template is not None
        gone = self._origins.trace_making(entry).gone
        texts = "\n".join(one.item.raw for one in gone)
        names = {**self.list_names_of(fit), "items": [one.item.value for one in gone], "text": texts}
        pointers = tuple(found for found in (self._origins.find_pointer(fit.section, one) for one in gone) if found is not None)
        known = replace(self._known, named={**self._known.named, "items": pointers, "text": pointers})
        return strip_pieces(make_pieces(trace_template(template, names, known)))

    def _trace_content(self, message: MessageForm, names: Mapping[str, Any], known: TraceContext) -> Pieces:
        return make_pieces([_make_content(message, str(message.content.evaluate(names)), trace_expression(message.content, names, known))])

    def _trace_parts(self, fit: FittedSection, items: Items, message: MessageForm, entry: FittedItem) -> Pieces | None:
        """Return the pieces of a content that is a list of parts: each part on a line of its own, as parts are counted."""
        content: Any = message.content.evaluate(self._bind(fit, items, entry.item))
        pieces: list[TracedText] = []
        passing = read_parts(content, message, entry.item.id, lambda steps: None).passing
        guarded, _ = guard_parts([part for _, part in passing], self._selection.guard)
        standing = [pair for pair, part in zip(passing, guarded, strict=True) if part in (entry.item.content or ())]
        for given, part in standing:
            pointer = self._origins.pointers.find(given)
            inner = "/text" if part["type"] == "text" else ""
            made = _make_content(message, render_part(part), (pointer + inner,) if pointer is not None else ())
            pieces += [*([TracedText("line end", "\n")] if pieces else []), *make_pieces([made])]
        return guard_pieces(pieces, entry.item.raw)

    def _trim(self, fit: FittedSection, items: Items, trim: TrimEach, item: Item, pieces: Pieces) -> Pieces:
        raw = join_pieces(pieces)
        renderer = self.make_renderer(fit, items)
        renderer.bind_item(item)
        cut = renderer.find_trim(raw, self._selection.guard.guard(raw)[0], trim)
        if cut is None:
            return pieces
        return _cut(pieces, CutPlace(cut.start, cut.stop, cut.middle), TracedText("cut", "", span=trim.span, code="trim_each"))


def _make_content(message: MessageForm, text: str, pointers: Pointers) -> OutputSpan:
    expression = message.content
    return OutputSpan(text, Place(expression.span, inline=True), "", expression.text, 0, expression.text, pointers)


def find_last_cut(fitted: Fitted, entry: FittedItem) -> Applied | None:
    """Return the notch that made the current cut of the entry's text, or None if it was not cut."""
    if entry.kept is None:
        return None
    cuts = [cut for _, run in fitted.iter_runs() for cut in run.applied if cut.edited is entry and cut.cut is not None]
    return cuts[-1] if cuts else None


def _cut(pieces: Sequence[TracedText], cut: CutPlace, mark: TracedText) -> Pieces:
    """Return the pieces that a cut leaves, with its mark at the place of the cut."""
    size = len(join_pieces(pieces))
    return (*slice_pieces(pieces, 0, cut.start), replace(mark, text=cut.middle), *slice_pieces(pieces, cut.stop, size))


def make_pieces(parts: Iterable[OutputSpan]) -> tuple[TracedText, ...]:
    """Return the pieces of what a template printed."""
    return tuple(TracedText("template", made.text, made) for made in parts)


def join_pieces(pieces: Iterable[TracedText]) -> str:
    """Return the joined text of the pieces."""
    return "".join(piece.text for piece in pieces)


def strip_pieces(pieces: Pieces) -> Pieces:
    """Return the pieces of a rendered text without what an item omits at its ends."""
    text = join_pieces(pieces)
    stripped = strip_lines(text)
    start = len(text.rstrip("\r\n")) - len(stripped)
    return slice_pieces(pieces, start, start + len(stripped))


def slice_pieces(pieces: Sequence[TracedText], start: int, stop: int) -> tuple[TracedText, ...]:
    """Return the pieces from `start` to `stop`, including cuts of no length at either end."""
    return tuple(_iter_slice(pieces, start, stop))


def _iter_slice(pieces: Sequence[TracedText], start: int, stop: int) -> Iterator[TracedText]:
    place = 0
    for piece in pieces:
        first, last = max(start - place, 0), min(stop - place, len(piece.text))
        place += len(piece.text)
        if first < last or (not piece.text and first == last == 0):
            yield _part(piece, first, last)


def _part(piece: TracedText, first: int, last: int) -> TracedText:
    if last - first == len(piece.text):
        return piece
    return replace(piece, text=piece.text[first:last], made=piece.made.part(first, last) if piece.made is not None else None)


def guard_pieces(pieces: Sequence[TracedText], guarded: str) -> tuple[TracedText, ...] | None:
    r"""Return the pieces of a guarded text, given those of the text before; None if the texts differ by more than escapes.

    An escape is an inserted backslash, `\u{...}` in place of an invisible character, or one U+FFFD in place of several that hide a text.
    """
    if join_pieces(pieces) == guarded:
        return tuple(pieces)
    found: list[TracedText] = []
    place, is_replaced = 0, False
    for piece in pieces:
        start = 0
        for at, character in enumerate(piece.text):
            escape = f"\\u{{{ord(character):x}}}"
            is_hidden, goes_on, is_replaced = not guarded.startswith(character, place), is_replaced, False
            while not guarded.startswith((character, escape), place) and guarded.startswith("\\", place):
                found += [_part(piece, start, at), TracedText("guard", "\\")]
                place, start = place + 1, at
            if guarded.startswith(character, place):
                place += 1
            elif is_hidden and guarded.startswith(escape, place):
                found += [_part(piece, start, at), TracedText("guard", escape)]
                place, start = place + len(escape), at + 1
            elif is_hidden and may_hide(character):
                found.append(_part(piece, start, at))
                is_replaced = True
                if not goes_on and guarded.startswith(REPLACEMENT, place):
                    found.append(TracedText("guard", REPLACEMENT))
                    place += 1
                start = at + 1
            else:
                return None
        found.append(_part(piece, start, len(piece.text)) if start else piece)
    if guarded[place:] == "\\":
        found.append(TracedText("guard", "\\"))  # after a character that begins a special token
        place += 1
    kept = tuple(piece for piece in found if piece.text or piece.what == "cut")
    return kept if place == len(guarded) else None


def know_names(bound: Bound, pointers: StatePointers) -> TraceContext:
    """Return what is known of the `let` names and the variants.

    `strain`, `selected`, `section` and `this` are the compiler's own: they come from no key.
    """
    known = TraceContext(pointers.find, {}, {})
    names = {name: value for name, value in bound.names.items() if name == "state" or name.startswith("__") or name in bound.pack.given}
    for let in bound.pack.lets:
        known = know_value(known, let.name, let.expression, names)
        names[let.name] = bound.names[let.name]
    chosen: Mapping[str, Any] = bound.names["variant"]
    names["variant"] = chosen
    return replace(known, parts={id(chosen): {axis.name: _trace_case(axis, chosen, names, known) for axis in bound.pack.axes}})


def _trace_case(axis: Axis, chosen: Mapping[str, Any], names: Mapping[str, Any], known: TraceContext) -> Pointers:
    """Return the keys that selected a case; empty if the case was requested or is the default."""
    return trace_expression(axis.select, names, known) if axis.select.evaluate(names) == chosen[axis.name] else ()


def know_value(known: TraceContext, name: str, expression: Expression, names: Mapping[str, Any]) -> TraceContext:
    """Return `known` with the origin of one more name, whose value an expression returned."""
    return replace(known, named={**known.named, name: trace_expression(expression, names, known)})


# --- lines, as tools show them ---


@frozen
class Key:
    """A part of the state: its JSON pointer and its value."""

    pointer: str
    value: str


@frozen
class Bit:
    """A piece of a line: what it is, where it was made, by which expression (empty: constant text), and from which keys.

    `calls` are the places where the macro, block or file around it was called, outermost first.
    """

    what: str
    text: str
    at: str | None
    code: str
    keys: tuple[Key, ...]
    calls: tuple[str, ...]


@frozen
class LineOwner:
    """A section or an item, and what of a line it made.

    `pointer` is the part of the state that is the item, and `note` says what a step did to it.
    """

    section: str
    declared: str
    item: str | None
    number: int | None
    pointer: str | None
    note: str
    bits: tuple[Bit, ...]


@frozen
class DescribedLine:
    """A line of the output, numbered from 1; in messages with the index of the message, from 0."""

    message: int | None
    line: int
    text: str
    owners: tuple[LineOwner, ...]


def describe_lines(fitted: Fitted, tracer: LineTracer, message: int, lines: Sequence[int]) -> tuple[DescribedLine, ...]:
    """Describe what made these lines of the text, or of a message."""
    finder = _LineFinder(fitted, tracer.origins)
    return tuple(finder.describe(tracer.trace(message, line)) for line in lines)


class _LineFinder:
    """Finds what is shown of lines."""

    def __init__(self, fitted: Fitted, origins: Origins) -> None:
        self._fitted = fitted
        self._origins = origins
        self._state = fitted.strained.selection.bound.state.value

    def describe(self, traced: TracedLine) -> DescribedLine:
        message = traced.message if self._fitted.layout.format == "messages" else None
        owners = tuple(self._describe_owner(part, pieces) for part, pieces in traced.parts)
        return DescribedLine(message, traced.line, traced.text, owners)

    def _describe_owner(self, part: Part, pieces: Sequence[TracedText]) -> LineOwner:
        section = next(one.section for one in self._fitted.strained.selection.sections if one.section.id == part.section)
        bits = tuple(self._describe_bit(part, piece) for piece in pieces)
        entry = part.item
        if entry is None:
            return LineOwner(section.id, str(section.span), None, None, None, "", bits)
        number = entry.item.number if section.items is not None and not entry.is_made else None
        pointer = self._origins.find_pointer(section, entry)
        return LineOwner(section.id, str(section.span), entry.item.id, number, pointer, self._describe(entry), bits)

    def _describe(self, entry: FittedItem) -> str:
        if entry.is_made:
            cut = self._origins.trace_making(entry)
            return f"made of {count_noun(len(cut.gone), 'item')} by {cut.step.label}, {cut.step.span}"
        return f"in form {entry.form + 1}" if entry.form else ""

    def _describe_bit(self, part: Part, piece: TracedText) -> Bit:
        span = piece.made.span if piece.made is not None else piece.span
        code = piece.made.code if piece.made is not None else piece.code
        pointers = piece.made.pointers if piece.made is not None else ()
        what = piece.what if piece.what != "template" else part.owner if part.item is None else "expression" if code else "text"
        keys = tuple(Key(pointer, _show_value(self._state, pointer)) for pointer in pointers)
        calls = tuple(str(caller) for caller in piece.made.callers) if piece.made is not None else ()
        return Bit(what, piece.text, str(span) if span is not None else None, code, keys, calls)


def _show_value(value: Any, pointer: str) -> str:
    value = read_at(value, split_pointer(pointer))
    if isinstance(value, dict):
        return f"a mapping of {len(value):,}"
    return f"a list of {len(value):,}" if isinstance(value, list) else render_canonical_json(value)
