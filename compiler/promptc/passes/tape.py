"""An ordered run of text pieces with its exact count, kept up to date at each edit.

Pieces that meet at a safe boundary (architecture §2) are counted apart; pieces that do not are counted as one cluster. An edit
recounts only the clusters it touches, so removing one of ten thousand lines costs what that line costs.
Edits are journaled: `mark` and `revert` undo the newest ones (the links are Knuth's dancing links: a removed cell keeps its neighbours).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from promptc.text.meter import Meter


class Cell:
    """One piece: `body` without its final line end, and `trail`, what follows it where it stands.

    `part` is the index of its section, `kind` what it is there, `message` the message.
    `opens` and `closes` tell whether it meets any piece that ends, or begins, a plain line safely (`closes`: with a line end of its own,
    which alone is safe before every piece that `opens`); `units` is its own count.
    """

    __slots__ = ("body", "closes", "kind", "measure", "message", "next", "opens", "owner", "part", "previous", "trail", "units")

    def __init__(self, body: str, part: int, kind: str, message: int = 0, owner: object = None) -> None:
        self.body = body
        self.trail = ""
        self.part = part
        self.kind = kind
        self.message = message
        self.owner = owner
        self.previous: Cell | None = None
        self.next: Cell | None = None
        self.measure: Callable[[str], int] | None = None
        self.opens = False
        self.closes = False
        self.units = 0

    @property
    def text(self) -> str:
        """The piece as it is emitted."""
        return self.body + self.trail


Trail = Callable[[Cell, "Cell | None"], str]
_Undo = tuple[Callable[..., None], tuple[object, ...]]


class Tape:
    """The pieces of a layout in order. `units` is the exact count of what they emit, message overhead (`frame`) included."""

    def __init__(self, meter: Meter, trail: Trail, overhead: Callable[[Cell], int]) -> None:
        self._meter = meter
        self._trail = trail
        self._overhead = overhead
        self._alive: dict[int, int] = {}
        self._journal: list[_Undo] = []
        self.units = 0
        self.first: Cell | None = None
        self.last: Cell | None = None

    def __iter__(self) -> Iterator[Cell]:
        cell = self.first
        while cell is not None:
            yield cell
            cell = cell.next

    # --- edits ---

    def extend(self, cells: Sequence[Cell]) -> None:
        """Add cells at the end. Laying a whole section so counts every piece once."""
        if not cells:
            return
        last = self.last
        before = self._count_around(last, (), None)
        for cell in cells:
            self._link(cell, self.last, None)
            self._enter(cell)
        if last is not None:
            self._set_trail(last)
        for cell in cells:
            self._set_trail(cell)
        self.units += self._count_run(cells if last is None else (last, *cells)) - before
        self._journal.append((self._undo_extend, (tuple(cells),)))

    def insert(self, cell: Cell, after: Cell | None) -> None:
        """Put a cell behind another, or at the beginning."""
        follower = after.next if after is not None else self.first
        before = self._count_around(after, (), follower)
        self._link(cell, after, follower)
        self._settle(after, (cell,), follower, before)
        self._enter(cell)
        self._journal.append((self._undo_insert, (cell,)))

    def remove(self, cell: Cell) -> None:
        """Take a cell out; its links stay, for the way back."""
        after, follower = cell.previous, cell.next
        if self._stands_alone(cell, after, follower):
            self.units -= cell.units
            self._unlink(cell)
        else:
            before = self._count_around(after, (cell,), follower)
            self._unlink(cell)
            self._settle(after, (), follower, before)
        self._leave(cell)
        self._journal.append((self._undo_remove, (cell,)))

    def rewrite(self, cell: Cell, body: str, measure: Callable[[str], int] | None = None) -> None:
        """Give a cell another body; `measure(trail)` may count body and trail without a whole encode."""
        old, old_measure = cell.body, cell.measure
        before = self._count_around(cell.previous, (cell,), cell.next)
        cell.body, cell.measure = body, measure
        self._settle(cell.previous, (cell,), cell.next, before)
        self._journal.append((self._undo_rewrite, (cell, old, old_measure)))

    def weigh(self, cell: Cell, opens: bool, measure: Callable[[str], int]) -> int | None:
        """What `units` would be if the cell's body were one that counts `measure(trail)`, and that meets a plain line's end safely as
        `opens` says. None where the old body or the new one meets a neighbour unsafely: then only doing it tells.
        """
        left, right = cell.previous, cell.next
        closes = cell.trail[-1:] == "\n" and self._meter.is_safe("x" + cell.trail, "x")
        if left is not None and left.message == cell.message and not (left.closes and cell.opens and opens):
            return None
        if right is not None and right.message == cell.message and not (cell.closes and closes and right.opens):
            return None
        return self.units - cell.units + measure(cell.trail)

    def mark(self) -> int:
        """A point to come back to."""
        return len(self._journal)

    def revert(self, mark: int) -> None:
        """Undo every edit made since `mark`."""
        while len(self._journal) > mark:
            undo, arguments = self._journal.pop()
            undo(*arguments)

    def settle(self) -> None:
        """Forget how to undo what was done."""
        self._journal.clear()

    def _undo_extend(self, cells: tuple[Cell, ...]) -> None:
        for cell in reversed(cells):
            self.remove(cell)
            self._journal.pop()

    def _undo_insert(self, cell: Cell) -> None:
        self.remove(cell)
        self._journal.pop()

    def _undo_remove(self, cell: Cell) -> None:
        self.insert(cell, cell.previous)
        self._journal.pop()

    def _undo_rewrite(self, cell: Cell, body: str, measure: Callable[[str], int] | None) -> None:
        self.rewrite(cell, body, measure)
        self._journal.pop()

    # --- links, trails, message overhead ---

    def _link(self, cell: Cell, after: Cell | None, follower: Cell | None) -> None:
        cell.previous, cell.next = after, follower
        if after is not None:
            after.next = cell
        else:
            self.first = cell
        if follower is not None:
            follower.previous = cell
        else:
            self.last = cell

    def _unlink(self, cell: Cell) -> None:
        after, follower = cell.previous, cell.next
        if after is not None:
            after.next = follower
        else:
            self.first = follower
        if follower is not None:
            follower.previous = after
        else:
            self.last = after

    def _enter(self, cell: Cell) -> None:
        alive = self._alive.get(cell.message, 0)
        self._alive[cell.message] = alive + 1
        if not alive:
            self.units += self._overhead(cell)

    def _leave(self, cell: Cell) -> None:
        self._alive[cell.message] -= 1
        if not self._alive[cell.message]:
            self.units -= self._overhead(cell)

    # --- counting ---

    def _stands_alone(self, cell: Cell, left: Cell | None, right: Cell | None) -> bool:
        """True when taking the cell out changes the count by its own units only: all joins are safe and its neighbour's end stays."""
        if not (cell.opens and cell.closes):
            return False
        if left is not None and not (left.closes and self._trail(left, right) == left.trail):
            return False
        return right is None or right.opens

    def _set_trail(self, cell: Cell) -> None:
        """Give a cell the trail that fits where it stands, and measure it anew."""
        cell.trail = self._trail(cell, cell.next)
        text = cell.body + cell.trail
        cell.opens = self._meter.is_safe("x\n", text)
        cell.closes = text[-1:] == "\n" and self._meter.is_safe(text, "x")
        cell.units = cell.measure(cell.trail) if cell.measure is not None else self._meter.count(text)

    def _settle(self, left: Cell | None, middle: tuple[Cell, ...], right: Cell | None, before: int) -> None:
        """Give the cells in question their trails, and book the difference of the counts."""
        for cell in (left, *middle):
            if cell is not None:
                self._set_trail(cell)
        self.units += self._count_around(left, middle, right) - before

    def _count_around(self, left: Cell | None, middle: tuple[Cell, ...], right: Cell | None) -> int:
        """The count of all clusters that `left`, `middle` and `right` belong to, up to a safe boundary on both sides."""
        return self._count_run([cell for cell in (left, *middle, right) if cell is not None])

    def _count_run(self, cells: Sequence[Cell]) -> int:
        """The count of neighbouring cells, with what stands before the first and behind the last in their clusters."""
        if not cells:
            return 0
        total = 0
        texts = [self._text_before(cells[0])]
        alone: Cell | None = None if texts[0] else cells[0]
        for cell, follower in zip(cells, (*cells[1:], None), strict=True):
            texts.append(cell.text)
            if follower is None:
                texts.append(self._text_behind(cell))
                alone = None if texts[-1] else alone
            elif not self._joins_safely(cell, follower):
                alone = None
                continue
            total += alone.units if alone is not None else self._meter.count("".join(texts))
            texts, alone = [], follower
        return total

    def _joins_safely(self, left: Cell, right: Cell) -> bool:
        return (left.closes and right.opens) or left.message != right.message or self._meter.is_safe(left.text, right.text)

    def _text_before(self, cell: Cell) -> str:
        """What stands before `cell` in its cluster, back to a safe boundary."""
        parts: list[str] = []
        while cell.previous is not None and not self._joins_safely(cell.previous, cell):
            cell = cell.previous
            inner = self._meter.counter.find_inner(cell.body)
            if inner is not None:
                parts.append(cell.text[inner[1] :])
                break
            parts.append(cell.text)
        return "".join(reversed(parts))

    def _text_behind(self, cell: Cell) -> str:
        """What follows `cell` in its cluster, on to a safe boundary."""
        parts: list[str] = []
        while cell.next is not None and not self._joins_safely(cell, cell.next):
            cell = cell.next
            inner = self._meter.counter.find_inner(cell.body)
            if inner is not None:
                parts.append(cell.body[: inner[0]])
                break
            parts.append(cell.text)
        return "".join(parts)

    def count_tail(self, ending: str) -> int:
        """What the count would change by if the last cell ended in `ending` instead of its trail."""
        cell = self.last
        if cell is None or cell.trail == ending:
            return 0
        before = self._text_before(cell)
        if before:
            return self._meter.count(before + cell.body + ending) - self._meter.count(before + cell.text)
        return (cell.measure(ending) if cell.measure is not None else self._meter.count(cell.body + ending)) - cell.units
