"""Counting with memory: what was counted once is looked up."""

from collections.abc import Callable

from promptc.diag.typed import Protocol
from promptc.text.counters.counter import Counter, iter_pieces

_SHORT = 2048
_WHOLE = "whole\0"
_ENTRIES = 200_000
_CHARACTERS = 32_000_000


class KnownCounts(Protocol):
    """Counts of texts that were counted before, by another process perhaps."""

    def find(self, text: str) -> int | None: ...

    def note(self, text: str, units: int) -> None: ...


class Meter:
    """A counter that remembers counts by content, within bounds; forgetting changes the time taken, never a number.

    Several threads may use one without `kept`: each step of the memory is one operation on a dict.
    """

    def __init__(self, counter: Counter, kept: KnownCounts | None = None) -> None:
        self.counter = counter
        self._kept = kept if counter.unit == 1 else None
        self.is_safe = counter.is_safe
        self._counts: dict[str, int] = {}
        self._older: dict[str, int] = {}
        self._characters = 0

    def count(self, text: str) -> int:
        """`counter.measure(text)`, in units."""
        found = self._counts.get(text)
        return found if found is not None else self._count_new(text)

    def count_whole(self, text: str) -> int:
        """The same, counted anew by `counter.recount`, without any memory of this one but `kept`, for texts to be confirmed."""
        return self._find_kept(f"{_WHOLE}{text}", lambda marked: self.counter.recount(marked[len(_WHOLE) :]))

    def tokens(self, units: int) -> int:
        """Units as tokens, rounded up."""
        return -(-units // self.counter.unit)

    def _count_new(self, text: str) -> int:
        if self.counter.unit > 1:
            return self.counter.measure(text)  # characters: nothing to remember
        units = self._older.get(text)
        if units is None:
            units = self._find_kept(text, self._count_parts)
        self._remember(text, units)
        return units

    def _find_kept(self, text: str, count: Callable[[str], int]) -> int:
        if self._kept is None:
            return count(text)
        units = self._kept.find(text)
        if units is None:
            units = count(text)
            self._kept.note(text, units)
        return units

    def _count_parts(self, text: str) -> int:
        return self._count_long(text) if len(text) > _SHORT else self.counter.measure(text)

    def _count_long(self, text: str) -> int:
        pieces = list(iter_pieces(self.counter, text))
        return sum(map(self.count, pieces)) if len(pieces) > 1 else self.counter.measure(text)

    def _remember(self, text: str, units: int) -> None:
        self._characters += len(text)
        if len(self._counts) >= _ENTRIES or self._characters > _CHARACTERS:
            self._older, self._counts, self._characters = self._counts, {}, len(text)
        self._counts[text] = units
