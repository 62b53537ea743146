"""Timing of several things in turn, so that a slow moment of the machine falls on all of them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

_Size = TypeVar("_Size")


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: all, or with `--small` as little as goes through every line. Figures of a small run mean nothing."""

    is_small: bool

    def choose(self, full: _Size, small: _Size) -> _Size:
        """The size for this run."""
        return small if self.is_small else full


def time_interleaved(
    works: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """The median seconds of each work over `rounds` turns (A B C A B C ...), after one turn that is not counted.

    They are seconds of this process on a processor: on a busy machine a long work is interrupted more often than a short one, and by the
    clock on the wall their ratio would be too large. Work done by other processes needs `time.perf_counter`.
    """
    return {name: median(seconds) for name, seconds in time_turns(works, rounds, clock).items()}


def time_turns(
    works: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, list[float]]:
    """The seconds of each work in each turn, as for `time_interleaved`: two works of one turn make a pair."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(rounds + 1):
        for name, work in works.items():
            begun = clock()
            work()
            if turn:
                taken[name].append(clock() - begun)
    return taken


def show(label: str, value: str, promise: str = "") -> None:
    """One line of the table, at most 80 columns."""
    print(f"  {label:<46}{value:>14}  {promise}".rstrip())


def judge(ratio: float, limit: float, *, at_most: bool) -> str:
    """The promise and whether it was kept in this run."""
    kept = ratio <= limit if at_most else ratio >= limit
    return f"{'≤' if at_most else '≥'} {limit:g} {'kept' if kept else 'MISSED'}"
