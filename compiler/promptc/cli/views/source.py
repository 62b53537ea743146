"""Lines of the output: which line of which file made each part of them, and which keys of the state."""

from collections.abc import Iterator, Sequence

from promptc.cli.terminal import PLAIN, Paint, clip_cells, count_cells, escape_controls
from promptc.cli.views.drawing import show_count, show_plural
from promptc.cli.views.story import Fact, ItemHistory, render_histories
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.explain.output import LineTracer, TracedLine, TracedText
from promptc.passes.fit.result import FittedItem, Part
from promptc.passes.report import Origins
from promptc.pipeline import Outcome
from promptc.text.json import read_at, render_canonical_json, split_pointer

_FEW = 4
_NOTES = {
    "guard": "put in by the guard, so that content cannot be read as structure",
    "line end": "the end of a line, put there by the layout",
}


@frozen
class Key:
    """A part of the state: its JSON pointer and its value."""

    pointer: str
    value: str


@frozen
class Bit:
    """A piece of a line: what it is, where it was made, by which expression (empty: as it stands there), of which keys; `calls`: where the
    macro, block or file it stands in was called, from the outside in."""

    what: str
    text: str
    at: str | None
    code: str
    keys: tuple[Key, ...]
    calls: tuple[str, ...]


@frozen
class Owner:
    """A section or an item, and what of a line it made. `pointer`: the part of the state that is the item; `note`: what a step did."""

    section: str
    declared: str
    item: str | None
    number: int | None
    pointer: str | None
    note: str
    bits: tuple[Bit, ...]


@frozen
class Line:
    """A line of the output, from 1; in messages with the message, from 0."""

    message: int | None
    line: int
    text: str
    owners: tuple[Owner, ...]


def describe_lines(outcome: Outcome, tracer: LineTracer, message: int, lines: Sequence[int]) -> tuple[Line, ...]:
    """What made these lines of the text, or of a message."""
    finder = _LineFinder(outcome, tracer.origins)
    return tuple(finder.describe(tracer.trace(message, line)) for line in lines)


def render_lines(lines: Sequence[Line], width: int, paint: Paint = PLAIN) -> str:
    """A line, then a paragraph for each piece of it."""
    return render_histories([_describe_line(line, width) for line in lines], width, paint)


class _LineFinder:
    """Finds what is shown of lines."""

    def __init__(self, outcome: Outcome, origins: Origins) -> None:
        self._outcome = outcome
        self._origins = origins
        self._state = outcome.fitted.strained.selection.bound.state.value

    def describe(self, traced: TracedLine) -> Line:
        message = traced.message if self._outcome.report["format"] == "messages" else None
        owners = tuple(self._describe_owner(part, pieces) for part, pieces in traced.parts)
        return Line(message, traced.line, traced.text, owners)

    def _describe_owner(self, part: Part, pieces: Sequence[TracedText]) -> Owner:
        section = next(one.section for one in self._outcome.fitted.strained.selection.sections if one.section.id == part.section)
        bits = tuple(self._describe_bit(part, piece) for piece in pieces)
        entry = part.item
        if entry is None:
            return Owner(section.id, str(section.span), None, None, None, "", bits)
        number = entry.item.number if section.items is not None and not entry.is_made else None
        pointer = self._origins.find_pointer(section, entry)
        return Owner(section.id, str(section.span), entry.item.id, number, pointer, self._describe(entry), bits)

    def _describe(self, entry: FittedItem) -> str:
        if entry.is_made:
            cut = self._origins.trace_making(entry)
            return f"made of {show_plural(len(cut.gone), 'item')} by {cut.step.label}, {cut.step.span}"
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
        return f"a mapping of {show_count(len(value))}"
    return f"a list of {show_count(len(value))}" if isinstance(value, list) else render_canonical_json(value)


# --- as text ---


def _describe_line(line: Line, width: int) -> ItemHistory:
    head = f"line {line.line}" if line.message is None else f"message {line.message}, line {line.line}"
    return ItemHistory(head, clip_cells(escape_controls(line.text), width - len(head) - 2), tuple(_iter_facts(line, width - 16)))


def _iter_facts(line: Line, room: int) -> Iterator[Fact]:
    for owner in line.owners:
        shown = [bit for bit in owner.bits if bit.what != "line end" or not line.text]
        if any(bit.what == "separator" and bit.code == "output.separator" for bit in shown):
            yield Fact("section", f"none: it stands behind {owner.section}")
        else:
            yield Fact("section", f"{owner.section}, {owner.declared}")
        if owner.item is not None:
            yield Fact("item", ", ".join(_iter_item(owner)))
        for bit in shown:
            yield Fact(bit.what, "\n".join(_iter_bit(bit, room)))


def _iter_item(owner: Owner) -> Iterator[str]:
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
    if bit.what in _NOTES:
        yield _NOTES[bit.what]
    place, code = bit.at or "", " ".join(bit.code.split())
    if code and len(place) + 2 + count_cells(code) <= room:
        yield f"{place}  {code}"
    else:
        yield from (part for part in (place, clip_cells(code, room)) if part)
    yield from (f"called at {caller}" for caller in reversed(bit.calls))
    for key in bit.keys[:_FEW]:
        yield clip_cells(f"{key.pointer or 'the whole state'} = {key.value}", room)
    if len(bit.keys) > _FEW:
        yield f"and {show_plural(len(bit.keys) - _FEW, 'more key', 'more keys')}"


def _quote(text: str, room: int) -> str:
    return clip_cells(render_canonical_json(text), room)
