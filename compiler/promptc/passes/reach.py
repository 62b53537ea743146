"""How far a list that has reach is read; `promptc.model.pack` tells which lists have it."""

from collections.abc import Sequence

from promptc.model.section import Evict, Section, Step
from promptc.model.stages import Item
from promptc.text.meter import Meter


class Reach:
    """Follows a list from its newest item on and tells when what was read so far is enough.

    It is enough when the items read count more than `most` units wherever they stand together, whatever older ones stand before them;
    when no eviction may take the first item after them before all that is older; and when they are more than any floor keeps.
    `steps` are all that may take items of the section.
    """

    def __init__(self, section: Section, steps: Sequence[Step], meter: Meter, most: int) -> None:
        self._meter = meter
        self._most = most
        self._trail = section.separator if section.separator is not None else "\n"
        evictions = [step for step in (*section.overflow, *steps) if isinstance(step, Evict)]
        window = section.items.window if section.items is not None else None
        self._least = max([0, *(step.floor for step in evictions), window.min if window is not None else 0])
        self._blocks = {step.step for step in evictions}
        self._units = 0
        self._open: list[str] = []
        self._number: int | None = None

    def is_enough(self, number: int) -> bool:
        """True when the next older item, of that number, need not be read: it also begins a block of every `step`."""
        if self._units <= self._most or self._least >= 0 or self._number is None:
            return False
        return all(number // block != self._number // block for block in self._blocks if block > 1)

    def add(self, item: Item) -> None:
        """Take the next older item into account."""
        text = (f"{item.open}\n{item.text}\n{item.close}" if item.open else item.text) + self._trail
        if self._number is not None:
            self._count(text)
        self._number = item.number
        self._least -= not item.kept

    def _count(self, text: str) -> None:
        """Count up to the first place in `text` that parts it from whatever stands before, with all behind it that is not counted yet."""
        is_apart = bool(self._trail) and self._meter.is_safe("x" + self._trail, text)
        inner = (0, 0) if is_apart else self._meter.counter.find_inner(text)
        self._open.append(text)
        if inner is not None:
            whole = "".join(reversed(self._open))
            self._units += self._meter.count(whole[inner[0] :])
            self._open = [whole[: inner[0]]]
