"""Timing of several works in turns, so that a slow moment of the machine affects all of them, and the lines that show the results."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Literal, TypeVar

_Size = TypeVar("_Size")
_FACTORS = {"ms": 1e3}
"""The factor of a unit for values in seconds; values in any other unit are shown unchanged."""

Way = Literal["theirs / ours", "ours / theirs"]
"""Which time a ratio to a peer divides by which. Above 1, promptc is faster for the first way and slower for the second."""


class LeftOut(Exception):
    """This machine lacks something that a part needs: the part is left out, and the run says so."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: everything, or with `--small` just enough to run every line. Figures of a small run mean nothing."""

    is_small: bool

    def choose(self, full: _Size, small: _Size) -> _Size:
        """Return the size for this run."""
        return small if self.is_small else full


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of all turns."""

    values: tuple[float, ...]

    @property
    def middle(self) -> float:
        """The median."""
        return median(self.values)

    @property
    def spread(self) -> float | None:
        """Half the distance between the quartiles, in per cent of the median; None for fewer than three turns."""
        if len(self.values) < 3 or not self.middle:
            return None
        low, _, high = quantiles(self.values, n=4, method="inclusive")
        return 50 * (high - low) / self.middle


@dataclass(frozen=True, slots=True)
class Turns:
    """The seconds of each work in each turn. Two works of the same turn make a pair."""

    taken: Mapping[str, Sequence[float]]

    def __getitem__(self, name: str) -> Sample:
        return Sample(tuple(self.taken[name]))

    def ratio(self, one: str, other: str) -> Sample:
        """Return how many times as long as `other` the work `one` took, pair by pair."""
        return Sample(tuple(first / second for first, second in zip(self.taken[one], self.taken[other], strict=True)))

    def beyond(self, name: str) -> "Turns":
        """Return how much longer than `name` each work took in the same turn."""
        less = self.taken[name]
        return Turns({one: [first - second for first, second in zip(taken, less, strict=True)] for one, taken in self.taken.items()})


def time_turns(works: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time) -> Turns:
    """Time each work over `rounds` turns (A B C A B C ...), after one turn that is not counted.

    With a single round, the first turn is counted, and the figures mean nothing. The times are seconds of this process on a processor: on a
    busy machine a long work is interrupted more often than a short one, and the ratio of their wall-clock times would be too large. Work
    done by other processes needs `time.perf_counter`.
    """
    taken: dict[str, list[float]] = {name: [] for name in works}
    idle = 1 if rounds > 1 else 0
    for turn in range(rounds + idle):
        for name, work in works.items():
            begun = clock()
            work()
            if turn >= idle:
                taken[name].append(clock() - begun)
    return Turns(taken)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table as it was printed. Its figure is a text, so that it is always shown with the same digits."""

    label: str
    figure: str
    unit: str = ""
    spread: str = ""
    """Such as `±4%`; empty if there were too few turns."""
    turns: int = 1
    target: str = ""
    is_kept: bool = True
    note: str = ""
    peer: str = ""
    way: Way = "theirs / ours"
    series: str = ""
    at: int = 0
    """The N of this point, if the line is a point of the curve `series`."""

    def write(self) -> str:
        """Return the line for a terminal; without a note it has at most 80 columns."""
        spread = f"{self.spread} of {self.turns}" if self.spread else ""
        promise = f"{self.target} {'kept' if self.is_kept else 'MISSED'}" if self.target else ""
        told = f"  {self.label:<41}{f'{self.figure} {self.unit}'.rstrip():>11}  {spread:<10}"
        return "  ".join([told, *filter(None, (promise, self.note))]).rstrip()


@dataclass(frozen=True, slots=True)
class Block:
    """Lines with their title."""

    title: str
    lines: list[Line] = field(default_factory=list)


_SHOWN: list[Block] = []
"""What this process has shown and `take_shown` has not yet returned."""


def begin(title: str) -> None:
    """Print the title of the following lines."""
    print(title, flush=True)
    _SHOWN.append(Block(title))


def show(
    label: str,
    value: Sample | float | str,
    form: str = "",
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    peer: str = "",
    way: Way = "theirs / ours",
    point: tuple[str, int] = ("", 0),
    note: str = "",
) -> None:
    """Print a line and keep it for the record.

    `form` is the format of the figure with its unit, such as `.2f x`; a text is shown as it is. A figure may have a target in its unit. A
    ratio to the work of others names its `peer` and its `way`. A `point` is one of a curve over N.
    """
    digits, _, unit = form.partition(" ")
    sample = Sample((value,)) if isinstance(value, float | int) else value
    if isinstance(sample, str):
        line = Line(label, sample, note=note)
    else:
        middle = sample.middle * _FACTORS.get(unit, 1)
        spread = f"±{sample.spread:.0f}%" if sample.spread is not None else ""
        limit = at_most if at_most is not None else at_least
        target = f"{'≤' if at_most is not None else '≥'} {limit:g}" if limit is not None else ""
        is_kept = limit is None or (middle <= limit if at_most is not None else middle >= limit)
        line = Line(label, f"{middle:{digits}}", unit, spread, len(sample.values), target, is_kept, note, peer, way, *point)
    print(line.write(), flush=True)
    _SHOWN[-1].lines.append(line)


def take_shown() -> list[Block]:
    """Return what was shown since the last call."""
    shown = [*_SHOWN]
    _SHOWN.clear()
    return shown


def take_each(works: Iterable[Callable[[], object]]) -> Callable[[], object]:
    """Return a work that does the next of `works` at each call, so that none is done twice."""
    left = iter([*works])  # list them now: a generator would look up its names only when it is used
    return lambda: next(left)()
