"""What a `for` knows of itself: Jinja's `loop`."""

from __future__ import annotations

from collections.abc import Iterator

from promptc.diag.typed import Any, Self
from promptc.template.runtime.objects import Missing

_NOTHING = object()


class Loop:
    """Iterates over pairs of an element and this. `length`, `last` and `nextitem` look ahead, as Jinja's do."""

    __slots__ = ("_after", "_before", "_changed", "_current", "_length", "_values", "_waiting", "index0")

    def __init__(self, values: Any) -> None:
        self.index0 = -1
        self._values = values
        self._waiting: Iterator[Any] = iter(values)
        self._length = -1
        self._after = self._before = self._current = self._changed = _NOTHING

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[Any, Self]:
        if self._after is not _NOTHING:
            value, self._after = self._after, _NOTHING
        else:
            value = next(self._waiting)
        self.index0 += 1
        self._before, self._current = self._current, value
        return value, self

    def _peek(self) -> Any:
        if self._after is _NOTHING:
            self._after = next(self._waiting, _NOTHING)
        return self._after

    @property
    def length(self) -> int:
        """How many elements."""
        if self._length < 0:
            if hasattr(self._values, "__len__"):
                self._length = len(self._values)
            else:
                rest = list(self._waiting)
                self._waiting = iter(rest)
                self._length = len(rest) + self.index + (self._after is not _NOTHING)
        return self._length

    @property
    def index(self) -> int:
        """The turn, from 1."""
        return self.index0 + 1

    @property
    def revindex(self) -> int:
        """Turns to the end, this one included."""
        return self.length - self.index0

    @property
    def revindex0(self) -> int:
        """Turns to the end, without this one."""
        return self.length - self.index

    @property
    def first(self) -> bool:
        """Whether this is the first turn."""
        return self.index0 == 0

    @property
    def last(self) -> bool:
        """Whether this is the last turn."""
        return self._peek() is _NOTHING

    @property
    def depth(self) -> int:
        """Loops do not recurse."""
        return 1

    @property
    def depth0(self) -> int:
        """The same from 0."""
        return 0

    @property
    def previtem(self) -> Any:
        """The element before; undefined in the first turn."""
        return Missing("previtem", hint="there is no element before the first") if self.first else self._before

    @property
    def nextitem(self) -> Any:
        """The element after; undefined in the last turn."""
        after = self._peek()
        return Missing("nextitem", hint="there is no element after the last") if after is _NOTHING else after

    def cycle(self, first: Any, /, *rest: Any) -> Any:
        """One of the values, in turn."""
        values = (first, *rest)
        return values[self.index0 % len(values)]

    def changed(self, *values: Any) -> bool:
        """Whether the values differ from those of the last call. The caller pays for comparing them."""
        if self._changed == values:
            return False
        self._changed = values
        return True
