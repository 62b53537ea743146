"""An ordered run of text pieces with its exact count, kept up to date at each edit.

Pieces that meet at a safe boundary (architecture §2) are counted apart; pieces that do not are counted as one cluster. An edit
recounts only the clusters it touches, so removing one of ten thousand lines costs what that line costs.
Edits made after `mark` are journaled until `revert` undoes them or `settle` lets them stand (the links are Knuth's dancing links: a
removed cell keeps its neighbours).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from promptc.diag.typed import Literal, NamedTuple
from promptc.template.runtime.run import price_count
from promptc.text.meter import Meter

Kind = Literal["fence", "header", "marker", "group", "item"]


class Piece:
    """One piece: `body` without its final line end, and `trail`, what follows it where it stands.

    `part` is the index of its section, `kind` what it is there, `message` the message.
    `opens` and `closes` tell whether it meets any piece that ends, or begins, a plain line safely (`closes`: with a line end of its own,
    which alone is safe before every piece that `opens`); `units` is its own count.
    """

    __slots__ = ("body", "closes", "kind", "measure", "message", "next", "opens", "owner", "part", "previous", "trail", "units")

    def __init__(self, body: str, part: int, kind: Kind, message: int = 0, owner: object = None) -> None:
        self.body = body
        self.trail = ""
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
        return self.body + self.trail


class Laid(NamedTuple):
    """What pieces laid on an empty tape came to: all their units, and of each its trail, `opens`, `closes` and `units`."""

    units: int
    cells: tuple[tuple[str, bool, bool, int], ...]


Pay = Callable[[int], None]

_CELL = 20
"""Steps of going past one piece."""

Trail = Callable[[Piece, "Piece | None"], str]
"""What follows a piece, given the piece behind it. Of both it looks at `part`, `kind` and `message` only."""
_Undo = tuple[Callable[..., None], tuple[object, ...]]


class TokenLedger:
    """The pieces of a layout in order. `units` is the exact count of what they emit, message overhead (`frame`) included."""

    def __init__(self, meter: Meter, trail: Trail, overhead: Callable[[Piece], int], pay: Pay) -> None:
        """`pay` is told the steps of counting a cluster anew: where pieces meet unsafely, an edit costs all that they hang on."""
        self.units = 0
        self._pay = pay
        self.first: Piece | None = None
        self.last: Piece | None = None
        self._meter = meter
        self._trail = trail
        self._overhead = overhead
        self._parts_lines = meter.is_safe("\n", "x")
        self._journal: list[_Undo] | None = None

    def __del__(self) -> None:
        """Cells that know each other are no one's garbage until the collector comes by: so that a render gives its memory back at its end,
        they are parted.
        """
        for cell in self:
            cell.previous = None

    def __iter__(self) -> Iterator[Piece]:
        cell = self.first
        while cell is not None:
            yield cell
            cell = cell.next

    # --- edits ---

    def extend(self, cells: Sequence[Piece]) -> None:
        """Lay cells on an empty tape. Every piece is counted once."""
        previous: Piece | None = None
        for cell in cells:
            cell.previous = previous
            if previous is not None:
                previous.next = cell
                self._set_trail(previous)
            previous = cell
        if previous is not None:
            self._set_trail(previous)
            self.first, self.last = cells[0], previous
            self.units = self._count_run(cells[0], previous)

    def recall(self, cells: Sequence[Piece], laid: Laid) -> None:
        """The same with cells of which it is known what they come to."""
        previous: Piece | None = None
        for cell, (trail, opens, closes, units) in zip(cells, laid.cells, strict=True):
            cell.trail, cell.opens, cell.closes, cell.units = trail, opens, closes, units
            cell.previous = previous
            if previous is not None:
                previous.next = cell
            previous = cell
        self.first, self.last, self.units = cells[0], previous, laid.units

    def describe(self) -> Laid:
        """What `recall` needs to know of it."""
        return Laid(self.units, tuple((cell.trail, cell.opens, cell.closes, cell.units) for cell in self))

    def take(self, other: TokenLedger) -> None:
        """Put all pieces of another tape behind those of this one; only where they meet is counted anew. The other is spent."""
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

    def insert(self, cell: Piece, after: Piece | None) -> None:
        """Put a cell behind another, or at the beginning."""
        follower = after.next if after is not None else self.first
        before = self._count_around(after, None, follower)
        self._link(cell, after, follower)
        self._settle(after, cell, follower, before)
        if self._journal is not None:
            self._journal.append((self.remove, (cell,)))

    def remove(self, cell: Piece) -> None:
        """Take a cell out; its links stay, for the way back."""
        after, follower = cell.previous, cell.next
        if self._stands_alone(cell, after, follower):
            self.units -= cell.units
            self._unlink(cell)
        else:
            before = self._count_around(after, cell, follower)
            self._unlink(cell)
            self._settle(after, None, follower, before)
        if self._journal is not None:
            self._journal.append((self.insert, (cell, after)))

    def rewrite(self, cell: Piece, body: str, measure: Callable[[str], int] | None = None) -> None:
        """Give a cell another body; `measure(trail)` may count body and trail without a whole encode."""
        if self._journal is not None:
            self._journal.append((self.rewrite, (cell, cell.body, cell.measure)))
        before = self._count_around(cell.previous, cell, cell.next)
        cell.body, cell.measure = body, measure
        self._settle(cell.previous, cell, cell.next, before)

    def weigh(self, cell: Piece, opens: bool, measure: Callable[[str], int]) -> int | None:
        """What `units` would be if the cell's body were one that counts `measure(trail)`, and that meets a plain line's end safely as
        `opens` says. None where the old body or the new one meets a neighbour unsafely: then only doing it tells.
        """
        left, right = cell.previous, cell.next
        closes = self._parts_lines and cell.trail[-1:] == "\n"
        if left is not None and left.message == cell.message and not (left.closes and cell.opens and opens):
            return None
        if right is not None and right.message == cell.message and not (cell.closes and closes and right.opens):
            return None
        return self.units - cell.units + measure(cell.trail)

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

    # --- links and trails ---

    def _link(self, cell: Piece, after: Piece | None, follower: Piece | None) -> None:
        cell.previous, cell.next = after, follower
        if after is not None:
            after.next = cell
        else:
            self.first = cell
        if follower is not None:
            follower.previous = cell
        else:
            self.last = cell

    def _unlink(self, cell: Piece) -> None:
        after, follower = cell.previous, cell.next
        if after is not None:
            after.next = follower
        else:
            self.first = follower
        if follower is not None:
            follower.previous = after
        else:
            self.last = after

    # --- counting ---

    def _stands_alone(self, cell: Piece, left: Piece | None, right: Piece | None) -> bool:
        """True when taking the cell out changes the count by its own units only.

        It is then one of its message's pieces, all joins are safe and its neighbour's end stays.
        """
        beside = left or right
        if beside is None or beside.message != cell.message or not (cell.opens and cell.closes):
            return False
        if left is not None and not (left.closes and (_are_alike(cell, right) or self._trail(left, right) == left.trail)):
            return False
        return right is None or right.opens

    def _set_trail(self, cell: Piece) -> None:
        """Give a cell the trail that fits where it stands, and measure it anew."""
        cell.trail = trail = self._trail(cell, cell.next)
        text = cell.body + trail
        cell.opens = self._meter.is_safe("\n", text)
        cell.closes = self._parts_lines and text[-1:] == "\n"
        cell.units = cell.measure(trail) if cell.measure is not None else self._meter.count(text)

    def _settle(self, left: Piece | None, middle: Piece | None, right: Piece | None, before: int) -> None:
        """Give the cells in question their trails, and book the difference of the counts."""
        if left is not None:
            self._set_trail(left)
        if middle is not None:
            self._set_trail(middle)
        self.units += self._count_around(left, middle, right) - before

    def _count_around(self, left: Piece | None, middle: Piece | None, right: Piece | None) -> int:
        """The count of all clusters that the neighbours `left`, `middle` and `right` belong to."""
        first, last = left or middle or right, right or middle or left
        return self._count_run(first, last) if first is not None and last is not None else 0

    def _count_run(self, first: Piece, last: Piece) -> int:
        """The count of the clusters of the cells from `first` to `last`, up to a safe boundary on both sides, and of messages they open."""
        total = 0
        before = self._text_before(first)
        texts = [before] if before else []
        cell: Piece | None = first
        while cell is not None:
            follower = cell.next
            if cell.previous is None or cell.previous.message != cell.message:
                total += self._overhead(cell)
            if follower is None or (cell.closes and follower.opens) or self._joins_safely(cell, follower):
                total += self._meter.count("".join((*texts, cell.text))) if texts else cell.units
                texts = []
            else:
                texts.append(cell.text)
            if cell is last:
                break
            cell = follower
        return total + (self._meter.count("".join(texts) + self._text_behind(last)) if texts else 0)

    def _joins_safely(self, left: Piece, right: Piece) -> bool:
        return (left.closes and right.opens) or left.message != right.message or self._meter.is_safe(left.text, right.text)

    def _text_before(self, cell: Piece) -> str:
        """What stands before `cell` in its cluster, back to a safe boundary."""
        parts: list[str] = []
        while cell.previous is not None and not self._joins_safely(cell.previous, cell):
            cell = cell.previous
            inner = self._meter.counter.find_inner(cell.body)
            if inner is not None:
                parts.append(cell.text[inner[1] :])
                break
            parts.append(cell.text)
        return self._join(parts[::-1]) if parts else ""

    def _text_behind(self, cell: Piece) -> str:
        """What follows `cell` in its cluster, on to a safe boundary."""
        parts: list[str] = []
        while cell.next is not None and not self._joins_safely(cell, cell.next):
            cell = cell.next
            inner = self._meter.counter.find_inner(cell.body)
            if inner is not None:
                parts.append(cell.body[: inner[0]])
                break
            parts.append(cell.text)
        return self._join(parts) if parts else ""

    def _join(self, parts: Sequence[str]) -> str:
        text = "".join(parts)
        self._pay(price_count(text) + _CELL * len(parts))
        return text

    def count_tail(self, ending: str) -> int:
        """What the count would change by if the last cell ended in `ending` instead of its trail."""
        cell = self.last
        if cell is None or cell.trail == ending:
            return 0
        before = self._text_before(cell)
        if before:
            return self._meter.count(before + cell.body + ending) - self._meter.count(before + cell.text)
        return (cell.measure(ending) if cell.measure is not None else self._meter.count(cell.body + ending)) - cell.units


def _are_alike(cell: Piece, other: Piece | None) -> bool:
    """True when a piece in front of either has the same trail."""
    return other is not None and cell.kind == other.kind and cell.part == other.part and cell.message == other.message
