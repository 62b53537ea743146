"""An ordered run of text pieces with its exact count, kept up to date at each edit.

Pieces that meet at a safe boundary (architecture.md) are counted separately; pieces that do not are counted as one cluster. An edit
recounts only the clusters it touches, so removing one of ten thousand lines costs what that line costs.
Edits made after `mark` are journaled until `revert` undoes them or `settle` makes them final (the links are Knuth's dancing links: a
removed piece keeps its neighbours).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from promptc.diag.typed import Literal, NamedTuple
from promptc.template.runtime.run import price_count
from promptc.text.counters.counter import Meter

Kind = Literal["fence", "header", "marker", "group", "item"]


class Piece:
    """One piece: `body` without its final line end, and `suffix`, what follows it at its place.

    `part` is the index of its section, `kind` its role there, `message` the number of its message, and `units` its own count. `beyond` are
    the units that its message counts for it in addition to its text.

    `opens` says that the piece safely follows any piece that ends a plain line, `closes` that it ends with a line end, which is safe before
    every piece that `opens`.
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
    """The counts of pieces laid on an empty ledger: all their units, and of each its suffix, `opens`, `closes` and `units`."""

    units: int
    pieces: tuple[tuple[str, bool, bool, int], ...]


Pay = Callable[[int], None]

_PIECE = 20
"""The steps charged for passing one piece."""

Suffix = Callable[[Piece, "Piece | None"], str]
"""Returns what follows a piece, given the next piece. It reads only `part`, `kind` and `message` of both."""
_Undo = tuple[Callable[..., None], tuple[object, ...]]


class TokenLedger:
    """The pieces of a layout in order. `units` is the exact count of what they emit, including message overhead."""

    def __init__(self, meter: Meter, suffix: Suffix, overhead: Callable[[Piece], int], pay: Pay) -> None:
        """Create an empty ledger.

        `pay` is called with the steps of recounting a cluster: where pieces meet unsafely, an edit costs as much as the whole cluster.
        """
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
        """Unlink the pieces, to let reference counting free a render's memory at its end.

        Pieces that refer to each other would wait for the garbage collector.
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
        """Lay pieces with known counts on an empty ledger: nothing is counted."""
        previous: Piece | None = None
        for piece, (suffix, opens, closes, units) in zip(pieces, laid.pieces, strict=True):
            piece.suffix, piece.opens, piece.closes, piece.units = suffix, opens, closes, units
            piece.previous = previous
            if previous is not None:
                previous.next = piece
            previous = piece
        self.first, self.last, self.units = pieces[0], previous, laid.units

    def describe(self) -> Laid:
        """Return the counts that `recall` needs."""
        return Laid(self.units, tuple((piece.suffix, piece.opens, piece.closes, piece.units) for piece in self))

    def take(self, other: TokenLedger) -> None:
        """Move all pieces of another ledger to the end of this one, recounting only where they meet.

        The other ledger must not be used afterwards.
        """
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
        """Insert a piece after another, or at the beginning if `after` is None."""
        follower = after.next if after is not None else self.first
        before = self._count_around(after, None, follower)
        self._link(piece, after, follower)
        self._settle(after, piece, follower, before)
        if self._journal is not None:
            self._journal.append((self.remove, (piece,)))

    def remove(self, piece: Piece) -> None:
        """Remove a piece; it keeps its links, so the removal can be undone."""
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
        """Replace a piece's body; `measure(suffix)` may count body and suffix without a whole encode."""
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
        """Return whether the piece's count in the whole is its own, whatever its body becomes.

        `opens` says whether each body it may have safely follows the end of a plain line.
        """
        left, right = piece.previous, piece.next
        if left is not None and left.message == piece.message and not (left.closes and piece.opens and opens):
            return False
        if right is None or right.message != piece.message:
            return True
        return piece.closes and self._parts_lines and piece.suffix[-1:] == "\n" and right.opens

    def mark(self) -> None:
        """Start to journal the edits."""
        self._journal = []

    def revert(self) -> None:
        """Undo every edit made since `mark`."""
        journal, self._journal = self._journal or [], None
        for undo, arguments in reversed(journal):
            undo(*arguments)

    def settle(self) -> None:
        """Make the edits final."""
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
        """Return whether removing the piece changes the count by its own units only.

        It must then not be the only piece of its message, all joins must be safe, and its neighbour's end must stay the same.
        """
        beside = left or right
        if beside is None or beside.message != piece.message or not (piece.opens and piece.closes):
            return False
        if left is not None and not (left.closes and (_are_alike(piece, right) or self._suffix(left, right) == left.suffix)):
            return False
        return right is None or right.opens

    def _set_suffix(self, piece: Piece) -> None:
        """Set the suffix that fits a piece's place, and measure the piece again."""
        piece.suffix = suffix = self._suffix(piece, piece.next)
        text = piece.body + suffix
        piece.opens = self._meter.is_safe("\n", text)
        piece.closes = self._parts_lines and text[-1:] == "\n"
        piece.units = piece.measure(suffix) if piece.measure is not None else self._meter.count_ended(piece.body, suffix)

    def _settle(self, left: Piece | None, middle: Piece | None, right: Piece | None, before: int) -> None:
        """Set the suffixes of the pieces, and add the difference of the counts."""
        if left is not None:
            self._set_suffix(left)
        if middle is not None:
            self._set_suffix(middle)
        self.units += self._count_around(left, middle, right) - before

    def _count_around(self, left: Piece | None, middle: Piece | None, right: Piece | None) -> int:
        """Return the count of all clusters that the neighbours `left`, `middle` and `right` belong to."""
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
        """Return the text before `piece` in its cluster, back to a safe boundary."""
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
        """Return the text after `piece` in its cluster, up to a safe boundary."""
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
        """Return how much the count would change if the last piece ended with `ending` instead of its suffix."""
        piece = self.last
        if piece is None or piece.suffix == ending:
            return 0
        before = self._text_before(piece)
        if before:
            return self._meter.count(before + piece.body + ending) - self._meter.count(before + piece.text)
        return (piece.measure(ending) if piece.measure is not None else self._meter.count_ended(piece.body, ending)) - piece.units


def _are_alike(piece: Piece, other: Piece | None) -> bool:
    """Return whether a piece has the same suffix before either of them."""
    return other is not None and piece.kind == other.kind and piece.part == other.part and piece.message == other.message
