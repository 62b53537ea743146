"""One section while it is fitted: its items in their current state (`Entry`), and the ledgers that count them (`SectionLayout`).

Only this and the ledger are mutable in the passes, and neither leaves them: the section that strain measures is discarded (`count_demand`),
and the result of fitting is a frozen `Fitted`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import takewhile

from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, NamedTuple
from promptc.model.stages import Item, Selected, Selection
from promptc.passes.bind import list_names, type_key
from promptc.passes.items.render import Cut, Cuts, Most
from promptc.passes.layout.layout import Layout
from promptc.passes.layout.ledger import Kind, Laid, Piece, TokenLedger

_BEHIND = (1 << 32) - 1
"""Added to a section's first message, the number of a message after those of all its items."""


class Aim(NamedTuple):
    """The count as a function of how one text is cut: `base` is everything else, and the text counts with the largest of its `endings`.

    With `is_chars`, it is a count of characters.
    """

    base: int
    endings: tuple[str, ...] = ()
    is_chars: bool = False

    def count(self, cut: Cut) -> int:
        """Return the count with this cut."""
        return self.base + (cut.chars if self.is_chars else max(map(cut.measure, self.endings)))

    def limit(self, count: int) -> Most:
        """Return the most that a cut may come to if the count must not exceed `count`."""
        return Most("chars" if self.is_chars else "units", count - self.base)


class Slide:
    """The notches that a trim without `to` makes of one text: its cuts, down to `floor`.

    The notches that are left when a ladder stops are for the next ladder.
    """

    __slots__ = ("cuts", "describe", "entry", "floor", "is_spent")

    def __init__(self, entry: Entry, cuts: Cuts, floor: Most | None, describe: Callable[[str], str]) -> None:
        """Create a slide; `describe` returns why there is a cut at a boundary."""
        self.entry = entry
        self.cuts = cuts
        self.floor = floor
        self.describe = describe
        self.is_spent = False

    def find_last(self) -> Cut | None:
        """Return the last notch, or None if none is left. Only for a slide without a floor."""
        cut = self.cuts.find_shortest() if self.entry.is_alive else None
        return cut if cut is not None and not self._is_past(cut) else None

    def iter(self, limit: Most | None = None) -> Iterator[Cut]:
        """Yield the notches that are left, none of them under the floor.

        With `limit`, notches that certainly exceed it are skipped, except the last one.
        """
        limits = [limit] if limit is not None else []
        if self.floor is None or limit is None:
            yield from takewhile(self._may_be, self.cuts.iter(limits, self.entry.kept) if self.entry.is_alive else ())
            return
        for slack in _SLACKS:
            wider = [replace(one, size=one.size + slack) for one in (limit, self.floor)] if slack is not None else []
            found = self.cuts.iter(wider, self.entry.kept) if self.entry.is_alive else iter(())
            first = next(found, None)
            if first is None or self._is_past(first):
                return
            if self._may_be(first):
                yield first
                yield from takewhile(self._may_be, found)
                return

    def _may_be(self, cut: Cut) -> bool:
        return not self._is_past(cut) and (self.floor is None or cut.measure_size(self.floor.unit) >= self.floor.size)

    def _is_past(self, cut: Cut) -> bool:
        return self.entry.kept is not None and cut.kept >= self.entry.kept


_SLACKS = (0, 64, 1024, None)
"""Slacks to add to the limits, one after another, until a cut is found that is not under the floor; None: every cut is tried."""


class Act(NamedTuple):
    """One notch: it removes or edits entries, reports entries it passed over, slides, or fails."""

    why: str
    """Why these entries and why now, for the report."""
    gone: Sequence[Entry] = ()
    """The entries that the act removes."""
    marker: Callable[[int], str] | None = None
    """Returns the section's marker, given how many entries were removed so far."""
    edits: Sequence[EntryEdit] = ()
    """The changes of entries that the act edits."""
    made: Item | None = None
    """The new item that replaces the first of the removed ones."""
    voidable: bool = False
    """True if the act is undone unless it shortens."""
    boundary: str = ""
    """The boundary at which a trim cut: a `sentence`, a `word` ..."""
    level: tuple[int | float | None, int | float | None] = (None, None)
    """The level that a `lower` removes, and the highest level that is left (None: no entry is left)."""
    moves: Sequence[tuple[str, int | float, int | float | None]] = ()
    """The groups that a `lower` takes entries from: key, highest level before, highest after (None: no entry is left)."""
    fails: bool = False
    """True for a `fail` step, which does nothing and ends the ladder."""
    passed_over: Sequence[Entry] = ()
    """The entries that a trim leaves alone although they are too large; the act only reports them."""
    slide: Slide | None = None
    """Many notches, of which a ladder makes as many as it needs."""
    is_below: bool = False
    """True if the marker is below what is left, not above it."""
    call: str = ""
    """The id of the tool call, if the act removes only that call of a message with several."""

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries that the act removes or edits."""
        return (*self.gone, *(edit.entry for edit in self.edits))


@frozen(eq=False)
class EntryEdit:
    """A change of one entry: it gets another form or loses a tool call (`item`), or its text is cut (`cut`)."""

    entry: Entry
    item: Item | None = None
    form: int | None = None
    cut: Cut | None = None


class Entry:
    """An item in its current state: its guarded `text`, its `form`, and how many characters a trim `kept` of it (None: not trimmed)."""

    __slots__ = ("item", "place", "text", "form", "kept", "is_made", "is_alive", "run")

    def __init__(self, item: Item, place: int, *, is_made: bool = False) -> None:
        self.item = item
        self.place = place
        self.text = item.text
        self.form = 0
        self.kept: int | None = None
        self.is_made = is_made
        self.is_alive = True
        self.run = 0

    @property
    def body(self) -> str:
        """The text inside the item's own fence."""
        item = self.item
        return f"{item.open}\n{self.text}\n{item.close}" if item.open else self.text


class PlacedSection:
    """A section's pieces on one ledger."""

    def __init__(self, ledger: TokenLedger) -> None:
        self.ledger = ledger
        self.open: Piece | None = None
        self.header: Piece | None = None
        self.marker: Piece | None = None
        self.close: Piece | None = None
        self.groups: dict[int, Piece] = {}
        self.pieces: dict[Entry, Piece] = {}


class SectionLayout:
    """A section's entries and the ledgers that count them: first its own, then that of the whole.

    `apply` performs an act on all of them. An act that was applied `to_undo` is either undone by `revert` or made final by `settle`.
    """

    def __init__(self, selection: Selection, selected: Selected, part: int, layout: Layout, laid: Laid | None = None) -> None:
        """Lay out `selected`, the section of index `part` in `selection`. `laid` are the counts of its pieces before any step, if known."""
        self.selection = selection
        self.selected = selected
        self.section = selected.section
        # Charges work on the ladder, and raises `PromptcError`. Ledgers refer to it too, so it must not refer to this object: a reference
        # cycle would keep the whole render alive until it is collected.
        self.pay: Callable[[int], None] = partial(
            selection.bound.run.pay, span=selected.section.span, what=f"the ladder of `{selected.section.id}`"
        )
        self.part = part
        self.layout = layout
        budget, items = self.section.budget, self.section.items
        self.least = budget.min if budget is not None else None
        self.least_windowed = items.window.min if items is not None and items.window is not None else 0
        self.entries: list[Entry] = [Entry(item, place) for place, item in enumerate(selected.items)]
        self.is_dropped = False
        self.removed = 0
        self.made: Entry | None = None
        self.marker = ""
        self.is_marked_below = False
        self._message = layout.messages[self.section.id] << 32 if layout.format == "messages" else 0
        self._is_each = layout.format == "messages" and self.section.id in layout.each
        self._headers = [group.header for group in selected.groups]
        self._runs = self._number_runs()
        self._alive = len(self.entries)
        self._windowed = sum([item.windowed for item in selected.items])
        self._chars: int | None = None
        self._charge: int | None = None
        self._undo: list[Callable[[], None]] | None = None
        self._own: PlacedSection | None = self._lay(laid)
        self._placings = [self._own]

    def _number_runs(self) -> Counter[int]:
        """Set the group of every entry; return how many entries each group has."""
        if not self._headers:
            return Counter({0: len(self.entries)})
        runs = {type_key(group.key): run for run, group in enumerate(self.selected.groups)}
        for entry in self.entries:
            entry.run = runs[type_key(entry.item.key)]
        return Counter(entry.run for entry in self.entries)

    # --- queries of steps ---

    @cached_property
    def names(self) -> Mapping[str, Any]:
        """The names that the section's expressions see."""
        return list_names(self.selection, self.section)

    @property
    def alive(self) -> Iterator[Entry]:
        """The entries that are not removed, in order."""
        return (entry for entry in self.entries if entry.is_alive)

    @property
    def is_empty(self) -> bool:
        """True if nothing is left of the section."""
        return self._alive == 0

    @property
    def is_unread(self) -> bool:
        """True if older items exist that were not read, and no step removed any of the items that were read."""
        return self.selected.is_partial and self._alive == len(self.entries)

    def count_alive(self) -> int:
        """Return how many entries are left."""
        return self._alive

    def count_runs(self) -> int:
        """Return how many groups are left."""
        return len(self._runs)

    def count_windowed(self, without: Collection[Entry] = ()) -> int:
        """Return how many items inside the window are left, not counting those of `without`, all of which must be left.

        If the window counts groups, it is the number of groups.
        """
        window = self.section.items.window if self.section.items is not None else None
        if window is not None and window.whole == "group":
            return len({entry.run for entry in self.alive if entry.item.windowed and entry not in without})
        return self._windowed - sum([entry.item.windowed for entry in without])

    def count_charge(self) -> int:
        """Return the section's charge in units: everything it adds, at the larger of its endings."""
        if self._charge is None:
            self._charge = self._count_charge() if self._alive else 0
        return self._charge

    def _count_charge(self) -> int:
        ledger = self._own.ledger if self._own is not None else self._lay().ledger
        return ledger.units + max(ledger.count_tail(ending) for ending in self._endings())

    def aim_charge(self, entry: Entry, cuts: Cuts) -> Aim | None:
        """Return the charge as a function of the cut of an entry, or None if a cut must be made to know it."""
        own = self._own
        aim = self.aim(entry, cuts, own.ledger) if own is not None else None
        if own is None or aim is None:
            return None
        if own.ledger.last is own.pieces[entry]:
            return aim._replace(endings=self._endings())
        return aim._replace(base=aim.base + max(own.ledger.count_tail(ending) for ending in self._endings()))

    def aim(self, entry: Entry, cuts: Cuts, ledger: TokenLedger, fixed: int = 0) -> Aim | None:
        """Return the units of a ledger plus `fixed` as a function of the cut of an entry, or None if a cut must be made to know them."""
        placed = next(placed for placed in self._placings if placed.ledger is ledger)
        piece = placed.pieces[entry]
        if entry.item.open or not ledger.stands_free(piece, opens=cuts.open_safely(self.layout.meter)):
            return None
        return Aim(ledger.units - piece.units + fixed, (piece.suffix,))

    def read_piece(self, entry: Entry) -> Piece:
        """Return an entry's piece at its current or last place."""
        return next(placed.pieces[entry] for placed in reversed(self._placings) if entry in placed.pieces)

    def list_pieces(self) -> Mapping[Entry, Piece]:
        """Return the piece of every entry, at its current or last place."""
        return (
            self._placings[0].pieces
            if len(self._placings) == 1
            else {entry: piece for placed in self._placings for entry, piece in placed.pieces.items()}
        )

    def _endings(self) -> tuple[str, ...]:
        return ("",) if self._is_each else self.layout.endings(self.section)

    def count_chars(self) -> int:
        """Return the characters of the content: items and what separates them."""
        if self._chars is None:
            self._chars = sum(len(entry.body) for entry in self.alive)
        separator = "" if self.section.is_tools else self.section.separator if self.section.separator is not None else "\n"
        return self._chars + len(separator) * max(0, self._alive - 1)

    # --- ledgers ---

    def describe(self) -> Laid | None:
        """Return the counts of the section's pieces, or None once they are no longer on a ledger of their own."""
        return self._own.ledger.describe() if self._own is not None else None

    def join(self, ledger: TokenLedger) -> None:
        """Append the section's pieces to the ledger of the whole, and keep them up to date there.

        The section's own ledger is kept as well only if `budget.min` needs the charge at each notch. If not, it is laid anew on demand.
        """
        placed = self._lay() if self._own is None or self.least is not None else self._own
        ledger.take(placed.ledger)
        placed.ledger = ledger
        if placed is self._own:
            self._own = None
        else:
            self._placings.append(placed)

    def _lay(self, laid: Laid | None = None) -> PlacedSection:
        """Return the section's current pieces on a ledger of their own; `laid` are their counts, if known."""
        placed = PlacedSection(TokenLedger(self.layout.meter, self.layout.suffix, self.layout.overhead, self.pay))
        if self.is_empty:
            return placed
        pieces: list[Piece] = []
        placed.open = self._add(pieces, self.selected.open, "fence")
        placed.header = self._add(pieces, self.selected.header, "header")
        if not self.is_marked_below:
            placed.marker = self._add(pieces, self.marker, "marker")
        run = -1
        for entry in self.alive:
            if self._headers and entry.run != run:
                run = entry.run
                header = self._add(pieces, self._headers[run], "group")
                if header is not None:
                    placed.groups[run] = header
            placed.pieces[entry] = piece = self._piece(entry)
            pieces.append(piece)
        if self.is_marked_below:
            placed.marker = self._add(pieces, self.marker, "marker")
        placed.close = self._add(pieces, self.selected.close, "fence")
        if laid is not None:
            placed.ledger.recall(pieces, laid)
        else:
            placed.ledger.extend(pieces)
        return placed

    def _add(self, pieces: list[Piece], body: str, kind: Kind) -> Piece | None:
        if not body:
            return None
        piece = Piece(body, self.part, kind, message=self._marker_message if kind == "marker" else self._message)
        pieces.append(piece)
        return piece

    @property
    def _marker_message(self) -> int:
        """The number of the marker's message: below messages of items, a marker is a message after all of them."""
        return self._message + _BEHIND if self._is_each and self.is_marked_below else self._message

    def _piece(self, entry: Entry) -> Piece:
        """Return an item's piece. Item messages have a number each, spaced to stay distinct from every section's."""
        message = self._message + 1 + entry.place if self._is_each else self._message
        return Piece(entry.body, self.part, "item", message, entry, entry.item.beyond)

    # --- acts ---

    def apply(self, act: Act, *, to_undo: bool = False) -> None:
        """Perform an act on every ledger; with `to_undo`, `revert` can undo it."""
        self._charge = None
        if to_undo:
            self._undo = []
            for placed in self._placings:
                placed.ledger.mark()
        if act.made is not None:
            self._insert_made(act.made, act.gone[0])
        for entry in act.gone:
            self._remove(entry)
        for edit in act.edits:
            self._rewrite(edit)
        if act.marker is not None and self._alive:
            self.mark(act.marker(self.removed), is_below=act.is_below)

    def revert(self) -> None:
        """Undo the act that was applied `to_undo`."""
        self._charge = None
        undo, self._undo = self._undo or [], None
        for step in reversed(undo):
            step()
        for placed in self._placings:
            placed.ledger.revert()

    def settle(self) -> None:
        """Make the act that was applied `to_undo` final."""
        self._undo = None
        for placed in self._placings:
            placed.ledger.settle()

    def _rewrite(self, edit: EntryEdit) -> None:
        entry = edit.entry
        if self._undo is not None:
            self._undo.append(partial(self._restore_text, entry, (entry.item, entry.text, entry.form, entry.kept)))
        size = len(entry.body)
        entry.item = edit.item or entry.item
        entry.text = edit.cut.text if edit.cut is not None else entry.item.text
        entry.form = entry.form if edit.form is None else edit.form
        entry.kept = entry.kept if edit.cut is None else edit.cut.kept
        measure = edit.cut.measure if edit.cut is not None and not entry.item.open else None
        self._grow(len(entry.body) - size)
        for placed in self._placings:
            placed.ledger.rewrite(placed.pieces[entry], entry.body, measure, entry.item.beyond)

    def _restore_text(self, entry: Entry, held: tuple[Item, str, int, int | None]) -> None:
        size = len(entry.body)
        entry.item, entry.text, entry.form, entry.kept = held
        self._grow(len(entry.body) - size)

    def _grow(self, chars: int) -> None:
        if self._chars is not None:
            self._chars += chars

    def _remove(self, entry: Entry) -> None:
        entry.is_alive = False
        self.removed += 1
        self._leave(entry)
        if self._undo is not None:
            self._undo.append(partial(self._restore, entry))
        for placed in self._placings:
            placed.ledger.remove(placed.pieces[entry])
        if self._headers and entry.run not in self._runs:
            self._remove_group(entry.run)
        if not self._alive:
            self._remove_surroundings()

    def _restore(self, entry: Entry) -> None:
        entry.is_alive = True
        self.removed -= 1
        self._enter(entry)

    def _enter(self, entry: Entry) -> None:
        self._alive += 1
        self._windowed += entry.item.windowed
        self._runs[entry.run] += 1
        if self._chars is not None:
            self._chars += len(entry.body)

    def _leave(self, entry: Entry) -> None:
        self._alive -= 1
        self._windowed -= entry.item.windowed
        self._runs[entry.run] -= 1
        if not self._runs[entry.run]:
            del self._runs[entry.run]
        if self._chars is not None:
            self._chars -= len(entry.body)

    def _remove_group(self, run: int) -> None:
        for placed in self._placings:
            piece = placed.groups.pop(run, None)
            if piece is not None:
                placed.ledger.remove(piece)
                if self._undo is not None:
                    self._undo.append(partial(placed.groups.__setitem__, run, piece))

    def _remove_surroundings(self) -> None:
        for placed in self._placings:
            for name in ("open", "header", "marker", "close"):
                piece = getattr(placed, name)
                if piece is not None:
                    placed.ledger.remove(piece)
                    self._set(placed, name, None)

    def _set(self, holder: object, name: str, value: object) -> None:
        """Set an attribute, and record how to undo it."""
        if self._undo is not None:
            self._undo.append(partial(setattr, holder, name, getattr(holder, name)))
        setattr(holder, name, value)

    def _insert_made(self, item: Item, oldest: Entry) -> None:
        """Insert the new item at the place of the oldest item that it replaces, in the same group."""
        made = Entry(item, len(self.entries), is_made=True)
        self.made = made
        made.run = oldest.run
        self.entries.insert(self.entries.index(oldest), made)
        self._enter(made)
        for placed in self._placings:
            piece = placed.pieces[made] = self._piece(made)
            placed.ledger.insert(piece, placed.pieces[oldest].previous)
        if self._undo is not None:
            self._undo.append(partial(self._take_back, made))

    def _take_back(self, made: Entry) -> None:
        self.entries.remove(made)
        self._leave(made)

    def mark(self, text: str, *, is_below: bool) -> None:
        """Set the marker, in place of the previous one."""
        if text == self.marker and is_below == self.is_marked_below:
            return
        is_moved = is_below != self.is_marked_below
        self._set(self, "marker", text)
        self._set(self, "is_marked_below", is_below)
        for placed in self._placings:
            if placed.marker is not None and text and not is_moved:
                placed.ledger.rewrite(placed.marker, text)
                continue
            if placed.marker is not None:
                placed.ledger.remove(placed.marker)
                self._set(placed, "marker", None)
            if text:
                piece = Piece(text, self.part, "marker", message=self._marker_message)
                above = placed.header or placed.open or self._before_first(placed)
                placed.ledger.insert(piece, self._last(placed) if is_below else above)
                self._set(placed, "marker", piece)

    def _last(self, placed: PlacedSection) -> Piece:
        return placed.pieces[next(entry for entry in reversed(self.entries) if entry.is_alive)]

    def _before_first(self, placed: PlacedSection) -> Piece | None:
        first = next(self.alive)
        return (placed.groups.get(first.run) or placed.pieces[first]).previous


def count_demand(layout: Layout, selection: Selection, selected: Selected) -> int:
    """Return a section's charge in units before any step."""
    return _lay_whole(layout, selection, selected).count_charge() if selected.items else 0


def count_marked(layout: Layout, selection: Selection, selected: Selected, marker: str, *, is_below: bool) -> int:
    """Return the charge in units of a section with exactly this content and this marker."""
    fit = _lay_whole(layout, selection, selected)
    fit.mark(marker, is_below=is_below)
    return fit.count_charge()


def _lay_whole(layout: Layout, selection: Selection, selected: Selected) -> SectionLayout:
    part = [section.id for section in layout.sections].index(selected.section.id)
    return SectionLayout(selection, selected, part, layout)
