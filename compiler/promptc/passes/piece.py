"""Pieces of an output with what made them, and what cuts and the guard do to them."""

from collections.abc import Iterable, Iterator, Sequence

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Literal
from promptc.template.place import OutputSpan
from promptc.text.guard import REPLACEMENT, may_hide

What = Literal["template", "cut", "guard", "separator", "line end"]


@frozen(eq=False)
class TracedText:
    """A run of emitted characters and what made it.

    `template`: `made` tells all, or where nothing more can be told, `span` where the template begins. `cut`: what a cut put in the place of
    what it took, maybe nothing; `guard`: an escape; `separator`, `line end`: the layout. `span` is where the manifest asks for it, `code`
    what it says there.
    """

    what: What
    text: str
    made: OutputSpan | None = None
    span: Span | None = None
    code: str = ""


def make_pieces(parts: Iterable[OutputSpan]) -> tuple[TracedText, ...]:
    """The pieces of what a template printed."""
    return tuple(TracedText("template", made.text, made) for made in parts)


def join_pieces(pieces: Iterable[TracedText]) -> str:
    """Their text."""
    return "".join(piece.text for piece in pieces)


def slice_pieces(pieces: Sequence[TracedText], start: int, stop: int) -> tuple[TracedText, ...]:
    """What stands from `start` to `stop`, cuts of no length at either end included."""
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
    """The pieces of a guarded text, given those of the text before; None where it is not made of them by escapes alone.

    An escape is a backslash that was put in, `\\u{...}` in the place of a character that shows nothing, or one U+FFFD in the place of some
    that hide a text.
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
        found.append(TracedText("guard", "\\"))  # behind a character that begins a special token
        place += 1
    kept = tuple(piece for piece in found if piece.text or piece.what == "cut")
    return kept if place == len(guarded) else None
