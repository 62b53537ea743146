"""What a step does: the entries it looks at, and one notch as data."""

from collections.abc import Callable, Sequence

from promptc.diag.frozen import frozen
from promptc.diag.typed import NamedTuple
from promptc.model.stages import Item
from promptc.passes.cut_text import Cut


class Entry:
    """An item as it stands: its guarded `text`, the `form` it is in, how many characters a trim `kept` of it."""

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
        """The text inside its own fence."""
        item = self.item
        return f"{item.open}\n{self.text}\n{item.close}" if item.open else self.text


@frozen(eq=False)
class EntryEdit:
    """A change of one entry: it takes another form (`item`), or a `cut` is made of it."""

    entry: Entry
    item: Item | None = None
    form: int | None = None
    cut: Cut | None = None


class Act(NamedTuple):
    """One notch: the entries that are `gone` with it, or one that it edits.

    `made` takes the place of the first of those gone. A `voidable` act that does not shorten is skipped.
    """

    why: str
    gone: Sequence[Entry] = ()
    marker: Callable[[int], str] | None = None
    warn: bool = False
    edit: EntryEdit | None = None
    made: Item | None = None
    voidable: bool = False
    boundary: str = ""
    level: tuple[int | float | None, int | float | None] = (None, None)
    moves: Sequence[tuple[str, int | float, int | float | None]] = ()
    drops: bool = False
    fails: bool = False
    ends: bool = False

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries it touches."""
        return self.gone if self.edit is None else (self.edit.entry,)
