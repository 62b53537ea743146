"""One section while it is fitted: its items as they stand, and the tapes that count them.

The one mutable thing of the passes, and private to fitting: what leaves is a frozen `Fitted`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from promptc.model.stages import Item, Selected
from promptc.passes.cut_text import Cut
from promptc.passes.frame import Frame
from promptc.passes.scope import type_key
from promptc.passes.tape import Cell, Tape


class Entry:
    """An item as it stands: its guarded `text`, the `form` it is in, how many characters a trim `kept` of it."""

    __slots__ = ("item", "place", "text", "form", "kept", "is_made", "is_alive", "cells", "run")

    def __init__(self, item: Item, place: int, *, is_made: bool = False) -> None:
        self.item = item
        self.place = place
        self.text = item.text
        self.form = 0
        self.kept: int | None = None
        self.is_made = is_made
        self.is_alive = True
        self.cells: list[Cell] = []
        self.run = 0

    @property
    def body(self) -> str:
        """The text inside its own fence."""
        item = self.item
        return f"{item.open}\n{self.text}\n{item.close}" if item.open else self.text


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """A change of one entry: it goes, it takes another form (`item`), or a `cut` is made of it."""

    entry: Entry
    item: Item | None = None
    form: int | None = None
    cut: Cut | None = None

    @property
    def is_removal(self) -> bool:
        """True when the entry goes."""
        return self.item is None and self.cut is None


@dataclass(frozen=True, slots=True, eq=False)
class Act:
    """One notch: edits made together.

    `made` takes the place of the first edit's entry. A `voidable` act that does not shorten is skipped.
    """

    edits: Sequence[Edit]
    why: str
    made: Item | None = None
    marker: Callable[[int], str] | None = None
    voidable: bool = False
    warn: bool = False
    boundary: str = ""
    level: tuple[int | float | None, int | float | None] = (None, None)
    moves: Sequence[tuple[str, int | float, int | float | None]] = ()
    drops: bool = False
    fails: bool = False
    ends: bool = False


class _Lane:
    """A section's pieces on one tape."""

    def __init__(self, tape: Tape, part: int) -> None:
        self.tape = tape
        self.part = part
        self.open: Cell | None = None
        self.header: Cell | None = None
        self.marker: Cell | None = None
        self.close: Cell | None = None
        self.groups: dict[int, Cell] = {}


class SectionFit:
    """A section's entries on the tapes laid for it. `apply` does one act on all of them, `revert` undoes the newest ones."""

    def __init__(self, selected: Selected, part: int, frame: Frame) -> None:
        self.selected = selected
        self.section = selected.section
        self.part = part
        self.frame = frame
        self.entries: list[Entry] = [Entry(item, place) for place, item in enumerate(selected.items)]
        self.is_dropped = False
        self.removed = 0
        self.made: Entry | None = None
        self._marker = ""
        self._headers = {type_key(group.key): (index, group.header) for index, group in enumerate(selected.groups)}
        for entry in self.entries:
            entry.run = self._headers[type_key(entry.item.key)][0] if self._headers else 0
        self._runs = Counter(entry.run for entry in self.entries)
        self._alive = len(self.entries)
        self._windowed = sum(1 for entry in self.entries if entry.item.windowed)
        self._lanes: list[_Lane] = []
        self._journal: list[tuple[list[int], list[Callable[[], None]]]] = []
        self.own = self._lay_own()

    # --- what steps ask ---

    @property
    def alive(self) -> Iterator[Entry]:
        """The entries that still stand, in order."""
        return (entry for entry in self.entries if entry.is_alive)

    @property
    def is_empty(self) -> bool:
        """True when nothing is left of the section."""
        return self._alive == 0

    @property
    def count_alive(self) -> int:
        """How many entries still stand."""
        return self._alive

    @property
    def count_runs(self) -> int:
        """How many groups still stand."""
        return sum(1 for count in self._runs.values() if count)

    @property
    def count_windowed(self) -> int:
        """How many items inside the window still stand."""
        return self._windowed

    def count_charge(self) -> int:
        """The section's charge in units: everything it adds, at its larger ending."""
        if self.is_empty:
            return 0
        return self.own.units + max(self.own.count_tail(ending) for ending in self._endings())

    def weigh_charge(self, edit: Edit) -> int | None:
        """The charge with the edit's cut made, told without making it; None where only doing it tells."""
        units = self.weigh(edit, self.own)
        if units is None or edit.cut is None or edit.cut.measure is None:
            return None
        cell = edit.entry.cells[0]
        if self.own.last is not cell:
            return units + max(self.own.count_tail(ending) for ending in self._endings())
        return units + max(edit.cut.measure(ending) for ending in self._endings()) - edit.cut.measure(cell.trail)

    def weigh(self, edit: Edit, tape: Tape) -> int | None:
        """The units of a tape with the edit's cut made, told without making it; None where only doing it tells."""
        if edit.cut is None or edit.cut.measure is None or edit.entry.item.open:
            return None
        lane = next(index for index, lane in enumerate(self._lanes) if lane.tape is tape)
        return tape.weigh(edit.entry.cells[lane], edit.cut.opens, edit.cut.measure)

    def _endings(self) -> tuple[str, ...]:
        return ("",) if self.section.id in self.frame.each and self.frame.format == "messages" else self.frame.endings(self.section)

    def count_chars(self) -> int:
        """The characters of the content: items and what stands between them."""
        separator = self.section.separator if self.section.separator is not None else "\n"
        return sum(len(entry.body) for entry in self.alive) + len(separator) * max(0, self._alive - 1)

    # --- tapes ---

    def _lay_own(self) -> Tape:
        tape = Tape(self.frame.meter, self.frame.trail, self.frame.overhead)
        self.lay(tape)
        return tape

    def lay(self, tape: Tape) -> None:
        """Put the section's pieces at the end of a tape and keep them up to date there."""
        lane = _Lane(tape, self.part)
        self._lanes.append(lane)
        if self.is_empty:
            return
        cells: list[Cell] = []
        lane.open = self._add(cells, lane, self.selected.open, "fence")
        lane.header = self._add(cells, lane, self.selected.header, "header")
        lane.marker = self._add(cells, lane, self._marker, "marker")
        run = -1
        for entry in self.alive:
            if self._headers and entry.run != run:
                run = entry.run
                header = self._add(cells, lane, self._header(run), "group")
                if header is not None:
                    lane.groups[run] = header
            cell = self._cell(lane, entry)
            entry.cells.append(cell)
            cells.append(cell)
        lane.close = self._add(cells, lane, self.selected.close, "fence")
        tape.extend(cells)

    def _header(self, run: int) -> str:
        return next((text for index, text in self._headers.values() if index == run), "")

    def _add(self, cells: list[Cell], lane: _Lane, body: str, kind: str) -> Cell | None:
        if not body:
            return None
        cell = Cell(body, lane.part, kind, message=self._message())
        cells.append(cell)
        return cell

    def _cell(self, lane: _Lane, entry: Entry) -> Cell:
        return Cell(entry.body, lane.part, "item", self._message(entry), owner=entry)

    def _message(self, entry: Entry | None = None) -> int:
        """The message's number: item messages have one each, spaced so that they stay apart from every section's."""
        if self.frame.format == "text":
            return 0
        index = self.frame.messages[self.section.id] << 32
        return index + 1 + entry.place if entry is not None and self.section.id in self.frame.each else index

    # --- acts ---

    def apply(self, act: Act) -> None:
        """Do an act on every tape."""
        undo: list[Callable[[], None]] = []
        marks = [lane.tape.mark() for lane in self._lanes]
        self._journal.append((marks, undo))
        if act.made is not None:
            self._insert_made(act, undo)
        for edit in act.edits:
            if edit.is_removal:
                self._remove(edit.entry, undo)
            else:
                self._rewrite(edit, undo)
        if act.marker is not None and not self.is_empty:
            self._mark(act.marker(self.removed), undo)

    def revert(self) -> None:
        """Undo the newest act."""
        marks, undo = self._journal.pop()
        for step in reversed(undo):
            step()
        for lane, mark in zip(self._lanes, marks, strict=True):
            lane.tape.revert(mark)

    def settle(self) -> None:
        """Let what was applied stand: it can no longer be undone."""
        self._journal.clear()
        for lane in self._lanes:
            lane.tape.settle()

    def _rewrite(self, edit: Edit, undo: list[Callable[[], None]]) -> None:
        entry = edit.entry
        held = (entry.item, entry.text, entry.form, entry.kept)

        def restore() -> None:
            entry.item, entry.text, entry.form, entry.kept = held

        undo.append(restore)
        entry.item = edit.item or entry.item
        entry.text = edit.cut.text if edit.cut is not None else entry.item.text
        entry.form = entry.form if edit.form is None else edit.form
        entry.kept = entry.kept if edit.cut is None else edit.cut.kept
        measure = edit.cut.measure if edit.cut is not None and not entry.item.open else None
        for lane, cell in zip(self._lanes, entry.cells, strict=True):
            lane.tape.rewrite(cell, entry.body, measure)

    def _remove(self, entry: Entry, undo: list[Callable[[], None]]) -> None:
        entry.is_alive = False
        self._alive -= 1
        self._windowed -= entry.item.windowed
        self._runs[entry.run] -= 1
        self.removed += 1

        def restore() -> None:
            entry.is_alive = True
            self._alive += 1
            self._windowed += entry.item.windowed
            self._runs[entry.run] += 1
            self.removed -= 1

        undo.append(restore)
        for lane, cell in zip(self._lanes, entry.cells, strict=True):
            lane.tape.remove(cell)
        if self._headers and not self._runs[entry.run]:
            self._remove_group(entry.run, undo)
        if self.is_empty:
            self._remove_frame(undo)

    def _remove_group(self, run: int, undo: list[Callable[[], None]]) -> None:
        for lane in self._lanes:
            cell = lane.groups.pop(run, None)
            if cell is not None:
                lane.tape.remove(cell)
                undo.append(partial(lane.groups.__setitem__, run, cell))

    def _remove_frame(self, undo: list[Callable[[], None]]) -> None:
        for lane in self._lanes:
            for name in ("open", "header", "marker", "close"):
                cell = getattr(lane, name)
                if cell is not None:
                    lane.tape.remove(cell)
                    setattr(lane, name, None)
                    undo.append(partial(setattr, lane, name, cell))

    def _insert_made(self, act: Act, undo: list[Callable[[], None]]) -> None:
        """The new item stands at the place of the oldest it stands for, in that one's group."""
        oldest = act.edits[0].entry
        made = Entry(act.made, len(self.entries), is_made=True)  # type: ignore[arg-type]
        self.made = made
        made.run = oldest.run
        self._runs[made.run] += 1
        at = self.entries.index(oldest)
        self.entries.insert(at, made)
        self._alive += 1
        for lane, cell in zip(self._lanes, oldest.cells, strict=True):
            new = self._cell(lane, made)
            made.cells.append(new)
            lane.tape.insert(new, cell.previous)

        def restore() -> None:
            self.entries.remove(made)
            self._alive -= 1
            self._runs[made.run] -= 1

        undo.append(restore)

    def _mark(self, text: str, undo: list[Callable[[], None]]) -> None:
        undo.append(partial(setattr, self, "_marker", self._marker))
        self._marker = text
        for lane in self._lanes:
            if lane.marker is not None and text:
                lane.tape.rewrite(lane.marker, text)
            elif lane.marker is not None:
                lane.tape.remove(lane.marker)
                undo.append(partial(setattr, lane, "marker", lane.marker))
                lane.marker = None
            elif text:
                cell = Cell(text, lane.part, "marker", message=self._message())
                lane.tape.insert(cell, lane.header or lane.open or self._before_first(lane))
                lane.marker = cell
                undo.append(partial(setattr, lane, "marker", None))

    def _before_first(self, lane: _Lane) -> Cell | None:
        first = next(self.alive).cells[self._lanes.index(lane)]
        group = lane.groups.get(next(self.alive).run)
        return (group or first).previous
