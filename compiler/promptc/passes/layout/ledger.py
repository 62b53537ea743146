"""An ordered run of text pieces with its exact count, kept up to date at each edit.

Pieces that meet at a safe boundary (architecture.md) are counted apart; pieces that do not are counted as one cluster. An edit
recounts only the clusters it touches, so removing one of ten thousand lines costs what that line costs.
Edits made after `mark` are journaled until `revert` undoes them or `settle` lets them stand (the links are Knuth's dancing links: a
removed piece keeps its neighbours).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from promptc.diag.typed import Literal, NamedTuple
from promptc.template.runtime.run import price_count
from promptc.text.counters.counter import Meter

Kind = Literal["fence", "header", "marker", "group", "item"]


class Piece:
    """One piece: `body` without its final line end, and `suffix`, what follows it where it stands.

    `part` is the index of its section, `kind` what it is there, `message` the message. `beyond` are the units that its message counts for
    it beyond its text.
    `opens` and `closes` tell whether it meets any piece that ends, or begins, a plain line safely (`closes`: with a line end of its own,
    which alone is safe before every piece that `opens`); `units` is its own count.
    """

    __slots__ = ("beyond", "body", "closes", "kind", "measure", "message", "next", "opens", "owner", "part", "previous", "suffix", "units")

    def __init__(self, body: str, part: int, kind: Kind, message: int = 0, owner: object = None, beyond: int = 0) -> None:
        self.body = body
        self.beyond = beyond
        self.suffix = ""
        self.part = part
        self.kind = kind
        self.message = message
        self.owner = owner
        self.previous: Piece | None = None
        self.next: Piece | None = None
        self.measure: Callable[[str], int] | None = None
        self.opens = False
        self.closes = False
        self.units = 0

    @property
    def text(self) -> str:
        """The piece as it is emitted."""
        return self.body + self.suffix


class Laid(NamedTuple):
    """What pieces laid on an empty ledger came to: all their units, and of each its suffix, `opens`, `closes` and `units`."""

    units: int
    pieces: tuple[tuple[str, bool, bool, int], ...]


Pay = Callable[[int], None]

_PIECE = 20
"""Steps of going past one piece."""

Suffix = Callable[[Piece, "Piece | None"], str]
"""What follows a piece, given the piece behind it. Of both it looks at `part`, `kind` and `message` only."""
_Undo = tuple[Callable[..., None], tuple[object, ...]]


class TokenLedger:
    """The pieces of a layout in order. `units` is the exact count of what they emit, message overhead included."""

    def __init__(self, meter: Meter, suffix: Suffix, overhead: Callable[[Piece], int], pay: Pay) -> None:
        """`pay` is told the steps of counting a cluster anew: where pieces meet unsafely, an edit costs all that they hang on."""
        self.units = 0
        self._pay = pay
        self.first: Piece | None = None
        self.last: Piece | None = None
        self._meter = meter
        self._suffix = suffix
        self._overhead = overhead
        self._parts_lines = meter.is_safe("\n", "x")
        self._journal: list[_Undo] | None = None

    def __del__(self) -> None:
        """Pieces that know each other are no one's garbage until the collector comes by: so that a render gives its memory back at its end,
        they are parted.
        """
        for piece in self:
            piece.previous = None

    def __iter__(self) -> Iterator[Piece]:
        piece = self.first
        while piece is not None:
            yield piece
            piece = piece.next

    # --- edits ---

    def extend(self, pieces: Sequence[Piece]) -> None:
        """Lay pieces on an empty ledger. Every piece is counted once."""
        previous: Piece | None = None
        for piece in pieces:
            piece.previous = previous
            if previous is not None:
                previous.next = piece
                self._set_suffix(previous)
            previous = piece
        if previous is not None:
            self._set_suffix(previous)
            self.first, self.last = pieces[0], previous
            self.units = self._count_run(pieces[0], previous)

    def recall(self, pieces: Sequence[Piece], laid: Laid) -> None:
        """Lay pieces on an empty ledger of which it is known what they come to: nothing is counted."""
        previous: Piece | None = None
        for piece, (suffix, opens, closes, units) in zip(pieces, laid.pieces, strict=True):
            piece.suffix, piece.opens, piece.closes, piece.units = suffix, opens, closes, units
            piece.previous = previous
            if previous is not None:
                previous.next = piece
            previous = piece
        self.first, self.last, self.units = pieces[0], previous, laid.units

    def describe(self) -> Laid:
        """What `recall` needs to know of it."""
        return Laid(self.units, tuple((piece.suffix, piece.opens, piece.closes, piece.units) for piece in self))

    def take(self, other: TokenLedger) -> None:
        """Put all pieces of another ledger behind those of this one; only where they meet is counted anew. The other is spent."""
        last, first = self.last, other.first
        before = self._count_around(last, None, None) + other._count_around(None, None, first)
        self.units += other.units
        if first is None:
            return
        first.previous = last
        if last is not None:
            last.next = first
        else:
            self.first = first
        self.last = other.last
        other.first = other.last = None
        self._settle(last, None, first, before)

    def insert(self, piece: Piece, after: Piece | None) -> None:
        """Put a piece behind another, or at the beginning."""
        follower = after.next if after is not None else self.first
        before = self._count_around(after, None, follower)
        self._link(piece, after, follower)
        self._settle(after, piece, follower, before)
        if self._journal is not None:
            self._journal.append((self.remove, (piece,)))

    def remove(self, piece: Piece) -> None:
        """Take a piece out; its links stay, for the way back."""
        after, follower = piece.previous, piece.next
        if self._stands_alone(piece, after, follower):
            self.units -= piece.units
            self._unlink(piece)
        else:
            before = self._count_around(after, piece, follower)
            self._unlink(piece)
            self._settle(after, None, follower, before)
        if self._journal is not None:
            self._journal.append((self.insert, (piece, after)))

    def rewrite(self, piece: Piece, body: str, measure: Callable[[str], int] | None = None, beyond: int = 0) -> None:
        """Give a piece another body; `measure(suffix)` may count body and suffix without a whole encode."""
        if self._journal is not None:
            self._journal.append((self.rewrite, (piece, piece.body, piece.measure, piece.beyond)))
        left, right, units = piece.previous, piece.next, piece.units
        is_inside = left is not None and left.message == piece.message
        stands_free = is_inside and self.stands_free(piece, opens=self._meter.is_safe("\n", body + piece.suffix))
        before = 0 if stands_free else self._count_around(left, piece, right)
        piece.body, piece.measure, piece.beyond = body, measure, beyond
        if stands_free:
            self._set_suffix(piece)
            self.units += piece.units - units
        else:
            self._settle(left, piece, right, before)

    def stands_free(self, piece: Piece, *, opens: bool) -> bool:
        """Whether the count of the piece is its own in the whole, whatever its body becomes; `opens` tells if each body it may have meets a
        plain line's end safely."""
        left, right = piece.previous, piece.next
        if left is not None and left.message == piece.message and not (left.closes and piece.opens and opens):
            return False
        if right is None or right.message != piece.message:
            return True
        return piece.closes and self._parts_lines and piece.suffix[-1:] == "\n" and right.opens

    def mark(self) -> None:
        """Journal the edits from here on."""
        self._journal = []

    def revert(self) -> None:
        """Undo every edit made since `mark`."""
        journal, self._journal = self._journal or [], None
        for undo, arguments in reversed(journal):
            undo(*arguments)

    def settle(self) -> None:
        """Let the edits stand."""
        self._journal = None

    # --- links and suffixes ---

    def _link(self, piece: Piece, after: Piece | None, follower: Piece | None) -> None:
        piece.previous, piece.next = after, follower
        if after is not None:
            after.next = piece
        else:
            self.first = piece
        if follower is not None:
            follower.previous = piece
        else:
            self.last = piece

    def _unlink(self, piece: Piece) -> None:
        after, follower = piece.previous, piece.next
        if after is not None:
            after.next = follower
        else:
            self.first = follower
        if follower is not None:
            follower.previous = after
        else:
            self.last = after

    # --- counting ---

    def _stands_alone(self, piece: Piece, left: Piece | None, right: Piece | None) -> bool:
        """True when taking the piece out changes the count by its own units only.

        It is then one of its message's pieces, all joins are safe and its neighbour's end stays.
        """
        beside = left or right
        if beside is None or beside.message != piece.message or not (piece.opens and piece.closes):
            return False
        if left is not None and not (left.closes and (_are_alike(piece, right) or self._suffix(left, right) == left.suffix)):
            return False
        return right is None or right.opens

    def _set_suffix(self, piece: Piece) -> None:
        """Give a piece the suffix that fits where it stands, and measure it anew."""
        piece.suffix = suffix = self._suffix(piece, piece.next)
        text = piece.body + suffix
        piece.opens = self._meter.is_safe("\n", text)
        piece.closes = self._parts_lines and text[-1:] == "\n"
        piece.units = piece.measure(suffix) if piece.measure is not None else self._meter.count_ended(piece.body, suffix)

    def _settle(self, left: Piece | None, middle: Piece | None, right: Piece | None, before: int) -> None:
        """Give the pieces in question their suffixes, and record the difference of the counts."""
        if left is not None:
            self._set_suffix(left)
        if middle is not None:
            self._set_suffix(middle)
        self.units += self._count_around(left, middle, right) - before

    def _count_around(self, left: Piece | None, middle: Piece | None, right: Piece | None) -> int:
        """The count of all clusters that the neighbours `left`, `middle` and `right` belong to."""
        first, last = left or middle or right, right or middle or left
        return self._count_run(first, last) if first is not None and last is not None else 0

    def _count_run(self, first: Piece, last: Piece) -> int:
        """Count the clusters of the pieces from `first` to `last`, up to a safe boundary on both sides, and the messages they open."""
        total = 0
        before = self._text_before(first)
        texts = [before] if before else []
        piece: Piece | None = first
        while piece is not None:
            follower = piece.next
            if piece.previous is None or piece.previous.message != piece.message:
                total += self._overhead(piece)
            if follower is None or (piece.closes and follower.opens) or self._joins_safely(piece, follower):
                total += self._meter.count("".join((*texts, piece.text))) if texts else piece.units
                texts = []
            else:
                texts.append(piece.text)
            if piece is last:
                break
            piece = follower
        return total + (self._meter.count("".join(texts) + self._text_behind(last)) if texts else 0)

    def _joins_safely(self, left: Piece, right: Piece) -> bool:
        return (left.closes and right.opens) or left.message != right.message or self._meter.is_safe(left.text, right.text)

    def _text_before(self, piece: Piece) -> str:
        """What stands before `piece` in its cluster, back to a safe boundary."""
        parts: list[str] = []
        while piece.previous is not None and not self._joins_safely(piece.previous, piece):
            piece = piece.previous
            inner = self._meter.counter.find_inner(piece.body)
            if inner is not None:
                parts.append(piece.text[inner[1] :])
                break
            parts.append(piece.text)
        return self._join(parts[::-1]) if parts else ""

    def _text_behind(self, piece: Piece) -> str:
        """What follows `piece` in its cluster, on to a safe boundary."""
        parts: list[str] = []
        while piece.next is not None and not self._joins_safely(piece, piece.next):
            piece = piece.next
            inner = self._meter.counter.find_inner(piece.body)
            if inner is not None:
                parts.append(piece.body[: inner[0]])
                break
            parts.append(piece.text)
        return self._join(parts) if parts else ""

    def _join(self, parts: Sequence[str]) -> str:
        text = "".join(parts)
        self._pay(price_count(text) + _PIECE * len(parts))
        return text

    def count_tail(self, ending: str) -> int:
        """What the count would change by if the last piece ended in `ending` instead of its suffix."""
        piece = self.last
        if piece is None or piece.suffix == ending:
            return 0
        before = self._text_before(piece)
        if before:
            return self._meter.count(before + piece.body + ending) - self._meter.count(before + piece.text)
        return (piece.measure(ending) if piece.measure is not None else self._meter.count_ended(piece.body, ending)) - piece.units


def _are_alike(piece: Piece, other: Piece | None) -> bool:
    """True when a piece in front of either has the same suffix."""
    return other is not None and piece.kind == other.kind and piece.part == other.part and piece.message == other.message
