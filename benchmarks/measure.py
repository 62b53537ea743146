"""Timing of several things in turn, so that a slow moment of the machine falls on all of them; and the lines that say what came of it."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Literal, TypeVar

_Size = TypeVar("_Size")
_FACTORS = {"ms": 1e3}
"""What seconds are multiplied with; every other unit is that of the figure."""

Way = Literal["theirs / ours", "ours / theirs"]
"""Which time a ratio to a peer is of: above 1 the first says that promptc is the faster one, the second that it is the slower one."""


class LeftOut(Exception):
    """What a part needs, and this machine has not: it is left out, and that is said."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: all, or with `--small` as little as goes through every line. Figures of a small run mean nothing."""

    is_small: bool

    def choose(self, full: _Size, small: _Size) -> _Size:
        """The size for this run."""
        return small if self.is_small else full


@dataclass(frozen=True, slots=True)
class Sample:
    """What each turn gave."""

    values: tuple[float, ...]

    @property
    def middle(self) -> float:
        """The median."""
        return median(self.values)

    @property
    def spread(self) -> float | None:
        """Half of what lies between the quartiles, in per cent of the median; None of fewer than three turns."""
        if len(self.values) < 3 or not self.middle:
            return None
        low, _, high = quantiles(self.values, n=4, method="inclusive")
        return 50 * (high - low) / self.middle


@dataclass(frozen=True, slots=True)
class Turns:
    """The seconds of each work in each turn: two works of one turn make a pair."""

    taken: Mapping[str, Sequence[float]]

    def __getitem__(self, name: str) -> Sample:
        return Sample(tuple(self.taken[name]))

    def ratio(self, one: str, other: str) -> Sample:
        """How many times as long as the other the one took, pair by pair."""
        return Sample(tuple(first / second for first, second in zip(self.taken[one], self.taken[other], strict=True)))

    def beyond(self, name: str) -> "Turns":
        """What each took more than `name` did in the same turn."""
        less = self.taken[name]
        return Turns({one: [first - second for first, second in zip(taken, less, strict=True)] for one, taken in self.taken.items()})


def time_turns(works: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time) -> Turns:
    """What each work takes over `rounds` turns (A B C A B C ...), after one turn that is not counted; of a single turn, the figures mean
    nothing, and it is counted at once.

    It is in seconds of this process on a processor: on a busy machine a long work is interrupted more often than a short one, and by the
    clock on the wall their ratio would be too large. Work done by other processes needs `time.perf_counter`.
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
    """One line of a table, as it was printed: a figure is a text, so that who shows it again shows the same digits."""

    label: str
    figure: str
    unit: str = ""
    spread: str = ""
    """As `±4%`, where there were turns enough to tell."""
    turns: int = 1
    target: str = ""
    is_kept: bool = True
    note: str = ""
    peer: str = ""
    way: Way = "theirs / ours"
    series: str = ""
    at: int = 0
    """A point of the line that is called `series`: at this N."""

    def write(self) -> str:
        """The line for a terminal; it takes 80 columns at most where it has no note."""
        spread = f"{self.spread} of {self.turns}" if self.spread else ""
        promise = f"{self.target} {'kept' if self.is_kept else 'MISSED'}" if self.target else ""
        told = f"  {self.label:<41}{f'{self.figure} {self.unit}'.rstrip():>11}  {spread:<10}"
        return "  ".join([told, *filter(None, (promise, self.note))]).rstrip()


@dataclass(frozen=True, slots=True)
class Block:
    """Lines under their title."""

    title: str
    lines: list[Line] = field(default_factory=list)


_SHOWN: list[Block] = []
"""What this process has shown and nobody has taken yet."""


def begin(title: str) -> None:
    """The title of the lines to come."""
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
    """Prints one line and keeps it for the record. `form` is that of the figure with its unit, such as `.2f x`; a text is shown as it is.

    A figure may have a target, in its unit. A ratio names its `peer` if it is one to the work of somebody else, and the `way` it is
    made. A `point` is that of a line over N.
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
    """What was shown since this was asked for last."""
    shown = [*_SHOWN]
    _SHOWN.clear()
    return shown


def take_each(works: Iterable[Callable[[], object]]) -> Callable[[], object]:
    """A work that does the next of `works` at each call, so that none is done twice."""
    left = iter([*works])  # now: a generator would look for what it is made of when it is asked
    return lambda: next(left)()
