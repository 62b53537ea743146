"""`lower`: all items with the greatest value of `by` go, one level a notch."""

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence

from promptc.model.section import Lower
from promptc.passes.act import Act, Entry
from promptc.passes.fit.steps import StepScope, find_rank, make_blocks
from promptc.passes.layout.section import SectionLayout

_Level = int | float
_Move = tuple[str, _Level, _Level | None]


def iter_lowerings(step: Lower, fit: SectionLayout, scope: StepScope) -> Iterator[Act]:
    """The notches of the step, greatest level first; levels up to `floor` stay. Kept items stay, and a tool's use with its result."""
    levels: dict[Entry, _Level] = {}
    fixed: set[Entry] = set()
    for unit in make_blocks([entry for entry in fit.alive if not entry.is_made], lambda entry: entry.item.unit):
        levels.update(dict.fromkeys(unit, find_rank(step.by, scope.evaluate(step.by, unit[0]))))
        if any(entry.item.kept for entry in unit):
            fixed.update(unit)
    by_level: dict[_Level, list[Entry]] = {}
    by_run: dict[int, list[Entry]] = {}
    for entry, level in levels.items():
        by_level.setdefault(level, []).append(entry)
        by_run.setdefault(entry.run, []).append(entry)
    whole = _Slope(list(levels), levels)
    runs = {run: _Slope(entries, levels) for run, entries in by_run.items()}
    for level in sorted((level for level in by_level if level > step.floor), reverse=True):
        going = {entry: None for entry in by_level[level] if entry.is_alive and entry not in fixed}
        if going:
            why = f"{step.by.text.strip()} = {level}, greatest level first"
            moves = tuple(_iter_moves(going, runs))
            yield Act(why, tuple(going), level=(level, whole.find_top(going)), moves=moves)


class _Slope:
    """Entries by level. What is gone from the top is passed once, so that all notches together cost one pass."""

    def __init__(self, entries: Sequence[Entry], levels: Mapping[Entry, _Level]) -> None:
        self._levels = levels
        self._entries = deque(sorted(entries, key=levels.__getitem__, reverse=True))

    def find_top(self, without: Collection[Entry] = ()) -> _Level | None:
        """The greatest level that stands, also when `without` goes."""
        while self._entries and not self._entries[0].is_alive:
            self._entries.popleft()
        standing = (entry for entry in self._entries if entry.is_alive and entry not in without)
        return next((self._levels[entry] for entry in standing), None)


def _iter_moves(going: Collection[Entry], runs: Mapping[int, _Slope]) -> Iterator[_Move]:
    """(group, level before, level after) of every group that loses items; None when it has no other."""
    for run, key in {entry.run: entry.item.key for entry in going}.items():
        before = runs[run].find_top()
        if before is not None:
            yield "" if key is None else str(key), before, runs[run].find_top(going)
